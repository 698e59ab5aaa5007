package evenhand.service;

import evenhand.input.Spelling;
import evenhand.slurm.SlurmSettings;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.CommandLinePropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * The names that settings may have. Those of {@code evenhand.*} are all known, those of the
 * libraries as far as {@link SpringNames} goes: one that is spelt wrong would leave the default in
 * force without a word.
 */
final class SettingNames {
  private static final String OURS = "evenhand.";

  /** The source with which Spring says what it knows of the program itself. */
  private static final String OF_SPRING = "applicationInfo";

  private static final Pattern INDEX = Pattern.compile("\\[[^\\]]*\\]");

  /** Read one by one, beside the records that hold the others. */
  private static final List<String> SINGLE =
      List.of(
          "evenhand.data-dir",
          "evenhand.database-port",
          "evenhand.api.max-body",
          "evenhand.api.body-within",
          "evenhand.api.hosts",
          "evenhand.api.requests-per-minute",
          "evenhand.api.jobs-per-user",
          "evenhand.events.max-clients");

  /** Of variables that begin like ours: those of the commands, and those that jobs are given. */
  static final Set<String> NO_SETTINGS =
      Set.of(
          "EVENHAND_SERVER",
          "EVENHAND_TOKEN",
          "EVENHAND_TRACE",
          "EVENHAND_JOB_ID",
          "EVENHAND_ATTEMPT",
          "EVENHAND_RESUMED");

  /** What settings given to {@code serve} may begin with. */
  private static final Set<String> FIRST =
      Set.of(
          "evenhand",
          "server",
          "spring",
          "springdoc",
          "management",
          "logging",
          "demo",
          "debug",
          "trace",
          "info");

  /** Often meant, and not ours. */
  private static final List<String> OTHERS =
      List.of(
          "server.port",
          "server.address",
          "spring.datasource.url",
          "spring.datasource.username",
          "spring.datasource.password",
          "spring.config.additional-location",
          "logging.level.evenhand",
          "demo");

  private final Set<String> known = new TreeSet<>(SINGLE);

  /** Of those, in bare letters, what has one value and is no list. */
  private final Set<String> single = new HashSet<>();

  private final Set<String> free = new TreeSet<>();

  SettingNames() {
    collect("evenhand", Settings.class);
    collect("evenhand.slurm", SlurmSettings.class);
  }

  private void collect(String prefix, Class<?> settings) {
    for (RecordComponent component : settings.getRecordComponents()) {
      String name =
          prefix + "." + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
      Class<?> type = component.getType();
      if (type == List.class
          && component.getGenericType() instanceof ParameterizedType list
          && list.getActualTypeArguments()[0] instanceof Class<?> of) {
        type = of;
      }
      boolean many = Collection.class.isAssignableFrom(component.getType()) || type.isArray();
      if (type == Map.class) {
        free.add(name);
      } else if (type.isRecord()) {
        collect(name, type);
      } else {
        known.add(name);
        if (!many) {
          single.add(bare(name));
        }
      }
    }
  }

  Set<String> known() {
    return Set.copyOf(known);
  }

  /**
   * A setting that nobody reads.
   *
   * @param sentence what is to be said of it: its name, where it was given, what may be meant
   * @param sure whether it is certain that it is read by nobody
   */
  record Unread(String name, String sentence, boolean sure) {}

  /** Each setting that has a name nobody reads. */
  List<Unread> unread(ConfigurableEnvironment environment) {
    List<Unread> found = new ArrayList<>();
    for (PropertySource<?> source : environment.getPropertySources()) {
      boolean ofMachine =
          source.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
      if (ofMachine || !(source instanceof EnumerablePropertySource<?> listed)) {
        continue;
      }
      boolean variables =
          source.getName().equals(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);
      for (String name : listed.getPropertyNames()) {
        SpringNames.Unread unread = ofLibraries(source, name, variables);
        String sentence;
        if (unread != null) {
          sentence = unread.sentence();
        } else if (variables) {
          sentence = ofVariable(name);
        } else if (name.toLowerCase(Locale.ROOT).startsWith(OURS)) {
          sentence = ofOurs(name, source.getProperty(name));
        } else {
          sentence = source instanceof CommandLinePropertySource<?> ? ofCommandLine(name) : null;
        }
        if (sentence != null) {
          found.add(
              new Unread(
                  name,
                  name + place(source, name) + " " + sentence,
                  unread == null || unread.sure()));
        }
      }
    }
    return found;
  }

