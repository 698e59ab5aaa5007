package evenhand.outcomes;

import evenhand.facts.Candidate;

/** Such running work is not ended for the job whose turn it is; why, for people. */
public record Shield(Candidate candidate, String why) implements Conclusion {}
