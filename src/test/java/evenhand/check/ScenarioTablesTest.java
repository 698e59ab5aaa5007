package evenhand.check;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.explain.ShownCase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScenarioTablesTest {
  private static final String SCENARIO = "S05-lost-when-overtaken.yaml";

  @TempDir Path folder;

  @Test
  void tablesAreKeptUntilATextIsAnother() throws IOException {
    Path file = folder.resolve("one.yaml");
    String text = Files.readString(Path.of("fixtures", "scenarios").resolve(SCENARIO));
    Files.writeString(file, text);
    ScenarioTables.Kept kept = new ScenarioTables.Kept();
    List<ShownCase> first = kept.all(Optional.of(folder));
    assertThat(first).hasSize(1).isEqualTo(ScenarioTables.all(Optional.of(folder)));
    assertThat(kept.all(Optional.of(folder))).isSameAs(first);
    Files.writeString(file, text.replaceFirst("title: S5", "title: S5 edited"));
    assertThat(kept.all(Optional.of(folder)).get(0).title()).startsWith("S5 edited");
  }
}
