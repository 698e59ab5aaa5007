package evenhand.slurm.text;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Time limits, elapsed times and dates, as Slurm prints them and as {@code sbatch} takes them. */
public final class Times {
  private static final Pattern MINUTES = Pattern.compile("\\d{1,12}");
  // [days-][hours:]minutes[:seconds]; which field is which depends on how many there are.
  private static final Pattern SPAN =
      Pattern.compile("(?:(\\d{1,9})-)?(\\d{1,12})(?::(\\d{1,4}))?(?::(\\d{1,4}))?(\\.\\d{1,9})?");
  private static final Set<String> NO_LIMIT = Set.of("UNLIMITED", "INFINITE", "-1");
  private static final Set<String> NOT_TOLD =
      Set.of("", "N/A", "(NULL)", "NONE", "UNKNOWN", "NOT_SET", "INVALID", "PARTITION_LIMIT");
  // Slurm's own numbers for "no value" and "infinite", which older commands print as times.
  private static final long NO_VALUE = 4_294_967_294L;
  private static final long INFINITE = 4_294_967_295L;

  private Times() {}

  /**
   * A length of time.
   *
   * @param seconds how long; null when there is no limit or it is unknown. Whole for limits, may
   *     have a fraction for CPU times
   * @param unlimited true when there is no limit at all
   */
  public record Span(BigDecimal seconds, boolean unlimited) {
    static final Span UNKNOWN = new Span(null, false);
    static final Span NONE = new Span(null, true);

    /** True when the text said nothing. */
    public boolean unknown() {
      return seconds == null && !unlimited;
    }

    /** The whole seconds, or null. */
    public Long wholeSeconds() {
      return seconds == null ? null : seconds.longValue();
    }

    private static Span of(long seconds) {
      return seconds == NO_VALUE ? UNKNOWN : new Span(BigDecimal.valueOf(seconds), false);
    }
  }

  /**
   * A time limit: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes,
   * days-hours:minutes:seconds, or {@code UNLIMITED}, {@code infinite}, {@code -1}. A bare number
   * is minutes, as in {@code sbatch --time}.
   *
   * @throws IllegalArgumentException with a sentence when it is none of these
   */
  public static Span limit(String text) {
    String word = text == null ? "" : text.strip();
    Span said = word(word);
    if (said != null) {
      return said;
    }
    if (MINUTES.matcher(word).matches()) {
      long minutes = Long.parseLong(word);
      return minutes == NO_VALUE
          ? Span.UNKNOWN
          : minutes == INFINITE ? Span.NONE : Span.of(minutes * 60);
    }
    Matcher m = SPAN.matcher(word);
    if (!m.matches() || m.group(5) != null) {
      throw new IllegalArgumentException(
          Words.quoted(word) + " is no time limit; one is 90, 30:00, 8:00:00, 1-12 or 1-12:00:00");
    }
    return Span.of(whole(m, m.group(1) != null));
  }

  /**
   * A time that has passed or is left, or was used by processors: {@code 00:10}, {@code 03:33:25},
   * {@code 1-02:03:04}, {@code 00:15.057}. A bare number is seconds, as in {@code ElapsedRaw}.
   *
   * @throws IllegalArgumentException with a sentence when it is none of these, or is negative
   */
  public static Span elapsed(String text) {
    String word = text == null ? "" : text.strip();
    if (word.startsWith("-")) {
      throw new IllegalArgumentException(
          Words.quoted(word)
              + " is a negative time: a clock was set back, or the record is broken");
    }
    Span said = word(word);
    if (said != null) {
      return said;
    }
    if (MINUTES.matcher(word).matches()) {
      return Span.of(Long.parseLong(word));
    }
    Matcher m = SPAN.matcher(word);
    boolean fractionOfSeconds = m.matches() && m.group(5) != null;
    if (!m.matches() || (fractionOfSeconds && m.group(3) == null)) {
      throw new IllegalArgumentException(
          Words.quoted(word) + " is no elapsed time; one is 00:10, 03:33:25 or 1-02:03:04");
    }
    Span whole = Span.of(whole(m, m.group(1) != null));
    return fractionOfSeconds && whole.seconds != null
        ? new Span(whole.seconds.add(new BigDecimal("0" + m.group(5))), false)
        : whole;
  }

  /**
   * A date of Slurm's.
   *
   * @param text {@code 2026-04-10T09:00:00}, with or without an offset; null, empty, {@code
   *     Unknown}, {@code N/A} and dates before 1971 (an unset field) are absent
   * @param zone the zone of the command that printed it, where the text has no offset; an hour that
   *     comes twice is read as the first
   * @return the moment, or null when absent
   * @throws IllegalArgumentException with a sentence when it is no date
   */
  public static Instant date(String text, ZoneId zone) {
    String word = Words.orNull(text);
    if (word == null || NOT_TOLD.contains(word.toUpperCase(Locale.ROOT))) {
      return null;
    }
    try {
      boolean hasOffset = word.endsWith("Z") || word.matches(".*T[0-9:.]+[+-][0-9:]+");
      Instant moment =
          hasOffset
              ? OffsetDateTime.parse(word).toInstant()
              : LocalDateTime.parse(word).atZone(zone).toInstant();
      return epoch(moment.getEpochSecond());
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          Words.quoted(word)
              + " is no date; Slurm's are 2026-04-10T09:00:00 when SLURM_TIME_FORMAT is not set");
    }
  }

  /** A moment in seconds since 1970, or null for 0, negative ones, and Slurm's "no value". */
  static Instant epoch(long seconds) {
    boolean unset = seconds < 365L * 86_400 || seconds == NO_VALUE || seconds >= INFINITE;
    return unset ? null : Instant.ofEpochSecond(seconds);
  }

  /** A limit in minutes, or null in JSON's place for none told. */
  static Span minutes(Long minutes) {
    if (minutes == null || minutes == NO_VALUE) {
      return Span.UNKNOWN;
    }
    return minutes < 0 || minutes >= INFINITE ? Span.NONE : Span.of(minutes * 60);
  }

  private static Span word(String word) {
    String upper = word.length() > 20 ? word : word.toUpperCase(Locale.ROOT);
    return NO_LIMIT.contains(upper) ? Span.NONE : NOT_TOLD.contains(upper) ? Span.UNKNOWN : null;
  }

  private static long whole(Matcher m, boolean withDays) {
    long first = Long.parseLong(m.group(2));
    long second = m.group(3) == null ? 0 : Long.parseLong(m.group(3));
    long third = m.group(4) == null ? 0 : Long.parseLong(m.group(4));
    if (withDays) {
      return Long.parseLong(m.group(1)) * 86_400 + first * 3_600 + second * 60 + third;
    }
    return m.group(4) != null ? first * 3_600 + second * 60 + third : first * 60 + second;
  }
}
