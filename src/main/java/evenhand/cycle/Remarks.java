package evenhand.cycle;

import evenhand.facts.Request;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Remark;
import evenhand.policy.Policy;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Why jobs are in their states, in words. What was remarked when a job was submitted holds only for
 * the policy of that moment; so while it waits for its first attempt, the policy in force is asked.
 */
final class Remarks {
  private final Policy policy;
  private final Supplier<World> inventory;
  private final Map<Request, String> known = new HashMap<>();
  private World world;

  /**
   * @param inventory asked once, and only when a job needs it
   */
  Remarks(Policy policy, Supplier<World> inventory) {
    this.policy = policy;
    this.inventory = inventory;
  }

  /** Whether what is written down about the job is what was remarked on its submission. */
  static boolean areAllThatIsSaid(StoredJob job) {
    return job.state() == JobState.GLOBAL_QUEUE_WAIT && job.asks().attempt() == 1;
  }

  /** Why the job is in its state; null when there is nothing to say. */
  String on(StoredJob job) {
    if (job.stateReason() == null || !areAllThatIsSaid(job)) {
      return job.stateReason();
    }
    if (world == null) {
      world = inventory.get();
    }
    return known.computeIfAbsent(
        Request.of(job.asks()).ofNoJob(),
        r -> {
          Admission admission =
              policy.admit(r, world.accounts(), world.tiers(), Following.inventory(world));
          return admission.accepted() ? text(admission) : null;
        });
  }

  /** What an admission remarks, as one text; null when it remarks nothing. */
  static String text(Admission admission) {
    return admission.remarks().isEmpty()
        ? null
        : admission.remarks().stream().map(Remark::message).collect(Collectors.joining(" "));
  }
}
