package evenhand.cycle;

import java.time.Instant;
import java.util.List;

/**
 * One job as the cluster shows it.
 *
 * @param clusterJob its number there
 * @param name its name; our token where it is ours
 * @param startedAt when it began to run, null while it has not (an estimate is not a start)
 * @param endedAt when it ended, null while it has not
 * @param exitCode its exit code, null when unknown or not ended
 * @param reason the cluster's own word for why it is in this state, or null
 * @param on the GPUs it holds; empty when it holds none or the cluster does not say
 * @param restarts how often the cluster itself has started it again
 */
public record SeenJob(
    String clusterJob,
    String name,
    State state,
    Instant submittedAt,
    Instant startedAt,
    Instant endedAt,
    Integer exitCode,
    String reason,
    List<On> on,
    int restarts) {
  public SeenJob {
    on = List.copyOf(on);
  }

  /** GPUs of one model on one node. */
  public record On(String node, String model, int gpus) {}

  /** Where a job is in its life, in Slurm's words; a job that is still completing is RUNNING. */
  public enum State {
    /** Held by its owner, as every job is that was submitted and not released: it cannot run. */
    HELD,
    /** Waits, and the cluster says that it will not start it as it is. */
    REFUSED,
    PENDING,
    RUNNING,
    COMPLETED,
    FAILED,
    CANCELLED,
    TIMEOUT,
    OUT_OF_MEMORY,
    NODE_FAIL,
    PREEMPTED;

    /** Whether it has ended and holds nothing any more. */
    public boolean ended() {
      return this != HELD && this != REFUSED && this != PENDING && this != RUNNING;
    }
  }
}
