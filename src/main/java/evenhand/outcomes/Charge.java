package evenhand.outcomes;

import evenhand.facts.Ended;
import evenhand.facts.Reservation;

/** An account pays for what one job held (C3, C4). */
public record Charge(String account, String job, double tflopSeconds) implements Outcome {

  /** What a job held, at its end (C3). */
  public Charge(Ended ended, double tflopSeconds) {
    this(ended.account(), ended.job(), tflopSeconds);
  }

  /** What a reservation has cost, at its forced release (C4). */
  public Charge(Reservation released, double tflopSeconds) {
    this(released.account(), released.job(), tflopSeconds);
  }
}
