package evenhand.cycle;

import evenhand.facts.NodeState;
import evenhand.facts.Share;
import evenhand.policy.Policy;
import evenhand.policy.Stage;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * What people and jobs tell the service about the contract: checkpoints (K4), nodes to be drained
 * and used again (X1 to X3); and how each node stands.
 */
public final class Contract {
  private static final int TRIES = 10;
  private static final int LONGEST_REASON = 500;

  /** A checkpoint's clock may be ahead of ours by as much. */
  private static final Duration AHEAD = Duration.ofMinutes(1);

  private final Store store;
  private final Supplier<Policy> policy;
  private final Supplier<Cycle.Latest> latest;
  private final Clock clock;

  /**
   * @param latest what the cycle of this process found last: {@code cycle::latest}
   */
  public Contract(
      Store store, Supplier<Policy> policy, Supplier<Cycle.Latest> latest, Clock clock) {
    this.store = store;
    this.policy = policy;
    this.latest = latest;
    this.clock = clock;
  }

  /**
   * A node as it stands.
   *
   * @param state {@code up}; {@code closed}: no new work, what runs goes on; {@code draining}: no
   *     new work, what runs leaves; {@code drained}: nothing runs there any more; {@code down}
   * @param reason why it is not up, or null
   * @param by who drained it, or null
   * @param since when it was drained, or null; {@code emptySince} since when nothing runs there
   * @param waitsFor what it still waits for before it is drained; empty when it is not draining
   */
  public record NodeView(
      String node,
      String state,
      String reason,
      String by,
      Instant since,
      Instant emptySince,
      List<Gpus> gpus,
      List<WaitsFor> waitsFor) {}

  /**
   * GPUs of one tier on a node, by use; {@code unused} ones are idle where the node is up.
   *
   * @param allocated held by jobs that a budget pays for, {@code unallocated} by others of ours
   * @param reserved idle ones that a reservation or a claim holds
   * @param outside used by jobs that are not ours
   */
  public record Gpus(
      String tier,
      int capacity,
      int allocated,
      int unallocated,
      int reserved,
      int outside,
      int unused) {}

  /**
   * A job that has to leave a node.
   *
   * @param until when it is told to leave, or ended if it was told already; null where nobody knows
   * @param why what that time is: {@code protected}, {@code grace time}, {@code time limit}, or
   *     {@code it ends by itself}
   */
  public record WaitsFor(String job, String account, int gpus, Instant until, String why) {}

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  private World world() {
    return store.load(null);
  }

  /** Every node that the inventory knows, by name. */
  public List<NodeView> nodes() {
    return nodes(world());
  }

  private ClusterNow now(World world) {
    Cycle.Latest found = latest.get();
    Policy deciding = policy.get();
    Map<Long, StoredJob> jobs = new HashMap<>();
    int queued = 0;
    int gpus = 0;
    for (StoredJob job : world.jobs()) {
      jobs.put(job.id(), job);
      if (job.state() == JobState.GLOBAL_QUEUE_WAIT) {
        queued++;
        gpus += job.asks().nodes() * job.asks().numGpus();
      }
    }
    List<ClusterNow.Held> held = new ArrayList<>();
    world
        .reservations()
        .forEach(
            r ->
                held.add(
                    new ClusterNow.Held(
                        r.job(), r.account(), r.node(), r.tier().name(), r.gpus(), false)));
    if (world.claim() != null) {
      StoredJob claimer = jobs.get(Long.parseLong(world.claim().job()));
      for (Share share : world.claim().on()) {
        held.add(
            new ClusterNow.Held(
                world.claim().job(),
                claimer == null ? null : claimer.asks().account(),
                share.node(),
                share.tier().name(),
                share.gpus(),
                true));
      }
    }
    return new ClusterNow(
        now(),
        found.reading() == null ? null : found.reading().at(),
        found.report(),
        deciding.name(),
        deciding.hash(),
        nodes(world),
        world.attempts().stream().map(a -> holder(a, jobs.get(a.job()))).toList(),
        held,
        queued,
        gpus);
  }

