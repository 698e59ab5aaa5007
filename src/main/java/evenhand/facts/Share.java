package evenhand.facts;

/** GPUs of one tier on one node that a job holds or is given. */
public record Share(String node, Tier tier, int gpus) {}
