package evenhand.slurm;

import evenhand.cycle.Reading.Seen;
import evenhand.cycle.SeenJob;
import evenhand.facts.NodeState;
import evenhand.slurm.text.Nodes;
import evenhand.slurm.text.Placement;
import evenhand.slurm.text.Reading;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Slurm's nodes as the cycle sees them. Remembers what each node had when it was last read well:
 * one that cannot be read, or that lost its GPUs, is shown down with that and with the reason,
 * instead of vanishing.
 *
 * <p>What the states mean:
 *
 * <ul>
 *   <li>down, unknown, not responding, failed to register, powering down, rebooting: DOWN;
 *   <li>drain, failing: DRAINING, and what runs there leaves (X2);
 *   <li>maintenance, reserved, in no partition: DRAINING, but what runs there stays: Slurm keeps
 *       the node for others later, and nobody wants its jobs ended;
 *   <li>the states that Slurm leaves to the site (planned, powered down, …): UP where the settings
 *       list all of them, else DRAINING;
 *   <li>all processors given away, or the last job still finishing: UP, since it will take jobs
 *       again by itself and a reservation there must not be lost, but without idle GPUs for now.
 * </ul>
 */
final class SeenNodes {
  private static final Pattern NAME = Pattern.compile("(?m)^NodeName=(\\S+)");
  private static final Set<String> LEFT_TO_SITE =
      Set.of("PLANNED", "POWERED_DOWN", "POWERING_UP", "REBOOT_REQUESTED");

  /** Upon these the work of a node has to leave it; other states only keep new work away. */
  private static final Set<String> DRAINS = Set.of("DRAIN", "FAIL");

  private final Set<String> usable;
  private final Map<String, List<Seen>> lastGood = new HashMap<>();

  /**
   * @param usableStates flags left to the site upon which jobs are sent to a node
   */
  SeenNodes(List<String> usableStates) {
    this.usable = new HashSet<>();
    usableStates.forEach(s -> usable.add(s.toUpperCase(Locale.ROOT)));
  }

  /**
   * Reads the answer of {@code scontrol -d -o show node}.
   *
   * @throws IllegalArgumentException when it shows no node, or none that can be read
   */
  List<Seen> read(String answer) {
    Reading<Placement> reading = Nodes.read(answer);
    if (reading.values().isEmpty()) {
      throw new IllegalArgumentException(
          "no node could be read: "
              + reading.faults().stream()
                  .map(Reading.Fault::text)
                  .findFirst()
                  .orElse("the answer has none"));
    }
    Map<String, List<Placement>> byNode = new LinkedHashMap<>();
    Matcher names = NAME.matcher(answer);
    while (names.find()) {
      byNode.putIfAbsent(names.group(1), new ArrayList<>());
    }
    for (Placement placement : reading.values()) {
      byNode.computeIfAbsent(placement.node(), n -> new ArrayList<>()).add(placement);
    }
    List<Seen> all = new ArrayList<>();
    byNode.forEach(
        (node, placements) -> {
          String unreadable = unreadable(node, placements, reading.faults());
          if (unreadable != null) {
            all.addAll(down(node, unreadable));
            return;
          }
          List<Seen> seen =
              placements.stream().filter(p -> p.capacity() > 0).map(this::seen).toList();
          if (seen.isEmpty()) {
            all.addAll(down(node, "the node shows no GPUs any more (Gres=(null))"));
          } else {
            lastGood.put(node, seen);
            all.addAll(seen);
          }
        });
    lastGood.keySet().retainAll(byNode.keySet());
    return all;
  }

  private static String unreadable(
      String node, List<Placement> placements, List<Reading.Fault> faults) {
    for (Placement placement : placements) {
      if (placement.used() == null && placement.capacity() > 0) {
        return "unreadable: " + placement.error();
      }
    }
    return placements.isEmpty()
        ? "unreadable: "
            + faults.stream()
                .map(Reading.Fault::text)
                .filter(f -> f.contains("'" + node + "'"))
                .findFirst()
                .orElse("Slurm's line for it is not understood")
        : null;
  }

  private List<Seen> down(String node, String reason) {
    return lastGood.getOrDefault(node, List.of()).stream()
        .map(
            s ->
                new Seen(
                    node,
                    s.model(),
                    s.capacity(),
                    0,
                    NodeState.DOWN,
                    s.stateText(),
                    reason,
                    s.partitions()))
        .toList();
  }

  private Seen seen(Placement p) {
    String text =
        p.base() == null
            ? "UNKNOWN"
            : p.flags().isEmpty() || p.flags().contains(p.base())
                ? p.base()
                : p.base() + "+" + String.join("+", p.flags());
    boolean unreachable = p.partitions() != null && p.partitions().isEmpty();
    NodeState state =
        switch (p.state()) {
          case "up" -> NodeState.UP;
          case "draining" -> NodeState.DRAINING;
          default -> NodeState.DOWN;
        };
    String reason = p.reason();
    if (state == NodeState.UP && unreachable) {
      state = NodeState.DRAINING;
      reason = "it is in no partition";
    } else if (state == NodeState.UP && p.placeable().equals("policy") && !allowed(p.flags())) {
      state = NodeState.DRAINING;
      reason = reason == null ? text + " is not among evenhand.slurm.usable-states" : reason;
    }
    // A node whose last job is finishing counts its GPUs as free before they are.
    boolean finishing = "IDLE".equals(p.base()) && p.flags().contains("COMPLETING");
    boolean noRoom =
        "ALLOCATED".equals(p.base())
            || p.cpusIdle() != null && p.cpusIdle() <= 0
            || p.flags().contains("PERFCTRS");
    long used = finishing || noRoom ? p.capacity() : p.used();
    return new Seen(
        p.node(),
        p.model(),
        bounded(p.capacity()),
        bounded(used),
        state,
        text,
        reason,
        p.partitions() == null ? List.of() : p.partitions(),
        state == NodeState.DRAINING && p.flags().stream().noneMatch(DRAINS::contains));
  }

  /** Whether every flag that is left to the site, or that nobody knows, is one the site wants. */
  private boolean allowed(List<String> flags) {
    return flags.stream()
        .filter(f -> LEFT_TO_SITE.contains(f) || !evenhand.slurm.text.NodeState.known(f))
        .allMatch(usable::contains);
  }

  private static int bounded(long count) {
    return (int) Math.min(count, Integer.MAX_VALUE);
  }

  /**
   * Slurm takes the GPUs of a job out of GresUsed when it begins to finish it, though its processes
   * may live on. Ours are put back, as the cycle takes away what our jobs show.
   */
  static List<Seen> withFinishing(List<Seen> nodes, List<SeenJob> finishing) {
    Map<String, Integer> held = new HashMap<>();
    for (SeenJob job : finishing) {
      for (SeenJob.On on : job.on()) {
        held.merge(on.node() + "\n" + on.model(), on.gpus(), Integer::sum);
      }
    }
    if (held.isEmpty()) {
      return nodes;
    }
    List<Seen> all = new ArrayList<>();
    for (Seen seen : nodes) {
      int more = held.getOrDefault(seen.node() + "\n" + Objects.toString(seen.model()), 0);
      all.add(
          more == 0
              ? seen
              : new Seen(
                  seen.node(),
                  seen.model(),
                  seen.capacity(),
                  Math.min(seen.capacity(), seen.used() + more),
                  seen.state(),
                  seen.stateText(),
                  seen.reason(),
                  seen.partitions(),
                  seen.workStays()));
    }
    return all;
  }
}
