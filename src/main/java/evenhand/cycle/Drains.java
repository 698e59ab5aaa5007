package evenhand.cycle;

import evenhand.facts.NodeState;
import evenhand.facts.Share;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a reading says of nodes that are drained: those that Slurm drains are noted, and a node on
 * which nothing runs any more is reported drained, so that its repair needs no negotiation (X3).
 */
final class Drains {
  private final World world;
  private final Reading reading;
  private final Instant now;
  private final List<String> notes;

  Drains(World world, Reading reading, Instant now, List<String> notes) {
    this.world = world;
    this.reading = reading;
    this.now = now;
    this.notes = notes;
  }

  /** What changes by it; told in the notes. */
  Changes follow() {
    Changes changes = Changes.ofCycle(now);
    Map<String, String> bySlurm = new HashMap<>();
    Set<String> up = new HashSet<>();
    Set<String> inUse = new HashSet<>();
    Set<String> shown = new HashSet<>();
    for (Reading.Seen seen : reading.placements()) {
      shown.add(seen.node());
      if (seen.state() == NodeState.DRAINING && !seen.workStays()) {
        bySlurm.put(seen.node(), seen.reason() == null ? "Slurm gives no reason" : seen.reason());
      } else if (seen.state() != NodeState.DOWN) {
        up.add(seen.node());
      }
      if (seen.used() > 0) {
        inUse.add(seen.node());
      }
    }
    for (Attempt attempt : world.attempts()) {
      for (Share share : attempt.on()) {
        inUse.add(share.node());
      }
    }
    for (NodeDrain drain : world.drains()) {
      boolean slurms = drain.source() == NodeDrain.Source.SLURM;
      if (slurms) {
        bySlurm.remove(drain.node());
      }
      if (slurms && up.contains(drain.node())) {
        changes.put(drain.ended(now, "Slurm"));
        notes.add("node " + drain.node() + " is used again: Slurm does not drain it any more");
      } else if (drain.emptySince() == null
          && shown.contains(drain.node())
          && !inUse.contains(drain.node())) {
        changes.put(drain.empty(now));
        notes.add(
            "node "
                + drain.node()
                + " is drained: nothing runs there any more ("
                + drain.by()
                + ": "
                + drain.reason()
                + ")");
      } else if (drain.emptySince() != null && inUse.contains(drain.node())) {
        changes.put(drain.empty(null));
      }
    }
    bySlurm.forEach(
        (node, reason) -> {
          NodeDrain begun = NodeDrain.begun(node, NodeDrain.Source.SLURM, reason, "Slurm", now);
          changes.put(inUse.contains(node) ? begun : begun.empty(now));
          notes.add("node " + node + " is drained by Slurm: " + reason);
        });
    return changes;
  }
}
