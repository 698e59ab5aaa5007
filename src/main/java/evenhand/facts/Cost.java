package evenhand.facts;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;

/** The one formula of charging: GPUs x seconds x TFLOPS. */
public final class Cost {
  private Cost() {}

  /**
   * TFLOP-seconds of {@code gpus} held from {@code from} to {@code to} on a tier of {@code tflops}.
   * Computed in decimals and rounded once, so that 300 s x 82.6 is 24,780 and nothing near it. A
   * clock that stepped back gives 0, never a negative cost.
   */
  public static double tflopSeconds(int gpus, Instant from, Instant to, double tflops) {
    return exact(gpus, from, to, tflops).doubleValue();
  }

  /** The same as {@link #tflopSeconds}, exact to the nanosecond. */
  public static BigDecimal exact(int gpus, Instant from, Instant to, double tflops) {
    Duration held = Duration.between(from, to);
    if (held.isNegative()) {
      return BigDecimal.ZERO;
    }
    BigDecimal seconds =
        BigDecimal.valueOf(held.getSeconds()).add(BigDecimal.valueOf(held.getNano(), 9));
    return seconds.multiply(BigDecimal.valueOf(gpus)).multiply(BigDecimal.valueOf(tflops));
  }
}
