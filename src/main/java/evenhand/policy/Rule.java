package evenhand.policy;

import evenhand.outcomes.Decided;
import evenhand.outcomes.Outcome;

/**
 * A rule as people see it.
 *
 * @param name the clause id and the clause as one sentence
 * @param file path below the rules folder
 * @param line where it begins
 * @param alone whether it is the only rule of its clause
 * @param text the rule as written, from {@code rule} to {@code end}
 * @param comment what stands above it: the clause and the reading of its doubtful words
 */
public record Rule(
    String clause,
    String name,
    Stage stage,
    String file,
    int line,
    boolean alone,
    String text,
    String comment) {

  /** An outcome that this rule concluded. */
  Decided decided(Outcome outcome) {
    return new Decided(outcome, clause, alone ? null : name);
  }
}
