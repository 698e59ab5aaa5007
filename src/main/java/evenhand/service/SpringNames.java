package evenhand.service;

import evenhand.input.Spelling;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The names of settings that the libraries of the service read, as these describe them in their own
 * jars. Not all libraries describe all names; so one that is not among them may still be read, but
 * one that differs from a known one in a letter or two is that one spelt wrong.
 */
final class SpringNames {
  private static final String DESCRIPTION = "META-INF/spring-configuration-metadata.json";

  /** Letters in which a name may differ from the one that is meant. */
  private static final int NEAR = 2;

  /** What the names begin with. */
  static final Set<String> FIRST = Set.of("server", "spring", "springdoc", "management", "logging");

  /** Types of values that have nothing below them. */
  private static final List<String> PLAIN = List.of("java.lang.", "java.time.", "java.io.");

  /** What to set instead, by bare name; null where nothing replaces it. */
  private final Map<String, String> replaced = new TreeMap<>();

  /** By bare name. */
  private final Map<String, String> known = new TreeMap<>();

  private final Set<String> withMore = new TreeSet<>();

  private SpringNames() {
    JsonMapper json = new JsonMapper();
    try {
      Enumeration<URL> files = SpringNames.class.getClassLoader().getResources(DESCRIPTION);
      while (files.hasMoreElements()) {
        try (InputStream file = files.nextElement().openStream()) {
          json.readTree(file).path("properties").forEach(this::take);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("what the jars say of their settings cannot be read", e);
    }
    replaced.keySet().removeAll(known.keySet());
  }

  private void take(JsonNode property) {
    String name = property.path("name").asString("");
    JsonNode past = property.path("deprecation");
    if (past.path("level").asString("").equals("error")) {
      replaced.put(SettingNames.bare(name), past.path("replacement").asString(null));
      return;
    }
    String bare = SettingNames.bare(name);
    known.put(bare, name);
    String type = property.path("type").asString("");
    if (PLAIN.stream().noneMatch(type::startsWith)) {
      withMore.add(bare + ".");
    }
  }

  private static final class Read {
    static final SpringNames ONCE = new SpringNames();
  }

  /** Read when it is needed, and once. */
  static SpringNames get() {
    return Read.ONCE;
  }

  /**
   * What is to be said of a name.
   *
   * @param sentence the rest of a sentence that begins with the name
   * @param sure whether nothing can read it; else it only is described nowhere
   */
  record Unread(String sentence, boolean sure) {}

  /**
   * @param plain without indices
   * @return null where it is read
   */
  Unread ofSetting(String plain, Object value) {
    String bare = SettingNames.bare(plain);
    if (known.containsKey(bare) || withMore.stream().anyMatch(bare::startsWith)) {
      return null;
    }
    boolean onlyOpens = known.keySet().stream().anyMatch(k -> k.startsWith(bare + "."));
    if (onlyOpens && (value == null || value.toString().isBlank())) {
      return null;
    }
    if (replaced.containsKey(bare)) {
      String instead = replaced.get(bare);
      return new Unread(
          "is read no more" + (instead == null ? "" : "; set " + instead + " instead"), true);
    }
    return Spelling.nearest(bare, known.keySet(), NEAR)
        .map(near -> new Unread("is no setting; did you mean " + known.get(near) + "?", true))
        .orElse(new Unread("is described nowhere; probably nothing reads it", false));
  }

  /** The same of a variable; one that is like no setting is nobody's concern. */
  Unread ofVariable(String plain) {
    String letters = SettingNames.letters(plain);
    if (known.keySet().stream().anyMatch(k -> SettingNames.letters(k).equals(letters))
        || withMore.stream().anyMatch(m -> letters.startsWith(SettingNames.letters(m)))) {
      return null;
    }
    Set<String> variables =
        known.values().stream()
            .map(k -> k.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT))
            .collect(Collectors.toCollection(TreeSet::new));
    return Spelling.nearest(plain, variables, NEAR)
        .map(near -> new Unread("is the variable of no setting; did you mean " + near + "?", false))
        .orElse(null);
  }
}
