package evenhand.facts;

/**
 * A running job on a node that is not up (X1, X2).
 *
 * @param state of the worst of its nodes
 * @param unprotected whether its minimum run time is over, or it never had one
 */
public record Resident(Running running, NodeState state, boolean unprotected) {}