  /** The whole cluster as it stands. */
  public ClusterNow standing() {
    return now(world());
  }

  private static ClusterNow.Holder holder(Attempt a, StoredJob job) {
    boolean isProtected = a.startedAt() != null && a.allocated() && job != null;
    return new ClusterNow.Holder(
        Long.toString(a.job()),
        job == null ? null : job.name(),
        a.account(),
        job == null ? null : job.asks().user(),
        a.state(),
        a.allocated(),
        a.on(),
        a.startedAt(),
        isProtected ? a.startedAt().plusSeconds(job.asks().minRuntimeSeconds()) : null,
        a.waitsUntil() != null,
        a.preemptFor(),
        a.endBy());
  }

  private List<NodeView> nodes(World world) {
    Reading reading = latest.get().reading();
    Survey survey = new Survey(reading, world.tiers(), store.installation(), world.drains());
    Map<String, List<Stock>> byNode = new TreeMap<>();
    for (Stock stock : world.stock()) {
      byNode.computeIfAbsent(stock.node(), n -> new ArrayList<>()).add(stock);
    }
    Set<String> stays = new HashSet<>();
    Map<String, NodeState> shown = new HashMap<>();
    if (reading != null) {
      for (Reading.Seen seen : reading.placements()) {
        shown.merge(seen.node(), seen.state(), (a, b) -> a.compareTo(b) < 0 ? b : a);
        if (seen.workStays()) {
          stays.add(seen.node());
        }
      }
    }
    Map<String, Integer> outside = new HashMap<>();
    survey.outside(world).forEach(o -> outside.put(o.node() + "\n" + o.tier(), o.gpus()));
    List<NodeView> views = new ArrayList<>();
    byNode.forEach(
        (node, stock) -> {
          // Its drain is over and the cluster shows it up: what the next cycle will note.
          boolean up = shown.get(node) == NodeState.UP && !isDrained(world, node);
          views.add(view(node, up ? used(stock) : stock, world, stays, outside));
        });
    return views;
  }

  private static boolean isDrained(World world, String node) {
    return world.drains().stream().anyMatch(d -> d.node().equals(node));
  }

  private static List<Stock> used(List<Stock> stock) {
    return stock.stream()
        .map(s -> new Stock(s.node(), s.tier(), s.capacity(), NodeState.UP, null))
        .toList();
  }

  private NodeView view(
      String node,
      List<Stock> stock,
      World world,
      Set<String> stays,
      Map<String, Integer> outside) {
    NodeDrain drain =
        world.drains().stream()
            .filter(d -> d.node().equals(node))
            .min(Comparator.comparing(NodeDrain::source))
            .orElse(null);
    NodeState worst = stock.stream().map(Stock::state).max(Comparator.naturalOrder()).orElseThrow();
    boolean drains = drain != null && worst != NodeState.DOWN;
    String state =
        worst == NodeState.DOWN
            ? "down"
            : drains
                ? drain.emptySince() == null ? "draining" : "drained"
                : worst == NodeState.UP ? "up" : stays.contains(node) ? "closed" : "draining";
    String reason =
        drains
            ? drain.reason()
            : stock.stream().map(Stock::reason).filter(r -> r != null).findFirst().orElse(null);
    List<Gpus> gpus = new ArrayList<>();
    for (Stock s : stock) {
      gpus.add(gpus(s, world, outside.getOrDefault(node + "\n" + s.tier().name(), 0)));
    }
    return new NodeView(
        node,
        state,
        reason,
        drains ? drain.by() : null,
        drains ? drain.since() : null,
        drains ? drain.emptySince() : null,
        gpus,
        state.equals("draining") ? waitsFor(node, world) : List.of());
  }

