package evenhand.cycle;

import evenhand.facts.Share;
import java.time.Instant;
import java.util.List;

/**
 * One attempt of a job to run, from the decision that started it.
 *
 * @param on the GPUs it was given; held from {@code decidedAt} on, before the cluster shows them
 * @param state DISPATCHING until the cluster shows it running, RUNNING, then how it ended
 * @param clusterJob its number in Slurm, null before it is known
 * @param startedAt start of its run there, null before; null again when an administrator requeued
 *     it
 * @param lastSeenAt when a reading last showed it
 * @param restarts how often the cluster has started it again
 * @param allocated whether its time is charged to the account's budget (N5)
 * @param cancelBy who asked to cancel it, or null
 * @param preemptFor id of the job it has to make room for (K4), {@link #ITS_NODE} when it has to
 *     leave its node (X2), or null
 * @param recalled why it is taken back from the cluster before it ran, or null
 */
public record Attempt(
    long job,
    int attempt,
    String account,
    List<Share> on,
    JobState state,
    Instant decidedAt,
    String clusterJob,
    Instant startedAt,
    Instant endedAt,
    Instant lastSeenAt,
    int restarts,
    boolean allocated,
    String cancelBy,
    String preemptFor,
    String recalled) {
  /** Stands in {@code preemptFor} for the node that an attempt has to leave. */
  public static final String ITS_NODE = "node";

  public Attempt {
    on = List.copyOf(on);
  }

  /** A new allocated attempt, not given to the cluster yet. */
  public static Attempt decided(long job, int attempt, String account, List<Share> on, Instant at) {
    return decided(job, attempt, account, on, at, true);
  }

  /** A new attempt, not given to the cluster yet. */
  public static Attempt decided(
      long job, int attempt, String account, List<Share> on, Instant at, boolean allocated) {
    return new Attempt(
        job,
        attempt,
        account,
        on,
        JobState.DISPATCHING,
        at,
        null,
        null,
        null,
        null,
        0,
        allocated,
        null,
        null,
        null);
  }

  /** Known on the cluster under this number. */
  public Attempt known(String number) {
    return with(
        state, number, startedAt, endedAt, lastSeenAt, restarts, cancelBy, preemptFor, recalled);
  }

  public Attempt running(Instant since, Instant seenAt, int restartsNow) {
    return with(
        JobState.RUNNING,
        clusterJob,
        since,
        endedAt,
        seenAt,
        restartsNow,
        cancelBy,
        preemptFor,
        recalled);
  }

  /** Queued again on the cluster by somebody else, still this attempt. */
  public Attempt pendingAgain(Instant seenAt, int restartsNow) {
    return with(
        JobState.DISPATCHING,
        clusterJob,
        null,
        endedAt,
        seenAt,
        restartsNow,
        cancelBy,
        preemptFor,
        recalled);
  }

  public Attempt seen(Instant at) {
    return with(
        state, clusterJob, startedAt, endedAt, at, restarts, cancelBy, preemptFor, recalled);
  }

  public Attempt over(JobState how, Instant from, Instant at) {
    return with(how, clusterJob, from, at, lastSeenAt, restarts, cancelBy, preemptFor, recalled);
  }

  public Attempt toCancel(String by) {
    return with(
        state, clusterJob, startedAt, endedAt, lastSeenAt, restarts, by, preemptFor, recalled);
  }

  /**
   * @param forJob the job it makes room for, or null when it must leave its node
   */
  public Attempt toPreempt(String forJob) {
    String forWhat = forJob == null ? ITS_NODE : forJob;
    return with(
        state, clusterJob, startedAt, endedAt, lastSeenAt, restarts, cancelBy, forWhat, recalled);
  }

  /** To be taken back for this reason; null: not any more. */
  public Attempt toRecall(String because) {
    return with(
        state, clusterJob, startedAt, endedAt, lastSeenAt, restarts, cancelBy, preemptFor, because);
  }

  /** Whether it was told to go, for whatever reason, and will be gone soon. */
  public boolean leaving() {
    return preemptFor != null || cancelBy != null || recalled != null;
  }

  /** The whole number of GPUs it was given. */
  public int gpus() {
    return on.stream().mapToInt(Share::gpus).sum();
  }

  private Attempt with(
      JobState state,
      String clusterJob,
      Instant startedAt,
      Instant endedAt,
      Instant lastSeenAt,
      int restarts,
      String cancelBy,
      String preemptFor,
      String recalled) {
    return new Attempt(
        job,
        attempt,
        account,
        on,
        state,
        decidedAt,
        clusterJob,
        startedAt,
        endedAt,
        lastSeenAt,
        restarts,
        allocated,
        cancelBy,
        preemptFor,
        recalled);
  }
}
