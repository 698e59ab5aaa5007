package evenhand.outcomes;

import evenhand.facts.Placement;
import java.util.List;

/**
 * Placements of one tier on which the nodes of a job start together.
 *
 * @param picks of each kind of placement, how many
 */
public record Gang(List<Pick> picks) {
  public Gang {
    picks = List.copyOf(picks);
  }

  /** So many of the placements that are like this one. */
  public record Pick(Placement like, int count) {}
}
