package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.cycle.Ledger.By;
import evenhand.cycle.Store.LedgerFilter;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.policy.EditedRules;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who owns each GPU-second, case by case, with figures; here on a store in memory. */
class LedgerTest {
  static final Instant T0 = Instant.parse("2026-04-10T09:59:50Z");
  static final Tier LOW = new Tier("3080ti", 10, 34.1, 8, true, "low", "gpu:3080ti");
  static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");

  /** Shared, as every test verifies what was decided by the same few policies. */
  static final PastPolicies PAST = new PastPolicies();

  static Policy policy;

  final ManualClock clock = new ManualClock(T0);
  final SimulatedCluster cluster = new SimulatedCluster(clock);
  Store store;
  Cycle cycle;
  Desk desk;
  Ledger ledger;
  Policy decides = policy;

  @BeforeAll
  static void rules() throws PolicyFault {
    policy = Policies.load(Optional.empty(), "reservation", Map.of());
  }

  Store make() {
    return new MemoryStore();
  }

  @BeforeEach
  void start() {
    store = make();
    store.setUp(
        List.of(LOW, MID),
        List.of(new AccountSetup("BCG", null, 1), new AccountSetup("KDG", null, 1)),
        T0);
    cluster.node("n1", MID, 2);
    cycle =
        new Cycle(
            store,
            cluster,
            Router.NONE,
            () -> decides,
            new JsonRecorder(),
            clock,
            CycleSettings.DEFAULT);
    desk = new FrontDesk(store, () -> decides, cycle::latest, cycle.settings(), clock);
    ledger = new Ledger(store, cycle.settings(), clock);
    after(0);
  }

  void after(int seconds) {
    clock.advance(Duration.ofSeconds(seconds));
    CycleReport report = cycle.run();
    assertThat(report.result()).as(report.because()).isEqualTo(CycleReport.Result.DECIDED);
  }

  Token submit(String account, int gpus) {
    String id =
        desk.submit(SomeJob.PLAIN.of(account).on(gpus, null).resumable(true).made(), null).id();
    return new Token(store.installation(), Long.parseLong(id), 1);
  }

  /** GPU-seconds by kind. */
  Map<String, Double> owners(LedgerFilter filter) {
    return ledger.sums(filter, Set.of(By.KIND)).stream()
        .collect(Collectors.toMap(l -> l.group().get(By.KIND), l -> l.gpuSeconds().doubleValue()));
  }

  /** To the microsecond: the clocks are one here. */
  LedgerCheck.Difference difference() {
    return store
        .books(books -> new LedgerCheck(books, clock.instant(), Duration.ZERO).run())
        .difference();
  }

  double usage(String account) {
    return store.load(null).accounts().stream()
        .filter(a -> a.id().equals(account))
        .mapToDouble(a -> a.cumulativeUsage())
        .sum();
  }

