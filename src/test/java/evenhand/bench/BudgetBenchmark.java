package evenhand.bench;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Decision;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.reference.BudgetReading;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One decision of policy {@code budget} on a new snapshot each time: 5,000 queued and about 2,000
 * running jobs of 150 accounts under 15 teams, on 128 nodes of 8 GPUs, nearly all of them busy.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 60)
@Measurement(iterations = 30)
@Fork(value = 1, jvmArgs = "-Xmx512m")
public class BudgetBenchmark {
  private static final Instant NOW = Instant.parse("2026-04-10T09:00:00Z");
  private static final long[] MINIMUMS = {0, 900, 900, 3600, 7200, 28_800};

  private Policy policy;
  private Snapshot snapshot;
  private long seed;

  @Setup(Level.Trial)
  public void load() throws Exception {
    policy = Policies.load(Optional.empty(), "budget", Map.of());
  }

  @Setup(Level.Invocation)
  public void another() {
    snapshot = world(++seed);
  }

  @Benchmark
  public Decision rules() {
    return policy.decide(snapshot);
  }

  /** Written to be read, not to be fast: half a minute each, so few of them. */
  @Benchmark
  @Warmup(iterations = 1)
  @Measurement(iterations = 3)
  public Object plainJava() {
    return BudgetReading.decide(snapshot, null, 0);
  }

  static Snapshot world(long seed) {
    Random random = new Random(seed);
    Tier tier = new Tier("h100", 10, 989, 8, true, "h100", "gpu:h100");
    PlacementGroup group = new PlacementGroup(tier, 8, NodeState.UP);
    List<Account> accounts = new ArrayList<>();
    for (int team = 0; team < 15; team++) {
      accounts.add(new Account("team" + team, null, 1 + random.nextInt(5), 0, 0));
      for (int user = 0; user < 10; user++) {
        accounts.add(
            new Account(
                "a" + team + "-" + user,
                "team" + team,
                1 + random.nextInt(3),
                0,
                random.nextInt(1_000_000)));
      }
    }
    List<Placement> placements = new ArrayList<>();
    List<Running> running = new ArrayList<>();
    for (int node = 0; node < 128; node++) {
      int idle = 8;
      String name = String.format("n%03d", node);
      while (idle > 0 && random.nextInt(40) > 0) {
        int gpus = Math.min(idle, random.nextInt(4) == 0 ? 2 : 1);
        long minimum = MINIMUMS[random.nextInt(MINIMUMS.length)];
        Instant started = NOW.minusSeconds(random.nextInt(20_000));
        running.add(
            new Running(
                "r" + running.size(),
                "a" + random.nextInt(15) + "-" + random.nextInt(10),
                List.of(new Share(name, tier, gpus)),
                started,
                started.plusSeconds(minimum),
                minimum > 0,
                true));
        idle -= gpus;
      }
      placements.add(new Placement(name, group, idle, 0, null));
    }
    List<Job> queue = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      queue.add(
          new Job(
              Integer.toString(i + 1),
              "a" + random.nextInt(15) + "-" + random.nextInt(10),
              "someone",
              random.nextInt(20) == 0 ? 1 << random.nextInt(7) : 1,
              1 << random.nextInt(4),
              null,
              0,
              random.nextInt(3),
              NOW.minusSeconds(random.nextInt(100_000)),
              MINIMUMS[random.nextInt(MINIMUMS.length)],
              true,
              1));
    }
    return new Snapshot(
        "budget", NOW, "main", List.of(tier), placements, accounts, queue, List.of(), running);
  }
}
