package evenhand.reference;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.explain.Elimination;
import evenhand.explain.Miss;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Wait;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Of every waiting job of random worlds every placement is eliminated once, for what is so. */
class EliminationTest {
  private static final long SEED = 20_261_131L;
  private static final Set<String> FITTING =
      Set.of(
          "free",
          "ahead",
          "reserved",
          "few_idle",
          "protected",
          "over_share",
          "held_by_reservation");

  @Test
  void underReservation() throws PolicyFault {
    Policy policy = ReservationPolicy.policy();
    Map<String, Integer> seen = new TreeMap<>();
    for (long seed = SEED; seed < SEED + 150; seed++) {
      hold(policy, RandomSnapshots.of(seed), seed, seen);
    }
    assertThat(seen.keySet())
        .contains("reserved", "few_idle", "draining", "down", "too_small", "tier", "not_allowed");
  }

  @Test
  void underBudget() throws PolicyFault {
    Policy policy = Policies.load(Optional.empty(), "budget", Map.of());
    Map<String, Integer> seen = new TreeMap<>();
    for (long seed = SEED; seed < SEED + 100; seed++) {
      hold(policy, BudgetSnapshots.of(seed, "budget"), seed, seen);
    }
    assertThat(seen.keySet()).contains("few_idle", "protected", "over_share", "too_small");
  }

  @Test
  void underClaims() throws PolicyFault {
    Policy policy = Policies.load(Optional.empty(), "budget", Map.of("gang_reservation", "claim"));
    Map<String, Integer> seen = new TreeMap<>();
    for (long seed = SEED; seed < SEED + 150; seed++) {
      hold(policy, BudgetSnapshots.withClaim(seed, "budget"), seed, seen);
    }
    assertThat(seen.keySet()).contains("reserved", "held_by_reservation");
  }

  private static void hold(Policy policy, Snapshot world, long seed, Map<String, Integer> seen) {
    Elimination elimination = new Elimination(policy, world);
    List<Job> order = policy.order(world);
    for (Decided decided : policy.decide(world).outcomes()) {
      if (!(decided.outcome() instanceof Wait wait)) {
        continue;
      }
      Job job = order.stream().filter(j -> j.id().equals(wait.job())).findFirst().orElseThrow();
      String about = "seed " + seed + ", job " + job;
      List<Miss> rows = elimination.of(job, order.get(0) == job);
      assertThat(rows.stream().mapToInt(Miss::placements).sum())
          .as(about)
          .isEqualTo(world.placements().size());
      for (Miss row : rows) {
        seen.merge(row.condition(), 1, Integer::sum);
        Placement nearest =
            world.placements().stream()
                .filter(p -> p.node().equals(row.node()) && p.tier().name().equals(row.tier()))
                .findFirst()
                .orElseThrow();
        String told = about + ": " + row;
        assertThat(row.idle()).as(told).isEqualTo(nearest.idle());
        boolean fits = fits(job, nearest);
        boolean up = nearest.state() == NodeState.UP;
        assertThat(FITTING.contains(row.condition())).as(told).isEqualTo(fits && up);
        switch (row.condition()) {
          case "free", "ahead" -> {}
          case "reserved" -> {
            assertThat(row.idle()).as(told).isGreaterThanOrEqualTo(job.numGpus());
            assertThat(row.idle() - row.reserved()).as(told).isLessThan(job.numGpus());
          }
          case "held_by_reservation" ->
              assertThat(row.holder()).as(told).isEqualTo(world.claims().get(0).job());
          case "few_idle", "protected", "over_share" ->
              assertThat(row.idle()).as(told).isLessThan(job.numGpus());
          case "draining", "down" -> {
            assertThat(nearest.state().word()).as(told).isEqualTo(row.condition());
            assertThat(fits).as(told).isTrue();
          }
          case "too_small" -> assertThat(nearest.capacity()).as(told).isLessThan(job.numGpus());
          case "tier" ->
              assertThat(
                      job.tier() != null && !job.tier().equals(row.tier())
                          || nearest.tier().sortOrder() < job.minimumTierSortOrder())
                  .as(told)
                  .isTrue();
          case "not_allowed" -> assertThat(nearest.tier().autoAssign()).as(told).isFalse();
          default -> throw new AssertionError(told);
        }
      }
      List<String> far =
          rows.stream()
              .map(Miss::condition)
              .dropWhile(c -> !Set.of("too_small", "tier", "not_allowed").contains(c))
              .collect(Collectors.toList());
      assertThat(far).as(about + ": what can never do comes last").doesNotContain("few_idle");
    }
  }

  /** F1 in plain Java. */
  private static boolean fits(Job job, Placement p) {
    return p.capacity() >= job.numGpus()
        && p.tier().autoAssign()
        && p.tier().sortOrder() >= job.minimumTierSortOrder()
        && (job.tier() == null || job.tier().equals(p.tier().name()));
  }
}