  @AfterEach
  void addsUp() {
    assertThat(difference()).isNull();
    Receipts receipts = new Receipts(store, new JsonRecorder(), PAST);
    store
        .decisions(null, 1000, Long.MAX_VALUE)
        .forEach(d -> assertThat(receipts.verify(d.id()).message()).isNull());
    if (store instanceof AutoCloseable open) {
      try {
        open.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  void whatIsNotHeldIsIdleAndARunCountsUpToNowAndIsChargedAtItsEnd() {
    cluster.runTimes(o -> Duration.ofSeconds(30));
    submit("BCG", 1);
    after(0);
    after(20);
    assertThat(owners(LedgerFilter.ALL)).isEqualTo(Map.of("run", 20.0, "idle", 20.0));
    assertThat(ledger.rows(LedgerFilter.ALL, 10, null).items()).isEmpty();
    after(30);
    assertThat(owners(LedgerFilter.ALL)).isEqualTo(Map.of("run", 30.0, "idle", 70.0));
    // Cut where the hour begins, ten seconds after it all began.
    assertThat(ledger.sums(LedgerFilter.ALL, Set.of(By.ACCOUNT, By.HOUR)))
        .extracting(
            l -> l.group().get(By.ACCOUNT),
            l -> l.group().get(By.HOUR),
            l -> l.gpuSeconds().doubleValue(),
            l -> l.chargedTflopSeconds().doubleValue())
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple("BCG", "2026-04-10T09:00:00Z", 10.0, 826.0),
            org.assertj.core.groups.Tuple.tuple("BCG", "2026-04-10T10:00:00Z", 20.0, 1652.0),
            org.assertj.core.groups.Tuple.tuple(null, "2026-04-10T09:00:00Z", 10.0, 0.0),
            org.assertj.core.groups.Tuple.tuple(null, "2026-04-10T10:00:00Z", 60.0, 0.0));
    assertThat(
            owners(
                new LedgerFilter(
                    null, null, null, null, null, T0.plusSeconds(5), T0.plusSeconds(15))))
        .isEqualTo(Map.of("run", 10.0, "idle", 10.0));
    assertThat(owners(new LedgerFilter("KDG", null, null, null, null, null, null))).isEmpty();
  }

  @Test
  void aRunOfNoTimeHasItsRow() {
    cluster.runTimes(o -> Duration.ZERO);
    submit("BCG", 1);
    after(0);
    after(5);
    assertThat(ledger.rows(LedgerFilter.ALL, 10, null).items())
        .singleElement()
        .satisfies(
            row -> {
              assertThat(row.tflopSeconds()).isZero();
              assertThat(row.from()).isEqualTo(row.to());
              assertThat(row.charge()).isNotNull();
            });
  }

  @Test
  void statesAndCapacityChangeAtTheInstantOfTheReading() {
    after(10);
    cluster.state("n1", NodeState.DRAINING);
    after(10);
    cluster.state("n1", NodeState.DOWN);
    after(10);
    cluster.state("n1", NodeState.UP);
    cluster.hold("n1", MID, 1);
    after(10);
    cluster.node("n1", MID, 1);
    after(10);
    cluster.remove("n1");
    cluster.node("n2", LOW, 1);
    after(10);
    after(10);
    Map<String, Double> owners = owners(LedgerFilter.ALL);
    // n1: 20 s idle, 10 draining, 10 down, 10 up, 10 with one GPU, which is used from outside, then
    // gone: down; n2: idle since it was seen.
    assertThat(owners)
        .isEqualTo(
            Map.of(
                "idle", 20 * 2 + 10 + 10.0,
                "draining", 20.0,
                "down", 20 + 10.0,
                "outside", 10 + 10.0));
  }

  @Test
  void aJobKeepsGpusThatItsPlacementHasLost() {
    submit("BCG", 2);
    after(0);
    after(10);
    cluster.node("n1", MID, 1);
    after(10);
    after(10);
    assertThat(owners(LedgerFilter.ALL)).isEqualTo(Map.of("run", 60.0, "beyond", 10.0));
  }

  @Test
  void aReservationIsHeldSwappedAndReleasedByForce() {
    cluster.hold("n1", MID, 1);
    Token a = submit("BCG", 2);
    after(0);
    after(10);
    assertThat(owners(LedgerFilter.ALL)).isEqualTo(Map.of("reserved", 10.0, "outside", 10.0));
    cluster.node("n2", MID, 2);
    after(10); // swap (W1): it starts on n2
    assertThat(store.job(a.job()).orElseThrow().attempt().on().get(0).node()).isEqualTo("n2");
    after(10);
    cluster.end(a, SeenJob.State.OUT_OF_MEMORY, null, null);
    after(1);
    assertThat(usage("BCG")).isEqualTo((20 + 2 * 10) * 82.6);
    cluster.hold("n2", MID, 1);
    submit("BCG", 2);
    after(0);
    after(10);
    cluster.state("n1", NodeState.DOWN); // R5
    cluster.state("n2", NodeState.DOWN);
    after(10);
    assertThat(difference()).isNull();
    double before = usage("BCG");
    cluster.state("n1", NodeState.UP);
    after(10);
    after(10);
    desk.cancel(store.load(null).jobs().get(0).asks().id(), "kim");
    assertThat(usage("BCG")).isEqualTo(before + 10 * 82.6);
  }

  @Test
  void cancellingWhileTheClockIsBehindChargesNothingMore() {
    cluster.hold("n1", MID, 1);
    Token a = submit("BCG", 2);
    after(0);
    after(100);
    clock.advance(Duration.ofSeconds(-50));
    after(0);
    desk.cancel(Long.toString(a.job()), "kim");
    assertThat(usage("BCG")).isEqualTo(8260);
    assertThat(store.ledger(null, a.job(), 10, Long.MAX_VALUE))
        .allMatch(row -> !row.to().isBefore(row.from()));
    after(0);
    store.books(
        books -> {
          assertThat(books.clockSteps()).hasSize(1);
          return null;
        });
  }

  @Test
  void aNodeThatVanishesWithAJob() {
    Token a = submit("BCG", 2);
    after(0);
    after(10);
    cluster.node("n2", MID, 1);
    cluster.end(a, SeenJob.State.NODE_FAIL, null, "NodeDown");
    cluster.remove("n1");
    after(10);
    after(10);
    assertThat(usage("BCG")).isEqualTo(20 * 82.6);
    assertThat(owners(new LedgerFilter(null, null, "n1", null, null, null, null)))
        .isEqualTo(Map.of("run", 20.0, "down", 20.0, "idle", 20.0));
  }

  @Test
  void aJobThatWasStartedAgainBetweenTwoReadingsIsChargedForBothRuns() {
    Token a = submit("BCG", 2);
    after(0);
    after(10);
    cluster.requeue(a, Duration.ofSeconds(2));
    clock.advance(Duration.ofSeconds(5));
    cluster.end(a, SeenJob.State.FAILED, 1, null);
    after(5);
    assertThat(store.ledger(null, a.job(), 10, Long.MAX_VALUE)).hasSize(2);
  }

  @Test
  void unallocatedTimeIsRecordedAndChargedToNobody() throws PolicyFault {
    Policy budget = Policies.load(Optional.empty(), "budget", Map.of());
    Cycle byBudget =
        new Cycle(
            store,
            cluster,
            Router.NONE,
            () -> budget,
            new JsonRecorder(),
            clock,
            CycleSettings.DEFAULT);
    cluster.runTimes(o -> Duration.ofSeconds(30));
    submit("BCG", 2); // it declares no minimum run time (N5)
    assertThat(byBudget.run().result()).isEqualTo(CycleReport.Result.DECIDED);
    clock.advance(Duration.ofSeconds(10));
    byBudget.run();
    assertThat(owners(LedgerFilter.ALL)).isEqualTo(Map.of("unallocated", 20.0));
    clock.advance(Duration.ofSeconds(30));
    assertThat(byBudget.run().result()).isEqualTo(CycleReport.Result.DECIDED);
    assertThat(owners(LedgerFilter.ALL)).isEqualTo(Map.of("unallocated", 60.0, "idle", 20.0));
    assertThat(usage("BCG")).isZero();
    assertThat(store.load(T0).used()).isEmpty();
  }

  @Test
  void aCorrectionIsANewRowAndUsageMovesWithIt() {
    Books.Correction made = ledger.correct("BCG", 24780, "the note of 1 April", "lee", "k1");
    assertThat(usage("BCG")).isEqualTo(24780);
    assertThat(ledger.correct("BCG", 24780, "the note of 1 April", "lee", "k1")).isEqualTo(made);
    assertThat(usage("BCG")).isEqualTo(24780);
    assertThatThrownBy(() -> ledger.correct("BCG", 5, "another", "lee", "k1"))
        .isInstanceOf(Desk.Refused.class)
        .hasMessageContaining("used before");
    assertThatThrownBy(() -> ledger.correct("BCG", -24781, "too much", "lee", null))
        .isInstanceOf(Desk.Refused.class)
        .hasMessageContaining("24780");
    assertThatThrownBy(() -> ledger.correct("nobody", 1, "x", "lee", null))
        .isInstanceOf(Desk.Refused.class);
    assertThatThrownBy(() -> ledger.correct("BCG", 0, "x", "lee", null))
        .isInstanceOf(Desk.Refused.class);
    ledger.correct("BCG", -24780, "it was wrong", "lee", null);
    assertThat(usage("BCG")).isZero();
    assertThat(ledger.sums(LedgerFilter.ALL, Set.of(By.ACCOUNT)))
        .anyMatch(
            l -> "BCG".equals(l.group().get(By.ACCOUNT)) && l.chargedTflopSeconds().signum() == 0);
  }

  @Test
  void whatIsChargedTimesAFactorAddsUpAndSaysSo(@TempDir Path folder) throws Exception {
    Path rules =
        EditedRules.in(folder)
            .edit("charging/C5.drl", "new Factor( 1 )", "new Factor( 0.5 )")
            .folder();
    decides = Policies.load(Optional.of(rules), "reservation", Map.of());
    cluster.runTimes(o -> Duration.ofSeconds(100));
    submit("BCG", 2);
    after(0);
    after(200);
    double half = 2 * 100 * 82.6 / 2;
    assertThat(usage("BCG")).isEqualTo(half);
    assertThat(difference()).isNull();
    assertThat(ledger.sums(LedgerFilter.ALL, Set.of(By.ACCOUNT)))
        .filteredOn(line -> "BCG".equals(line.group().get(By.ACCOUNT)))
        .singleElement()
        .satisfies(
            line -> {
              assertThat(line.tflopSeconds()).isEqualByComparingTo("16520");
              assertThat(line.chargedTflopSeconds()).isEqualByComparingTo("8260");
            });
  }

  /** The policy changes while a job holds a reservation, and the job then runs for nobody (N5). */
  @Test
  void aReservationIsPaidForEvenIfItsJobThenRunsUnallocated() throws PolicyFault {
    cluster.runTimes(o -> Duration.ofSeconds(100));
    cluster.hold("n1", MID, 1);
    Token job = submit("BCG", 2);
    after(0);
    after(10);
    decides = Policies.load(Optional.empty(), "budget", Map.of());
    cluster.hold("n1", MID, 0);
    after(0);
    after(200);
    assertThat(store.job(job.job()).orElseThrow().job().state()).isEqualTo(JobState.COMPLETED);
    assertThat(owners(LedgerFilter.ALL)).containsEntry("unallocated", 200.0);
    assertThat(usage("BCG")).isEqualTo(10 * 82.6);
    assertThat(difference()).isNull();
  }
}
