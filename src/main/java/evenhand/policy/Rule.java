package evenhand.policy;

import evenhand.outcomes.Decided;
import evenhand.outcomes.Outcome;
import java.util.List;
import java.util.regex.Pattern;

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

  private static final Pattern NAMED = Pattern.compile("\\b([A-Z]\\w*)\\s*\\(");
  private static final Pattern MADE =
      Pattern.compile("\\binsert\\s*\\(\\s*new\\s+([A-Z]\\w*)\\s*\\(");

  /** Names of the facts and conclusions that its conditions look at, in their order. */
  public List<String> reads() {
    return found(NAMED, Lint.conditions(Lint.bare(text)));
  }

  /** Names of the conclusions that it inserts. */
  public List<String> makes() {
    return found(MADE, Lint.bare(text));
  }

  private static List<String> found(Pattern pattern, String in) {
    return pattern.matcher(in).results().map(m -> m.group(1)).distinct().toList();
  }

  /** An outcome that this rule concluded. */
  Decided decided(Outcome outcome) {
    return new Decided(outcome, clause, alone ? null : name);
  }
}
