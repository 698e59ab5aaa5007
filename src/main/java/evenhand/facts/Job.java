package evenhand.facts;

import java.time.Instant;

/**
 * A queued job: {@code nodes} x {@code numGpus} GPUs of one tier.
 *
 * @param account the account its work is charged to
 * @param numGpus GPUs on each node
 * @param tier name of the tier asked for, null for any
 * @param minimumTierSortOrder the lowest tier it accepts; raised after running out of memory (S10)
 * @param priority sorts within one account only (Q3)
 * @param queuedAt when it entered the queue; kept when the system queues it again
 * @param minRuntimeSeconds protected run time it declares (K1)
 * @param attempt 1 for the first run, counted up each time it is queued again
 * @param preemptible whether it consents to make room for work of a higher priority; only the
 *     baseline {@code priority} asks (PR3)
 */
public record Job(
    String id,
    String account,
    String user,
    int nodes,
    int numGpus,
    String tier,
    int minimumTierSortOrder,
    int priority,
    Instant queuedAt,
    long minRuntimeSeconds,
    boolean resumable,
    int attempt,
    boolean preemptible) {

  /** One that consents to be preempted, as all do where nobody is asked. */
  public Job(
      String id,
      String account,
      String user,
      int nodes,
      int numGpus,
      String tier,
      int minimumTierSortOrder,
      int priority,
      Instant queuedAt,
      long minRuntimeSeconds,
      boolean resumable,
      int attempt) {
    this(
        id,
        account,
        user,
        nodes,
        numGpus,
        tier,
        minimumTierSortOrder,
        priority,
        queuedAt,
        minRuntimeSeconds,
        resumable,
        attempt,
        true);
  }

  /** The same job, asking for other GPUs. */
  public Job asking(int onNodes, int gpus, String ofTier, int leastSortOrder) {
    return with(onNodes, gpus, ofTier, leastSortOrder, queuedAt, minRuntimeSeconds, attempt);
  }

  /** The same job, protected for so long (K1). */
  public Job protectedFor(long seconds) {
    return with(nodes, numGpus, tier, minimumTierSortOrder, queuedAt, seconds, attempt);
  }

  /** The same job, submitted at this moment and never run. */
  public Job submitted(Instant at) {
    return with(nodes, numGpus, tier, minimumTierSortOrder, at, minRuntimeSeconds, 1);
  }

  private Job with(
      int onNodes,
      int gpus,
      String ofTier,
      int leastSortOrder,
      Instant since,
      long minimumSeconds,
      int tries) {
    return new Job(
        id,
        account,
        user,
        onNodes,
        gpus,
        ofTier,
        leastSortOrder,
        priority,
        since,
        minimumSeconds,
        resumable,
        tries,
        preemptible);
  }
}
