package evenhand.facts;

import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;

/**
 * GPUs that the first job of the queue gathers for its start (G1): on each placement as many as it
 * needs there, idle ones and such as come free by the contracts of those that run.
 *
 * @param readyAt not later than then it has all of them (G2)
 * @param yields jobs that ran there when it was made and that it counts on: they leave for it when
 *     nothing protects them any more, whatever the order of accounts is by then
 */
public record Claim(
    String job, List<Share> on, Instant since, Instant readyAt, List<String> yields) {
  public Claim {
    on = List.copyOf(on);
    yields = List.copyOf(yields);
  }

  /** Its nodes, for people. */
  public String nodes() {
    return on.stream().map(Share::node).collect(Collectors.joining(", "));
  }

  /** GPUs it claims of this placement; 0 where it claims none. */
  public int gpusOn(String node, Tier tier) {
    for (Share share : on) {
      if (share.node().equals(node) && share.tier().name().equals(tier.name())) {
        return share.gpus();
      }
    }
    return 0;
  }

  /**
   * Whether running work leaves for the claim once nothing protects it: what it counts on, and what
   * has begun there since by its leave (G3, K7).
   */
  public boolean yields(Running running) {
    if (running.job().equals(job)) {
      return false;
    }
    boolean there = running.on().stream().anyMatch(s -> gpusOn(s.node(), s.tier()) > 0);
    boolean byItsLeave =
        !running.startedAt().isBefore(since)
            && (!running.allocated() || !running.protectedUntil().isAfter(readyAt));
    return there && (running.leaving() || byItsLeave || yields.contains(running.job()));
  }
}