  /** Of a name that a library of the service may read; null where it is another, or in order. */
  private static SpringNames.Unread ofLibraries(
      PropertySource<?> source, String name, boolean variables) {
    String first = name.split(variables ? "_" : "[.\\[]", 2)[0].toLowerCase(Locale.ROOT);
    if (!SpringNames.FIRST.contains(first)
        || OTHERS.contains(name)
        || source.getName().equals(OF_SPRING)
        || isOwnDefault(OriginLookup.getOrigin(source, name))) {
      return null;
    }
    return variables
        ? SpringNames.get().ofVariable(name.replaceAll("_[0-9]+(?=_|$)", ""))
        : SpringNames.get().ofSetting(INDEX.matcher(name).replaceAll(""), source.getProperty(name));
  }

  /** Whether it stands in the service's own application.yaml. */
  static boolean isOwnDefault(Origin origin) {
    return innermost(origin) instanceof TextResourceOrigin text
        && text.getResource() != null
        && text.getResource().getDescription().contains("class path resource [application.yaml]");
  }

  private String ofOurs(String name, Object value) {
    String plain = INDEX.matcher(name).replaceAll("");
    if (name.endsWith("]") && single.contains(bare(plain))) {
      return "is an entry of a list, and " + plain + " is one value";
    }
    if (isKnown(plain, SettingNames::bare)) {
      return null;
    }
    String below = bare(plain) + ".";
    List<String> parts = known.stream().filter(k -> bare(k).startsWith(below)).toList();
    if (!parts.isEmpty() || free.stream().anyMatch(f -> bare(f).equals(bare(plain)))) {
      // A key without a value in a file is empty text, and says nothing.
      return value == null || value.toString().isBlank()
          ? null
          : "has no value of its own; there are "
              + (parts.isEmpty() ? plain + ".NAME" : String.join(", ", parts));
    }
    return "is no setting; " + hint(plain, known);
  }

  private String ofVariable(String name) {
    if (!name.startsWith("EVENHAND_") || NO_SETTINGS.contains(name)) {
      return null;
    }
    String plain = name.replaceAll("_[0-9]+(?=_|$)", "");
    if (isKnown(plain, SettingNames::letters)) {
      return null;
    }
    List<String> variables =
        known.stream()
            .map(k -> k.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT))
            .toList();
    return "is the variable of no setting; " + hint(plain, variables);
  }

  private String ofCommandLine(String name) {
    if (FIRST.contains(name.split("[.\\[]", 2)[0].toLowerCase(Locale.ROOT))) {
      return null;
    }
    Set<String> all = new TreeSet<>(known);
    all.addAll(OTHERS);
    List<String> ending =
        all.stream().filter(k -> bare(k).endsWith("." + bare(name))).limit(3).toList();
    return "is no setting; "
        + (ending.isEmpty()
            ? hint(name, all)
            : "did you mean " + String.join(" or ", ending) + "?");
  }

  private static String hint(String name, Iterable<String> known) {
    List<String> names = new ArrayList<>();
    known.forEach(names::add);
    return Spelling.nearest(name, names)
        .map(near -> "did you mean " + near + "?")
        .orElse("application.yaml in the jar lists all there are");
  }

  private boolean isKnown(String name, java.util.function.UnaryOperator<String> form) {
    String formed = form.apply(name);
    return known.stream().anyMatch(k -> form.apply(k).equals(formed))
        || free.stream().anyMatch(f -> isBelow(formed, form.apply(f)));
  }

  private static boolean isBelow(String name, String map) {
    return name.startsWith(map) && name.length() > map.length();
  }

  /** As Spring compares names: without regard to case and dashes. */
  static String bare(String name) {
    return name.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
  }

  static String letters(String name) {
    return bare(name).replace(".", "");
  }

  /** Where it was set, e.g. {@code (site.yaml, line 4)}; empty for the command line. */
  static String place(PropertySource<?> source, String name) {
    Origin origin = OriginLookup.getOrigin(source, name);
    return place(origin);
  }

  /** The place itself, where a source only hands on what it is told. */
  static Origin innermost(Origin origin) {
    Origin at = origin;
    while (at instanceof PropertySourceOrigin of && of.getOrigin() != null) {
      at = of.getOrigin();
    }
    return at;
  }

  static String place(Origin wrapped) {
    Origin origin = innermost(wrapped);
    if (origin instanceof TextResourceOrigin text && text.getResource() != null) {
      String file = String.valueOf(text.getResource().getFilename());
      return " ("
          + file
          + (text.getLocation() == null ? "" : ", line " + (text.getLocation().getLine() + 1))
          + ")";
    }
    return "";
  }
}
