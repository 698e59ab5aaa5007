package evenhand.cycle;

import evenhand.facts.Share;
import java.time.Instant;
import java.util.List;

/**
 * The whole cluster at one moment, for people who look at it.
 *
 * @param readAt when the last good reading of it began, null before the first
 * @param report of this process's last cycle, null before the first
 * @param holders jobs that have GPUs or were given some
 * @param held GPUs that reservations and the claim keep for jobs that wait
 * @param queued how many jobs wait, and for how many GPUs in all
 */
public record ClusterNow(
    Instant at,
    Instant readAt,
    CycleReport report,
    String policy,
    String policyHash,
    List<Contract.NodeView> nodes,
    List<Holder> holders,
    List<Held> held,
    int queued,
    int queuedGpus) {
  public ClusterNow {
    nodes = List.copyOf(nodes);
    holders = List.copyOf(holders);
    held = List.copyOf(held);
  }

  /**
   * A job on its GPUs.
   *
   * @param waits whether others have still to leave them
   * @param makesRoomFor the job it was told to make room for, {@code node} for its node, or null
   * @param endsBy when it is ended should it not leave before, or null
   */
  public record Holder(
      String job,
      String name,
      String account,
      String user,
      JobState state,
      boolean allocated,
      List<Share> on,
      Instant startedAt,
      Instant protectedUntil,
      boolean waits,
      String makesRoomFor,
      Instant endsBy) {}

  /** GPUs kept for a job that waits; {@code claim} where others have still to leave some. */
  public record Held(
      String job, String account, String node, String tier, int gpus, boolean claim) {}
}
