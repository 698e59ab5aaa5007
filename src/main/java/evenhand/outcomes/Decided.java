package evenhand.outcomes;

/** An outcome and the clause of the rule that concluded it. */
public record Decided(Outcome outcome, String rule) {}
