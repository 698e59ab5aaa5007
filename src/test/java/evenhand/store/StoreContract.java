package evenhand.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Attempt;
import evenhand.cycle.Changes;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.cycle.NodeDrain;
import evenhand.cycle.Order;
import evenhand.cycle.Overtaken;
import evenhand.cycle.Stock;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.cycle.Token;
import evenhand.cycle.World;
import evenhand.cycle.accounts.AccountBook;
import evenhand.cycle.accounts.AccountChange;
import evenhand.cycle.accounts.GpuTime;
import evenhand.facts.Claim;
import evenhand.facts.NodeState;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Wait;
import evenhand.policy.ChargeUnit;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every store promises; run against each of them. */
abstract class StoreContract {
  static final Instant T0 = Instant.parse("2026-04-10T09:00:00.123456Z");
  static final Tier LOW = new Tier("3080ti", 10, 34.1, 8, true, "low", "gpu:3080ti");
  static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");

  Store store;

  abstract Store make();

  @BeforeEach
  void start() {
    store = make();
    store.lead();
    store.setUp(
        List.of(MID, LOW),
        List.of(
            new AccountSetup("root", null, 1),
            new AccountSetup("BCG", "root", 2),
            new AccountSetup("KDG", "root", 1)),
        T0);
    store.see(
        List.of(
            new Stock("n1", MID, 2, NodeState.UP, null),
            new Stock("n2", LOW, 4, NodeState.UP, null)),
        T0);
  }

  static NewJob job(String name, String account, int gpus) {
    return new NewJob(
        name,
        account,
        "kim",
        null,
        1,
        gpus,
        null,
        null,
        0,
        true,
        3,
        600L,
        "#!/bin/sh\ntrue\n",
        List.of("a", "b c"),
        Map.of("K", "v=1 \"x\""),
        "/home/kim");
  }

  StoredJob add(String name, String account, int gpus) {
    return store.add(job(name, account, gpus), 10, null, null, T0).record().job();
  }

  StoredJob read(long id) {
    return store.job(id).orElseThrow().job();
  }

  double usage(String account) {
    return store.load(null).accounts().stream()
        .filter(a -> a.id().equals(account))
        .findFirst()
        .orElseThrow()
        .cumulativeUsage();
  }

