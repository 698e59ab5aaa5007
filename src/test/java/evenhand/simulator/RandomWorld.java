package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A small cluster, some accounts and some jobs, all from one seed: few nodes, much work, many ties.
 */
record RandomWorld(
    long seed, String policy, ClusterPlan cluster, AccountPlan accounts, List<TraceJob> jobs) {
  static final List<String> POLICIES =
      List.of("reservation", "skip", "fifo", "budget", "budget-slices", "priority");
  static final List<String> CLAIMING = List.of("budget", "budget-slices");
  private static final int[] GPUS = {1, 1, 1, 2, 2, 3, 4, 4, 8, 9};
  private static final int[] MINUTES = {0, 1, 10, 10, 60};

  /**
   * @param likeService only what the service's shell can be made to do in memory: no drains by
   *     policies that preempt, no unallocated work, no changes of weights
   */
  static RandomWorld of(long seed, boolean likeService) {
    Random random = new Random(seed);
    String policy = POLICIES.get((int) (seed % POLICIES.size()));
    boolean budget = policy.startsWith("budget");
    boolean preempts = budget || policy.equals("priority");
    List<Tier> tiers =
        List.of(
            new Tier("low", 10, 2, 8, true, "low", "gpu:low"),
            new Tier("high", 20, 8, 8, true, "high", "gpu:high"));
    List<ClusterPlan.Gpus> placements = new ArrayList<>();
    int nodes = 1 + random.nextInt(4);
    for (int n = 1; n <= nodes; n++) {
      placements.add(
          new ClusterPlan.Gpus(
              "n" + n, tiers.get(random.nextInt(2)), new int[] {2, 4, 8}[random.nextInt(3)]));
    }
    List<ClusterPlan.Change> changes = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      NodeState[] states =
          likeService && preempts
              ? new NodeState[] {NodeState.UP, NodeState.DOWN}
              : NodeState.values();
      changes.add(
          new ClusterPlan.Change(
              random.nextInt(7200) * Micros.SECOND,
              "n" + (1 + random.nextInt(nodes)),
              states[random.nextInt(states.length)]));
    }
    for (int n = 1; n <= nodes; n++) {
      changes.add(new ClusterPlan.Change(20_000 * Micros.SECOND, "n" + n, NodeState.UP));
    }
    List<AccountSetup> accounts = new ArrayList<>();
    List<String> leaves = new ArrayList<>();
    for (int a = 1; a <= 1 + random.nextInt(3); a++) {
      accounts.add(new AccountSetup("p" + a, null, 1 + random.nextInt(3)));
      int labs = random.nextInt(3);
      for (int l = 1; l <= labs; l++) {
        String id = "p" + a + "lab" + l;
        double weight = likeService || random.nextInt(5) > 0 ? 1 + random.nextInt(3) : 0;
        accounts.add(new AccountSetup(id, "p" + a, weight));
        leaves.add(id);
      }
      if (labs == 0) {
        leaves.add("p" + a);
      }
    }
    List<AccountPlan.Change> weights = new ArrayList<>();
    if (!likeService && random.nextInt(3) == 0) {
      weights.add(
          new AccountPlan.Change(
              random.nextInt(5000) * Micros.SECOND,
              leaves.get(random.nextInt(leaves.size())),
              random.nextInt(4)));
    }
    List<TraceJob> jobs = new ArrayList<>();
    // A job of no length ends in the service before the cycle that started it has another look.
    int low = likeService ? 1 : 0;
    int count = 3 + random.nextInt(25);
    for (int i = 1; i <= count; i++) {
      boolean gang = preempts && random.nextInt(6) == 0;
      int minutes = MINUTES[random.nextInt(MINUTES.length)];
      jobs.add(
          new TraceJob(
              Integer.toString(i),
              // Much arrives and ends at the same moment.
              random.nextInt(60) * 60 * Micros.SECOND,
              leaves.get(random.nextInt(leaves.size())),
              "u" + random.nextInt(3),
              gang ? 2 + random.nextInt(2) : 1,
              GPUS[random.nextInt(GPUS.length)],
              random.nextInt(5) == 0 ? tiers.get(random.nextInt(2)).name() : null,
              (random.nextInt(8) == 0 ? low + random.nextInt(100) : 60 * (low + random.nextInt(90)))
                  * Micros.SECOND,
              likeService && budget && minutes == 0 ? 60 : minutes * 60L,
              random.nextInt(4) > 0,
              random.nextInt(3),
              null,
              !policy.equals("priority") || random.nextInt(4) > 0,
              i + 1));
    }
    return new RandomWorld(
        seed,
        policy,
        new ClusterPlan(tiers, placements, changes),
        new AccountPlan(accounts, Map.of(), Map.of(), weights, true),
        jobs);
  }

  /** The policy, every other time with claims where it has them. */
  String loaded() {
    return CLAIMING.contains(policy) && seed / POLICIES.size() % 2 == 1
        ? policy + " claim"
        : policy;
  }

  /** How long a preempted job goes on: not at all, or up to its whole grace time. */
  Duration leaveAfter() {
    return Duration.ofSeconds(new long[] {0, 7, 60}[(int) (seed / POLICIES.size() % 3)]);
  }

  Simulation simulation(evenhand.policy.Policy by, Simulation.Witness witness) {
    return new Simulation(
        by, cluster, accounts, jobs, null, Duration.ofMinutes(10), leaveAfter(), witness);
  }
}
