package evenhand.cycle;

import evenhand.facts.NodeState;
import evenhand.facts.Tier;

/**
 * A placement of the inventory: the GPUs of one tier on one node that exist, whoever uses them.
 *
 * @param capacity 0 when the cluster shows the node without them: they are retired
 * @param reason why the node is not up, or null
 */
public record Stock(String node, Tier tier, int capacity, NodeState state, String reason) {
  /** The reason given for a placement that the cluster shows no more. */
  public static final String GONE = "the cluster no longer shows this node";
}
