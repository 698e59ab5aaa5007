package evenhand.policy;

/**
 * The four classes that a priority is read as by the baseline {@code priority} (PR1): 2 and more is
 * URGENT, 1 HIGH, 0 NORMAL, less LOW.
 */
final class Urgency {
  static final int LEAST = -1;
  static final int CLASSES = 4;

  private Urgency() {}

  static int of(int priority) {
    return Math.max(LEAST, Math.min(LEAST + CLASSES - 1, priority));
  }
}
