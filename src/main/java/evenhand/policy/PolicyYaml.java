package evenhand.policy;

import java.util.List;
import java.util.Map;

/**
 * A policy as written in {@code rules/policies/NAME.yaml}.
 *
 * @param path of its file, below the rules folder
 * @param modules rule files without their ending, in clause order
 * @param choices which of many allowed ones, by name: order, preference, reserve_preference,
 *     victims, explain
 * @param parameters by name
 * @param keptBy clauses that facts and shell keep, and how
 * @param lines where each value stands, by its path, e.g. {@code parameters.lookback.value}
 */
record PolicyYaml(
    String path,
    String policy,
    String title,
    List<String> modules,
    Map<String, Choice> choices,
    Map<String, Parameter> parameters,
    Map<String, String> keptBy,
    Map<String, Integer> lines) {

  /** A total order over things that are all allowed. */
  record Choice(String clause, List<String> keys, String meaning) {}

  /**
   * A figure or word that rules read as a {@link evenhand.facts.Setting}.
   *
   * @param oneOf the words allowed, or null for any
   * @param readBy {@code service} where the shell reads it and no rule does; null for rules
   */
  record Parameter(
      String value,
      String unit,
      List<String> oneOf,
      String clause,
      String readBy,
      String meaning) {}

  /** A fault of the value at a place, with its line where the file has it. */
  PolicyFault.Fault fault(String place, String sentence) {
    return new PolicyFault.Fault(path, lines.getOrDefault(place, 0), null, sentence);
  }
}
