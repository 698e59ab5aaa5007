package evenhand.reference;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.explain.Change;
import evenhand.explain.SmallestChanges;
import evenhand.explain.WhatIf;
import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/**
 * What {@code why} suggests is true: in random worlds the whole policy, asked with the change made
 * and nothing else, starts the job; with anything smaller of that kind it does not; and where
 * nothing is suggested nothing of the kind would.
 */
class SmallestChangesTest {
  private static final long SEED = 20_261_130L;

  @Test
  void reservation() throws PolicyFault {
    Map<String, Integer> seen = hold("reservation", Map.of(), RandomSnapshots::of, 25);
    assertThat(seen.keySet()).contains("num_gpus", "tier", "minimum_tier");
  }

  @Test
  void skip() throws PolicyFault {
    Map<String, Integer> seen = hold("skip", Map.of(), RandomSnapshots::of, 15);
    assertThat(seen.keySet()).contains("num_gpus");
  }

  @Test
  void budget() throws PolicyFault {
    Map<String, Integer> seen =
        hold("budget", Map.of(), seed -> BudgetSnapshots.of(seed, "budget"), 70);
    assertThat(seen.keySet()).contains("num_gpus", "nodes", "protection_ends");
  }

  /** On GPUs that are claimed only work that leaves in time may run (G3), or unallocated (K7). */
  @Test
  void budgetWithAClaim() throws PolicyFault {
    Map<String, Integer> seen =
        hold("budget", Map.of("gang_reservation", "claim"), SmallestChangesTest::claimed, 15);
    assertThat(seen.keySet()).contains("num_gpus", "min_runtime_s");
  }

  /** Half of each node is idle and claimed for a job of whole nodes; others want what is idle. */
  private static Snapshot claimed(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Instant now = Instant.parse("2026-04-10T09:00:00Z");
    Tier tier = new Tier("h100", 30, 989, 8, true, "h100", "gpu:h100");
    PlacementGroup group = new PlacementGroup(tier, 8, NodeState.UP);
    List<Placement> placements = new ArrayList<>();
    List<Running> running = new ArrayList<>();
    List<Share> wanted = new ArrayList<>();
    Instant ready = now.plusSeconds(600L * random.nextInt(1, 12));
    int nodes = random.nextInt(1, 4);
    for (int i = 0; i < nodes; i++) {
      int idle = random.nextInt(1, 7);
      placements.add(new Placement("n" + i, group, idle, 0, null));
      wanted.add(new Share("n" + i, tier, 8));
      running.add(
          new Running(
              "r" + i,
              "B",
              List.of(new Share("n" + i, tier, 8 - idle)),
              now.minusSeconds(600),
              i == 0 ? ready : now.plusSeconds(60L * i),
              true,
              true));
    }
    List<Job> jobs = new ArrayList<>();
    jobs.add(new Job("1", "A", "kim", nodes, 8, null, 0, 9, now.minusSeconds(900), 3600, true, 1));
    for (int i = 2; i < 8; i++) {
      jobs.add(
          new Job(
              "" + i,
              random.nextBoolean() ? "A" : "C",
              "lee",
              random.nextInt(1, 3),
              random.nextInt(1, 5),
              null,
              0,
              0,
              now.minusSeconds(60L * i),
              900L * random.nextInt(0, 12),
              random.nextBoolean(),
              1));
    }
    return new Snapshot(
        "budget",
        now,
        "main",
        List.of(tier),
        placements,
        List.of(
            new Account("A", null, 1, 0, 0),
            new Account("B", null, 1, 0, 90_000),
            new Account("C", null, 1, 0, 30_000)),
        jobs,
        List.of(),
        running,
        List.of(
            new Claim(
                "1",
                wanted,
                now.minusSeconds(60),
                ready,
                running.stream().map(Running::job).toList())),
        Set.of());
  }

  private static Map<String, Integer> hold(
      String name, Map<String, String> settings, LongFunction<Snapshot> worlds, int count)
      throws PolicyFault {
    Policy policy = Policies.load(Optional.empty(), name, settings);
    Map<String, Integer> seen = new TreeMap<>();
    for (long seed = SEED; seed < SEED + count; seed++) {
      Snapshot world = worlds.apply(seed);
      WhatIf whatIf = new WhatIf(policy, world);
      for (Decided decided : policy.decide(world).outcomes()) {
        if (decided.outcome() instanceof Wait wait) {
          SmallestChanges found = SmallestChanges.of(whatIf, wait.job());
          String about = name + ", seed " + seed + ", job " + wait.job();
          assertThat(found.asIs()).as(about).isNull();
          assertThat(found.complete()).as(about).isTrue();
          check(policy, world, whatIf.job(wait.job()), found, about, seen);
        }
      }
    }
    return seen;
  }

