package evenhand.cycle;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;

/**
 * Exact sums of GPU time and of what it cost.
 *
 * @param gpuSeconds GPUs x seconds, exact to the nanosecond
 * @param tflopSeconds what it cost
 * @param chargedTflopSeconds how much of that is charged
 */
record Amount(BigDecimal gpuSeconds, BigDecimal tflopSeconds, BigDecimal chargedTflopSeconds) {
  static final Amount NOTHING = new Amount(BigDecimal.ZERO, BigDecimal.ZERO, BigDecimal.ZERO);

  Amount plus(Amount other) {
    return new Amount(
        gpuSeconds.add(other.gpuSeconds),
        tflopSeconds.add(other.tflopSeconds),
        chargedTflopSeconds.add(other.chargedTflopSeconds));
  }

  /** GPU time that costs nobody anything. */
  static Amount free(int gpus, Instant from, Instant to) {
    return new Amount(gpuSeconds(gpus, from, to), BigDecimal.ZERO, BigDecimal.ZERO);
  }

  /** GPUs x seconds; 0 when {@code to} is not after {@code from}. */
  static BigDecimal gpuSeconds(int gpus, Instant from, Instant to) {
    if (!to.isAfter(from)) {
      return BigDecimal.ZERO;
    }
    Duration held = Duration.between(from, to);
    return BigDecimal.valueOf(held.getSeconds())
        .add(BigDecimal.valueOf(held.getNano(), 9))
        .multiply(BigDecimal.valueOf(gpus));
  }
}
