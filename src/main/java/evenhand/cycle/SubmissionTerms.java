package evenhand.cycle;

import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.policy.AccountTree;
import evenhand.policy.Policy;
import java.time.Duration;
import java.util.Locale;

/** The terms on which a job has been taken (K1, K2, N5), worked out from what stands now. */
final class SubmissionTerms {
  private SubmissionTerms() {}

  /**
   * @param queued its place in the queue
   * @param remark what the rules told its submitter, or null
   */
  static Desk.Terms of(
      Job job,
      String remark,
      QueueSeen.Place queued,
      World world,
      AccountTree tree,
      Policy policy,
      Duration window) {
    String placed = " Its place in the queue is " + queued.place() + " of " + queued.of() + ".";
    if (!policy.hasBudgets()) {
      return new Desk.Terms(
          null,
          0,
          0,
          null,
          queued.place(),
          queued.of(),
          "Policy "
              + policy.name()
              + " has no budgets: the job is charged when it ends, and no contract protects it."
              + placed);
    }
    double share = tree.share(job.account());
    boolean allocated = job.minRuntimeSeconds() > 0 && share > 0;
    // What the rules have said (N5); asked again later, the job may have other things to say.
    String said = remark == null ? (allocated ? "allocated" : "unallocated") : remark.strip();
    StringBuilder message = new StringBuilder();
    message.append(said.substring(0, 1).toUpperCase(Locale.ROOT)).append(said.substring(1));
    message.append(said.endsWith(".") ? "" : ".");
    if (!allocated) {
      message.append(placed);
      return new Desk.Terms(false, 0, 0, null, queued.place(), queued.of(), message.toString());
    }
    double gpuHours = (double) job.nodes() * job.numGpus() * job.minRuntimeSeconds() / 3600;
    int gpus =
        world.stock().stream()
            .filter(s -> s.state() != NodeState.DOWN)
            .mapToInt(Stock::capacity)
            .sum();
    Double ofWindow = null;
    if (window != null && gpus > 0) {
      double seconds = window.toMillis() / 1000.0;
      ofWindow = gpuHours * 3600 / (share * gpus * seconds);
      message
          .append(" That is ")
          .append(OrderWords.number(Math.round(ofWindow * 1e4) / 1e2))
          .append(" % of what its share of the cluster comes to in ")
          .append(words(window.toSeconds()))
          .append('.');
    }
    message.append(placed);
    return new Desk.Terms(
        true,
        job.minRuntimeSeconds(),
        gpuHours,
        ofWindow,
        queued.place(),
        queued.of(),
        message.toString());
  }

  /** {@code 8h}, {@code 90m}, {@code 45s}: the largest unit that leaves no rest. */
  private static String words(long seconds) {
    return seconds % 86_400 == 0
        ? seconds / 86_400 + "d"
        : seconds % 3600 == 0
            ? seconds / 3600 + "h"
            : seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
  }
}
