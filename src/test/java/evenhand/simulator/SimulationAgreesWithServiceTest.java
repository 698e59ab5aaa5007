package evenhand.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.Cycle;
import evenhand.cycle.CycleReport;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.NewJob;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * The simulator keeps its world in its own way, for speed. The service's own cycle, over a store
 * and a cluster in memory, called at the same moments with the same submissions, must decide the
 * same: every outcome, in order, with its clause.
 */
class SimulationAgreesWithServiceTest {
  private static final int WORLDS = Integer.getInteger("evenhand.simulated.agreements", 30);

  private record Made(Instant at, Decision decision) {}

  @Test
  void theServicesCycleDecidesTheSame() throws Exception {
    Map<String, Policy> policies = new HashMap<>();
    for (String name : RandomWorld.POLICIES) {
      policies.put(name, Policies.load(Optional.empty(), name, Map.of()));
    }
    for (String name : RandomWorld.CLAIMING) {
      policies.put(
          name + " claim",
          Policies.load(Optional.empty(), name, Map.of("gang_reservation", "claim")));
    }
    Map<String, Policy> byTflops = new HashMap<>();
    for (String name : List.of("budget", "budget-slices")) {
      Map<String, String> unit = Map.of("charge_unit", "tflop_s");
      byTflops.put(name, Policies.load(Optional.empty(), name, unit));
    }
    int decisions = 0;
    for (long seed = 1; seed <= WORLDS; seed++) {
      RandomWorld world = RandomWorld.of(seed, true);
      Policy policy = policies.get(world.loaded());
      if (seed % 2 == 0) {
        policy = byTflops.getOrDefault(world.loaded(), policy);
      }
      List<Made> made = new ArrayList<>();
      Simulation.Result result =
          world
              .simulation(
                  policy,
                  new Simulation.Witness() {
                    @Override
                    public boolean wantsWaits() {
                      return true;
                    }

                    @Override
                    public void decided(Snapshot snapshot, Decision decision) {
                      made.add(new Made(snapshot.now(), decision));
                    }
                  })
              .run();
      new Service(world, policy, result).decidesToo(made);
      decisions += made.size();
    }
    assertThat(decisions).isGreaterThan(WORLDS * 10);
  }

  private static final class Service {
    private final RandomWorld world;
    private final Policy policy;
    private final List<JobCourse> courses;
    private final ManualClock clock = new ManualClock(Micros.ZERO);
    private final MemoryStore store = new MemoryStore();
    private final SimulatedCluster cluster = new SimulatedCluster(clock);
    private final Map<String, String> numberOf = new HashMap<>();
    private final Cycle cycle;
    private int arrived;
    private int changed;

    Service(RandomWorld world, Policy policy, Simulation.Result result) {
      this.world = world;
      this.policy = policy;
      this.courses = result.courses();
      store.setUp(world.cluster().tiers(), world.accounts().accounts(), Micros.ZERO);
      world.cluster().placements().forEach(g -> cluster.node(g.node(), g.tier(), g.count()));
      cluster.runTimes(
          order -> {
            JobCourse course = course(Long.toString(order.token().job()));
            JobCourse.Run run =
                course.runs().stream()
                    .filter(r -> r.attempt() == order.token().attempt())
                    .findFirst()
                    .orElse(null); // its start was undone
            long micros =
                run != null && run.end().equals("COMPLETED")
                    ? run.toMicros() - run.fromMicros()
                    : course.job().runMicros();
            return Duration.ofNanos(micros * 1000);
          });
      cluster.leaveTimes(order -> world.leaveAfter());
      cycle =
          new Cycle(
              store,
              cluster,
              Router.NONE,
              () -> policy,
              Recorder.NOTHING,
              clock,
              CycleSettings.DEFAULT);
    }

    private JobCourse course(String stored) {
      return courses.get(Integer.parseInt(numberOf.get(stored)) - 1);
    }

    void decidesToo(List<Made> made) {
      for (Made m : made) {
        clock.set(m.at);
        long now = Micros.of(m.at);
        for (; changed < world.cluster().changes().size(); changed++) {
          ClusterPlan.Change change = world.cluster().changes().get(changed);
          if (change.atMicros() > now) {
            break;
          }
          cluster.state(change.node(), change.state());
        }
        for (; arrived < courses.size(); arrived++) {
          TraceJob job = courses.get(arrived).job();
          if (job.submitMicros() > now) {
            break;
          }
          if (courses.get(arrived).admitted()) {
            submit(job);
          }
        }
        CycleReport report = cycle.run();
        String which =
            "seed " + world.seed() + ", " + policy.name() + ", at " + Micros.text(now) + " s";
        assertThat(report.result()).as(which).isEqualTo(CycleReport.Result.DECIDED);
        assertThat(lines(report.decision(), numberOf::get))
            .as(which)
            .isEqualTo(lines(m.decision, job -> job));
      }
    }

    private void submit(TraceJob job) {
      String id =
          store
              .add(
                  new NewJob(
                      job.id(),
                      job.account(),
                      job.user(),
                      null,
                      job.nodes(),
                      job.numGpus(),
                      job.tier(),
                      null,
                      job.minRuntimeSeconds(),
                      job.resumable(),
                      job.priority(),
                      null,
                      "#!/bin/sh\n",
                      List.of(),
                      Map.of(),
                      null,
                      job.preemptible()),
                  0,
                  null,
                  null,
                  Micros.instant(job.submitMicros()))
              .record()
              .job()
              .asks()
              .id();
      numberOf.put(id, Integer.toString(arrived + 1));
    }
  }

  private static List<String> lines(Decision decision, UnaryOperator<String> name) {
    List<String> lines = new ArrayList<>();
    for (Decided d : decision.outcomes()) {
      Outcome o = d.outcome();
      String line = name.apply(o.job()) + " by " + d.rule() + " ";
      if (o instanceof Start start) {
        line += "start";
        for (Share share : start.on()) {
          line += " " + share.node() + ":" + share.gpus();
        }
      } else if (o instanceof Reserve r) {
        line += "reserve " + r.node() + ":" + r.gpus();
      } else if (o instanceof Absorb a) {
        line += "absorb " + a.node() + ":" + a.gpus();
      } else if (o instanceof Claimed c) {
        line += "claim " + c.readyAt();
        for (Share share : c.on()) {
          line += " " + share.node() + ":" + share.gpus();
        }
      } else if (o instanceof Release r) {
        line += "release " + r.node() + ":" + r.gpus();
      } else if (o instanceof Preempt p) {
        line += "preempt for " + (p.forJob() == null ? null : name.apply(p.forJob()));
      } else if (o instanceof Charge c) {
        line += "charge " + c.account() + " " + c.tflopSeconds();
      } else {
        line += "wait " + ((Wait) o).code();
      }
      lines.add(line);
    }
    return lines;
  }
}
