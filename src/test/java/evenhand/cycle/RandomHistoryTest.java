package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import evenhand.facts.NodeState;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
import evenhand.store.Database;
import evenhand.store.PostgresStore;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Histories of everything that happens to a cluster, in random order: whatever comes, no GPU is
 * given twice, no attempt is submitted twice, and every GPU-second is charged once (C6).
 */
class RandomHistoryTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier LOW = new Tier("3080ti", 10, 34.1, 8, true, "low", "gpu:3080ti");
  private static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");

  /** Cycles of each history on PostgreSQL; {@code -Devenhand.history=500} for a long one. */
  private static final int STEPS = Integer.getInteger("evenhand.history", 35);

  private static final Recorder RECORDER = new JsonRecorder();
  private static Policy policy;

  @BeforeAll
  static void rules() throws PolicyFault {
    policy = Policies.load(Optional.empty(), "reservation", Map.of());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void inMemory(long seed) {
    new History(seed, new MemoryStore()).play(250);
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22, 23, 24})
  void underAClockThatStepsBack(long seed) {
    History history = new History(seed, new MemoryStore());
    history.clockSteps = true;
    history.play(250);
  }

  @Test
  void onPostgresUnderAClockThatStepsBack() {
    try (PostgresStore store = new PostgresStore(Database.fresh())) {
      History history = new History(98, store);
      history.clockSteps = true;
      history.play(STEPS);
    }
  }

  @Test
  void onPostgres() {
    try (PostgresStore store = new PostgresStore(Database.fresh())) {
      new History(99, store).play(STEPS);
    }
  }

  private static final class History {
    private final Random random;
    private final Store store;
    private final ManualClock clock = new ManualClock(T0);
    private final SimulatedCluster cluster = new SimulatedCluster(clock);
    private final Map<String, Integer> capacity = new HashMap<>();
    private Duration slack = Duration.ZERO;
    private boolean clockSteps;
    private Cycle cycle;
    private Desk desk;

    History(long seed, Store store) {
      this.random = new Random(seed);
      this.store = store;
      store.setUp(
          List.of(LOW, MID),
          List.of(new AccountSetup("BCG", null, 1), new AccountSetup("KDG", null, 1)),
          T0);
      node("a", LOW, 2);
      node("b", LOW, 4);
      node("c", MID, 2);
      node("d", MID, 4);
      cluster.runTimes(o -> Duration.ofSeconds(20 + random.nextInt(200)));
      begin();
    }

    private void node(String name, Tier tier, int gpus) {
      cluster.node(name, tier, gpus);
      capacity.put(name, gpus);
    }

    /** A process of the service begins, as after a restart: nothing is left but the store. */
    private void begin() {
      cycle =
          new Cycle(
              store, cluster, Router.NONE, () -> policy, RECORDER, clock, CycleSettings.DEFAULT);
      desk = new FrontDesk(store, () -> policy, cycle::latest, cycle.settings(), clock);
    }

    void play(int steps) {
      cycle.run();
      for (int i = 0; i < steps; i++) {
        for (int k = random.nextInt(3); k >= 0; k--) {
          happen();
        }
        clock.advance(Duration.ofSeconds(1 + random.nextInt(20)));
        if (clockSteps && i > 20 && random.nextInt(25) == 0) {
          clock.advance(Duration.ofSeconds(-random.nextInt(200)));
        }
        if (random.nextInt(30) == 0) {
          // GPUs go away and come back, whoever holds them.
          String node = random.nextBoolean() ? "b" : "d";
          cluster.node(node, node.equals("b") ? LOW : MID, 2 + 2 * random.nextInt(2));
        }
        CycleReport report = cycle.run();
        assertThat(report.result())
            .as(report.because())
            .isIn(CycleReport.Result.DECIDED, CycleReport.Result.NO_READING);
        holds();
      }
      cluster.unreadable(null);
      capacity.forEach(
          (node, gpus) ->
              cluster.node(node, node.equals("a") || node.equals("b") ? LOW : MID, gpus));
      for (String node : capacity.keySet()) {
        cluster.state(node, NodeState.UP);
        cluster.hold(node, node.equals("a") || node.equals("b") ? LOW : MID, 0);
      }
      for (int i = 0; i < 300 && !store.load(null).jobs().isEmpty(); i++) {
        clock.advance(Duration.ofSeconds(30));
        cycle.run();
        holds();
      }
      assertThat(store.load(null).jobs()).isEmpty();
      addsUp();
      receiptsHold();
    }

    /** The ledger to the last microsecond, clocks being one here. */
    private void addsUp() {
      LedgerCheck.Result result =
          store.books(books -> new LedgerCheck(books, clock.instant(), slack).run());
      assertThat(result.difference()).isNull();
      assertThat(result.placements()).isGreaterThan(0);
      Ledger ledger = new Ledger(store, cycle.settings(), clock);
      BigDecimal owned =
          ledger.sums(Store.LedgerFilter.ALL, Set.of(Ledger.By.KIND)).stream()
              .map(
                  l ->
                      l.group().get(Ledger.By.KIND).equals("beyond")
                          ? l.gpuSeconds().negate()
                          : l.gpuSeconds())
              .reduce(BigDecimal.ZERO, BigDecimal::add);
      BigDecimal hourly =
          ledger.sums(Store.LedgerFilter.ALL, Set.of(Ledger.By.KIND, Ledger.By.HOUR)).stream()
              .map(
                  l ->
                      l.group().get(Ledger.By.KIND).equals("beyond")
                          ? l.gpuSeconds().negate()
                          : l.gpuSeconds())
              .reduce(BigDecimal.ZERO, BigDecimal::add);
      assertThat(hourly).isEqualByComparingTo(owned);
      Map<String, Instant> until = new HashMap<>();
      store
          .ledger(null, null, 1_000_000, Long.MAX_VALUE)
          .forEach(
              r -> until.merge(r.node(), r.to(), (a, b) -> a.isAfter(b) ? a : b)); // behind a clock
      until.replaceAll((node, at) -> at.isAfter(clock.instant()) ? at : clock.instant());
      BigDecimal[] there = {BigDecimal.ZERO};
      store.books(
          books -> {
            books.spans(
                s ->
                    there[0] =
                        there[0].add(
                            Amount.gpuSeconds(
                                s.capacity(),
                                s.from(),
                                s.to() == null || s.to().isAfter(until.get(s.node()))
                                    ? until.get(s.node())
                                    : s.to())));
            return null;
          });
      assertThat(owned).isEqualByComparingTo(there[0]);
      for (var account : store.load(null).accounts()) {
        double charged =
            ledger
                .sums(
                    new Store.LedgerFilter(account.id(), null, null, null, null, null, null),
                    Set.of())
                .stream()
                .mapToDouble(l -> l.chargedTflopSeconds().doubleValue())
                .sum();
        assertThat(charged).isCloseTo(account.cumulativeUsage(), within(1e-3));
      }
    }

    private void receiptsHold() {
      Receipts receipts = new Receipts(store, RECORDER, new PastPolicies());
      long before = Long.MAX_VALUE;
      int verified = 0;
      for (Desk.DecisionView d : store.decisions(null, 10_000, before)) {
        assertThat(receipts.verify(d.id())).isEqualTo(new Receipts.Verdict(d.id(), null, null));
        verified++;
      }
      assertThat(verified).isGreaterThan(10);
    }

    private void happen() {
      int what = random.nextInt(20);
      if (what < 8) {
        String account = random.nextBoolean() ? "BCG" : "KDG";
        try {
          desk.submit(
              new NewJob(
                  "j",
                  account,
                  "kim",
                  null,
                  1,
                  1 + random.nextInt(4),
                  null,
                  random.nextInt(4) == 0 ? "4090" : null,
                  0,
                  random.nextBoolean(),
                  0,
                  random.nextInt(4) == 0 ? 100L : null,
                  "#!/bin/sh\n",
                  List.of(),
                  Map.of(),
                  null),
              null);
        } catch (Desk.Refused e) {
          assertThat(e.code()).isEqualTo("NO_FIT_PLACEMENT"); // while GPUs are away
        }
      } else if (what < 10) {
        List<StoredJob> jobs = store.load(null).jobs();
        if (!jobs.isEmpty()) {
          desk.cancel(jobs.get(random.nextInt(jobs.size())).asks().id(), "kim");
        }
      } else if (what < 12) {
        String node = List.copyOf(capacity.keySet()).get(random.nextInt(capacity.size()));
        cluster.state(
            node,
            random.nextInt(3) == 0
                ? NodeState.DOWN
                : random.nextInt(3) == 0 ? NodeState.DRAINING : NodeState.UP);
      } else if (what < 13) {
        cluster.hold("d", MID, random.nextInt(3));
      } else if (what < 15) {
        end();
      } else if (what < 17) {
        cluster.answerNext(
            switch (random.nextInt(3)) {
              case 0 -> new Submission.NotSubmitted("controller away");
              case 1 -> new Submission.Unknown("timed out");
              default -> new Submission.Refused("no such partition");
            },
            false);
      } else if (what < 18) {
        cluster.answerNext(new Submission.Unknown("timed out"), true);
      } else if (what < 19) {
        cluster.unreadable(random.nextBoolean() ? "away" : null);
      } else {
        begin();
      }
    }

    private void end() {
      List<Attempt> attempts = store.load(null).attempts();
      if (attempts.isEmpty()) {
        return;
      }
      Attempt attempt = attempts.get(random.nextInt(attempts.size()));
      Token token = new Token(store.installation(), attempt.job(), attempt.attempt());
      try {
        switch (random.nextInt(5)) {
          case 0 -> cluster.end(token, SeenJob.State.OUT_OF_MEMORY, null, null);
          case 1 -> cluster.end(token, SeenJob.State.NODE_FAIL, null, "NodeDown");
          case 2 -> cluster.end(token, SeenJob.State.FAILED, 1, "NonZeroExitCode");
          case 3 -> cluster.requeue(token, Duration.ofSeconds(random.nextInt(40)));
          default -> cluster.forget(token);
        }
      } catch (IllegalArgumentException e) {
        // It has ended there, or never came there.
      }
    }

    private void holds() {
      World world = store.load(null);
      Map<String, Integer> given = new HashMap<>();
      for (Attempt attempt : world.attempts()) {
        for (Share share : attempt.on()) {
          given.merge(share.node(), share.gpus(), Integer::sum);
        }
      }
      world.reservations().forEach(r -> given.merge(r.node(), r.gpus(), Integer::sum));
      given.forEach(
          (node, gpus) -> assertThat(gpus).as(node).isLessThanOrEqualTo(capacity.get(node)));
      for (StoredJob job : world.jobs()) {
        if (job.reservation() != null) {
          assertThat(job.state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
          assertThat(job.carriedTflopSeconds()).isEqualTo(job.reservation().accruedTflopSeconds());
        }
      }
      double held = 0;
      double uncharged = 0;
      Map<String, List<Store.LedgerRow>> runs = new HashMap<>();
      for (Store.LedgerRow row : store.ledger(null, null, 1_000_000, Long.MAX_VALUE)) {
        held += row.tflopSeconds();
        uncharged += row.chargedAt() == null ? row.tflopSeconds() : 0;
        runs.computeIfAbsent(row.job() + " " + row.node(), k -> new ArrayList<>()).add(row);
      }
      double charged = world.accounts().stream().mapToDouble(a -> a.cumulativeUsage()).sum();
      double carried = world.jobs().stream().mapToDouble(StoredJob::carriedTflopSeconds).sum();
      assertThat(charged + carried).isCloseTo(held, within(1e-3));
      assertThat(uncharged).isCloseTo(carried, within(1e-3));
      // What one job held of one node it held once: its stretches there do not overlap.
      for (List<Store.LedgerRow> rows :
          clockSteps ? List.<List<Store.LedgerRow>>of() : runs.values()) {
        rows.sort(java.util.Comparator.comparing(Store.LedgerRow::from));
        for (int i = 1; i < rows.size(); i++) {
          assertThat(rows.get(i).from()).isAfterOrEqualTo(rows.get(i - 1).to());
        }
      }
      Set<Token> arrived = new HashSet<>();
      for (SeenJob seen : cluster.everything()) {
        assertThat(arrived.add(Token.read(seen.name()).orElseThrow())).as(seen.name()).isTrue();
      }
    }
  }
}
