package evenhand.service;

import evenhand.cli.Site;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.SystemEnvironmentOrigin;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.CommandLinePropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Every setting in force, and where it was given. */
final class EffectiveSettings {
  static final String MASK = "********";

  private static final Pattern OURS =
      Pattern.compile("(evenhand|server|spring|springdoc|management|logging|demo)(\\..*|\\[.*|)");
  private static final Pattern SECRET =
      Pattern.compile("(?i).*(password|secret|token|jwt|credential|private-key).*");

  /** Words like those above that hide nothing. */
  private static final Pattern NO_SECRET =
      Pattern.compile("spring\\.security\\.oauth2\\.resourceserver\\.jwt\\.(issuer|jwk-set)-uri");

  private static final Pattern USER_INFO = Pattern.compile("(?<=://)[^/@]*@");
  private static final Pattern SECRET_PARAMETER =
      Pattern.compile("(?i)((?:password|token|secret)=)[^&]*");

  private final ConfigurableEnvironment environment;

  EffectiveSettings(ConfigurableEnvironment environment) {
    this.environment = environment;
  }

  List<Site.Setting> all() {
    Map<ConfigurationPropertyName, Site.Setting> found = new TreeMap<>();
    Set<String> unread =
        new SettingNames()
            .unread(environment).stream()
                .map(u -> SettingNames.letters(u.name()))
                .collect(Collectors.toSet());
    for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
      Object below = source.getUnderlyingSource();
      boolean ofMachine =
          below instanceof PropertySource<?> p
              && p.getName().equals(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
      if (ofMachine || !(source instanceof IterableConfigurationPropertySource named)) {
        continue;
      }
      for (ConfigurationPropertyName name : named) {
        ConfigurationProperty property =
            OURS.matcher(name.toString()).matches() ? source.getConfigurationProperty(name) : null;
        boolean ofCommands =
            property != null
                && SettingNames.innermost(property.getOrigin())
                    instanceof SystemEnvironmentOrigin variable
                && SettingNames.NO_SETTINGS.contains(variable.getProperty());
        if (property != null && !ofCommands && !found.containsKey(name)) {
          found.put(
              name,
              new Site.Setting(
                  name.toString(),
                  shown(name.toString()),
                  origin(property, below)
                      + (unread.contains(SettingNames.letters(name.toString()))
                          ? ", read by nobody"
                          : "")));
        }
      }
    }
    return new ArrayList<>(found.values());
  }

  /** As it counts, its placeholders filled in; nothing secret. */
  private String shown(String name) {
    String value = environment.getProperty(name, "");
    if (value.isEmpty()) {
      return value;
    }
    if (SECRET.matcher(name).matches() && !NO_SECRET.matcher(name).matches()) {
      return MASK;
    }
    String open = USER_INFO.matcher(value).replaceAll(MASK + "@");
    return SECRET_PARAMETER.matcher(open).replaceAll("$1" + MASK);
  }

  private static String origin(ConfigurationProperty property, Object source) {
    Origin origin = SettingNames.innermost(property.getOrigin());
    if (origin instanceof TextResourceOrigin text && text.getResource() != null) {
      if (SettingNames.isOwnDefault(origin)) {
        return "default";
      }
      return text.getResource().getFilename()
          + (text.getLocation() == null ? "" : ":" + (text.getLocation().getLine() + 1));
    }
    if (origin instanceof SystemEnvironmentOrigin variable) {
      return "variable " + variable.getProperty();
    }
    if (source instanceof CommandLinePropertySource<?>) {
      return "command line";
    }
    return source instanceof SystemEnvironmentPropertySource
        ? "variable"
        : ((PropertySource<?>) source).getName();
  }
}
