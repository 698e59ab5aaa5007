package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import evenhand.facts.Tier;
import evenhand.simulator.SimulatedCluster;
import evenhand.store.Database;
import evenhand.store.PostgresStore;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/**
 * People submit and cancel while cycles run, and a second process stands by, all on one database.
 */
class ConcurrencyTest {
  private static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");

  @Test
  void whateverHappensAtOnceIsCountedOnce() throws Exception {
    Clock clock = Clock.systemUTC();
    SimulatedCluster cluster = new SimulatedCluster(clock);
    cluster.node("n1", MID, 4);
    cluster.node("n2", MID, 2);
    cluster.runTimes(order -> Duration.ofMillis(order.token().job() % 7 * 60));
    DataSource source = Database.fresh();
    RealPolicy policy = new RealPolicy();
    AtomicBoolean over = new AtomicBoolean();
    AtomicReference<CycleReport> last = new AtomicReference<>();
    ExecutorService pool = Executors.newFixedThreadPool(5);
    try (PostgresStore store = new PostgresStore(source);
        PostgresStore other = new PostgresStore(source)) {
      store.setUp(List.of(MID), List.of(new AccountSetup("BCG", null, 1)), clock.instant());
      Cycle cycle = cycle(store, cluster, policy, clock);
      Cycle standby = cycle(other, cluster, policy, clock);
      assertThat(cycle.run().result()).isEqualTo(CycleReport.Result.DECIDED);
      List<Future<?>> work = new ArrayList<>();
      work.add(
          pool.submit(
              () -> {
                while (!over.get()) {
                  last.set(cycle.run());
                  assertThat(standby.run().result()).isEqualTo(CycleReport.Result.STANDBY);
                }
              }));
      for (int t = 0; t < 3; t++) {
        int seed = t;
        Store mine = t == 0 ? other : store;
        work.add(
            pool.submit(
                () -> {
                  Desk desk =
                      new FrontDesk(
                          mine, () -> policy, cycle::latest, CycleSettings.DEFAULT, clock);
                  Random random = new Random(seed);
                  List<String> ids = new ArrayList<>();
                  for (int i = 0; i < 20; i++) {
                    ids.add(
                        desk.submit(
                                SomeJob.PLAIN
                                    .of("BCG")
                                    .on(1 + random.nextInt(4), null)
                                    .resumable(true)
                                    .made(),
                                null)
                            .id());
                    if (random.nextInt(3) == 0) {
                      desk.cancel(ids.get(random.nextInt(ids.size())), "kim");
                    }
                    Thread.sleep(random.nextInt(20));
                  }
                  return null;
                }));
      }
      for (Future<?> each : work.subList(1, work.size())) {
        each.get();
      }
      for (int i = 0; i < 600 && !store.load(null).jobs().isEmpty(); i++) {
        Thread.sleep(50);
      }
      over.set(true);
      work.get(0).get();
      assertThat(store.load(null).jobs()).as("the last cycle: " + last).isEmpty();
      double held = 0;
      for (Store.LedgerRow row : store.ledger(null, null, 100_000, Long.MAX_VALUE)) {
        held += row.tflopSeconds();
        assertThat(row.chargedAt() != null || row.tflopSeconds() == 0).isTrue();
      }
      assertThat(store.load(null).accounts().get(0).cumulativeUsage())
          .isCloseTo(held, within(1e-3));
      Set<Token> once = new HashSet<>();
      cluster.submitted().forEach(o -> assertThat(once.add(o.token())).isTrue());
    } finally {
      over.set(true);
      pool.shutdownNow();
    }
  }

  private static Cycle cycle(Store store, Cluster cluster, RealPolicy policy, Clock clock) {
    return new Cycle(
        store, cluster, Router.NONE, () -> policy, Recorder.NOTHING, clock, CycleSettings.DEFAULT);
  }
}
