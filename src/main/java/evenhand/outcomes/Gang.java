package evenhand.outcomes;

import evenhand.facts.Placement;
import java.util.List;

/**
 * Placements of one tier on which the nodes of a job can start together.
 *
 * @param kinds the available placements of that tier, each standing for all that are like it
 * @param nodes how many of them the job takes: those the policy prefers
 */
public record Gang(List<Placement> kinds, int nodes) {
  public Gang {
    kinds = List.copyOf(kinds);
  }
}
