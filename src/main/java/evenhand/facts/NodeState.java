package evenhand.facts;

/**
 * Whether a node may be given work: {@code up} yes, {@code draining} no new work, {@code down}
 * none.
 */
public enum NodeState {
  UP,
  DRAINING,
  DOWN;

  /** The word used in snapshots and answers: {@code up}, {@code draining}, {@code down}. */
  public String word() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
