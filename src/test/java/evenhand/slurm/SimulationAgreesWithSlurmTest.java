package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.JobState;
import evenhand.cycle.SomeJob;
import evenhand.cycle.Store;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.sandbox.RealSlurm;
import evenhand.sandbox.SlurmSandbox;
import evenhand.simulator.AccountPlan;
import evenhand.simulator.ClusterPlan;
import evenhand.simulator.JobCourse;
import evenhand.simulator.Simulation;
import evenhand.simulator.TraceJob;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The same jobs on the simulated cluster and on real daemons, as sleeps of some seconds: they start
 * in the same order and at the same places. Slurm takes time to start a job and to tell of its end,
 * so the job set is one whose order does not hang on that: it is the same in simulations in which
 * runs take up to {@link #SLOW_MILLIS} longer, each a little more or less than the others, and
 * submissions come a little later.
 */
@RealSlurm
@Timeout(180)
class SimulationAgreesWithSlurmTest extends CyclesOnSlurm {
  private static final long SEED = Long.getLong("evenhand.slurm.agreement", 303L);
  private static final int JOBS = 12;
  private static final int SLOW_MILLIS = 3000;
  private static final int JITTER_MILLIS = 1500;
  private static final long MICROS = 1_000_000;

  private static final ClusterPlan CLUSTER =
      new ClusterPlan(
          List.of(Orders.T3080, Orders.T4090, Orders.T5090),
          List.of(
              new ClusterPlan.Gpus("n1", Orders.T4090, 2),
              new ClusterPlan.Gpus("n2", Orders.T4090, 2),
              new ClusterPlan.Gpus("n3", Orders.T3080, 2),
              new ClusterPlan.Gpus("n4", Orders.T4090, 4),
              new ClusterPlan.Gpus("n4", Orders.T5090, 4)),
          List.of());

  private static final AccountPlan ACCOUNTS =
      new AccountPlan(
          List.of(new AccountSetup("bcg", null, 1), new AccountSetup("kdg", null, 1)),
          Map.of(),
          Map.of(),
          List.of(),
          true);

  SimulationAgreesWithSlurmTest(SlurmSandbox slurm) throws Exception {
    super(slurm, Policies.load(Optional.empty(), "reservation", Map.of()));
  }

  @AfterEach
  void emptyTheCluster() {
    slurm.run("scancel", "--user=" + System.getProperty("user.name"));
    slurm.awaitIdle(Duration.ofSeconds(60));
  }

  /** A start: when, of which job, and where. */
  private record Started(long atMicros, int job, String on) {
    static final Comparator<Started> ORDER =
        Comparator.comparingLong(Started::atMicros).thenComparingInt(Started::job);
  }

  private static List<String> order(List<Started> starts) {
    return starts.stream().sorted(Started.ORDER).map(s -> s.job() + " on " + s.on()).toList();
  }

  /** More work than the cluster has room for, so that most jobs wait, and large ones reserve. */
  private static List<TraceJob> jobs(long seed) {
    Random random = new Random(seed);
    List<TraceJob> jobs = new ArrayList<>();
    long submit = 0;
    for (int i = 1; i <= JOBS; i++) {
      int gpus = List.of(1, 2, 2, 4, 4).get(random.nextInt(5));
      Tier only = random.nextInt(4) == 0 ? Orders.T4090 : null;
      jobs.add(
          job(
              i,
              submit,
              random.nextBoolean() ? "bcg" : "kdg",
              gpus,
              only == null ? null : only.name(),
              (4 + 2 * random.nextInt(5)) * MICROS));
      submit += (i < 6 ? 0 : random.nextInt(4)) * MICROS;
    }
    return jobs;
  }

  private static TraceJob job(
      int id, long submitMicros, String account, int gpus, String tier, long runMicros) {
    return new TraceJob(
        Integer.toString(id),
        submitMicros,
        account,
        "kim",
        1,
        gpus,
        tier,
        runMicros,
        0,
        false,
        0,
        null,
        true,
        id + 1);
  }

  private static List<TraceJob> slower(List<TraceJob> jobs, Random random) {
    int all = random.nextInt(SLOW_MILLIS);
    List<TraceJob> slower = new ArrayList<>();
    long last = 0;
    for (TraceJob j : jobs) {
      last = Math.max(last, j.submitMicros() + random.nextInt(JITTER_MILLIS) * 1000L);
      slower.add(
          job(
              Integer.parseInt(j.id()),
              last,
              j.account(),
              j.numGpus(),
              j.tier(),
              j.runMicros() + (all + random.nextInt(JITTER_MILLIS)) * 1000L));
    }
    return slower;
  }

  private static List<Started> simulated(Policy policy, List<TraceJob> jobs) {
    List<Started> starts = new ArrayList<>();
    List<JobCourse> courses =
        new Simulation(
                policy, CLUSTER, ACCOUNTS, jobs, null, Duration.ofMinutes(10), Simulation.NOBODY)
            .run()
            .courses();
    for (JobCourse course : courses) {
      JobCourse.Run run = course.runs().get(0);
      starts.add(
          new Started(
              run.fromMicros(),
              Integer.parseInt(course.job().id()),
              run.on().stream()
                  .map(held -> held.node() + ":" + held.tier() + ":" + held.indices().size())
                  .collect(Collectors.joining(","))));
    }
    return starts;
  }

  private static boolean steady(Policy policy, List<TraceJob> jobs, List<String> order) {
    Random random = new Random(0);
    for (int i = 0; i < 200; i++) {
      if (!order(simulated(policy, slower(jobs, random))).equals(order)) {
        return false;
      }
    }
    return true;
  }

  /** The first job set from this seed on that does not hang on seconds and in which some wait. */
  private static long steadySeed(Policy policy, long from) {
    for (long seed = from; seed < from + 20_000; seed++) {
      List<TraceJob> jobs = jobs(seed);
      List<Started> starts = simulated(policy, jobs);
      long waiting =
          starts.stream()
              .filter(s -> s.atMicros() > jobs.get(s.job() - 1).submitMicros() + 2 * MICROS)
              .count();
      if (waiting >= 4 && steady(policy, jobs, order(starts))) {
        return seed;
      }
    }
    throw new AssertionError("no steady job set from seed " + from + " on");
  }

  @Test
  void jobsStartInTheSameOrderAndAtTheSamePlaces() throws Exception {
    long seed = steadySeed(policy, SEED);
    List<TraceJob> jobs = jobs(seed);
    List<Started> expected = simulated(policy, jobs);
    run(); // the inventory, before any job
    Map<Long, Integer> numbers = new HashMap<>();
    List<Long> ids = new ArrayList<>();
    long begun = System.nanoTime();
    Instant zero = Instant.now();
    cycles(
        () -> "all jobs to start",
        () -> {
          long into = (System.nanoTime() - begun) / 1000;
          while (ids.size() < jobs.size() && jobs.get(ids.size()).submitMicros() <= into) {
            TraceJob job = jobs.get(ids.size());
            String script = "#!/bin/sh\nexec sleep " + job.runMicros() / MICROS + "\n";
            ids.add(
                add(
                    SomeJob.PLAIN
                        .of(job.account())
                        .on(job.numGpus(), job.tier())
                        .runs(script, work.toString())));
            numbers.put(ids.get(ids.size() - 1), ids.size());
          }
          return ids.size() == jobs.size()
              && ids.stream().allMatch(id -> job(id).job().state() != JobState.GLOBAL_QUEUE_WAIT);
        });
    List<Started> real = new ArrayList<>();
    for (long id : ids) {
      Store.JobRecord record = job(id);
      real.add(
          new Started(
              Duration.between(zero, record.attempt().decidedAt()).toNanos() / 1000,
              numbers.get(id),
              record.attempt().on().stream()
                  .map(SimulationAgreesWithSlurmTest::text)
                  .collect(Collectors.joining(","))));
    }
    assertThat(order(real)).as("seed %d, %s", seed, notes).isEqualTo(order(expected));
    double simulatedWait = meanWait(expected, jobs);
    double realWait = meanWait(real, jobs);
    System.out.printf(
        "simulation and Slurm: seed %d, %d jobs, mean wait %.2f s simulated, %.2f s real, %.1f %%%n",
        seed, JOBS, simulatedWait, realWait, 100 * (realWait - simulatedWait) / simulatedWait);
    assertThat(simulatedWait).isPositive();
  }

  private static String text(Share share) {
    return share.node() + ":" + share.tier().name() + ":" + share.gpus();
  }

  private static double meanWait(List<Started> starts, List<TraceJob> jobs) {
    return starts.stream()
            .mapToLong(s -> s.atMicros() - jobs.get(s.job() - 1).submitMicros())
            .average()
            .orElseThrow()
        / MICROS;
  }
}
