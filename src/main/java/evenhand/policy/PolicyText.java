package evenhand.policy;

import evenhand.policy.PolicyFault.Fault;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Reads a policy's YAML, strictly. */
final class PolicyText {
  private PolicyText() {}

  private static final ObjectMapper YAML =
      YAMLMapper.builder().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  static PolicyYaml read(String path, String text) throws PolicyFault {
    try {
      return YAML.readValue(text, PolicyYaml.class);
    } catch (JacksonException e) {
      throw new PolicyFault(
          new Fault(
              path,
              e.getLocation() == null ? 0 : e.getLocation().getLineNr(),
              null,
              e.getOriginalMessage()));
    }
  }

  /** A figure; a duration such as {@code 8h} in seconds. */
  static double number(String value) {
    String v = value.trim();
    double unit =
        switch (v.isEmpty() ? ' ' : v.charAt(v.length() - 1)) {
          case 's' -> 1;
          case 'm' -> 60;
          case 'h' -> 3600;
          case 'd' -> 86_400;
          default -> 0;
        };
    return unit == 0
        ? Double.parseDouble(v)
        : Double.parseDouble(v.substring(0, v.length() - 1)) * unit;
  }
}
