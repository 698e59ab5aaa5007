package evenhand.service;

import evenhand.cycle.CycleReport;
import evenhand.cycle.Store;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.simulator.Figures;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the metrics tell of the cycles. All of it comes from what a cycle knows anyhow: whoever
 * reads the metrics asks nothing of the database. Tags are accounts, tiers, nodes' states, clauses
 * and codes, never jobs or users.
 */
final class CycleMeters {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand.cycle");

  /** Entitled and delivered are sums over hours: they need not be worked out each cycle. */
  private static final Duration BETWEEN_ACCOUNTS = Duration.ofMinutes(1);

  /** A longer gap between two cycles is time that nobody watched. */
  private static final Duration LONGEST_GAP = Duration.ofMinutes(2);

  /** How reservations end that the policy's clauses do not end: with the job's start, or R4. */
  private static final String STARTED = "started";

  private static final String SWAPPED = "W1";
  private static final String CANCELLED = "R4";

  private static final Duration[] WAITS = {
    Duration.ofMinutes(1),
    Duration.ofMinutes(5),
    Duration.ofMinutes(15),
    Duration.ofHours(1),
    Duration.ofHours(4),
    Duration.ofDays(1)
  };

  private final MeterRegistry meters;
  private final Store store;
  private final AccountDesk accounts;
  private final Clock clock;
  private final MultiGauge queue;
  private final MultiGauge gpus;
  private final MultiGauge nodes;
  private final MultiGauge reservations;
  private final MultiGauge reservedGpus;
  private final Map<String, MultiGauge> ofAccounts = new LinkedHashMap<>();
  private volatile Store.Backlog backlog = new Store.Backlog(0, null);
  private volatile Instant goodReadingAt;
  private volatile int undecided;
  private volatile boolean leads;
  private Instant accountsAt = Instant.MIN;
  private Instant usedAt;

  /** What has waited or held once: it is told as 0 later, not left out. */
  private final Map<MultiGauge, Set<List<String>>> known = new HashMap<>();

  /** Reservations that the last decision left standing, by job. */
  private Map<String, Reservation> stood = new HashMap<>();

  CycleMeters(MeterRegistry meters, Store store, AccountDesk accounts, Clock clock) {
    this.meters = meters;
    this.store = store;
    this.accounts = accounts;
    this.clock = clock;
    queue = gauges("evenhand.queue.jobs", "jobs that wait, by account and why", null);
    gpus = gauges("evenhand.gpus", "GPUs of each tier, by what they are used for", null);
    nodes = gauges("evenhand.nodes", "nodes by state; draining ones are not empty yet", null);
    reservations = gauges("evenhand.reservations", "reservations that stand", null);
    reservedGpus = gauges("evenhand.reservations.gpus", "GPUs that reservations hold", null);
    for (String[] one :
        new String[][] {
          {"evenhand.account.share", "share of the cluster (A1)", null},
          {"evenhand.account.ratio", "use of the window over its part of the weights (A3)", null},
          {"evenhand.account.entitled", "GPU time entitled to in the window (A5)", "gpu.seconds"},
          {"evenhand.account.delivered", "GPU time delivered in the window (A5)", "gpu.seconds"}
        }) {
      ofAccounts.put(one[0], gauges(one[0], one[1], one[2]));
    }
    gauge("evenhand.reading.age", "age of the last good reading", "seconds", m -> m.readingAge());
    gauge(
        "evenhand.outbox.orders", "orders still to be carried out", null, m -> m.backlog.orders());
    gauge(
        "evenhand.outbox.age",
        "age of the oldest order still to be carried out",
        "seconds",
        m -> m.age(m.backlog.oldest()));
    gauge(
        "evenhand.cycle.undecided", "cycles in a row that decided nothing", null, m -> m.undecided);
    gauge("evenhand.leader", "1 where this process decides", null, m -> m.leads ? 1 : 0);
    countedFromNothing();
  }

  /**
   * What an alert waits for stands at 0 from the start: the rise of a counter that comes into being
   * at 1 is a rise of nothing to who collects the metrics.
   */
  private void countedFromNothing() {
    for (CycleReport.Result result : CycleReport.Result.values()) {
      cycles(result);
    }
    failures();
    for (String end : List.of(STARTED, SWAPPED, CANCELLED, "R3", "R5")) {
      lasted(end);
    }
  }

