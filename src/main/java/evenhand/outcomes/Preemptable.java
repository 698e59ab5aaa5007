package evenhand.outcomes;

import evenhand.facts.Candidate;

/** Such running work may be ended for the job whose turn it is, if that makes room for it (K4). */
public record Preemptable(Candidate candidate) implements Conclusion {}
