package evenhand.policy;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A policy as written in {@code rules/policies/NAME.yaml}.
 *
 * @param modules rule files without their ending, in clause order
 * @param choices which of many allowed ones, by name: order, preference, reserve_preference,
 *     explain
 * @param parameters by name
 * @param keptBy clauses that facts and shell keep, and how
 */
record PolicyYaml(
    String policy,
    String title,
    List<String> modules,
    Map<String, Choice> choices,
    Map<String, Parameter> parameters,
    @JsonProperty("kept_by") Map<String, String> keptBy) {

  PolicyYaml {
    modules = modules == null ? List.of() : List.copyOf(modules);
    choices = choices == null ? Map.of() : new LinkedHashMap<>(choices);
    parameters = parameters == null ? Map.of() : new LinkedHashMap<>(parameters);
    keptBy = keptBy == null ? Map.of() : new LinkedHashMap<>(keptBy);
  }

  /** A total order over things that are all allowed. */
  record Choice(String clause, List<String> keys, String meaning) {
    Choice {
      keys = keys == null ? List.of() : List.copyOf(keys);
    }
  }

  /**
   * A figure or word that rules read as a {@link evenhand.facts.Setting}.
   *
   * @param oneOf the words allowed, or null for any
   * @param readBy {@code service} where the shell reads it and no rule does; null for rules
   */
  record Parameter(
      String value,
      String unit,
      @JsonProperty("one_of") List<String> oneOf,
      String clause,
      @JsonProperty("read_by") String readBy,
      String meaning) {}
}