  private Timer cycles(CycleReport.Result result) {
    return timer("evenhand.cycle", "a whole cycle", "result", word(result));
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private Counter failures() {
    return meters.counter("evenhand.cycle.failures");
  }

  private MultiGauge gauges(String name, String meaning, String unit) {
    return MultiGauge.builder(name).description(meaning).baseUnit(unit).register(meters);
  }

  private void gauge(String name, String meaning, String unit, Function<CycleMeters, Number> of) {
    Gauge.builder(name, this, m -> of.apply(m).doubleValue())
        .description(meaning)
        .baseUnit(unit)
        .register(meters);
  }

  private double readingAge() {
    return goodReadingAt == null ? Double.NaN : age(goodReadingAt);
  }

  private double age(Instant since) {
    return since == null
        ? 0
        : Math.max(0, Duration.between(since, clock.instant()).toMillis() / 1000.0);
  }

  /** Counts a cycle that was thrown out of: the database is away, as a rule. */
  void failed(int inARow) {
    undecided = inARow;
    leads = false;
    failures().increment();
  }

  /**
   * Counts what one cycle was about.
   *
   * @param inARow how many have decided nothing, this one among them; 0 when it did
   */
  void ran(CycleReport report, int inARow) {
    undecided = inARow;
    leads = report.result() != CycleReport.Result.STANDBY;
    if (report.readingAt() != null) {
      goodReadingAt = report.readingAt();
    }
    cycles(report.result()).record(report.wholeMillis(), TimeUnit.MILLISECONDS);
    timer("evenhand.cycle.read", "reading the cluster")
        .record(report.readMillis(), TimeUnit.MILLISECONDS);
    for (CycleReport.Ending ending : report.endings()) {
      meters
          .counter(
              "evenhand.jobs.ended",
              "account",
              ending.account(),
              "state",
              ending.state().ended() ? ending.state().name() : "QUEUED_AGAIN")
          .increment();
    }
    if (!leads) {
      standsBy();
      return;
    }
    if (report.decision() != null) {
      timer("evenhand.cycle.decide", "the policy's part of a cycle")
          .record(report.decideMillis(), TimeUnit.MILLISECONDS);
      decided(report.snapshot(), report.decision());
    }
    try {
      backlog = store.backlog();
      if (report.decision() != null && !report.at().isBefore(accountsAt)) {
        accounts();
        accountsAt = report.at().plus(BETWEEN_ACCOUNTS);
      }
    } catch (RuntimeException e) {
      LOG.debug("some metrics are not renewed", e);
    }
  }

  /** Another process decides, and tells how things stand; what this one knew grows old. */
  private void standsBy() {
    for (MultiGauge gauge : List.of(queue, gpus, nodes, reservations, reservedGpus)) {
      gauge.register(List.of(), true);
    }
    ofAccounts.values().forEach(gauge -> gauge.register(List.of(), true));
    known.clear();
    stood = new HashMap<>();
    usedAt = null;
    accountsAt = Instant.MIN;
    backlog = new Store.Backlog(0, null);
  }

  private Timer timer(String name, String meaning, String... tags) {
    return Timer.builder(name).description(meaning).tags(tags).register(meters);
  }

  private void decided(Snapshot snapshot, Decision decision) {
    Map<String, Job> jobs = new HashMap<>();
    snapshot.jobs().forEach(j -> jobs.put(j.id(), j));
    Map<String, Running> running = new HashMap<>();
    snapshot.running().forEach(r -> running.put(r.job(), r));
    Map<String, Reservation> reserved = new HashMap<>();
    snapshot.reservations().forEach(r -> reserved.put(r.job(), r));
    // The desk cancels between two cycles; the decision says nothing of it.
    stood.forEach(
        (job, reservation) -> {
          if (!reserved.containsKey(job)) {
            lasted(reservation, CANCELLED, snapshot.now());
          }
        });
    for (Decided decided : decision.outcomes()) {
      if (decided.outcome() instanceof Release released && reserved.containsKey(released.job())) {
        lasted(reserved.remove(released.job()), decided.rule(), snapshot.now());
      }
    }
    Map<List<String>, Integer> waiting = new HashMap<>();
    for (Decided decided : decision.outcomes()) {
      Outcome outcome = decided.outcome();
      Job job = jobs.get(outcome.job());
      if (outcome instanceof Wait wait && job != null) {
        waiting.merge(List.of(job.account(), wait.code()), 1, Integer::sum);
      } else if (outcome instanceof Start && job != null) {
        started(job, snapshot.now());
        // One that it gave back for it (W1) was counted so.
        if (reserved.containsKey(job.id())) {
          lasted(reserved.remove(job.id()), STARTED, snapshot.now());
        }
      } else if (outcome instanceof Preempt preempt && running.containsKey(preempt.job())) {
        Running victim = running.get(preempt.job());
        String[] tags = {"clause", decided.rule(), "account", victim.account()};
        meters.counter("evenhand.preemptions", tags).increment();
        meters
            .counter("evenhand.preemptions.lost.gpu.seconds", tags)
            .increment(victim.lostWork(snapshot.now()));
      }
    }
    stood = reserved;
    tell(queue, waiting, "account", "code");
    for (HoldingCost cost : decision.accruals()) {
      if (cost.kind().equals(HoldingCost.RESERVED)) {
        double seconds = cost.gpus() * Duration.between(cost.from(), cost.to()).toNanos() / 1e9;
        meters
            .counter("evenhand.reservations.held.gpu.seconds", "account", cost.account())
            .increment(seconds);
        meters
            .counter("evenhand.reservations.cost.tflop.seconds", "account", cost.account())
            .increment(cost.tflopSeconds());
      }
    }
    Map<List<String>, Integer> many = new HashMap<>();
    Map<List<String>, Integer> held = new HashMap<>();
    for (Reservation r : snapshot.reservations()) {
      many.merge(List.of(r.account()), 1, Integer::sum);
      held.merge(List.of(r.account(), r.tier().name()), r.gpus(), Integer::sum);
    }
    tell(reservations, many, "account");
    tell(reservedGpus, held, "account", "tier");
    use(snapshot);
    nodes(snapshot);
  }

  private void started(Job job, Instant now) {
    boolean debug = Figures.isDebug((long) job.nodes() * job.numGpus(), job.minRuntimeSeconds());
    String kind = job.minRuntimeSeconds() == 0 ? "unallocated" : debug ? "debug" : "allocated";
    meters.counter("evenhand.jobs.started", "account", job.account()).increment();
    if (job.attempt() > 1) {
      return; // it keeps its place in the queue, and what it has run is no wait
    }
    Duration waited = Duration.between(job.queuedAt(), now);
    Timer.builder("evenhand.jobs.waited")
        .description("from the queue to the first start, by class of work")
        .tag("class", kind)
        .serviceLevelObjectives(WAITS)
        .register(meters)
        .record(waited.isNegative() ? Duration.ZERO : waited);
  }

  private void lasted(Reservation reservation, String end, Instant now) {
    Duration lasted = Duration.between(reservation.since(), now);
    lasted(end).record(lasted.isNegative() ? Duration.ZERO : lasted);
  }

  private Timer lasted(String end) {
    return timer(
        "evenhand.reservations.lasted",
        "how long reservations stood, by how they ended: started, or the clause",
        "end",
        end);
  }

  /** What every GPU is used for, and for how long since the cycle before. */
  private void use(Snapshot snapshot) {
    Map<String, Integer> reserved = new HashMap<>();
    for (Reservation r : snapshot.reservations()) {
      reserved.merge(r.node() + "\n" + r.tier().name(), r.gpus(), Integer::sum);
    }
    snapshot
        .claims()
        .forEach(
            claim -> claim.on().forEach(s -> reserved.merge(place(s), s.gpus(), Integer::sum)));
    Map<String, int[]> ours = new HashMap<>();
    for (Running r : snapshot.running()) {
      for (Share share : r.on()) {
        ours.computeIfAbsent(place(share), p -> new int[2])[r.allocated() ? 0 : 1] += share.gpus();
      }
    }
    Map<List<String>, Integer> use =
        new TreeMap<>(java.util.Comparator.comparing(Object::toString));
    for (Placement p : snapshot.placements()) {
      String place = p.node() + "\n" + p.tier().name();
      int[] run = ours.getOrDefault(place, new int[2]);
      int idle = Math.min(p.idle(), p.capacity());
      int held = p.state() == NodeState.UP ? Math.min(idle, reserved.getOrDefault(place, 0)) : 0;
      boolean down = p.state() == NodeState.DOWN;
      Map<String, Integer> parts = new LinkedHashMap<>();
      parts.put("down", down ? p.capacity() : 0);
      // Work that the cluster has lost counts as running until that is sure; its GPUs are idle.
      int busy = p.capacity() - idle;
      int allocated = Math.min(run[0], busy);
      int unallocated = Math.min(run[1], busy - allocated);
      parts.put("allocated", down ? 0 : allocated);
      parts.put("unallocated", down ? 0 : unallocated);
      parts.put("outside", down ? 0 : busy - allocated - unallocated);
      parts.put("reserved", down ? 0 : held);
      parts.put("draining", p.state() == NodeState.DRAINING ? idle : 0);
      parts.put("idle", p.state() == NodeState.UP ? idle - held : 0);
      parts.forEach((what, n) -> use.merge(List.of(p.tier().name(), what), n, Integer::sum));
    }
    tell(gpus, use, "tier", "use");
    Duration since = usedAt == null ? Duration.ZERO : Duration.between(usedAt, snapshot.now());
    usedAt = snapshot.now();
    if (since.isNegative() || since.compareTo(LONGEST_GAP) > 0) {
      return;
    }
    use.forEach(
        (of, n) ->
            meters
                .counter("evenhand.gpu.seconds", "tier", of.get(0), "use", of.get(1))
                .increment(n * (since.toNanos() / 1e9)));
  }

  private static String place(Share share) {
    return share.node() + "\n" + share.tier().name();
  }

  private void nodes(Snapshot snapshot) {
    Map<String, NodeState> worst = new TreeMap<>();
    snapshot
        .placements()
        .forEach(p -> worst.merge(p.node(), p.state(), (a, b) -> a.compareTo(b) > 0 ? a : b));
    Set<String> used = new HashSet<>();
    snapshot.running().forEach(r -> r.on().forEach(s -> used.add(s.node())));
    Map<List<String>, Integer> many = new HashMap<>();
    for (String state : List.of("up", "draining", "drained", "closed", "down")) {
      many.put(List.of(state), 0);
    }
    worst.forEach(
        (node, state) -> {
          String word =
              state != NodeState.DRAINING
                  ? state.word()
                  : snapshot.workStays().contains(node)
                      ? "closed"
                      : used.contains(node) ? "draining" : "drained";
          many.merge(List.of(word), 1, Integer::sum);
        });
    tell(nodes, many, "state");
  }

  /** A row for each of the figures, and 0 for what had one before. */
  private void tell(MultiGauge gauge, Map<List<String>, Integer> figures, String... names) {
    Set<List<String>> all = known.computeIfAbsent(gauge, g -> new LinkedHashSet<>());
    all.addAll(figures.keySet());
    List<MultiGauge.Row<?>> rows = new ArrayList<>();
    for (List<String> values : all) {
      Tags tags = Tags.empty();
      for (int i = 0; i < names.length; i++) {
        tags = tags.and(names[i], values.get(i));
      }
      rows.add(MultiGauge.Row.of(tags, figures.getOrDefault(values, 0)));
    }
    gauge.register(rows, true);
  }

  private void accounts() {
    Map<String, List<MultiGauge.Row<?>>> rows = new HashMap<>();
    for (AccountDesk.AccountView account : accounts.accounts(false)) {
      Tags tags = Tags.of("account", account.id());
      Map<String, Double> figures = new HashMap<>();
      figures.put("evenhand.account.share", account.share());
      figures.put("evenhand.account.entitled", account.entitled());
      figures.put("evenhand.account.delivered", account.delivered());
      figures.put("evenhand.account.ratio", account.step() == null ? null : account.step().ratio());
      figures.forEach(
          (name, value) -> {
            if (value != null && Double.isFinite(value)) {
              rows.computeIfAbsent(name, n -> new ArrayList<>())
                  .add(MultiGauge.Row.of(tags, value));
            }
          });
    }
    ofAccounts.forEach((name, gauge) -> gauge.register(rows.getOrDefault(name, List.of()), true));
  }
}
