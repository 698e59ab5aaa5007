package evenhand.policy;

import evenhand.input.Durations;
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

  /**
   * A figure; a duration such as {@code 8h} in seconds.
   *
   * @throws IllegalArgumentException when it is neither
   */
  static double number(String value) {
    String v = value.trim();
    return v.matches(".*[smhd]") ? Durations.seconds(Durations.parse(v)) : Double.parseDouble(v);
  }
}
