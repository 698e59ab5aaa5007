package evenhand.facts;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * A job that holds GPUs, from the moment it is dispatched.
 *
 * @param protectedUntil until when nothing may preempt it (K2)
 * @param allocated whether its time is charged to its account's budget (N5)
 * @param minRuntimeSeconds the run time that gives meaningful progress, as it declared (K1)
 * @param checkpointAt its last reported checkpoint: what it did before is not lost; null for none
 * @param leaving whether it was told to make room already and will be gone soon (K6)
 * @param priority and {@code preemptible}: as the job has them ({@link Job}), for the baseline
 *     {@code priority}
 */
public record Running(
    String job,
    String account,
    List<Share> on,
    Instant startedAt,
    Instant protectedUntil,
    boolean allocated,
    boolean resumable,
    long minRuntimeSeconds,
    Instant checkpointAt,
    boolean leaving,
    int priority,
    boolean preemptible) {
  public Running {
    on = List.copyOf(on);
  }

  /** One of no priority in particular, which consents to be preempted. */
  public Running(
      String job,
      String account,
      List<Share> on,
      Instant startedAt,
      Instant protectedUntil,
      boolean allocated,
      boolean resumable,
      long minRuntimeSeconds,
      Instant checkpointAt,
      boolean leaving) {
    this(
        job,
        account,
        on,
        startedAt,
        protectedUntil,
        allocated,
        resumable,
        minRuntimeSeconds,
        checkpointAt,
        leaving,
        0,
        true);
  }

  /**
   * One whose minimum run time is the time it is protected for, and that reported no checkpoint.
   */
  public Running(
      String job,
      String account,
      List<Share> on,
      Instant startedAt,
      Instant protectedUntil,
      boolean allocated,
      boolean resumable) {
    this(
        job,
        account,
        on,
        startedAt,
        protectedUntil,
        allocated,
        resumable,
        Math.max(0, Duration.between(startedAt, protectedUntil).toSeconds()),
        null,
        false);
  }

  /** The same work, told to leave. */
  public Running toLeave() {
    return new Running(
        job,
        account,
        on,
        startedAt,
        protectedUntil,
        allocated,
        resumable,
        minRuntimeSeconds,
        checkpointAt,
        true,
        priority,
        preemptible);
  }

  /** GPUs it holds, all nodes together. */
  public int gpus() {
    int gpus = 0;
    for (Share share : on) {
      gpus += share.gpus();
    }
    return gpus;
  }

  /**
   * GPU-seconds of work that would have to be done again were it ended now (K4): since its last
   * checkpoint, and never more than since the last whole minimum run time. Without a minimum, since
   * its start.
   */
  public double lostWork(Instant now) {
    double run = Math.max(0, Duration.between(startedAt, now).toNanos() / 1e9);
    double lost = minRuntimeSeconds > 0 ? run % minRuntimeSeconds : run;
    if (checkpointAt != null && !checkpointAt.isBefore(startedAt)) {
      lost = Math.min(lost, Math.max(0, Duration.between(checkpointAt, now).toNanos() / 1e9));
    }
    return gpus() * lost;
  }

  /**
   * Whether its minimum run time is over, so that nothing protects it any more (K2, K3).
   * Unallocated work never is protected, whatever it declares (N5).
   */
  public boolean unprotected(Instant now) {
    return !allocated || !now.isBefore(protectedUntil);
  }

  /** Seconds since the last multiple of its minimum run time; 0 without one (K8). */
  public double intoSlice(Instant now) {
    double run = Math.max(0, Duration.between(startedAt, now).toNanos() / 1e9);
    return minRuntimeSeconds > 0 ? run % minRuntimeSeconds : 0;
  }
}