  private static void check(
      Policy policy,
      Snapshot world,
      Job job,
      SmallestChanges found,
      String about,
      Map<String, Integer> seen) {
    Map<String, Change> byKind = new TreeMap<>();
    found.changes().forEach(c -> byKind.put(c.kind(), c));
    byKind.keySet().forEach(kind -> seen.merge(kind, 1, Integer::sum));

    List<Job> fewerGpus = new ArrayList<>();
    for (int n = job.numGpus() - 1; n >= 1; n--) {
      fewerGpus.add(as(job, job.nodes(), n, job.tier(), job.minimumTierSortOrder(), true));
    }
    Change gpus = byKind.get("num_gpus");
    assertThat(first(policy, world, job, fewerGpus))
        .as(about + " num_gpus")
        .isEqualTo(gpus == null ? -1 : job.numGpus() - 1 - (Integer) gpus.to());

    List<Job> fewerNodes = new ArrayList<>();
    for (int n = job.nodes() - 1; n >= 1; n--) {
      fewerNodes.add(as(job, n, job.numGpus(), job.tier(), job.minimumTierSortOrder(), true));
    }
    Change nodes = byKind.get("nodes");
    assertThat(first(policy, world, job, fewerNodes))
        .as(about + " nodes")
        .isEqualTo(nodes == null ? -1 : job.nodes() - 1 - (Integer) nodes.to());

    if (job.tier() != null) {
      Change tier = byKind.get("tier");
      boolean any =
          starts(
              policy,
              world,
              as(job, job.nodes(), job.numGpus(), null, job.minimumTierSortOrder(), true),
              world.now());
      assertThat(tier != null).as(about + " tier").isEqualTo(any);
      if (tier != null) {
        Job there =
            as(
                job,
                job.nodes(),
                job.numGpus(),
                (String) tier.to(),
                job.minimumTierSortOrder(),
                true);
        assertThat(starts(policy, world, there, world.now())).as(about + " tier").isTrue();
        int asked = order(world, job.tier());
        int by = Math.abs(order(world, (String) tier.to()) - asked);
        for (Tier t : world.tiers()) {
          if (!t.name().equals(job.tier()) && Math.abs(t.sortOrder() - asked) < by) {
            Job nearer =
                as(job, job.nodes(), job.numGpus(), t.name(), job.minimumTierSortOrder(), true);
            assertThat(starts(policy, world, nearer, world.now())).as(about + " tier").isFalse();
          }
        }
      }
    } else if (byKind.get("minimum_tier") != null) {
      int to = order(world, (String) byKind.get("minimum_tier").to());
      assertThat(to).as(about).isLessThan(job.minimumTierSortOrder());
      assertThat(
              starts(
                  policy, world, as(job, job.nodes(), job.numGpus(), null, to, true), world.now()))
          .as(about + " minimum_tier")
          .isTrue();
      assertThat(
              starts(
                  policy,
                  world,
                  as(job, job.nodes(), job.numGpus(), null, to + 1, true),
                  world.now()))
          .as(about + " a tier less far down")
          .isFalse();
    } else {
      assertThat(
              starts(
                  policy,
                  world,
                  as(job, job.nodes(), job.numGpus(), null, Integer.MIN_VALUE, true),
                  world.now()))
          .as(about + " any tier")
          .isFalse();
    }

    Change unallocated = byKind.get("min_runtime_s");
    if (policy.hasBudgets() && job.minRuntimeSeconds() > 0) {
      Job free = as(job, job.nodes(), job.numGpus(), job.tier(), job.minimumTierSortOrder(), false);
      assertThat(starts(policy, world, free, world.now()))
          .as(about + " min_runtime_s 0")
          .isEqualTo(unallocated != null);
    } else {
      assertThat(unallocated).as(about).isNull();
    }

    Change later = byKind.get("protection_ends");
    for (Running r : world.running()) {
      Instant end = r.protectedUntil();
      if (policy.hasBudgets() && r.allocated() && !r.leaving() && end.isAfter(world.now())) {
        boolean before = later == null || end.isBefore((Instant) later.to());
        boolean at = later != null && end.equals(later.to());
        if (before || at) {
          assertThat(starts(policy, world, job, end)).as(about + " at " + end).isEqualTo(at);
        }
        if (at) {
          assertThat(later.protectedJobs()).as(about).contains(r.job());
        }
      }
    }
  }

  private static int order(Snapshot world, String tier) {
    return world.tiers().stream()
        .filter(t -> t.name().equals(tier))
        .findFirst()
        .orElseThrow()
        .sortOrder();
  }

  private static Job as(
      Job job, int nodes, int gpus, String tier, int minimum, boolean keepsMinimum) {
    return new Job(
        job.id(),
        job.account(),
        job.user(),
        nodes,
        gpus,
        tier,
        minimum,
        job.priority(),
        job.queuedAt(),
        keepsMinimum ? job.minRuntimeSeconds() : 0,
        job.resumable(),
        job.attempt(),
        job.preemptible());
  }

  /** Which of these starts first; -1 when none does. */
  private static int first(Policy policy, Snapshot world, Job job, List<Job> others) {
    for (int i = 0; i < others.size(); i++) {
      if (starts(policy, world, others.get(i), world.now())) {
        return i;
      }
    }
    return -1;
  }

  /**
   * Whether the whole policy, asked anew, starts this job in place of the one of its id. What would
   * be refused when it is submitted so starts nothing: a job may wait for an account that takes
   * none any more (A1).
   */
  private static boolean starts(Policy policy, Snapshot world, Job changed, Instant now) {
    if (!world.jobs().contains(changed)
        && !policy
            .admit(Request.of(changed), world.accounts(), world.tiers(), world.placements())
            .accepted()) {
      return false;
    }
    List<Job> jobs =
        world.jobs().stream().map(j -> j.id().equals(changed.id()) ? changed : j).toList();
    return policy
        .decide(
            new Snapshot(
                world.policy(),
                now,
                world.cluster(),
                world.tiers(),
                world.placements(),
                world.accounts(),
                jobs,
                world.reservations(),
                world.running(),
                world.claims(),
                world.workStays()))
        .outcomes()
        .stream()
        .anyMatch(d -> d.outcome() instanceof Start s && s.job().equals(changed.id()));
  }
}
