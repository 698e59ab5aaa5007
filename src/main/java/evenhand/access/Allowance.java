package evenhand.access;

import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How many requests somebody may send: so many a minute, spread evenly, with as many in reserve. It
 * is kept in memory, each process its own.
 */
public final class Allowance {
  private static final int MOST_PEOPLE = 10_000;
  private static final double MINUTE = 60_000;

  private final int perMinute;
  private final Clock clock;
  private final Map<String, Left> left =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Left> eldest) {
          return size() > MOST_PEOPLE;
        }
      };

  private record Left(double requests, long at) {}

  /**
   * @param perMinute 0 for any number
   */
  public Allowance(int perMinute, Clock clock) {
    this.perMinute = perMinute;
    this.clock = clock;
  }

  public int perMinute() {
    return perMinute;
  }

  /**
   * Takes one request.
   *
   * @return 0 when it may go on, else in how many seconds it may
   */
  public synchronized int take(String who) {
    if (perMinute == 0) {
      return 0;
    }
    long now = clock.instant().toEpochMilli();
    Left before = left.getOrDefault(who, new Left(perMinute, now));
    double more = Math.max(0, now - before.at()) * perMinute / MINUTE;
    double has = Math.min(perMinute, before.requests() + more);
    boolean may = has >= 1;
    left.put(who, new Left(may ? has - 1 : has, now));
    return may ? 0 : Math.max(1, (int) Math.ceil((1 - has) * MINUTE / perMinute / 1000));
  }
}
