package evenhand.simulator;

import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.hostlist.HostList;
import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.InputFault;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.input.Value;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The cluster a simulation runs on.
 *
 * @param placements the GPUs there are, by node, then tier; no node has one tier twice
 * @param changes what becomes of nodes, earliest first
 */
public record ClusterPlan(List<Tier> tiers, List<Gpus> placements, List<Change> changes) {
  /** Most GPUs a simulated cluster may have. */
  public static final int MOST_GPUS = 1_000_000;

  public ClusterPlan {
    tiers = List.copyOf(tiers);
    placements =
        placements.stream()
            .sorted(Comparator.comparing(Gpus::node).thenComparing(g -> g.tier().name()))
            .toList();
    changes = changes.stream().sorted(Comparator.comparingLong(Change::atMicros)).toList();
  }

  /** GPUs of one tier on one node. */
  public record Gpus(String node, Tier tier, int count) {}

  /** From this moment on the node is in this state. */
  public record Change(long atMicros, String node, NodeState state) {}

  /** GPUs of all placements together. */
  public int gpus() {
    return placements.stream().mapToInt(Gpus::count).sum();
  }

  private static final Field<Integer> SORT_ORDER =
      Field.whole("sort_order", -1_000_000, 1_000_000).or(0);
  private static final Field<Double> TFLOPS = Field.number("tflops", 0, 1e9).or(1.0);
  private static final Field<Integer> MAX_GPUS = Field.whole("max_gpus", 0, 1_000_000).or(8);
  private static final Field<Boolean> AUTO_ASSIGN = Field.flag("auto_assign").or(true);
  private static final Shape TIER = Shape.of("a tier", SORT_ORDER, TFLOPS, MAX_GPUS, AUTO_ASSIGN);

  private static final Field<Duration> AT = Field.duration("at");
  private static final Field<String> NODES_CHANGED = Field.text("nodes");
  private static final Field<String> STATE = Field.word("state", List.of("up", "drain", "down"));
  private static final Shape CHANGE = Shape.of("a change of nodes", AT, NODES_CHANGED, STATE);

  private static final String GPUS_RIGHT = "GPUs by node and tier, e.g. {n[1-4]: {h100: 8}}";
  private static final Field<Map<String, Section>> TIERS = Field.map("tiers", TIER);
  private static final Field<Value> NODES = Field.any("nodes", GPUS_RIGHT);
  private static final Field<List<Section>> CHANGES = Field.list("changes", CHANGE).or(List.of());
  private static final Shape CLUSTER = Shape.of("a cluster", TIERS, NODES, CHANGES);

  /**
   * Reads a cluster from its YAML: {@code tiers} as in scenarios, {@code nodes: {a[001-128]: {h100:
   * 8}}}, and {@code changes: [{at: 3d, nodes: a[001-004], state: down}]}.
   *
   * @throws InputFault naming every fault with its line; a cluster without any GPU is one
   */
  public static ClusterPlan read(String file, String text) {
    Document document = Document.yaml(file, text);
    Section s = document.read(CLUSTER);
    document.check();
    Map<String, Tier> tiers = new HashMap<>();
    List<Tier> inOrder = new ArrayList<>();
    s.get(TIERS)
        .forEach(
            (name, t) -> {
              Tier tier =
                  new Tier(
                      name,
                      t.get(SORT_ORDER),
                      t.get(TFLOPS),
                      t.get(MAX_GPUS),
                      t.get(AUTO_ASSIGN),
                      null,
                      "gpu:" + name);
              tiers.put(name, tier);
              inOrder.add(tier);
            });
    List<Gpus> placements = placements(s.get(NODES), tiers);
    Set<String> nodes = new HashSet<>();
    placements.forEach(g -> nodes.add(g.node()));
    List<Change> changes = new ArrayList<>();
    for (Section change : s.get(CHANGES)) {
      for (String node : hosts(change.get(NODES_CHANGED), change.value())) {
        if (!nodes.contains(node)) {
          change.fault(NODES_CHANGED, "names " + node + ", which is not among nodes");
        }
        changes.add(
            new Change(
                Micros.of(change.get(AT)),
                node,
                switch (change.get(STATE)) {
                  case "up" -> NodeState.UP;
                  case "drain" -> NodeState.DRAINING;
                  default -> NodeState.DOWN;
                }));
      }
    }
    document.check();
    ClusterPlan plan = new ClusterPlan(inOrder, placements, changes);
    if (plan.gpus() == 0) {
      throw new InputFault(
          file, s.get(NODES).line(), "nodes", "has no GPU at all; give " + GPUS_RIGHT);
    }
    if (plan.gpus() > MOST_GPUS) {
      throw new InputFault(
          file, s.get(NODES).line(), "nodes", "has more than " + MOST_GPUS + " GPUs");
    }
    return plan;
  }

  private static List<String> hosts(String list, Value at) {
    try {
      return HostList.expand(list);
    } catch (IllegalArgumentException e) {
      at.fault(e.getMessage());
      return List.of();
    }
  }

  private static List<Gpus> placements(Value nodes, Map<String, Tier> tiers) {
    List<Gpus> placements = new ArrayList<>();
    if (nodes.kind() != Value.Kind.OBJECT) {
      nodes.fault("must be " + GPUS_RIGHT);
      return placements;
    }
    Set<String> seen = new HashSet<>();
    nodes
        .members()
        .forEach(
            (list, byTier) -> {
              if (byTier.kind() != Value.Kind.OBJECT) {
                byTier.fault("must be " + GPUS_RIGHT);
                return;
              }
              List<String> hosts = hosts(list, byTier);
              byTier
                  .members()
                  .forEach(
                      (name, count) -> {
                        Tier tier = tiers.get(name);
                        Integer gpus = count(count);
                        if (tier == null) {
                          count.fault("tier " + name + " is not among tiers: " + tiers.keySet());
                        } else if (gpus == null) {
                          count.fault("must be a whole number from 0 to " + MOST_GPUS);
                        } else if (gpus > 0) {
                          for (String host : hosts) {
                            if (!seen.add(host + "\n" + name)) {
                              count.fault("gives " + host + " GPUs of tier " + name + " twice");
                            }
                            placements.add(new Gpus(host, tier, gpus));
                          }
                        }
                      });
            });
    return placements;
  }

  private static Integer count(Value value) {
    try {
      int count = Integer.parseInt(value.text());
      return count < 0 || count > MOST_GPUS ? null : count;
    } catch (RuntimeException e) {
      return null;
    }
  }
}
