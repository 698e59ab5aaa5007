package evenhand.outcomes;

import evenhand.facts.Ended;
import evenhand.facts.Reservation;

/**
 * An account pays for what one job held (C3, C4).
 *
 * @param tflopSeconds what is added to the account's usage: what was held, times the factor
 * @param factor C5: 1 where what is held is charged whole
 */
public record Charge(String account, String job, double tflopSeconds, double factor)
    implements Outcome {

  /**
   * @throws IllegalArgumentException when it is no sum to pay: negative, or no number
   */
  public Charge {
    if (!(tflopSeconds >= 0 && tflopSeconds < Double.POSITIVE_INFINITY)
        || !(factor >= 0 && factor < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          account + " cannot be charged " + tflopSeconds + " TFLOP-s, at a factor of " + factor);
    }
  }

  public Charge(String account, String job, double tflopSeconds) {
    this(account, job, tflopSeconds, 1);
  }

  /** What a job held, at its end (C3). */
  public Charge(Ended ended, double heldTflopSeconds, double factor) {
    this(ended.account(), ended.job(), heldTflopSeconds * factor, factor);
  }

  /** What a reservation has cost, at its forced release (C4). */
  public Charge(Reservation released, double heldTflopSeconds, double factor) {
    this(released.account(), released.job(), heldTflopSeconds * factor, factor);
  }
}
