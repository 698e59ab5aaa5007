package evenhand.cycle;

import evenhand.facts.NodeState;
import java.time.Instant;
import java.util.List;

/**
 * What the cluster said, at one time.
 *
 * @param at when the reading began, by this host's clock
 */
public record Reading(Instant at, List<Seen> placements, List<SeenJob> jobs) {
  public Reading {
    placements = List.copyOf(placements);
    jobs = List.copyOf(jobs);
  }

  /**
   * GPUs of one model on one node.
   *
   * @param model the gres type; null when the site's GPUs are untyped
   * @param used GPUs that any job of the cluster holds, from GresUsed
   * @param stateText the state in the cluster's own words, e.g. {@code MIXED+DRAIN}
   * @param reason why it is not up, in full, or null
   * @param workStays of a node that gets no new work: whether what runs there goes on all the same,
   *     as where Slurm holds the node for others (reserved, in maintenance); only a drain ends it
   */
  public record Seen(
      String node,
      String model,
      int capacity,
      int used,
      NodeState state,
      String stateText,
      String reason,
      List<String> partitions,
      boolean workStays) {
    public Seen {
      partitions = List.copyOf(partitions);
    }

    /** One whose work leaves when its node drains. */
    public Seen(
        String node,
        String model,
        int capacity,
        int used,
        NodeState state,
        String stateText,
        String reason,
        List<String> partitions) {
      this(node, model, capacity, used, state, stateText, reason, partitions, false);
    }
  }
}