  @Test
  void setUpMakesAndChangesButKeepsUsageAndWeight() {
    Tier dearer = new Tier("4090", 20, 100, 4, true, "mid", "gpu:4090");
    store.setUp(List.of(LOW, dearer), List.of(new AccountSetup("BCG", "root", 9)), T0);
    World world = store.load(null);
    assertThat(world.tiers()).containsExactly(LOW, dearer);
    assertThat(world.stock()).anyMatch(s -> s.node().equals("n1") && s.tier().equals(dearer));
    assertThat(world.accounts())
        .filteredOn(a -> a.id().equals("BCG"))
        .singleElement()
        .satisfies(a -> assertThat(a.weight()).isEqualTo(2));
    assertThatThrownBy(
            () -> store.setUp(List.of(), List.of(new AccountSetup("X", "nobody", 1)), T0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nobody");
  }

  @Test
  void aTierThatIsNotSetUpAnyMoreIsNotUsed() {
    StoredJob job = add("a", "BCG", 2);
    dispatch(job);
    store.setUp(List.of(LOW), List.of(), T0);
    World world = store.load(null);
    assertThat(world.tiers()).containsExactly(LOW);
    assertThat(world.stock()).extracting(Stock::node).containsExactly("n2");
    assertThat(world.attempts().get(0).on()).containsExactly(new Share("n1", MID, 2));
  }

  @Test
  void whatTheClusterNoLongerShowsIsDownAndWhatShrankIsRetired() {
    store.see(List.of(new Stock("n2", LOW, 3, NodeState.DRAINING, "disk")), T0.plusSeconds(5));
    assertThat(store.load(null).stock())
        .containsExactlyInAnyOrder(
            new Stock("n1", MID, 2, NodeState.DOWN, Stock.GONE),
            new Stock("n2", LOW, 3, NodeState.DRAINING, "disk"));
    store.see(
        List.of(
            new Stock("n1", MID, 4, NodeState.UP, null),
            new Stock("n2", LOW, 0, NodeState.UP, null)),
        T0.plusSeconds(10));
    assertThat(store.load(null).stock())
        .containsExactly(new Stock("n1", MID, 4, NodeState.UP, null));
  }

  @Test
  void aJobIsReadAsItWasWritten() {
    StoredJob job = add("train", "BCG", 2);
    StoredJob again = store.load(null).jobs().get(0);
    assertThat(again).isEqualTo(job).isEqualTo(read(job.id()));
    assertThat(job.asks().id()).isEqualTo(Long.toString(job.id()));
    assertThat(job.asks().minimumTierSortOrder()).isEqualTo(10);
    assertThat(job.asks().queuedAt()).isEqualTo(T0);
    assertThat(job.state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThatThrownBy(() -> add("x", "nobody", 1)).isInstanceOf(IllegalArgumentException.class);
    assertThat(store.jobs(null, null, null, 10, Long.MAX_VALUE)).hasSize(1);
  }

  @Test
  void aReservationIsHeldInTheJobsColumnsAndKeepsItsBeginning() {
    StoredJob job = add("a", "BCG", 2);
    Reservation held = new Reservation(job.asks().id(), "BCG", "n1", MID, 1, T0, 0, T0);
    Changes reserve = Changes.ofCycle(T0);
    reserve.put(job.holding(held, 0));
    store.commit(reserve);
    assertThat(read(job.id()).reservation()).isEqualTo(held);

    Instant later = T0.plusSeconds(300);
    Reservation grown = new Reservation(job.asks().id(), "BCG", "n1", MID, 1, T0, 24780, later);
    Changes accrue = Changes.ofCycle(later);
    accrue.hold(1, new HoldingCost(held, later));
    accrue.put(read(job.id()).holding(grown, 24780));
    store.commit(accrue);
    assertThat(store.load(null).reservations()).containsExactly(grown);
    assertThat(usage("BCG")).isZero();

    Changes release = Changes.ofCycle(later);
    release.charge(1, new Charge("BCG", job.asks().id(), 24780), "C4");
    release.put(read(job.id()).holding(null, 0));
    store.commit(release);
    assertThat(usage("BCG")).isEqualTo(24780);
    assertThat(read(job.id()).reservation()).isNull();
    assertThat(store.job(job.id()).orElseThrow().chargedTflopSeconds()).isEqualTo(24780);
    assertThat(store.ledger("BCG", job.id(), 10, Long.MAX_VALUE))
        .singleElement()
        .satisfies(
            row -> {
              assertThat(row.chargedAt()).isEqualTo(later);
              assertThat(row.tflopSeconds()).isEqualTo(24780);
              assertThat(row.kind()).isEqualTo("reserved");
            });
  }

  @Test
  void whatWasWorkedOutFromAnOlderJobIsRefusedWhole() {
    StoredJob a = add("a", "BCG", 1);
    StoredJob b = add("b", "BCG", 1);
    Changes first = Changes.ofDesk(T0);
    first.put(a.over(JobState.CANCELLED, "by kim", T0, null));
    store.commit(first);
    Changes second = Changes.ofCycle(T0);
    second.put(b.to(JobState.DISPATCHING, null));
    second.put(a.to(JobState.DISPATCHING, null));
    second.charge(1, new Charge("BCG", b.asks().id(), 5), "C3");
    assertThatThrownBy(() -> store.commit(second)).isInstanceOf(Overtaken.class);
    assertThat(read(b.id()).state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(usage("BCG")).isZero();
  }

  Token dispatch(StoredJob job) {
    Token token = new Token(store.installation(), job.id(), job.asks().attempt());
    Changes start = Changes.ofCycle(T0);
    start.put(job.to(JobState.DISPATCHING, null));
    start.begin(
        Attempt.decided(
            job.id(), token.attempt(), job.asks().account(), List.of(new Share("n1", MID, 2)), T0));
    start.write(Order.submit(token, T0));
    start.write(Order.yield(token, "n1", "4090", 2, T0));
    store.commit(start);
    return token;
  }

  @Test
  void anAttemptHasItsOrdersAndItsScript() {
    Token token = dispatch(add("a", "BCG", 2));
    assertThat(store.due(T0, 10))
        .extracting(Order::kind)
        .containsExactly(Order.Kind.YIELD, Order.Kind.SUBMIT);
    assertThat(store.due(T0.minusSeconds(1), 10)).isEmpty();
    assertThat(store.due(T0, 0)).isEmpty();
    var order = store.submitOrder(token);
    assertThat(order.script()).isEqualTo("#!/bin/sh\ntrue\n");
    assertThat(order.arguments()).containsExactly("a", "b c");
    assertThat(order.environment()).containsExactly(Map.entry("K", "v=1 \"x\""));
    assertThat(order.on()).containsExactly(new Share("n1", MID, 2));
    assertThat(order.timeLimitSeconds()).isEqualTo(600);
    Attempt attempt = store.load(null).attempts().get(0);
    assertThat(attempt.on()).containsExactly(new Share("n1", MID, 2));
    assertThat(attempt.state()).isEqualTo(JobState.DISPATCHING);

    StoredJob now = read(token.job());
    Changes run = Changes.ofCycle(T0);
    run.put(now.running(T0), attempt.known("77").running(T0, T0, 1).toCancel("kim"));
    run.finish(token, Order.Kind.SUBMIT, "seen");
    store.commit(run);
    assertThat(store.load(null).attempts())
        .containsExactly(attempt.known("77").running(T0, T0, 1).toCancel("kim"));
    assertThat(store.due(T0, 10)).extracting(Order::kind).containsExactly(Order.Kind.YIELD);

    Changes end = Changes.ofCycle(T0);
    end.put(
        read(token.job()).over(JobState.COMPLETED, null, T0, 0),
        store.load(null).attempts().get(0).over(JobState.COMPLETED, T0, T0));
    end.finish(token, null, "over");
    store.commit(end);
    assertThat(store.load(null).attempts()).isEmpty();
    assertThat(store.load(null).jobs()).isEmpty();
    assertThat(store.due(T0, 10)).isEmpty();
    assertThat(store.job(token.job()).orElseThrow().attempt().state())
        .isEqualTo(JobState.COMPLETED);
  }

  @Test
  void anOrderThatWasBegunCannotBeClosedByWhoDidNotSeeItBegun() {
    Token token = dispatch(add("a", "BCG", 2));
    Order read = store.open(Order.Kind.SUBMIT, token).orElseThrow();
    Changes begin = Changes.ofCycle(T0);
    begin.put(read.begun(T0, T0.plusSeconds(30)));
    store.commit(begin);
    Changes cancel = Changes.ofDesk(T0);
    cancel.put(read.closed(T0, "cancelled"));
    assertThatThrownBy(() -> store.commit(cancel)).isInstanceOf(Overtaken.class);
    Order begun = store.open(Order.Kind.SUBMIT, token).orElseThrow();
    assertThat(begun.inDoubt()).isTrue();
    assertThat(begun.tries()).isEqualTo(1);
    assertThat(begun.nextTryAt()).isEqualTo(T0.plusSeconds(30));
    Changes done = Changes.ofCycle(T0);
    done.put(begun.closed(T0, "submitted"));
    store.commit(done);
    assertThat(store.open(Order.Kind.SUBMIT, token)).isEmpty();
    assertThatThrownBy(() -> store.commit(begin)).isInstanceOf(Overtaken.class);
  }

  @Test
  void oneKeyOneJob() throws Exception {
    Store.Key key = new Store.Key("BCG", "k1", "digest");
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      List<Future<Store.Added>> calls = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        calls.add(pool.submit(() -> store.add(job("a", "BCG", 1), 0, null, key, T0)));
      }
      Set<Long> ids = new HashSet<>();
      int made = 0;
      for (Future<Store.Added> call : calls) {
        Store.Added added = call.get();
        ids.add(added.record().job().id());
        made += added.isNew() ? 1 : 0;
        assertThat(added.sameBody()).isTrue();
      }
      assertThat(ids).hasSize(1);
      assertThat(made).isEqualTo(1);
    } finally {
      pool.shutdownNow();
    }
    assertThat(
            store
                .add(job("a", "BCG", 1), 0, null, new Store.Key("BCG", "k1", "other"), T0)
                .sameBody())
        .isFalse();
    assertThat(store.add(job("a", "KDG", 1), 0, null, new Store.Key("KDG", "k1", "d"), T0).isNew())
        .isTrue();
  }

  @Test
  void chargedRunsCountIntoTheWindow() {
    StoredJob job = add("a", "BCG", 2);
    Changes changes = Changes.ofCycle(T0.plusSeconds(100));
    changes.hold(
        1,
        new HoldingCost(
            "run", job.asks().id(), "BCG", "n1", MID, 2, T0, T0.plusSeconds(100), 16520));
    changes.charge(1, new Charge("BCG", job.asks().id(), 16520), "C3");
    store.commit(changes);
    assertThat(windowUsage(T0.plusSeconds(40))).isEqualTo(120);
    assertThat(windowUsage(T0.minusSeconds(40))).isEqualTo(200);
    assertThat(windowUsage(T0.plusSeconds(100))).isZero();
    assertThat(windowUsage(null)).isZero();
  }

  private double windowUsage(Instant window) {
    return store.load(window).used().getOrDefault("BCG", new GpuTime()).in(ChargeUnit.GPU_S);
  }

  /** The same memory in a process that has just begun. */
  Store restarted() {
    return store;
  }

  @Test
  void aWindowIsTheSumOfItsRowsToTheMicrosecond() {
    Random random = new Random(41);
    StoredJob[] jobs = {add("a", "BCG", 2), add("b", "KDG", 2), add("c", "root", 2)};
    Instant start = T0.minus(Duration.ofDays(3));
    for (int i = 0; i < 120; i++) {
      StoredJob job = jobs[random.nextInt(jobs.length)];
      String id = job.asks().id();
      Instant from = start.plus(Math.abs(random.nextLong()) % 260_000_000_000L, ChronoUnit.MICROS);
      if (random.nextInt(5) == 0) {
        from = from.truncatedTo(ChronoUnit.HOURS);
      }
      Instant to =
          random.nextInt(12) == 0
              ? from
              : from.plus(
                  Math.abs(random.nextLong())
                      % (random.nextInt(4) == 0 ? 180_000_000_000L : 9_000_000_000L),
                  ChronoUnit.MICROS);
      Tier tier = random.nextBoolean() ? MID : LOW;
      String kind =
          random.nextInt(6) == 0
              ? HoldingCost.UNALLOCATED
              : random.nextInt(8) == 0 ? "reserved" : "run";
      Changes changes = Changes.ofCycle(to);
      changes.hold(
          1,
          new HoldingCost(
              kind, id, job.asks().account(), "n1", tier, 1 + random.nextInt(8), from, to, 1));
      // A run may be charged later, with another.
      if (random.nextInt(3) > 0) {
        changes.charge(1, new Charge(job.asks().account(), id, 1), "C3");
      }
      store.commit(changes);
      if (i % 8 == 7) {
        Instant window =
            start.plus(Math.abs(random.nextLong()) % 300_000_000_000L, ChronoUnit.MICROS);
        sumsAreThoseOfTheRows(
            store, random.nextBoolean() ? window : window.truncatedTo(ChronoUnit.HOURS));
      }
    }
    Store again = restarted();
    for (int hours = 1; hours < 96; hours += 5) {
      // As a policy with another lookback would ask.
      sumsAreThoseOfTheRows(again, T0.minus(Duration.ofHours(hours)));
    }
  }

  private static void sumsAreThoseOfTheRows(Store store, Instant window) {
    Map<String, GpuTime> scanned = new HashMap<>();
    for (Store.LedgerRow row : store.ledger(null, null, 1000, Long.MAX_VALUE)) {
      if (row.kind().equals("run") && row.charge() != null && row.to().isAfter(window)) {
        Instant from = row.from().isAfter(window) ? row.from() : window;
        long micros = row.gpus() * ChronoUnit.MICROS.between(from, row.to());
        if (micros > 0) {
          scanned.computeIfAbsent(row.account(), a -> new GpuTime()).add(row.tflops(), micros);
        }
      }
    }
    Map<String, GpuTime> summed = new HashMap<>(store.load(window).used());
    summed.values().forEach(t -> t.microsByPrice().values().removeIf(micros -> micros == 0));
    summed.values().removeIf(t -> t.microsByPrice().isEmpty());
    assertThat(summed).isEqualTo(scanned);
    scanned.forEach(
        (account, time) -> {
          for (ChargeUnit unit : ChargeUnit.values()) {
            assertThat(summed.get(account).in(unit)).isEqualTo(time.in(unit));
          }
        });
  }

  @Test
  void whatIsRetiredKeepsItsHistoryAndItsBranchWhatItUsed() {
    StoredJob job = add("a", "BCG", 2);
    Changes changes = Changes.ofCycle(T0.plusSeconds(100));
    String id = job.asks().id();
    changes.hold(
        1, new HoldingCost("run", id, "BCG", "n1", MID, 2, T0, T0.plusSeconds(100), 16520));
    changes.charge(1, new Charge("BCG", id, 16520), "C3");
    store.commit(changes);
    List<AccountChange> written =
        store
            .accounts()
            .change(
                all ->
                    new AccountBook.Amendment(
                        List.of(
                            change("BCG", AccountChange.Kind.RETIRED, "2.0", null),
                            change("KDG", AccountChange.Kind.MOVED, "root", null),
                            change("KDG", AccountChange.Kind.WEIGHT, "1.0", "0.3"),
                            change("KDG", AccountChange.Kind.OWNERS, null, "ada,kim"),
                            change("KDG", AccountChange.Kind.USERS, null, "lee"),
                            change("new", AccountChange.Kind.ADDED, null, "4.0"),
                            change("new", AccountChange.Kind.USERS, null, "lee,park")),
                        true));
    // With work of its own it is still read, without a budget.
    assertThat(store.load(T0).accounts())
        .filteredOn(a -> a.id().equals("BCG"))
        .singleElement()
        .satisfies(a -> assertThat(a.weight()).isZero());
    assertThat(store.accounts().openJobs()).isEqualTo(Map.of("BCG", 1));
    Changes over = Changes.ofDesk(T0);
    over.put(read(job.id()).over(JobState.CANCELLED, "by kim", T0, null));
    store.commit(over);
    Store again = restarted();
    again.setUp(
        List.of(MID, LOW),
        List.of(new AccountSetup("root", null, 1), new AccountSetup("KDG", "root", 1)),
        T0);
    World world = again.load(T0);
    assertThat(world.accounts())
        .extracting(a -> a.id() + " " + a.parent() + " " + a.weight())
        .containsExactlyInAnyOrder("root null 1.0", "KDG null 0.3", "new null 4.0");
    assertThat(world.used().keySet()).containsExactly("root");
    assertThat(world.used().get("root").in(ChargeUnit.TFLOP_S)).isEqualTo(16520);
    assertThat(usage("root")).isZero();
    assertThat(again.accounts().entries())
        .extracting(e -> e.id() + e.owners() + e.users() + e.retiredAt())
        .containsExactlyInAnyOrder(
            "root[][]null", "BCG[][]" + T0, "KDG[ada, kim][]null", "new[][lee, park]null");
    assertThat(again.accounts().changes("KDG", null, 2, Long.MAX_VALUE))
        .containsExactly(written.get(4), written.get(3));
    assertThat(again.accounts().changes(null, "root", 10, Long.MAX_VALUE))
        .extracting(c -> c.account() + " " + c.kind().word())
        .containsExactly("KDG added", "BCG added");
    assertThatThrownBy(
            () ->
                again
                    .accounts()
                    .change(
                        all ->
                            new AccountBook.Amendment(
                                List.of(
                                    change("KDG", AccountChange.Kind.WEIGHT, "0.3", "5.0"),
                                    change("new", AccountChange.Kind.WEIGHT, "4.0", "-1.0")),
                                false)))
        .isInstanceOf(RuntimeException.class);
  }

  private static AccountChange change(
      String account, AccountChange.Kind kind, String was, String became) {
    return new AccountChange(0, T0, account, kind, was, became, null, "ada", "a test");
  }

  @Test
  void usageAndDemandAreThereByTheHour() {
    StoredJob job =
        store
            .add(
                new NewJob(
                    "a", "BCG", "kim", null, 2, 3, null, null, 60, true, 0, null, "#!", List.of(),
                    Map.of(), null),
                0,
                null,
                null,
                T0)
            .record()
            .job();
    Instant hour = T0.truncatedTo(ChronoUnit.HOURS);
    Instant end = hour.plusSeconds(2 * 3600 + 1);
    Changes changes = Changes.ofCycle(end);
    changes.hold(
        1,
        new HoldingCost(
            "run", job.asks().id(), "BCG", "n1", MID, 2, hour.plusSeconds(3590), end, 1));
    changes.charge(1, new Charge("BCG", job.asks().id(), 1), "C3");
    changes.put(job.over(JobState.COMPLETED, null, end, 0));
    store.commit(changes);
    Instant until = hour.plusSeconds(4 * 3600);
    assertThat(store.accounts().usage(hour, until))
        .filteredOn(u -> u.gpuMicros() > 0)
        .containsExactlyInAnyOrder(
            new AccountBook.HourUse("BCG", hour, 82.6, 20_000_000),
            new AccountBook.HourUse("BCG", hour.plusSeconds(3600), 82.6, 7_200_000_000L),
            new AccountBook.HourUse("BCG", hour.plusSeconds(7200), 82.6, 2_000_000));
    assertThat(store.accounts().usage(hour.plusSeconds(3600), hour.plusSeconds(7200))).hasSize(1);
    assertThat(store.accounts().demand(hour, until))
        .containsExactlyInAnyOrder(
            new AccountBook.HourUse("BCG", hour, 0, 6 * (3600_000_000L - 123_456)),
            new AccountBook.HourUse("BCG", hour.plusSeconds(3600), 0, 21_600_000_000L),
            new AccountBook.HourUse("BCG", hour.plusSeconds(7200), 0, 6_000_000));
    assertThat(store.accounts().spans(hour, until)).hasSize(2);
  }

  @Test
  void whetherAJobConsentsToBePreemptedIsKept() {
    NewJob refuses =
        new NewJob(
            "a", "BCG", "kim", null, 1, 1, null, null, 0, false, 0, null, "#!", List.of(), Map.of(),
            null, false);
    long id = store.add(refuses, 0, null, null, T0).record().job().id();
    StoredJob other = add("b", "BCG", 1);
    assertThat(store.load(null).jobs())
        .filteredOn(j -> !j.asks().preemptible())
        .extracting(StoredJob::id)
        .containsExactly(id);
    assertThat(store.job(other.id()).orElseThrow().job().asks().preemptible()).isTrue();
  }

  @Test
  void decisionsArePagedAndFoundByJobAndForgotten() {
    StoredJob a = add("a", "BCG", 1);
    StoredJob b = add("b", "BCG", 1);
    for (int i = 0; i < 3; i++) {
      Changes changes = Changes.ofCycle(T0.plusSeconds(i));
      changes.decided(
          new Changes.DecisionRecord(
              new Decision(
                  "p",
                  "h",
                  "s",
                  T0.plusSeconds(i),
                  List.of(new Decided(new Wait(a.asks().id(), "NO_IDLE", null, "m"), "D4")),
                  List.of(),
                  List.of()),
              "{ \"i\": " + i + "}",
              "{\"jobs\":[{\"i\":1},{\"i\":" + i + "},{\"é\":3}]}",
              i == 1 ? List.of(a.id(), b.id()) : List.of(a.id()),
              Map.of("policies/p.yaml", "policy: p")));
      assertThat(store.commit(changes)).isNotNull();
    }
    var newest = store.decisions(null, 2, Long.MAX_VALUE);
    assertThat(newest)
        .extracting(d -> d.at())
        .containsExactly(T0.plusSeconds(2), T0.plusSeconds(1));
    assertThat(newest).allMatch(d -> d.json() == null);
    assertThat(store.decisions(null, 2, Long.parseLong(newest.get(1).id()))).hasSize(1);
    assertThat(store.decisions(b.id(), 5, Long.MAX_VALUE)).containsExactly(newest.get(1));
    for (int i = 1; i < 3; i++) {
      long id = Long.parseLong(newest.get(2 - i).id());
      String snapshot = "{\"jobs\":[{\"i\":1},{\"i\":" + i + "},{\"é\":3}]}";
      assertThat(store.decision(id).orElseThrow().json()).isEqualTo("{ \"i\": " + i + "}");
      assertThat(store.snapshot(id)).contains(snapshot);
      assertThat(store.receipt(id))
          .contains(
              new Store.Receipt(
                  id,
                  T0.plusSeconds(i),
                  "p",
                  "h",
                  "s",
                  "{ \"i\": " + i + "}",
                  snapshot,
                  Map.of("policies/p.yaml", "policy: p")));
    }
    store.forget(Duration.ofSeconds(10), T0.plusSeconds(12));
    long last = Long.parseLong(newest.get(0).id());
    assertThat(store.receipt(last)).isPresent();
    assertThat(store.decisions(b.id(), 5, Long.MAX_VALUE).size()).isLessThanOrEqualTo(1);
    assertThat(store.receipt(last).orElseThrow().policyTexts()).hasSize(1);
  }

  @Test
  void jobsAreFoundByStateAndAccount() {
    StoredJob a = add("a", "BCG", 1);
    StoredJob b = add("b", "KDG", 1);
    StoredJob c = add("c", "BCG", 1);
    Changes cancel = Changes.ofDesk(T0);
    cancel.put(a.over(JobState.CANCELLED, "by kim", T0, null));
    store.commit(cancel);
    assertThat(store.jobs(null, null, null, 2, Long.MAX_VALUE))
        .extracting(r -> r.job().id())
        .containsExactly(c.id(), b.id());
    assertThat(store.jobs(null, null, null, 2, b.id()))
        .extracting(r -> r.job().id())
        .containsExactly(a.id());
    String user = a.asks().user();
    assertThat(store.jobs(JobState.CANCELLED, null, user, 5, Long.MAX_VALUE))
        .extracting(r -> r.job().id())
        .containsExactly(a.id());
    assertThat(store.jobs(null, null, user + "x", 5, Long.MAX_VALUE)).isEmpty();
    assertThat(store.jobs(JobState.GLOBAL_QUEUE_WAIT, "BCG", null, 5, Long.MAX_VALUE))
        .extracting(r -> r.job().id())
        .containsExactly(c.id());
  }

  @Test
  void theContractIsRemembered() {
    long id = add("a", "BCG", 2).id();
    long other = add("b", "BCG", 2).id();
    store.see(
        List.of(
            new Stock("n1", MID, 2, NodeState.UP, null),
            new Stock("n2", LOW, 4, NodeState.UP, null)),
        T0);
    Share share = new Share("n1", MID, 2);
    Attempt.Victim victim = new Attempt.Victim(other, 1);
    Changes changes = Changes.ofCycle(T0);
    changes.put(store.job(id).orElseThrow().job().to(JobState.DISPATCHING, null));
    changes.begin(
        Attempt.decided(id, 1, "BCG", List.of(share), T0)
            .waiting(List.of(victim), T0.plusSeconds(660)));
    changes.put(NodeDrain.begun("n2", NodeDrain.Source.EVENHAND, "fan", "ops", T0));
    changes.claim(
        new Claim(Long.toString(other), List.of(share), T0, T0.plusSeconds(60), List.of("7", "8")));
    store.commit(changes);
    World world = store.load(null);
    Attempt attempt = world.attempts().get(0);
    assertThat(attempt.waitsFor()).containsExactly(victim);
    assertThat(attempt.waitsUntil()).isEqualTo(T0.plusSeconds(660));
    assertThat(world.claim().on()).containsExactly(share);
    assertThat(world.claim().readyAt()).isEqualTo(T0.plusSeconds(60));
    assertThat(world.claim().yields()).containsExactly("7", "8");
    NodeDrain drain = world.drains().get(0);
    assertThat(drain.reason()).isEqualTo("fan");
    assertThat(drain.emptySince()).isNull();

    Changes next = Changes.ofCycle(T0.plusSeconds(5));
    Attempt told =
        attempt
            .running(T0.plusSeconds(1), T0.plusSeconds(5), 0)
            .toPreempt("9", T0.plusSeconds(65))
            .checkpoint(T0.plusSeconds(4));
    next.put(store.job(id).orElseThrow().job(), told);
    next.put(drain.empty(T0.plusSeconds(5)));
    next.end(new Changes.ClaimEnd(other, "G4", "it starts"));
    Token token = new Token(store.installation(), id, 1);
    next.write(Order.signal(token, T0.plusSeconds(5)));
    next.write(Order.cancelAfter(token, T0.plusSeconds(5), T0.plusSeconds(65)));
    store.commit(next);
    world = store.load(null);
    assertThat(world.attempts()).containsExactly(told);
    assertThat(told.waitsUntil()).isNull();
    assertThat(world.claim()).isNull();
    assertThat(world.drains().get(0).emptySince()).isEqualTo(T0.plusSeconds(5));
    assertThat(store.due(T0.plusSeconds(64), 10))
        .extracting(Order::kind)
        .containsExactly(Order.Kind.SIGNAL);
    assertThat(store.due(T0.plusSeconds(65), 10))
        .extracting(Order::kind)
        .containsExactly(Order.Kind.SIGNAL, Order.Kind.CANCEL);

    Changes last = Changes.ofDesk(T0.plusSeconds(9));
    last.put(world.drains().get(0).ended(T0.plusSeconds(9), "ops"));
    store.commit(last);
    assertThat(store.load(null).drains()).isEmpty();
    assertThat(store.drains("n2", 5)).hasSize(1);
    assertThat(store.drains("n1", 5)).isEmpty();
    // Of two who end the same drain, or begin one, the second is told.
    Changes twice = Changes.ofDesk(T0.plusSeconds(9));
    twice.put(world.drains().get(0).ended(T0.plusSeconds(9), "kim"));
    assertThatThrownBy(() -> store.commit(twice)).isInstanceOf(Overtaken.class);
  }
}