  private static Gpus gpus(Stock s, World world, int outside) {
    int allocated = 0;
    int unallocated = 0;
    for (Attempt attempt : world.attempts()) {
      for (Share share : attempt.on()) {
        // A start that waits for others holds nothing of its own yet.
        if (share.node().equals(s.node())
            && share.tier().name().equals(s.tier().name())
            && attempt.waitsUntil() == null) {
          allocated += attempt.allocated() ? share.gpus() : 0;
          unallocated += attempt.allocated() ? 0 : share.gpus();
        }
      }
    }
    // Work that the cluster has lost counts until that is sure, beside what was given its GPUs.
    allocated = Math.min(allocated, s.capacity());
    unallocated = Math.min(unallocated, s.capacity() - allocated);
    int unused = Math.max(0, s.capacity() - allocated - unallocated - outside);
    int reserved =
        world.reservations().stream()
            .filter(r -> r.node().equals(s.node()) && r.tier().name().equals(s.tier().name()))
            .mapToInt(r -> r.gpus())
            .sum();
    if (world.claim() != null) {
      reserved += world.claim().gpusOn(s.node(), s.tier());
    }
    reserved = Math.min(reserved, unused);
    return new Gpus(
        s.tier().name(),
        s.capacity(),
        allocated,
        unallocated,
        reserved,
        outside,
        unused - reserved);
  }

  private List<WaitsFor> waitsFor(String node, World world) {
    boolean ends = policy.get().has(Stage.DRAIN);
    Map<Long, StoredJob> jobs = new HashMap<>();
    world.jobs().forEach(j -> jobs.put(j.id(), j));
    List<WaitsFor> waits = new ArrayList<>();
    for (Attempt a : world.attempts()) {
      int gpus = a.on().stream().filter(s -> s.node().equals(node)).mapToInt(Share::gpus).sum();
      if (gpus == 0) {
        continue;
      }
      StoredJob job = jobs.get(a.job());
      Instant until = null;
      String why = "it ends by itself";
      if (a.endBy() != null) {
        until = a.endBy();
        why = "grace time";
      } else if (ends && a.startedAt() != null && job != null) {
        until =
            a.allocated()
                ? a.startedAt().plusSeconds(job.asks().minRuntimeSeconds())
                : a.startedAt();
        why = "protected";
      } else if (a.startedAt() != null && job != null && job.timeLimitSeconds() != null) {
        until = a.startedAt().plusSeconds(job.timeLimitSeconds());
        why = "time limit";
      }
      waits.add(new WaitsFor(Long.toString(a.job()), a.account(), gpus, until, why));
    }
    waits.sort(
        Comparator.comparing(
                WaitsFor::until, Comparator.nullsLast(Comparator.<Instant>naturalOrder()))
            .thenComparing(WaitsFor::job));
    return waits;
  }

  /** What became of drains of this node, newest first. */
  public List<NodeDrain> history(String node, int limit) {
    known(node, world());
    return store.drains(node, limit);
  }

  /**
   * Drains a node: it gets no new work from the next cycle on, and each job there leaves when its
   * minimum run time is over (X1, X2). Draining it again changes the reason.
   *
   * @throws Desk.Refused {@code NOT_FOUND} when the inventory has no such node
   */
  public NodeView drain(String node, String reason, String by) {
    if (reason == null || reason.isBlank() || reason.length() > LONGEST_REASON) {
      throw new Desk.Refused(
          "INVALID_REQUEST",
          "reason",
          null,
          "a drain needs a reason of 1 to " + LONGEST_REASON + " characters: others will read it");
    }
    return change(
        node,
        (ours, changes) ->
            changes.put(
                ours == null
                    ? NodeDrain.begun(
                        node, NodeDrain.Source.EVENHAND, reason.strip(), by, changes.at())
                    : ours.told(reason.strip(), by)));
  }

  /**
   * Uses a node again that was drained here; one that is not is left as it is.
   *
   * @throws Desk.Refused {@code NOT_FOUND}, or {@code DRAINED_BY_SLURM} when only Slurm drains it:
   *     then it has to be told so there
   */
  public NodeView resume(String node, String by) {
    World world = world();
    boolean ours = drain(world, node, NodeDrain.Source.EVENHAND) != null;
    NodeDrain slurms = drain(world, node, NodeDrain.Source.SLURM);
    if (!ours && slurms != null) {
      throw new Desk.Refused(
          "DRAINED_BY_SLURM",
          "node",
          "X1",
          "node "
              + node
              + " is drained by Slurm ("
              + slurms.reason()
              + "); it is used again after scontrol update nodename="
              + node
              + " state=resume");
    }
    return change(
        node,
        (drain, changes) -> {
          if (drain != null) {
            changes.put(drain.ended(changes.at(), by));
          }
        });
  }

