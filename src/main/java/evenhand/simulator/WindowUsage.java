package evenhand.simulator;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What one account has used within a window that moves along (A3). Exact: whole GPU-microseconds,
 * so that a sum never depends on the order in which its parts came.
 */
final class WindowUsage {
  private record Step(long atMicros, long usedBefore, int gpus) {}

  private final long window;
  private final Deque<Step> steps = new ArrayDeque<>();
  private long used;
  private long at;
  private int gpus;

  /**
   * @param window its length, microseconds
   */
  WindowUsage(long window) {
    this.window = window;
    steps.add(new Step(0, 0, 0));
  }

  /** From {@code now} on it uses so many GPUs more, or fewer. */
  void change(long now, int by) {
    used = usedBy(now);
    at = now;
    gpus += by;
    steps.add(new Step(now, used, gpus));
  }

  private long usedBy(long now) {
    return Math.addExact(used, Math.multiplyExact(now - at, (long) gpus));
  }

  /** GPU-seconds used in the window that ends at {@code now}; asked for later times only. */
  double within(long now) {
    long from = now - window;
    if (from <= 0) {
      return usedBy(now) / 1e6;
    }
    Step step = steps.pollFirst();
    while (!steps.isEmpty() && steps.peekFirst().atMicros <= from) {
      step = steps.pollFirst();
    }
    steps.addFirst(step);
    long usedThen = step.usedBefore + (from - step.atMicros) * step.gpus;
    return (usedBy(now) - usedThen) / 1e6;
  }
}
