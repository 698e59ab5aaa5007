package evenhand.facts;

import java.util.Objects;

/**
 * Placements that fit the same requests: one tier, one capacity, one node state. Fit (F1) is static
 * and looks at nothing else, so it is concluded once for the group and not for each node.
 *
 * @param capacity GPUs of the tier that exist and work on each of these nodes
 */
public record PlacementGroup(Tier tier, int capacity, NodeState state) {
  /** Groups are looked up for every placement of every cycle: cheap, and spread well enough. */
  @Override
  public int hashCode() {
    int of = 31 * (31 * Objects.hashCode(tier) + capacity);
    return of + (state == null ? 0 : state.ordinal());
  }
}
