package evenhand.outcomes;

/**
 * An outcome and the rule that concluded it.
 *
 * @param rule the rule's clause
 * @param ruleName the rule's whole name where its clause has several rules; null where the clause
 *     names it well enough
 */
public record Decided(Outcome outcome, String rule, String ruleName) {

  /** Concluded by the one rule of its clause. */
  public Decided(Outcome outcome, String rule) {
    this(outcome, rule, null);
  }
}
