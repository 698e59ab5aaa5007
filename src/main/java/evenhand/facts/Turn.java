package evenhand.facts;

/**
 * One job's turn in a cycle: the shell gives turns in queue order and inserts this fact for one job
 * at a time (D4).
 *
 * @param job whose turn it is. A rule that names it, or any part of {@code request} beyond the
 *     first four, makes the engine ask each such job apart (see {@link Request})
 * @param first whether it is the first job of the whole queue, fixed when the cycle started (R2)
 * @param firstJob that first job
 * @param reservation what it holds, or null (R1)
 * @param held the placement its reservation is on, as it stands now; null without a reservation
 * @param claim what it has claimed (G1), or null
 * @param startsBefore how many jobs this cycle has started already
 * @param waitingBefore the first job of this cycle that waits, or null while all before have
 *     started
 * @param refusingHeld GPUs that work of the job's account holds now which refuses to be preempted
 *     (PR4); 0 where no rule looks at it
 */
public record Turn(
    String job,
    Request request,
    boolean first,
    String firstJob,
    Reservation reservation,
    Placement held,
    Claim claim,
    int startsBefore,
    String waitingBefore,
    int refusingHeld) {

  /** GPUs its reservation still lacks; all it asks for when it holds none. */
  public int lacking() {
    return request.numGpus() - (reservation == null ? 0 : reservation.gpus());
  }
}
