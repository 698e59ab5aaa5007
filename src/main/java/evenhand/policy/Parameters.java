package evenhand.policy;

import evenhand.facts.Setting;
import evenhand.input.Durations;
import evenhand.input.Spelling;
import evenhand.policy.PolicyFault.Fault;
import evenhand.policy.PolicyYaml.Choice;
import evenhand.policy.PolicyYaml.Parameter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A policy's parameters: what was set for once put in their place, and every value held against
 * what would be right for it. A value that would silently switch its clause off (a window of no
 * length, no start in any cycle) is as wrong as one that cannot be read.
 */
final class Parameters {
  private static final double MOST_COUNTED = 1_000_000;

  private Parameters() {}

  /**
   * Puts what was set for once in place of what the file says.
   *
   * @param settings by name of a parameter or choice; a choice as its keys with commas between
   */
  static void override(
      PolicyYaml yaml,
      Map<String, String> settings,
      Map<String, Choice> choices,
      Map<String, Parameter> parameters,
      List<Fault> faults) {
    for (Map.Entry<String, String> set : new TreeMap<>(settings).entrySet()) {
      String name = set.getKey();
      String value = set.getValue() == null ? "" : set.getValue().trim();
      if (choices.containsKey(name)) {
        Choice old = choices.get(name);
        choices.put(
            name, new Choice(old.clause(), List.of(value.split("\\s*,\\s*")), old.meaning()));
      } else if (parameters.containsKey(name)) {
        Parameter old = parameters.get(name);
        parameters.put(
            name,
            new Parameter(
                value, old.unit(), old.oneOf(), old.clause(), old.readBy(), old.meaning()));
      } else {
        List<String> known = new ArrayList<>(parameters.keySet());
        known.addAll(choices.keySet());
        faults.add(
            new Fault(
                yaml.path(),
                0,
                null,
                "has no parameter \"" + name + "\" to set; " + Spelling.hint(name, known)));
      }
    }
  }

  /** Notes every value that is not right, at its line unless it was set for once. */
  static void check(
      PolicyYaml yaml,
      Map<String, String> settings,
      Map<String, Parameter> parameters,
      List<Fault> faults) {
    parameters.forEach(
        (name, p) -> {
          String right = right(name, p);
          if (right != null) {
            boolean forOnce = settings.containsKey(name);
            faults.add(
                yaml.fault(
                    forOnce ? "" : "parameters." + name + ".value",
                    "parameter "
                        + name
                        + (forOnce ? " was set to \"" : " is \"")
                        + p.value()
                        + "\"; it must be "
                        + right));
          }
        });
  }

  /** What would be right; null where the value is. */
  private static String right(String name, Parameter p) {
    if (p.oneOf() != null) {
      return p.oneOf().contains(p.value()) ? null : "one of " + p.oneOf();
    }
    double n = number(p.value());
    boolean figure = n >= 0 && n < Double.POSITIVE_INFINITY;
    switch (name) {
      case "preempt_window":
        return p.value().equals("always") || figure && n > 0
            ? null
            : "a time longer than 0, e.g. 30m, or always";
      case "lookback":
        return figure && n > 0 ? null : "a time longer than 0, e.g. 7d";
      case "max_min_runtime":
        return figure && n > 0 ? null : "a time longer than 0, e.g. 8h";
      default:
        break;
    }
    if (p.unit() == null) {
      return null; // a word of its own; rules read it as text
    }
    return switch (p.unit()) {
      case "GPUs", "jobs" ->
          figure && n >= 1 && n <= MOST_COUNTED && n == Math.rint(n)
              ? null
              : "a whole number of " + p.unit() + " from 1 to " + (long) MOST_COUNTED;
      case "seconds" -> figure ? null : Durations.RIGHT;
      default -> figure ? null : "a number of " + p.unit() + ", 0 or more";
    };
  }

  /** Every parameter is read by some rule, and every one that a rule reads exists. */
  static void used(
      PolicyYaml yaml,
      Map<String, String> texts,
      Map<String, Parameter> parameters,
      List<Fault> faults) {
    Set<String> read = new HashSet<>();
    texts.forEach(
        (file, text) -> {
          for (String name : Lint.settings(text)) {
            read.add(name);
            if (!parameters.containsKey(name)) {
              faults.add(
                  new Fault(
                      file,
                      Lint.lineOfSetting(text, name),
                      null,
                      "reads the parameter \""
                          + name
                          + "\", which "
                          + yaml.path()
                          + " does not give; "
                          + Spelling.hint(name, parameters.keySet())));
            }
          }
        });
    for (String name : parameters.keySet()) {
      boolean byService = "service".equals(parameters.get(name).readBy());
      if (!byService && !read.contains(name)) {
        faults.add(
            yaml.fault(
                "parameters." + name,
                "gives the parameter \"" + name + "\", but none of its rules reads it"));
      }
    }
  }

  /** The fact that rules read. */
  static Setting setting(String name, Parameter p) {
    return new Setting(name, p.value(), number(p.value()));
  }

  /** A figure, a duration such as {@code 8h} in seconds, or NaN where the value is neither. */
  static double number(String value) {
    try {
      return value.matches(".*[smhd]")
          ? Durations.seconds(Durations.parse(value))
          : new BigDecimal(value).doubleValue();
    } catch (IllegalArgumentException e) { // a NumberFormatException is one too
      return Double.NaN;
    }
  }
}
