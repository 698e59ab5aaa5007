package evenhand.outcomes;

import evenhand.facts.Placement;

/** V1: this placement could run the job whose turn it is, now. */
public record Available(Placement placement) implements Conclusion {}
