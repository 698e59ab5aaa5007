package evenhand.slurm.text;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Captured outputs, and the command {@code slurm parse} as a test sees it. */
final class Fixtures {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Fixtures() {}

  static String captured(String name) {
    try {
      return Files.readString(Path.of("fixtures", "slurm", name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What a run of the command gave. */
  record Parsed(int status, List<JsonNode> lines) {
    JsonNode only() {
      if (lines.size() != 1) {
        throw new AssertionError("one line expected: " + lines);
      }
      return lines.get(0);
    }
  }

  static Parsed parse(String kind, String input) {
    StringBuilder out = new StringBuilder();
    int status = Parse.run(kind, new StringReader(input), out);
    List<JsonNode> lines = new ArrayList<>();
    out.toString().lines().forEach(line -> lines.add(MAPPER.readTree(line)));
    return new Parsed(status, lines);
  }
}
