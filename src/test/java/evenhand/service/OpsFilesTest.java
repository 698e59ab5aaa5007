package evenhand.service;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cli.Exit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ClassPathResource;

/** The unit, the image's recipe and what is written about them name only what there is. */
class OpsFilesTest {
  private static final Pattern JAR = Pattern.compile("<finalName>([^<]+)</finalName>");
  private static final Pattern NAMED =
      Pattern.compile(
          "(?<![\\w./-])(?:--)?((?:evenhand|server|spring|logging|management)\\.[a-z][a-z0-9.-]*[a-z0-9])");

  private static String text(String name) throws Exception {
    return new String(new ClassPathResource("ops/" + name).getContentAsByteArray());
  }

  private static String jar() throws Exception {
    Matcher m = JAR.matcher(Files.readString(Path.of("pom.xml")));
    assertThat(m.find()).isTrue();
    return m.group(1) + ".jar";
  }

  private static List<String> unread(String... settings) {
    StandardEnvironment environment = new StandardEnvironment();
    environment
        .getPropertySources()
        .forEach(s -> environment.getPropertySources().remove(s.getName()));
    environment.getPropertySources().addFirst(new SimpleCommandLinePropertySource(settings));
    return new SettingNames()
        .unread(environment).stream().map(SettingNames.Unread::sentence).toList();
  }

  /** The entries of a unit; lines that end with a backslash go on. */
  private static Map<String, String> unit() throws Exception {
    Map<String, String> entries = new TreeMap<>();
    for (String line : text("evenhand.service").replace("\\\n", " ").split("\n")) {
      if (!line.isBlank() && !line.startsWith("#") && !line.startsWith("[")) {
        assertThat(line).contains("=");
        entries.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
      }
    }
    return entries;
  }

  private static String[] settings(List<String> words) {
    return words.stream().filter(w -> w.startsWith("--")).toArray(String[]::new);
  }

  private static String value(String[] settings, String name) {
    return Arrays.stream(settings)
        .filter(s -> s.startsWith("--" + name + "="))
        .map(s -> s.substring(name.length() + 3))
        .findFirst()
        .orElse("");
  }

  @Test
  void theUnitStartsWhatThereIsWithSettingsThatAreRead() throws Exception {
    Map<String, String> unit = unit();
    List<String> words = Arrays.asList(unit.get("ExecStart").trim().split("\\s+"));
    assertThat(words.get(words.indexOf("-jar") + 1)).endsWith("/" + jar());
    assertThat(words.get(words.indexOf("-jar") + 2)).isEqualTo("serve");
    String[] settings = settings(words);
    assertThat(settings).hasSize(3);
    assertThat(unread(settings)).isEmpty();
    String state = "/var/lib/" + unit.get("StateDirectory");
    assertThat(unit.get("WorkingDirectory")).isEqualTo(state);
    assertThat(value(settings, "evenhand.data-dir")).isEqualTo(state);
    assertThat(unit.get("RestartPreventExitStatus")).isEqualTo(Integer.toString(Exit.WRONG_USE));
    assertThat(unit.get("KillSignal")).isEqualTo("SIGTERM");
    // Requests, the cycle and the database may take half a minute each.
    assertThat(Integer.parseInt(unit.get("TimeoutStopSec"))).isGreaterThanOrEqualTo(90);
    String secret = "SPRING_DATASOURCE_PASSWORD";
    assertThat(text("evenhand.service")).contains(secret);
    assertThat(SpringNames.get().ofVariable(secret)).isNull();
  }

  @Test
  void theRecipeCopiesWhatThereIsAndOpensThePortThatIsListenedOn() throws Exception {
    String recipe = text("Containerfile");
    Map<String, String> copied = new TreeMap<>();
    for (String line : recipe.split("\n")) {
      if (line.startsWith("COPY ")) {
        String[] words = line.split("\\s+");
        copied.put(words[1], words[2]);
      }
    }
    assertThat(copied.keySet()).containsExactlyInAnyOrder("target/" + jar(), "rules");
    assertThat(Path.of("rules")).isDirectory();
    List<String> entry = words(recipe, "ENTRYPOINT");
    assertThat(entry.get(entry.indexOf("-jar") + 1)).isEqualTo(copied.get("target/" + jar()));
    List<String> command = words(recipe, "CMD");
    assertThat(command.get(0)).isEqualTo("serve");
    String[] settings = settings(command);
    assertThat(settings).hasSize(2);
    assertThat(unread(settings)).isEmpty();
    assertThat(value(settings, "evenhand.rules")).isEqualTo(copied.get("rules"));
    // Unit and image look for the site's settings at the same place.
    assertThat(value(settings, "spring.config.additional-location"))
        .isEqualTo(
            "optional:"
                + value(
                    settings(Arrays.asList(unit().get("ExecStart").trim().split("\\s+"))),
                    "spring.config.additional-location"));
    PropertySource<?> defaults =
        new YamlPropertySourceLoader()
            .load("application.yaml", new ClassPathResource("application.yaml"))
            .get(0);
    assertThat(recipe).contains("EXPOSE " + defaults.getProperty("server.port") + "\n");
  }

  private static List<String> words(String recipe, String instruction) {
    String line =
        recipe
            .lines()
            .filter(l -> l.startsWith(instruction + " "))
            .findFirst()
            .orElseThrow()
            .substring(instruction.length() + 1);
    assertThat(line).startsWith("[").endsWith("]");
    return Arrays.stream(line.substring(1, line.length() - 1).split(","))
        .map(word -> word.strip().replace("\"", ""))
        .toList();
  }

  @Test
  void whatIsWrittenAboutThemNamesFilesAndSettingsThatThereAre() throws Exception {
    String notes = text("README.md");
    Matcher row = Pattern.compile("(?m)^\\| `([^`]+)` \\|").matcher(notes);
    int files = 0;
    while (row.find()) {
      files++;
      assertThat(new ClassPathResource("ops/" + row.group(1)).exists()).as(row.group(1)).isTrue();
    }
    assertThat(files).isEqualTo(4);
    String readme = Files.readString(Path.of("README.md"));
    int from = readme.indexOf("\n## Settings\n");
    String settings = readme.substring(from, readme.indexOf("```", from));
    int named = 0;
    for (String text : List.of(notes, settings, text("evenhand.service"))) {
      Matcher m = NAMED.matcher(text);
      while (m.find()) {
        String name = m.group(1);
        if (name.startsWith("evenhand.service") || name.equals("evenhand.dump")) {
          continue; // files
        }
        named++;
        // Without a value, so that what only opens others (server.ssl.*) counts as well.
        assertThat(unread("--" + name + "=")).isEmpty();
      }
    }
    assertThat(named).isGreaterThan(20);
  }
}
