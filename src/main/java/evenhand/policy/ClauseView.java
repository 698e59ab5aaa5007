package evenhand.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * One clause of a policy, for people: by rules, by choices, by parameters, or kept by the facts.
 *
 * @param text what stands above the rule in its file; empty for clauses without rules
 * @param rules its rules, empty for clauses without
 * @param figures choices and parameters that carry this clause
 * @param kept how the facts keep it without a rule, or null
 */
public record ClauseView(
    String clause, String text, List<Rule> rules, List<Figure> figures, String kept) {
  public ClauseView {
    rules = List.copyOf(rules);
    figures = List.copyOf(figures);
  }

  /**
   * A choice or parameter as it stands.
   *
   * @param value with its unit; the keys of a choice, in their order
   */
  public record Figure(String name, String value, String meaning) {
    @Override
    public String toString() {
      return name + " = " + value + " (" + meaning + ")";
    }
  }

  /** What carries it besides rules, a sentence each. */
  public List<String> sentences() {
    List<String> sentences = new ArrayList<>(figures.stream().map(Figure::toString).toList());
    if (kept != null) {
      sentences.add("kept: " + kept);
    }
    return sentences;
  }
}
