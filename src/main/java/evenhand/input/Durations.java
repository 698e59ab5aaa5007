package evenhand.input;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as people write them: {@code 8h}, {@code 15m}, {@code 300s}, {@code 7d}, {@code 1.5h},
 * {@code 250ms}, or a number of seconds.
 */
public final class Durations {
  private static final Pattern FORM =
      Pattern.compile("([0-9]{1,12}(?:\\.[0-9]{1,9})?)\\s?(ms|s|m|h|d)?");
  private static final Map<String, BigDecimal> SECONDS =
      Map.of(
          "ms", new BigDecimal("0.001"),
          "s", BigDecimal.ONE,
          "m", BigDecimal.valueOf(60),
          "h", BigDecimal.valueOf(3600),
          "d", BigDecimal.valueOf(86_400));
  private static final BigDecimal LONGEST = BigDecimal.valueOf(36_525L * 86_400);
  private static final BigDecimal NANOS = BigDecimal.valueOf(1_000_000_000);

  private Durations() {}

  /** What is right, for messages. */
  public static final String RIGHT = "a duration such as 8h, 15m, 300s, 7d, or a number of seconds";

  /**
   * Reads a duration of 0 s to 100 years, exact to the nanosecond.
   *
   * @throws IllegalArgumentException when it is not one; the message says what would be right
   */
  public static Duration parse(String text) {
    Matcher m = FORM.matcher(text.strip());
    if (!m.matches()) {
      throw new IllegalArgumentException("must be " + RIGHT + ", not \"" + text + "\"");
    }
    BigDecimal unit = SECONDS.get(m.group(2) == null ? "s" : m.group(2));
    BigDecimal seconds = new BigDecimal(m.group(1)).multiply(unit);
    if (seconds.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("must be at most 36525d, not \"" + text + "\"");
    }
    BigDecimal whole = seconds.setScale(0, java.math.RoundingMode.DOWN);
    return Duration.ofSeconds(
        whole.longValueExact(), seconds.subtract(whole).multiply(NANOS).longValue());
  }

  /** Seconds of a duration, its fraction included. */
  public static double seconds(Duration duration) {
    return duration.getSeconds() + duration.getNano() / 1e9;
  }

  /** The shortest exact way to write whole seconds: {@code 8h}, {@code 90s}, {@code 0s}. */
  public static String text(long seconds) {
    if (seconds != 0 && seconds % 86_400 == 0) {
      return seconds / 86_400 + "d";
    }
    if (seconds != 0 && seconds % 3600 == 0) {
      return seconds / 3600 + "h";
    }
    return seconds != 0 && seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
  }
}
