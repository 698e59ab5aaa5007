package evenhand.cycle;

import evenhand.facts.Ended;
import evenhand.facts.Job;
import evenhand.facts.Reservation;
import evenhand.facts.Run;
import java.time.Instant;

/**
 * A job as it is remembered, whatever its state; its script is kept apart and read only to be
 * submitted.
 *
 * @param asks what it asks for, as the policy sees it; {@code asks.id()} is {@code id} as text
 * @param stateReason why it is in this state, in words, or null
 * @param startedAt start of its newest run, null before
 * @param endedAt when it was over for good, null before
 * @param exitCode of its newest run, null when unknown
 * @param timeLimitSeconds null for the partition's own limit
 * @param reservation what it holds while queued, or null (R1)
 * @param carriedTflopSeconds what its reservations have cost and nobody was charged yet (C1, C3);
 *     where it holds a reservation, this is that reservation's {@code accruedTflopSeconds}
 * @param nodeFailures how often the system has queued it again because a node failed
 * @param version counts its changes; a change made on an older version is refused
 */
public record StoredJob(
    long id,
    Job asks,
    String name,
    JobState state,
    String stateReason,
    Instant submittedAt,
    Instant startedAt,
    Instant endedAt,
    Integer exitCode,
    Long timeLimitSeconds,
    Reservation reservation,
    double carriedTflopSeconds,
    int nodeFailures,
    long version) {

  /** The same job in another state. */
  public StoredJob to(JobState next, String because) {
    return new StoredJob(
        id,
        asks,
        name,
        next,
        because,
        submittedAt,
        startedAt,
        endedAt,
        exitCode,
        timeLimitSeconds,
        reservation,
        carriedTflopSeconds,
        nodeFailures,
        version);
  }

  /** The same job, running since {@code at}. */
  public StoredJob running(Instant at) {
    return new StoredJob(
        id,
        asks,
        name,
        JobState.RUNNING,
        null,
        submittedAt,
        at,
        endedAt,
        exitCode,
        timeLimitSeconds,
        reservation,
        carriedTflopSeconds,
        nodeFailures,
        version);
  }

  /** The same job, over for good; {@code exit} null when unknown. */
  public StoredJob over(JobState how, String because, Instant at, Integer exit) {
    return new StoredJob(
        id,
        asks,
        name,
        how,
        because,
        submittedAt,
        startedAt,
        at,
        exit,
        timeLimitSeconds,
        reservation,
        carriedTflopSeconds,
        nodeFailures,
        version);
  }

  /**
   * The end of its attempt, for the policy to settle.
   *
   * @param how the state it ended in
   * @param run the attempt that ended, or null when it never ran
   * @param allocated whether its run time is charged to a budget (N5)
   */
  Ended ended(String how, Run run, boolean allocated) {
    return new Ended(
        Long.toString(id), asks.account(), how, carriedTflopSeconds, reservation, run, allocated);
  }

  /** The end of what never ran. */
  Ended endedUnrun(String how) {
    return ended(how, null, true);
  }

  /** The same job with other holdings. */
  public StoredJob holding(Reservation held, double carried) {
    return new StoredJob(
        id,
        asks,
        name,
        state,
        stateReason,
        submittedAt,
        startedAt,
        endedAt,
        exitCode,
        timeLimitSeconds,
        held,
        carried,
        nodeFailures,
        version);
  }

  /**
   * The same job back in the queue for its next attempt, at its old place.
   *
   * @param minimum lowest sort_order of tier it accepts from now on
   */
  public StoredJob queuedAgain(int minimum, int nodeFailuresNow, Integer exit, String because) {
    Job again =
        new Job(
            asks.id(),
            asks.account(),
            asks.user(),
            asks.nodes(),
            asks.numGpus(),
            asks.tier(),
            minimum,
            asks.priority(),
            asks.queuedAt(),
            asks.minRuntimeSeconds(),
            asks.resumable(),
            asks.attempt() + 1,
            asks.preemptible());
    return new StoredJob(
        id,
        again,
        name,
        JobState.GLOBAL_QUEUE_WAIT,
        because,
        submittedAt,
        startedAt,
        endedAt,
        exit,
        timeLimitSeconds,
        reservation,
        carriedTflopSeconds,
        nodeFailuresNow,
        version);
  }
}
