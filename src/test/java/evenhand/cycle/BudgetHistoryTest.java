package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import evenhand.facts.NodeState;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Start;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Days under policies {@code budget} and {@code budget-slices}, in random order: whatever comes,
 * the contract holds from decision to decision, restarts in between, and everything comes to its
 * end.
 */
class BudgetHistoryTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier H100 = new Tier("h100", 30, 989, 8, true, "h100", "gpu:h100");
  private static final List<String> PAYERS = List.of("P1", "P2", "Q", "Z");
  private static final long[] MINIMA = {0, 300, 900, 3600};

  @ParameterizedTest
  @CsvSource({"budget,1,off", "budget,2,claim", "budget-slices,3,off", "budget-slices,4,claim"})
  void theContractHolds(String policy, long seed, String claims) throws PolicyFault {
    Map<String, String> set = Map.of("gang_reservation", claims);
    new History(seed, Policies.load(Optional.empty(), policy, set)).play(150);
  }

  private static final class History {
    private final Random random;
    private final Policy policy;
    private final MemoryStore store = new MemoryStore();
    private final ManualClock clock = new ManualClock(T0);
    private final SimulatedCluster cluster = new SimulatedCluster(clock);
    private final Set<String> preempted = new HashSet<>();
    private final Set<Long> allocated = new HashSet<>();
    private Cycle cycle;
    private Desk desk;

    History(long seed, Policy policy) {
      this.random = new Random(seed);
      this.policy = policy;
      store.setUp(
          List.of(H100),
          List.of(
              new AccountSetup("P", null, 2),
              new AccountSetup("P1", "P", 1),
              new AccountSetup("P2", "P", 3),
              new AccountSetup("Q", null, 1),
              new AccountSetup("Z", null, 0)),
          T0);
      for (int n = 1; n <= 4; n++) {
        cluster.node("n" + n, H100, 4);
      }
      cluster.runTimes(o -> Duration.ofSeconds(200 + random.nextInt(7000)));
      // Some leave at once, some late in their grace time, some not before it is over.
      cluster.leaveTimes(o -> Duration.ofSeconds(random.nextInt(90)));
      begin();
    }

    /** A process of the service begins, as after a restart: nothing is left but the store. */
    private void begin() {
      cycle =
          new Cycle(
              store,
              cluster,
              Router.NONE,
              () -> policy,
              Recorder.NOTHING,
              clock,
              CycleSettings.DEFAULT);
      desk = new FrontDesk(store, () -> policy, cycle::latest, cycle.settings(), clock);
    }

    void play(int steps) {
      cycle.run();
      for (int i = 0; i < steps; i++) {
        happen();
        clock.advance(Duration.ofSeconds(1 + random.nextInt(400)));
        run();
      }
      for (int n = 1; n <= 4; n++) {
        cluster.state("n" + n, NodeState.UP);
      }
      for (int i = 0; i < 3000 && !store.load(null).jobs().isEmpty(); i++) {
        clock.advance(Duration.ofSeconds(120));
        run();
      }
      assertThat(store.load(null).jobs()).as("what never comes to its end").isEmpty();
      assertThat(preempted).as("jobs that made room").hasSizeGreaterThan(10);
    }

    private void happen() {
      int what = random.nextInt(20);
      if (what < 14) {
        int nodes = random.nextInt(4) == 0 ? 2 : 1;
        String account = PAYERS.get(random.nextInt(PAYERS.size()));
        long minimum = MINIMA[random.nextInt(MINIMA.length)];
        String id = submit(account, nodes, minimum);
        if (minimum > 0 && !account.equals("Z")) {
          allocated.add(Long.parseLong(id));
        }
      } else if (what < 16) {
        List<StoredJob> jobs = store.load(null).jobs();
        if (!jobs.isEmpty()) {
          desk.cancel(jobs.get(random.nextInt(jobs.size())).asks().id(), "kim");
        }
      } else if (what < 19) {
        NodeState state = random.nextInt(3) == 0 ? NodeState.DRAINING : NodeState.UP;
        cluster.state("n" + (1 + random.nextInt(4)), state);
      } else {
        begin();
      }
    }

    private String submit(String account, int nodes, long minimum) {
      NewJob job =
          new NewJob(
              "j",
              account,
              "kim",
              null,
              nodes,
              1 + random.nextInt(4),
              null,
              null,
              minimum,
              random.nextInt(4) > 0,
              random.nextInt(3),
              null,
              "#!/bin/sh\n",
              List.of(),
              Map.of(),
              null);
      return desk.submit(job, null).id();
    }

    private void run() {
      CycleReport report = cycle.run();
      assertThat(report.result()).as(report.because()).isEqualTo(CycleReport.Result.DECIDED);
      contract(report);
      gpus();
      charges();
    }

    private void contract(CycleReport report) {
      Map<String, Running> running = new HashMap<>();
      report.snapshot().running().forEach(r -> running.put(r.job(), r));
      Set<String> started = new HashSet<>();
      Map<String, String> accountOf = new HashMap<>();
      report.snapshot().jobs().forEach(j -> accountOf.put(j.id(), j.account()));
      for (Decided decided : report.decision().outcomes()) {
        if (decided.outcome() instanceof Start start) {
          started.add(start.job());
        }
      }
      for (Decided decided : report.decision().outcomes()) {
        if (decided.outcome() instanceof Preempt preempt) {
          Running victim = running.get(preempt.job());
          preempted.add(preempt.job());
          assertThat(victim.leaving()).as("told to go twice: %s", victim).isFalse();
          if (victim.allocated()) {
            assertThat(Duration.between(victim.startedAt(), report.decision().now()).toSeconds())
                .as("K2: %s", victim)
                .isGreaterThanOrEqualTo(victim.minRuntimeSeconds());
          }
          if (preempt.forJob() != null) {
            assertThat(started).as("K4: its taker starts").contains(preempt.forJob());
            assertThat(accountOf.get(preempt.forJob())).isNotEqualTo(victim.account());
          }
        }
      }
    }

    /** Whoever leaves holds its GPUs beside its taker; all others fit together. */
    private void gpus() {
      Map<String, Integer> given = new HashMap<>();
      for (Attempt attempt : store.load(null).attempts()) {
        for (Share share : attempt.leaving() ? List.<Share>of() : attempt.on()) {
          given.merge(share.node(), share.gpus(), Integer::sum);
        }
      }
      given.forEach((node, gpus) -> assertThat(gpus).as(node).isLessThanOrEqualTo(4));
    }

    /** N5, C6: what was paid is what allocated work held; for a minimum of 0 nobody pays. */
    private void charges() {
      double charged = 0;
      for (Store.LedgerRow row : store.ledger(null, null, 1_000_000, Long.MAX_VALUE)) {
        charged += allocated.contains(row.job()) ? row.tflopSeconds() : 0;
      }
      double paid = 0;
      for (var account : store.load(null).accounts()) {
        paid += account.cumulativeUsage();
        if (account.id().equals("Z")) {
          assertThat(account.cumulativeUsage()).isZero();
        }
      }
      assertThat(paid).isCloseTo(charged, within(1.0));
    }
  }
}
