package evenhand.policy;

/**
 * The four classes that a priority is read as by the baseline {@code priority} (PR1): 2 and more is
 * URGENT, 1 HIGH, 0 NORMAL, less LOW.
 */
final class Urgency {
  private Urgency() {}

  static int of(int priority) {
    return Math.max(-1, Math.min(2, priority));
  }
}
