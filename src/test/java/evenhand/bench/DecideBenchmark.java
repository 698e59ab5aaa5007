package evenhand.bench;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Decision;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.reference.PlainReading;
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
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** One decision of policy {@code reservation} on a new snapshot each time. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 20)
@Measurement(iterations = 40)
@Fork(value = 1, jvmArgs = "-Xmx512m")
public class DecideBenchmark {
  private static final String[] MODELS = {"3080ti", "4090", "5090", "h100"};
  private static final int[] ASKED = {1, 1, 1, 2, 2, 4, 8};
  private static final Instant NOW = Instant.parse("2026-04-10T09:00:00Z");

  /** Jobs, placements, and how many of a hundred GPUs are busy. */
  @Param({"10000,1000,95", "100000,1000,95", "1000,1000,0"})
  public String world;

  private Policy policy;
  private Snapshot snapshot;
  private long seed;

  @Setup(Level.Trial)
  public void load() throws Exception {
    policy = Policies.load(Optional.empty(), "reservation", Map.of());
  }

  @Setup(Level.Invocation)
  public void another() {
    String[] sizes = world.split(",");
    snapshot =
        world(
            Integer.parseInt(sizes[0]),
            Integer.parseInt(sizes[1]),
            Integer.parseInt(sizes[2]) / 100.0,
            ++seed);
  }

  @Benchmark
  public Decision rules() {
    return policy.decide(snapshot);
  }

  @Benchmark
  public Decision plainJava() {
    return PlainReading.decide(snapshot);
  }

  static Snapshot world(int jobs, int placements, double busy, long seed) {
    Random random = new Random(seed);
    List<Tier> tiers = new ArrayList<>();
    for (int i = 0; i < MODELS.length; i++) {
      tiers.add(
          new Tier(
              MODELS[i],
              10 * (i + 1),
              50 + 30 * i,
              8,
              true,
              "gpu" + MODELS[i],
              "gpu:" + MODELS[i]));
    }
    List<Placement> all = new ArrayList<>();
    for (int i = 0; i < placements; i++) {
      int capacity = i % 3 == 0 ? 8 : 4;
      int idle = 0;
      for (int gpu = 0; gpu < capacity; gpu++) {
        idle += random.nextDouble() >= busy ? 1 : 0;
      }
      Tier tier = tiers.get(random.nextInt(tiers.size()));
      all.add(
          new Placement(
              String.format("n%04d", i),
              new PlacementGroup(tier, capacity, NodeState.UP),
              idle,
              0,
              null));
    }
    List<Account> accounts = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      accounts.add(new Account("lab" + i, null, 1, random.nextInt(100_000), 0));
    }
    List<Job> queue = new ArrayList<>();
    for (int i = 0; i < jobs; i++) {
      queue.add(
          new Job(
              Integer.toString(i + 1),
              "lab" + random.nextInt(accounts.size()),
              "someone",
              1,
              ASKED[random.nextInt(ASKED.length)],
              random.nextInt(3) == 0 ? MODELS[random.nextInt(MODELS.length)] : null,
              10 * random.nextInt(4),
              0,
              NOW.minusSeconds(random.nextInt(100_000)),
              0,
              true,
              1));
    }
    return new Snapshot(
        "reservation", NOW, "main", tiers, all, accounts, queue, List.of(), List.of());
  }
}
