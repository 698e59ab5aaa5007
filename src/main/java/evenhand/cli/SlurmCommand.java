package evenhand.cli;

import evenhand.input.Spelling;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import picocli.CommandLine.Parameters;

/** {@code slurm parse KIND}: how Slurm's text is understood. */
@picocli.CommandLine.Command(
    name = "parse",
    description = "Read Slurm's text on standard input and print what it means, JSON a line.",
    footer = {"", "Exit status: 0 all was read, 1 a line could not be read, 2 wrong use."})
final class SlurmCommand extends Command {
  private final Parts.SlurmText text;
  private final Map<String, String> kinds;

  @Parameters(paramLabel = "KIND", description = "What the text is: see below.")
  private String kind;

  SlurmCommand(Console console, Parts.SlurmText text, Map<String, String> kinds) {
    super(console);
    this.text = text;
    this.kinds = kinds;
  }

  @Override
  public Integer call() {
    if (!kinds.containsKey(kind)) {
      throw wrongUse("There is no kind \"" + kind + "\"; " + Spelling.hint(kind, kinds.keySet()));
    }
    // job names and comments in Slurm are not always UTF-8: what is not is replaced
    return text.run(
        kind, new InputStreamReader(console().in(), StandardCharsets.UTF_8), console().out());
  }
}
