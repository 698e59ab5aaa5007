package evenhand.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Wait;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * A policy that acts, for the simulator, remembers answers of earlier cycles, keeps its queue, its
 * board and its working memory from one to the next, and leaves waits out. At every moment of many
 * simulations it must decide what a policy decides that sees the snapshot for the first time.
 */
class ActingTest {
  private static final int WORLDS = Integer.getInteger("evenhand.simulated.acting", 60);

  @Test
  void whatIsRememberedChangesNothing() throws Exception {
    Map<String, Policy> policies = new HashMap<>();
    Map<String, Policy.Acting> acting = new HashMap<>();
    for (String name : RandomWorld.POLICIES) {
      policies.put(name, Policies.load(Optional.empty(), name, Map.of()));
    }
    for (String name : RandomWorld.CLAIMING) {
      policies.put(
          name + " claim",
          Policies.load(Optional.empty(), name, Map.of("gang_reservation", "claim")));
    }
    // One for all worlds of a policy: what it learnt and kept in one must be right in the next.
    policies.forEach((name, policy) -> acting.put(name, policy.acting()));
    int[] decisions = {0};
    for (long seed = 1; seed <= WORLDS; seed++) {
      RandomWorld world = RandomWorld.of(seed, false);
      String which = "seed " + seed + ", policy " + world.loaded();
      world
          .simulation(
              policies.get(world.loaded()),
              new Simulation.Witness() {
                @Override
                public boolean wantsWaits() {
                  return true;
                }

                @Override
                public void decided(Snapshot snapshot, Decision fresh) {
                  Decision acted = acting.get(world.loaded()).decide(snapshot);
                  assertThat(acted.outcomes()).as(which).isEqualTo(withoutWaits(fresh));
                  assertThat(acted.accruals()).as(which).isEqualTo(fresh.accruals());
                  assertThat(acted.yields()).as(which).isEqualTo(fresh.yields());
                  decisions[0]++;
                }
              })
          .run();
    }
    assertThat(decisions[0]).isGreaterThan(WORLDS * 10);
  }

  private static List<Decided> withoutWaits(Decision d) {
    return d.outcomes().stream().filter(o -> !(o.outcome() instanceof Wait)).toList();
  }
}
