package evenhand.outcomes;

import evenhand.facts.Claim;

/** G4: a claim ends; all its GPUs are released. */
public record Unclaim(Claim claim) implements Conclusion {}
