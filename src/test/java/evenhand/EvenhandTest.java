package evenhand;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The entry point in a process of its own: what only shows there. */
class EvenhandTest {
  private static final String SNAPSHOT =
      "{\"now\":\"2026-04-10T09:05:00Z\",\"tiers\":[{\"name\":\"4090\"}],"
          + "\"placements\":[{\"node\":\"n1\",\"tier\":\"4090\",\"capacity\":2}],"
          + "\"accounts\":[{\"id\":\"연구실\"}],\"jobs\":[{\"id\":\"a\",\"account\":\"연구실\"}]}";

  @TempDir private Path folder;

  private record Ran(int status, String out, String err) {}

  /** Runs in a plain C locale: text is UTF-8 all the same. */
  private Ran run(Path input, String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), "evenhand.Evenhand"));
    command.addAll(List.of(arguments));
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(input.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().put("LC_ALL", "C");
    Process process = builder.start();
    assertTrue(process.waitFor(120, TimeUnit.SECONDS), "it did not end");
    return new Ran(
        process.exitValue(),
        Files.readString(out, StandardCharsets.UTF_8),
        Files.readString(err, StandardCharsets.UTF_8));
  }

  @Test
  void decidePrintsItsAnswerAndNothingElse() throws Exception {
    Path input = Files.writeString(folder.resolve("in"), SNAPSHOT + "\n{\n" + SNAPSHOT + "\n");
    Ran ran = run(input, "decide", "--snapshot", "-", "--ndjson");
    assertEquals(2, ran.status(), ran.err());
    List<String> lines = ran.out().lines().toList();
    assertEquals(2, lines.size(), ran.out());
    assertTrue(lines.get(0).contains("\"type\":\"start\",\"job\":\"a\""), lines.get(0));
    assertEquals(lines.get(0), lines.get(1));
    assertEquals(1, ran.err().lines().count(), ran.err());
    assertTrue(ran.err().startsWith("standard input:2: "), ran.err());
  }

  @Test
  void namesInAnyScriptSurviveAPlainLocale() throws Exception {
    Path input = Files.writeString(folder.resolve("in"), SNAPSHOT.replace("\"a\"", "\"없음\""));
    Ran ran = run(input, "decide", "--snapshot", "-");
    assertEquals(0, ran.status(), ran.err());
    assertTrue(ran.out().contains("없음"), ran.out());
    assertEquals("", ran.err());
    Path states = Files.writeString(folder.resolve("states"), "없음\n");
    Ran parsed = run(states, "slurm", "parse", "state");
    assertEquals(1, parsed.status(), parsed.err());
    assertTrue(parsed.out().contains("없음"), parsed.out());
  }
}
