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
 * @param endBy when its grace time is over and it is ended, if it has not left before (K6); null
 *     while nobody told it to go
 * @param recalled why it is taken back from the cluster before it ran, or null
 * @param waitsFor attempts that have to leave before it can start
 * @param waitsUntil when its start is undone should they still be there; null when it waits for
 *     nobody
 * @param checkpointAt the last checkpoint its job reported (K4), or null
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
    Instant endBy,
    String recalled,
    List<Victim> waitsFor,
    Instant waitsUntil,
    Instant checkpointAt) {
  /** Stands in {@code preemptFor} for the node that an attempt has to leave. */
  public static final String ITS_NODE = "node";

  /** An attempt that makes room for another. */
  public record Victim(long job, int attempt) {
    /** {@code 12-3}: attempt 3 of job 12. */
    public String text() {
      return job + "-" + attempt;
    }

    /** Reads what {@link #text} wrote. */
    public static Victim read(String text) {
      int dash = text.indexOf('-');
      return new Victim(
          Long.parseLong(text.substring(0, dash)), Integer.parseInt(text.substring(dash + 1)));
    }
  }

  public Attempt {
    on = List.copyOf(on);
    waitsFor = List.copyOf(waitsFor);
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
        null,
        null,
        List.of(),
        null,
        null);
  }

  /** Known on the cluster under this number. */
  public Attempt known(String number) {
    return new Parts(this).clusterJob(number).made();
  }

  public Attempt running(Instant since, Instant seenAt, int restartsNow) {
    return new Parts(this)
        .state(JobState.RUNNING)
        .startedAt(since)
        .seen(seenAt, restartsNow)
        .waits(List.of(), null)
        .made();
  }

  /** Queued again on the cluster by somebody else, still this attempt. */
  public Attempt pendingAgain(Instant seenAt, int restartsNow) {
    return new Parts(this)
        .state(JobState.DISPATCHING)
        .startedAt(null)
        .seen(seenAt, restartsNow)
        .made();
  }

  public Attempt seen(Instant at) {
    return new Parts(this).seen(at, restarts).made();
  }

  public Attempt over(JobState how, Instant from, Instant at) {
    return new Parts(this).state(how).startedAt(from).endedAt(at).waits(List.of(), null).made();
  }

  public Attempt toCancel(String by) {
    return new Parts(this).cancelBy(by).made();
  }

  /**
   * @param forJob the job it makes room for, or null when it must leave its node
   * @param by when it is ended, if it has not left before
   */
  public Attempt toPreempt(String forJob, Instant by) {
    return new Parts(this).preempt(forJob == null ? ITS_NODE : forJob, by).made();
  }

  /** To be taken back for this reason; null: not any more. */
  public Attempt toRecall(String because) {
    return new Parts(this).recalled(because).made();
  }

  /** To start when these have left, and to be undone should they be there at {@code until}. */
  public Attempt waiting(List<Victim> victims, Instant until) {
    return new Parts(this).waits(victims, victims.isEmpty() ? null : until).made();
  }

  /** Its job has reported a checkpoint of this moment. */
  public Attempt checkpoint(Instant at) {
    return new Parts(this).checkpointAt(at).made();
  }

  /** Itself, as those see it that wait for it to leave. */
  public Victim asVictim() {
    return new Victim(job, attempt);
  }

  /** Whether it was told to go, for whatever reason, and will be gone soon. */
  public boolean leaving() {
    return preemptFor != null || cancelBy != null || recalled != null;
  }

  /** The whole number of GPUs it was given. */
  public int gpus() {
    return on.stream().mapToInt(Share::gpus).sum();
  }

  /** The parts of an attempt that change, while they do. */
  private static final class Parts {
    private final Attempt of;
    private JobState state;
    private String clusterJob;
    private Instant startedAt;
    private Instant endedAt;
    private Instant lastSeenAt;
    private int restarts;
    private String cancelBy;
    private String preemptFor;
    private Instant endBy;
    private String recalled;
    private List<Victim> waitsFor;
    private Instant waitsUntil;
    private Instant checkpointAt;

    Parts(Attempt of) {
      this.of = of;
      state = of.state;
      clusterJob = of.clusterJob;
      startedAt = of.startedAt;
      endedAt = of.endedAt;
      lastSeenAt = of.lastSeenAt;
      restarts = of.restarts;
      cancelBy = of.cancelBy;
      preemptFor = of.preemptFor;
      endBy = of.endBy;
      recalled = of.recalled;
      waitsFor = of.waitsFor;
      waitsUntil = of.waitsUntil;
      checkpointAt = of.checkpointAt;
    }

    Parts state(JobState now) {
      state = now;
      return this;
    }

    Parts clusterJob(String number) {
      clusterJob = number;
      return this;
    }

    Parts startedAt(Instant at) {
      startedAt = at;
      return this;
    }

    Parts endedAt(Instant at) {
      endedAt = at;
      return this;
    }

    Parts seen(Instant at, int restartsNow) {
      lastSeenAt = at;
      restarts = restartsNow;
      return this;
    }

    Parts cancelBy(String by) {
      cancelBy = by;
      return this;
    }

    Parts preempt(String forWhat, Instant by) {
      preemptFor = forWhat;
      endBy = by;
      return this;
    }

    Parts recalled(String because) {
      recalled = because;
      return this;
    }

    Parts waits(List<Victim> victims, Instant until) {
      waitsFor = victims;
      waitsUntil = until;
      return this;
    }

    Parts checkpointAt(Instant at) {
      checkpointAt = at;
      return this;
    }

    Attempt made() {
      return new Attempt(
          of.job,
          of.attempt,
          of.account,
          of.on,
          state,
          of.decidedAt,
          clusterJob,
          startedAt,
          endedAt,
          lastSeenAt,
          restarts,
          of.allocated,
          cancelBy,
          preemptFor,
          endBy,
          recalled,
          waitsFor,
          waitsUntil,
          checkpointAt);
    }
  }
}
