package evenhand.facts;

/**
 * A job, or one attempt of it, has ended (R4, C3).
 *
 * @param account the account that pays
 * @param how the state it ended in: {@code COMPLETED}, {@code FAILED}, {@code CANCELLED}, …
 * @param carriedTflopSeconds what its reservations have cost so far and nobody was charged yet
 * @param reservation the reservation it still holds, or null
 * @param run the attempt that ended, or null when it never ran
 * @param allocated whether its run time is charged to a budget (N5)
 */
public record Ended(
    String job,
    String account,
    String how,
    double carriedTflopSeconds,
    Reservation reservation,
    Run run,
    boolean allocated) {

  /** The end of allocated work. */
  public Ended(
      String job,
      String account,
      String how,
      double carriedTflopSeconds,
      Reservation reservation,
      Run run) {
    this(job, account, how, carriedTflopSeconds, reservation, run, true);
  }
}
