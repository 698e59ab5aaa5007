package evenhand.cycle;

import evenhand.policy.Policy;
import java.time.Duration;
import java.util.Optional;

/**
 * How the cycle behaves towards the outside.
 *
 * @param cluster name of the cluster, as snapshots carry it
 * @param staleAfter a reading older than this decides nothing
 * @param lookback length of the window of charged usage (A3) under policies that say none
 *     themselves; null: no window is kept then
 * @param goneAfter how long, and {@code goneReadings} in how many readings, a job must be missing
 *     before the cluster is asked whether it knows it at all
 * @param maxNodeFailures how often a job is queued again because a node failed
 * @param maxAttempts how often a job is started at most, whatever the reasons
 * @param pause before an order is tried again; doubles with each try, up to {@code maxPause}
 * @param maxTries how often a job is given to the cluster for one attempt, and {@code giveUpAfter}
 *     for how long, before it goes back to the queue
 * @param pendingLimit how long a job that was given to the cluster may wait there to be started
 *     before it is taken back: somebody else has its GPUs
 * @param slack how far the clocks of this host and the cluster may be apart
 * @param ordersPerCycle most orders of one kind that one cycle carries out, so that a burst of
 *     starts does not overload the cluster's controller
 * @param failuresPerCycle after so many orders in a row that came to nothing, the others of this
 *     cycle wait for the next: the controller is away
 */
public record CycleSettings(
    String cluster,
    Duration staleAfter,
    Duration lookback,
    Duration goneAfter,
    int goneReadings,
    int maxNodeFailures,
    int maxAttempts,
    Duration pause,
    Duration maxPause,
    int maxTries,
    Duration giveUpAfter,
    Duration pendingLimit,
    Duration slack,
    int ordersPerCycle,
    int failuresPerCycle) {

  /** What the service's settings are unless said otherwise. */
  public static final CycleSettings DEFAULT =
      new CycleSettings(
          "main",
          Duration.ofSeconds(60),
          null,
          Duration.ofSeconds(60),
          3,
          5,
          100,
          Duration.ofSeconds(30),
          Duration.ofMinutes(5),
          10,
          Duration.ofMinutes(15),
          Duration.ofMinutes(10),
          Duration.ofMinutes(10),
          50,
          3);

  /**
   * The window of charged usage: the policy's own {@code lookback}, else that of these settings.
   */
  public Optional<Duration> window(Policy policy) {
    return policy.lookback().or(() -> Optional.ofNullable(lookback));
  }

  /** The pause after so many tries. */
  Duration pauseAfter(int tries) {
    Duration grown = pause.multipliedBy(1L << Math.min(Math.max(tries - 1, 0), 16));
    return grown.compareTo(maxPause) > 0 ? maxPause : grown;
  }
}
