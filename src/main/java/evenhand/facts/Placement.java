package evenhand.facts;

/**
 * All GPUs of one tier on one node, as they stand at this moment of the cycle.
 *
 * @param idle GPUs that no research job holds and nobody has reserved; LLM backfill does not count
 *     as held (B1)
 * @param reserved GPUs of it that reservations hold
 * @param heldFor the job that the first of these reservations is for, or null
 * @param alike how many placements this one stands for in a turn: they differ in nothing but their
 *     node
 * @param claimed idle GPUs of it that a claim holds (G1); not among {@code idle}
 */
public record Placement(
    String node,
    PlacementGroup group,
    int idle,
    int reserved,
    String heldFor,
    int alike,
    int claimed) {

  /** One of which nothing is claimed. */
  public Placement(
      String node, PlacementGroup group, int idle, int reserved, String heldFor, int alike) {
    this(node, group, idle, reserved, heldFor, alike, 0);
  }

  /** One that stands for itself. */
  public Placement(String node, PlacementGroup group, int idle, int reserved, String heldFor) {
    this(node, group, idle, reserved, heldFor, 1);
  }

  public Tier tier() {
    return group.tier();
  }

  public int capacity() {
    return group.capacity();
  }

  public NodeState state() {
    return group.state();
  }

  /** The same placement, standing for so many that are like it. */
  public Placement standingFor(int many) {
    return new Placement(node, group, idle, reserved, heldFor, many, claimed);
  }

  /** The same placement with another number of idle GPUs. */
  public Placement withIdle(int nowIdle) {
    return new Placement(node, group, nowIdle, reserved, heldFor, alike, claimed);
  }
}
