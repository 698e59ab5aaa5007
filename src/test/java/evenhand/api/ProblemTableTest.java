package evenhand.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every code that a problem may have stands in the README's table, and is said in Korean. */
class ProblemTableTest {
  private static final Pattern MADE =
      Pattern.compile(
          "(?:Problem\\s*\\.of\\(\\s*\\d{3},|Desk\\.Refused\\(|\\bRefused\\()\\s*\"([A-Z][A-Z_]+)\"");

  private static Set<String> codes() throws IOException {
    Set<String> codes = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of("src/main/java/evenhand"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
        Matcher m = MADE.matcher(Files.readString(file));
        while (m.find()) {
          codes.add(m.group(1));
        }
      }
    }
    return codes;
  }

  @Test
  void everyCodeIsExplainedInBothLanguages() throws Exception {
    Set<String> codes = codes();
    assertThat(codes).hasSizeGreaterThan(20).contains("TOO_MANY_REQUESTS", "NOT_WAITING");
    String readme = Files.readString(Path.of("README.md"));
    int from = readme.indexOf("| status | `code` |");
    String table = readme.substring(from, readme.indexOf("\n\n", from));
    Properties korean = new Properties();
    try (Reader file =
        Files.newBufferedReader(Path.of("src/main/resources/messages/ko.properties"))) {
      korean.load(file);
    }
    for (String code : codes) {
      assertThat(table).as("the table of the README").contains("`" + code + "`");
      for (String part : List.of("title", "detail")) {
        assertThat(korean.getProperty("problem." + code + "." + part, "")).as(code).isNotBlank();
      }
    }
  }
}
