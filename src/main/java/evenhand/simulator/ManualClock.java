package evenhand.simulator;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** A clock that stands still until it is moved. */
public final class ManualClock extends Clock {
  private volatile Instant now;

  public ManualClock(Instant start) {
    now = start;
  }

  @Override
  public Instant instant() {
    return now;
  }

  /** Moves it, forward or, as real clocks do at times, backward. */
  public void set(Instant to) {
    now = to;
  }

  public void advance(Duration by) {
    now = now.plus(by);
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  /** The same clock: only instants are ever asked of it. */
  @Override
  public Clock withZone(ZoneId zone) {
    return this;
  }
}
