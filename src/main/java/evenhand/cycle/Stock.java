package evenhand.cycle;

import evenhand.facts.NodeState;
import evenhand.facts.Tier;

/**
 * A placement of the inventory: the GPUs of one tier on one node that exist, whoever uses them.
 *
 * @param reason why the node is not up, or null
 */
public record Stock(String node, Tier tier, int capacity, NodeState state, String reason) {}
