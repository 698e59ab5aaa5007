package evenhand.simulator;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Simulated time: whole microseconds from the job set's zero, as finely as stores keep it. */
final class Micros {
  /** The moment that {@code submit_s} 0 stands for, a Thursday. */
  static final Instant ZERO = Instant.parse("2026-01-01T00:00:00Z");

  static final long SECOND = 1_000_000;
  static final long HOUR = 3600 * SECOND;

  private static final BigDecimal LONGEST = new BigDecimal("1e10");

  private Micros() {}

  /**
   * Microseconds of a number of seconds, finer parts cut off.
   *
   * @throws ArithmeticException when it is negative or above 10^10 s
   */
  static long of(BigDecimal seconds) {
    if (seconds.signum() < 0 || seconds.compareTo(LONGEST) > 0) {
      throw new ArithmeticException("out of range");
    }
    return seconds.movePointRight(6).setScale(0, RoundingMode.DOWN).longValueExact();
  }

  static long of(Duration duration) {
    return duration.toSeconds() * SECOND + duration.getNano() / 1000;
  }

  static long of(Instant instant) {
    return ChronoUnit.MICROS.between(ZERO, instant);
  }

  static Instant instant(long micros) {
    return ZERO.plus(micros, ChronoUnit.MICROS);
  }

  static double seconds(long micros) {
    return micros / 1e6;
  }

  /** Seconds as figures in files: whole where they are whole, else with up to six decimals. */
  static String text(long micros) {
    return BigDecimal.valueOf(micros, 6).stripTrailingZeros().toPlainString();
  }
}
