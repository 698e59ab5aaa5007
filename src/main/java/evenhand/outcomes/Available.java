package evenhand.outcomes;

import evenhand.facts.Placement;
import evenhand.facts.Request;

/** V1: this placement could run the job whose turn it is, or one of its nodes, now. */
public record Available(Placement placement, Request request) implements Conclusion {}
