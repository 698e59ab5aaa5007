package evenhand.slurm.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * One node, once, whatever command told of it.
 *
 * @param name as jobs name it
 * @param gres what is configured
 * @param used what is in use; null when the answer does not tell
 * @param configuredTres its {@code CfgTRES}, which shows whether GPUs are tracked there
 * @param allocatedTres its {@code AllocTRES}
 * @param state null when the answer has none; nothing is placed on such a node
 * @param reason free text, or null
 * @param partitions null when the answer does not tell; empty means no job can be sent there
 * @param cpusIdle null when the answer does not tell
 */
record Node(
    String name,
    Gres gres,
    Gres used,
    Tres configuredTres,
    Tres allocatedTres,
    NodeState state,
    String reason,
    Set<String> partitions,
    Long cpusIdle) {

  private static final String NOT_TOLD =
      "GPUs in use are not told; ask with scontrol show node -d -o, with the column GresUsed, or"
          + " with --json";

  /**
   * The node's placements.
   *
   * @throws IllegalArgumentException when the gres texts cannot be read or contradict each other
   */
  List<Placement> placements() {
    if (!gres.whole()) {
      throw bad("its Gres cannot be read; the column may have been cut");
    }
    List<GpuCount> capacity = gres.gpus();
    if (capacity.isEmpty()) {
      return List.of(placement(new GpuCount(null, 0), 0L, null));
    }
    Map<GpuCount, Long> used = used(capacity);
    List<Placement> placements = new ArrayList<>();
    for (GpuCount gpus : capacity) {
      placements.add(
          used == null ? placement(gpus, null, NOT_TOLD) : placement(gpus, used.get(gpus), null));
    }
    return placements;
  }

  private Placement placement(GpuCount gpus, Long used, String error) {
    NodeState.Placeable placeable = state == null ? NodeState.Placeable.NO : state.placeable();
    boolean unreachable = partitions != null && partitions.isEmpty();
    boolean withoutCpus = cpusIdle != null && cpusIdle <= 0;
    if (unreachable || withoutCpus) {
      placeable = NodeState.Placeable.NO;
    }
    NodeState.Health health = state == null ? NodeState.Health.DOWN : state.health();
    return new Placement(
        name,
        gpus.model(),
        gpus.count(),
        used,
        used == null ? null : Math.max(0, gpus.count() - used),
        health.name().toLowerCase(Locale.ROOT),
        placeable.name().toLowerCase(Locale.ROOT),
        state == null ? null : state.base(),
        state == null ? List.of() : state.flags(),
        reason,
        partitions == null ? null : List.copyOf(partitions),
        cpusIdle,
        error);
  }

  /** GPUs in use for each entry of the capacity, or null when nothing tells. */
  private Map<GpuCount, Long> used(List<GpuCount> capacity) {
    Map<GpuCount, Long> held = new LinkedHashMap<>();
    if (used != null) {
      if (!used.whole()) {
        throw bad("its GresUsed cannot be read; the column may have been cut");
      }
      spread(used.gpus(), capacity, held, "GresUsed");
      addShared(capacity, held);
    } else if (configuredTres != null && configuredTres.namesGpus() && allocatedTres != null) {
      // AllocTRES counts GPUs only where the site tracks them, which CfgTRES shows.
      if (allocatedTres.cut() || configuredTres.cut()) {
        throw bad("its TRES were cut short");
      }
      spread(allocatedTres.byModel(), capacity, held, "AllocTRES");
    } else {
      return null;
    }
    for (GpuCount gpus : capacity) {
      held.putIfAbsent(gpus, 0L);
      if (gres.unconsumed(gpus.model())) {
        held.put(gpus, 0L);
      }
    }
    return held;
  }

  /** Gives counts in use to the models configured, typed on one side or on both. */
  private void spread(
      List<GpuCount> inUse, List<GpuCount> capacity, Map<GpuCount, Long> held, String source) {
    long untyped = 0;
    for (GpuCount use : inUse) {
      GpuCount target = sameModel(use.model(), capacity);
      if (target == null
          && capacity.size() == 1
          && (use.model() == null || capacity.get(0).model() == null)) {
        target = capacity.get(0);
      }
      if (target == null) {
        target = use.model() == null ? null : sameModel(null, capacity);
      }
      if (target != null) {
        held.merge(target, use.count(), Long::sum);
      } else if (use.model() == null) {
        untyped += use.count();
      } else if (use.count() > 0) {
        throw bad(source + " names the model " + use.model() + ", which Gres does not");
      }
    }
    if (untyped > 0) {
      long free = capacity.stream().mapToLong(g -> g.count() - held.getOrDefault(g, 0L)).sum();
      if (untyped != free) {
        throw bad(source + " does not say of which model the " + untyped + " GPUs in use are");
      }
      capacity.forEach(gpus -> held.put(gpus, gpus.count()));
    }
  }

  private static GpuCount sameModel(String model, List<GpuCount> capacity) {
    for (GpuCount gpus : capacity) {
      if (Objects.equals(gpus.model(), model)
          || (model != null && model.equalsIgnoreCase(gpus.model()))) {
        return gpus;
      }
    }
    return null;
  }

  /**
   * A GPU of which shards (or a share under mps) are in use cannot be given whole. Where the model
   * is not said they count against every model: too few idle GPUs wait, too many break a promise.
   */
  private void addShared(List<GpuCount> capacity, Map<GpuCount, Long> held) {
    for (Gres.Item item : used.items()) {
      if (item.count() == 0 || !(item.name().equals("shard") || item.name().equals("mps"))) {
        continue;
      }
      long touched = touched(item);
      GpuCount only = item.type() == null ? null : sameModel(item.type(), capacity);
      for (GpuCount gpus : only == null ? capacity : List.of(only)) {
        held.put(gpus, Math.min(gpus.count(), held.getOrDefault(gpus, 0L) + touched));
      }
    }
  }

  /** How many GPUs the shards in use lie on: {@code -/5,5/5,3/5,0/5} is two. */
  private static long touched(Gres.Item item) {
    if (item.detail() == null || item.detail().indexOf('/') < 0) {
      return item.count(); // not listed: at worst each lies on a GPU of its own
    }
    long touched = 0;
    for (String gpu : item.detail().split(",", -1)) {
      String inUse = gpu.substring(gpu.lastIndexOf(':') + 1).split("/", 2)[0].strip();
      touched += inUse.matches("0*[1-9][0-9]*") ? 1 : 0;
    }
    return touched;
  }

  /** The same node told once more, by its row for another partition. */
  Node with(Node other) {
    if (!gres.equals(other.gres)
        || !Objects.equals(used, other.used)
        || !Objects.equals(state, other.state)) {
      throw bad("its lines contradict each other; the name may be that of a host of several nodes");
    }
    Set<String> both = partitions == null ? null : new LinkedHashSet<>(partitions);
    if (both != null && other.partitions != null) {
      both.addAll(other.partitions);
    }
    return new Node(name, gres, used, configuredTres, allocatedTres, state, reason, both, cpusIdle);
  }

  private IllegalArgumentException bad(String what) {
    return new IllegalArgumentException("node " + Words.quoted(name) + ": " + what);
  }
}
