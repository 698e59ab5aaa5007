package evenhand.outcomes;

import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;

/** F1: placements of this group could ever run this request. */
public record Fit(Request request, PlacementGroup group) implements Conclusion {}
