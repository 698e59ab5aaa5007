package evenhand.service;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Map;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;

/** Whether it is asked who somebody is: setting {@code evenhand.security}. */
final class Security {
  private Security() {}

  /**
   * On, unless it is set to off, or nothing is set and the demonstration listens on loopback.
   *
   * @throws IllegalArgumentException when it is set to something else
   */
  static boolean isOn(Environment environment) {
    String said = environment.getProperty("evenhand.security", "").strip();
    // Older YAML reads on and off as true and false.
    return switch (said.toLowerCase(Locale.ROOT)) {
      case "" -> Mode.of(environment) != Mode.DEMO || !listensOnLoopback(environment);
      case "on", "true" -> true;
      case "off", "false" -> false;
      default ->
          throw new IllegalArgumentException(
              "evenhand.security is \"" + said + "\"; it must be on or off");
    };
  }

  static boolean listensOnLoopback(Environment environment) {
    String address = environment.getProperty("server.address", "").strip();
    try {
      return !address.isEmpty() && InetAddress.getByName(address).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /** What else depends on it: who sees the health's details. */
  static void completes(ConfigurableEnvironment environment) {
    environment
        .getPropertySources()
        .addLast(
            new MapPropertySource(
                "by evenhand.security",
                Map.of(
                    "management.endpoint.health.show-details",
                    isOn(environment) ? "when-authorized" : "always",
                    "management.endpoint.health.roles",
                    "OPERATOR,AUDITOR,METRICS,ADMIN")));
  }
}
