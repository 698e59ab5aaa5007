package evenhand.simulator;

import evenhand.cycle.accounts.GpuTime;
import evenhand.facts.Tier;
import evenhand.policy.ChargeUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * What one account has used within a window that moves along (A3). Exact: whole GPU-microseconds of
 * each price, so that a sum never depends on the order in which its parts came.
 */
final class WindowUsage {
  private final long window;
  private final ChargeUnit unit;
  private final Map<Double, OfOnePrice> parts = new HashMap<>();

  /**
   * @param window its length, microseconds
   * @param unit what is summed
   */
  WindowUsage(long window, ChargeUnit unit) {
    this.window = window;
    this.unit = unit;
  }

  /** From {@code now} on it uses so many GPUs of the tier more, or fewer. */
  void change(long now, Tier tier, int by) {
    parts.computeIfAbsent(unit.price(tier), p -> new OfOnePrice()).change(now, by);
  }

  /** What was used in the window that ends at {@code now}; asked for later times only. */
  double within(long now) {
    GpuTime sum = new GpuTime();
    parts.forEach((price, part) -> sum.add(price, part.within(now, window)));
    return sum.in(unit);
  }

  private static final class OfOnePrice {
    private record Step(long atMicros, long usedBefore, int gpus) {}

    private final Deque<Step> steps = new ArrayDeque<>();
    private long used;
    private long at;
    private int gpus;

    OfOnePrice() {
      steps.add(new Step(0, 0, 0));
    }

    void change(long now, int by) {
      used = usedBy(now);
      at = now;
      gpus += by;
      steps.add(new Step(now, used, gpus));
    }

    private long usedBy(long now) {
      return Math.addExact(used, Math.multiplyExact(now - at, (long) gpus));
    }

    long within(long now, long window) {
      long from = now - window;
      if (from <= 0) {
        return usedBy(now);
      }
      Step step = steps.pollFirst();
      while (!steps.isEmpty() && steps.peekFirst().atMicros <= from) {
        step = steps.pollFirst();
      }
      steps.addFirst(step);
      long usedThen = step.usedBefore + (from - step.atMicros) * step.gpus;
      return usedBy(now) - usedThen;
    }
  }
}