  private static NodeDrain drain(World world, String node, NodeDrain.Source source) {
    return world.drains().stream()
        .filter(d -> d.node().equals(node) && d.source() == source)
        .findFirst()
        .orElse(null);
  }

  private static void known(String node, World world) {
    List<String> names = world.stock().stream().map(Stock::node).distinct().toList();
    if (!names.contains(node)) {
      throw new Desk.Refused(
          "NOT_FOUND",
          "node",
          null,
          "there is no node "
              + node
              + (names.isEmpty()
                  ? "; the cluster has not been read yet"
                  : "; there are "
                      + names.stream().limit(20).collect(Collectors.joining(", "))
                      + (names.size() > 20 ? " and " + (names.size() - 20) + " more" : "")));
    }
  }

  private NodeView change(String node, java.util.function.BiConsumer<NodeDrain, Changes> what) {
    for (int i = 0; i < TRIES; i++) {
      World world = world();
      known(node, world);
      Changes changes = Changes.ofDesk(now());
      what.accept(drain(world, node, NodeDrain.Source.EVENHAND), changes);
      try {
        if (!changes.isEmpty()) {
          store.commit(changes);
        }
        return nodes(world()).stream().filter(v -> v.node().equals(node)).findFirst().orElseThrow();
      } catch (Overtaken e) {
        // Somebody did the same at the same moment, or a cycle has noted that it is empty.
      }
    }
    throw busy("node " + node);
  }

  private static Desk.Refused busy(String what) {
    return new Desk.Refused("BUSY", null, null, what + " changes again and again; try once more");
  }

  /**
   * Notes that a running job has saved its work: what it did before that moment is not lost when it
   * is ended (K4). A report older than one before changes nothing.
   *
   * @param at the moment of the checkpoint; null for now
   * @return the checkpoint that counts
   * @throws Desk.Refused {@code NOT_RUNNING}, or {@code INVALID_REQUEST} for a moment before the
   *     run began or after now
   */
  public Instant checkpoint(String id, Instant at) {
    for (int i = 0; i < TRIES; i++) {
      Store.JobRecord record =
          store.job(FrontDesk.number("job", id)).orElseThrow(() -> FrontDesk.notFound("job", id));
      Attempt attempt = record.attempt();
      boolean runs = attempt != null && attempt.endedAt() == null && attempt.startedAt() != null;
      if (!runs) {
        throw new Desk.Refused(
            "NOT_RUNNING",
            "id",
            "K4",
            "job "
                + id
                + " is "
                + record.job().state()
                + "; only a job that runs can report a checkpoint");
      }
      Instant now = now();
      Instant saved = sane(id, at == null ? now : at, attempt.startedAt(), now);
      if (attempt.checkpointAt() != null
          && !attempt.checkpointAt().isBefore(attempt.startedAt())
          && !saved.isAfter(attempt.checkpointAt())) {
        return attempt.checkpointAt();
      }
      Changes changes = Changes.ofDesk(now);
      changes.put(record.job(), attempt.checkpoint(saved));
      try {
        store.commit(changes);
        return saved;
      } catch (Overtaken e) {
        // A cycle took it in hand at the same moment.
      }
    }
    throw busy("job " + id);
  }

  private static Instant sane(String id, Instant at, Instant startedAt, Instant now) {
    if (at.isBefore(startedAt) || at.isAfter(now.plus(AHEAD))) {
      throw new Desk.Refused(
          "INVALID_REQUEST",
          "at",
          "K4",
          "a checkpoint of job "
              + id
              + " at "
              + at
              + " cannot be: its run began at "
              + startedAt
              + ", and it is "
              + now);
    }
    // A clock that is a little ahead has saved nothing of what is still to come.
    return (at.isAfter(now) ? now : at).truncatedTo(ChronoUnit.MICROS);
  }
}
