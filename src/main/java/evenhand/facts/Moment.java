package evenhand.facts;

import java.time.Instant;
import java.time.ZoneId;

/** The one instant of this cycle or event. */
public record Moment(Instant now) {

  /**
   * The hour of the day, 0 to 23.
   *
   * @param zone whose clock is meant, e.g. {@code Asia/Seoul}; a rule that names one that does not
   *     exist fails
   */
  public int hourIn(String zone) {
    return now.atZone(ZoneId.of(zone)).getHour();
  }

  /** The day of the week, 1 for Monday to 7 for Sunday, by the clock of a zone. */
  public int weekdayIn(String zone) {
    return now.atZone(ZoneId.of(zone)).getDayOfWeek().getValue();
  }
}
