package evenhand.slurm.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** README.md shows the table of what is final, retried and looked up as the code has it. */
class SbatchTableTest {
  private static final String BEGIN = "<!-- what sbatch says -->\n";
  private static final String END = "<!-- end of what sbatch says -->\n";

  /** The table of the README, from the enum. */
  static String table() {
    return "| sbatch says | which means | what is done |\n| --- | --- | --- |\n"
        + Arrays.stream(SbatchMessage.values())
            .map(
                m ->
                    "| `"
                        + m.pattern().replace("|", "\\|")
                        + "` | "
                        + m.meaning()
                        + " | "
                        + switch (m.outcome()) {
                          case FINAL -> "**final**";
                          case RETRY -> "tried again";
                          case UNKNOWN -> "looked up";
                        }
                        + " |\n")
            .collect(Collectors.joining());
  }

  @Test
  void theReadmeHasTheTableOfTheCode() throws IOException {
    String readme = Files.readString(Path.of("README.md"));
    assertThat(readme).contains(BEGIN, END);
    String shown = readme.substring(readme.indexOf(BEGIN) + BEGIN.length(), readme.indexOf(END));
    assertThat(shown).as("paste this into README.md").isEqualTo(table());
  }
}
