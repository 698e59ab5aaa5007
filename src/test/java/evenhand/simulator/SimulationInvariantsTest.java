package evenhand.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import evenhand.facts.Placement;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Preempt;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What holds in every simulation, at every moment of it, over small worlds from printed seeds. */
class SimulationInvariantsTest {
  private static final int WORLDS = Integer.getInteger("evenhand.simulated.worlds", 100);

  @Test
  void everyWorldKeepsThem() throws Exception {
    Map<String, Policy> policies = new HashMap<>();
    for (String name : RandomWorld.POLICIES) {
      policies.put(name, Policies.load(Optional.empty(), name, Map.of()));
    }
    for (String name : RandomWorld.CLAIMING) {
      policies.put(
          name + " claim",
          Policies.load(Optional.empty(), name, Map.of("gang_reservation", "claim")));
    }
    int preempted = 0;
    int reserved = 0;
    for (long seed = 1; seed <= WORLDS; seed++) {
      RandomWorld world = RandomWorld.of(seed, false);
      Policy policy = policies.get(world.loaded());
      String which = "seed " + seed + ", policy " + world.policy();
      Moments moments = new Moments(which);
      Simulation.Result result = world.simulation(policy, moments).run();
      overAll(which, world, result);
      Simulation.Result again = world.simulation(policy, Simulation.NOBODY).run();
      assertThat(ResultFiles.events(again)).as(which).isEqualTo(ResultFiles.events(result));
      assertThat(ResultFiles.jobs(again)).as(which).isEqualTo(ResultFiles.jobs(result));
      preempted += result.courses().stream().mapToInt(JobCourse::preemptions).sum();
      reserved += result.reservedGpuMicros() > 0 ? 1 : 0;
    }
    assertThat(preempted).as("worlds in which work makes room").isGreaterThan(WORLDS / 10);
    assertThat(reserved).as("worlds in which GPUs are held").isGreaterThan(WORLDS / 30);
  }

  /** At every decision: nothing is given twice, and who is protected is left alone. */
  private record Moments(String which) implements Simulation.Witness {
    @Override
    public void decided(Snapshot s, Decision decision) {
      Map<String, Integer> held = new HashMap<>();
      Map<String, Integer> leaving = new HashMap<>();
      for (Running r : s.running()) {
        for (Share share : r.on()) {
          leaving.merge(share.node(), r.leaving() ? share.gpus() : 0, Integer::sum);
          held.merge(share.node(), share.gpus(), Integer::sum);
        }
      }
      Map<String, Integer> kept = new HashMap<>(held);
      for (Reservation r : s.reservations()) {
        kept.merge(r.node(), r.gpus(), Integer::sum);
      }
      for (Placement p : s.placements()) {
        int gpus = held.getOrDefault(p.node(), 0);
        // A start that waits holds what those it waits for still hold.
        assertThat(p.idle())
            .as(which + ", " + p.node())
            .isEqualTo(Math.max(0, p.capacity() - gpus));
        assertThat(kept.getOrDefault(p.node(), 0) - leaving.getOrDefault(p.node(), 0))
            .as(which)
            .isLessThanOrEqualTo(p.capacity());
      }
      for (Decided d : decision.outcomes()) {
        if (d.outcome() instanceof Preempt preempt) {
          Running victim =
              s.running().stream().filter(r -> r.job().equals(preempt.job())).findFirst().get();
          assertThat(!victim.allocated() || victim.unprotected(s.now()))
              .as(which + ": " + preempt)
              .isTrue();
          assertThat(victim.leaving()).as(which + ": nobody is told twice").isFalse();
        }
      }
    }
  }

  private static void overAll(String which, RandomWorld world, Simulation.Result result) {
    Map<String, List<JobCourse.Run>> byGpu = new HashMap<>();
    long ran = 0;
    double charged = 0;
    int finished = 0;
    int refused = 0;
    for (JobCourse c : result.courses()) {
      finished += c.state().finished() ? 1 : 0;
      refused += c.state() == JobCourse.State.REFUSED ? 1 : 0;
      long atWork = 0;
      for (JobCourse.Run run : c.runs()) {
        long length = run.toMicros() - run.fromMicros();
        ran += length * run.gpus();
        atWork += length * run.gpus() - run.lostGpuMicros();
        charged += run.allocated() ? length / 1e6 * run.gpus() * tflops(run) : 0;
        for (JobCourse.Held held : run.on()) {
          for (int gpu : held.indices()) {
            byGpu.computeIfAbsent(held.node() + "/" + gpu, g -> new ArrayList<>()).add(run);
          }
        }
        for (ClusterPlan.Change change : world.cluster().changes()) {
          if (change.state() == evenhand.facts.NodeState.DOWN
              && change.atMicros() > run.fromMicros()
              && change.atMicros() < run.toMicros()) {
            assertThat(run.on())
                .as(which + ": nothing runs on through the end of its node")
                .noneMatch(h -> h.node().equals(change.node()));
          }
        }
      }
      if (c.state() == JobCourse.State.COMPLETED) {
        assertThat(atWork)
            .as(which + ": job " + c.job().id() + " has done all its work, once")
            .isEqualTo(c.job().runMicros() * c.job().gpus());
      }
    }
    assertThat(finished + refused).as(which).isEqualTo(world.jobs().size());
    byGpu.forEach(
        (gpu, runs) -> {
          runs.sort(
              Comparator.comparingLong(JobCourse.Run::fromMicros)
                  .thenComparingLong(JobCourse.Run::toMicros));
          for (int i = 1; i < runs.size(); i++) {
            assertThat(runs.get(i).fromMicros())
                .as(which + ": " + gpu + " has one job at a time")
                .isGreaterThanOrEqualTo(runs.get(i - 1).toMicros());
          }
        });
    assertThat(result.runGpuMicros()).as(which).isEqualTo(ran);
    Simulation.Ledger ledger = result.ledger();
    if (!world.policy().startsWith("budget")) {
      assertThat(ledger.charged() + ledger.carried())
          .as(which + ": what is held is charged (C6)")
          .isCloseTo(ledger.held(), within(1e-3));
    } else {
      assertThat(ledger.charged()).as(which).isCloseTo(charged, within(1e-3));
    }
  }

  private static double tflops(JobCourse.Run run) {
    return run.on().get(0).tier().equals("low") ? 2 : 8;
  }
}
