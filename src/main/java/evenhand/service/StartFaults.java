package evenhand.service;

import evenhand.input.InputFault;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.boot.context.config.ConfigDataLocationNotFoundException;
import org.springframework.boot.context.config.ConfigDataNotFoundException;
import org.springframework.boot.context.config.ConfigDataResourceNotFoundException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.util.unit.DataSize;
import org.yaml.snakeyaml.error.MarkedYAMLException;

/** Says in our own words why a start failed, whatever part of it did. */
final class StartFaults {
  private static final int DEEPEST = 50;
  private static final Pattern FILE =
      Pattern.compile("--spring\\.config\\.(?:additional-)?location=(.*)");

  private StartFaults() {}

  /**
   * @param arguments what it was started with
   * @param database the database's address, null when it is not known yet
   * @param address where it was to listen
   */
  static StartFault of(Throwable e, List<String> arguments, String database, String address) {
    StartFault told = first(e, StartFault.class);
    if (told != null) {
      return told;
    }
    org.springframework.boot.context.properties.bind.BindException bind =
        first(e, org.springframework.boot.context.properties.bind.BindException.class);
    if (bind != null) {
      return StartFault.ofSettings(sentence(bind), e);
    }
    ConfigDataNotFoundException missing = first(e, ConfigDataNotFoundException.class);
    if (missing != null) {
      return StartFault.ofSettings(
          "There is no settings file "
              + location(missing)
              + "; name one that is there with --spring.config.additional-location=FILE",
          e);
    }
    MarkedYAMLException yaml = first(e, MarkedYAMLException.class);
    if (yaml != null) {
      return StartFault.ofSettings(sentence(yaml, arguments), e);
    }
    if (first(e, PolicyFault.class) != null
        || first(e, RuleFailed.class) != null
        || first(e, InputFault.class) != null) {
      Throwable rules =
          first(e, PolicyFault.class) != null
              ? first(e, PolicyFault.class)
              : first(e, RuleFailed.class) != null
                  ? first(e, RuleFailed.class)
                  : first(e, InputFault.class);
      return StartFault.ofSettings(
          "The rules do not pass their check, which \"evenhand check\" shows in full:\n"
              + rules.getMessage(),
          e);
    }
    PortInUseException port = first(e, PortInUseException.class);
    if (port != null) {
      return inUse(port.getPort(), address, e);
    }
    SQLException sql = first(e, SQLException.class);
    if (sql != null) {
      return StartFault.outside(
          "The database "
              + (database == null ? "" : database.replaceAll("\\?.*", "") + " ")
              + "cannot be used: "
              + line(sql.getMessage())
              + ". It is set by spring.datasource.url, username and password",
          e);
    }
    return StartFault.outside("The service did not start: " + line(root(e)), e);
  }

  private static StartFault inUse(int port, String address, Throwable e) {
    return StartFault.outside(
        "Port "
            + port
            + " of "
            + address
            + " is in use by another program; stop that, or give another one with"
            + " --server.port=PORT",
        e);
  }

  /** Why nothing can listen on a port. */
  static StartFault cannotListen(int port, String address, IOException e) {
    String because = String.valueOf(e.getMessage());
    if (because.contains("in use")) {
      return inUse(port, address, e);
    }
    if (because.contains("assign")) {
      return StartFault.ofSettings(
          "server.address is \"" + address + "\"; this host has no such address to listen on", e);
    }
    return StartFault.outside(
        "It cannot listen on port " + port + " of " + address + ": " + line(because), e);
  }

  /** Setting, value, where it stands, and what would be right. */
  static String sentence(org.springframework.boot.context.properties.bind.BindException e) {
    if (e.getCause() instanceof UnboundConfigurationPropertiesException unbound) {
      return unbound.getUnboundProperties().stream()
          .map(p -> p.getName() + " is no setting")
          .collect(Collectors.joining("\n"));
    }
    return sentence(e.getName(), e.getTarget(), e.getProperty(), e);
  }

  /**
   * @param property null where nothing was set
   */
  static String sentence(
      ConfigurationPropertyName name,
      Bindable<?> target,
      ConfigurationProperty property,
      Throwable e) {
    Class<?> type = target.getType().resolve(Object.class);
    if (property == null) {
      // Said by the check of the settings' own record, which names the setting.
      String own = root(e);
      return own.startsWith(name + ".") ? line(own) : name + " is missing or not " + right(type);
    }
    return property.getName()
        + SettingNames.place(property.getOrigin())
        + " is \""
        + property.getValue()
        + "\"; it must be "
        + right(type);
  }

  private static String right(Class<?> type) {
    if (type == Duration.class) {
      return "a time such as 500ms, 5s, 10m or 7d";
    }
    if (type == boolean.class || type == Boolean.class) {
      return "true or false";
    }
    if (type == int.class || type == Integer.class || type == long.class || type == Long.class) {
      return "a whole number";
    }
    if (type == double.class || type == Double.class) {
      return "a number";
    }
    if (type == DataSize.class) {
      return "a size such as 512KB or 2MB";
    }
    if (type == URI.class) {
      return "an address such as http://llm-router:9000";
    }
    if (type == InetAddress.class) {
      return "an address or name of this host, such as 127.0.0.1";
    }
    if (type == Path.class) {
      return "a path";
    }
    if (type.isEnum()) {
      return "one of "
          + Arrays.stream(type.getEnumConstants())
              .map(c -> c.toString().toLowerCase(Locale.ROOT))
              .collect(Collectors.joining(", "));
    }
    return "as application.yaml in the jar shows it";
  }

  private static String sentence(MarkedYAMLException yaml, List<String> arguments) {
    String file =
        arguments.stream()
            .map(FILE::matcher)
            .filter(Matcher::matches)
            .map(m -> m.group(1))
            .findFirst()
            .orElse("application.yaml");
    int line = yaml.getProblemMark() == null ? 0 : yaml.getProblemMark().getLine() + 1;
    return file
        + (line > 0 ? ", line " + line + "," : "")
        + " is not YAML: "
        + line(yaml.getProblem() == null ? yaml.getMessage() : yaml.getProblem());
  }

  private static String location(ConfigDataNotFoundException missing) {
    if (missing instanceof ConfigDataResourceNotFoundException resource
        && resource.getLocation() != null) {
      return resource.getLocation().getValue();
    }
    if (missing instanceof ConfigDataLocationNotFoundException location) {
      return location.getLocation().getValue();
    }
    return missing.getReferenceDescription();
  }

  private static <T> T first(Throwable e, Class<T> kind) {
    Throwable at = e;
    for (int i = 0; at != null && i < DEEPEST; i++, at = at.getCause()) {
      if (kind.isInstance(at)) {
        return kind.cast(at);
      }
    }
    return null;
  }

  private static String root(Throwable e) {
    Throwable root = e;
    for (int i = 0; i < DEEPEST && root.getCause() != null; i++) {
      root = root.getCause();
    }
    return root.getMessage() == null ? root.toString() : root.getMessage();
  }

  private static String line(String text) {
    String first = String.valueOf(text).strip().lines().findFirst().orElse("");
    return first.endsWith(".") ? first.substring(0, first.length() - 1) : first;
  }
}
