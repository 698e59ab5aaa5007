package evenhand.bench;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.PastPolicies;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.RuleAlarm;
import evenhand.cycle.StartEstimates;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.SimulatedCluster;
import evenhand.store.Database;
import evenhand.store.PostgresStore;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * How long {@code why} takes over PostgreSQL with 10,000 queued jobs of 100 accounts and 1,000
 * placements of three tiers, one question after another while a cycle is run every five seconds and
 * the queue is looked at after it, as the service does: plain, with {@code changes}, with {@code
 * estimate}. Arguments: a policy, and how many questions (budget 3000).
 */
public final class WhyLatency {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Desk.WhyAsked CHANGES = new Desk.WhyAsked(null, true, false);
  private static final Desk.WhyAsked ESTIMATE = new Desk.WhyAsked(null, false, true);

  private WhyLatency() {}

  public static void main(String[] args) throws Exception {
    String name = args.length > 0 ? args[0] : "budget";
    int questions = args.length > 1 ? Integer.parseInt(args[1]) : 3000;
    List<Tier> tiers =
        List.of(
            new Tier("3080ti", 10, 34.1, 8, true, "low", "gpu:3080ti"),
            new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090"),
            new Tier("h100", 30, 989, 8, true, "high", "gpu:h100"));
    DataSource source = Database.fresh();
    ManualClock clock = new ManualClock(T0);
    SimulatedCluster cluster = new SimulatedCluster(clock);
    for (int i = 0; i < 1000; i++) {
      String node = String.format("n%04d", i);
      Tier tier = tiers.get(i % 3);
      cluster.node(node, tier, 8);
      cluster.hold(node, tier, i % 20 == 0 ? 7 : 8);
    }
    Policy policy = Policies.load(Optional.empty(), name, Map.of());
    Recorder recorder = new JsonRecorder();
    List<AccountSetup> accounts = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      accounts.add(new AccountSetup("a" + i, null, 1 + i % 4));
    }
    try (PostgresStore store = new PostgresStore(source)) {
      store.setUp(tiers, accounts, T0);
      JdbcClient sql = JdbcClient.create(source);
      sql.sql(
              """
              insert into jobs (name, account_id, user_name, nodes, num_gpus, resumable, state,
                                min_runtime_s, submitted_at, queue_entered_at)
              select 'j' || i, 'a' || i % 100, 'kim', 1, 2 + i % 7, true, 'GLOBAL_QUEUE_WAIT',
                     900 * (i % 5), timestamptz '2026-04-10 08:00Z' + i * interval '1 ms',
                     timestamptz '2026-04-10 08:00Z' + i * interval '1 ms'
              from generate_series(1, 10000) i
              """)
          .update();
      sql.sql(
              """
              insert into job_scripts (job_id, script, arguments, environment)
              select id, '#!/bin/sh', '{}', '{}' from jobs
              """)
          .update();
      Cycle cycle =
          new Cycle(
              store, cluster, Router.NONE, () -> policy, recorder, clock, CycleSettings.DEFAULT);
      FrontDesk desk =
          new FrontDesk(
              store,
              () -> policy,
              cycle::latest,
              recorder,
              new PastPolicies(),
              job -> Optional.empty(),
              StartEstimates.NONE,
              RuleAlarm.UNHEARD,
              CycleSettings.DEFAULT,
              clock);
      ScheduledExecutorService cycles = Executors.newSingleThreadScheduledExecutor();
      ExecutorService looks = Executors.newSingleThreadExecutor();
      cycle.run();
      cycles.scheduleWithFixedDelay(
          () -> {
            clock.advance(Duration.ofSeconds(5));
            cycle.run();
            desk.isLookedAt();
            looks.execute(desk::look);
          },
          0,
          5,
          TimeUnit.SECONDS);
      try {
        measure("warming up", desk, Desk.WhyAsked.PLAIN, questions);
        measure("why", desk, Desk.WhyAsked.PLAIN, questions);
        measure("why --changes", desk, CHANGES, Math.max(20, questions / 50));
        measure("why --estimate", desk, ESTIMATE, 5);
      } finally {
        cycles.shutdownNow();
        cycles.awaitTermination(1, TimeUnit.MINUTES);
        looks.shutdownNow();
        looks.awaitTermination(1, TimeUnit.MINUTES);
      }
    }
  }

  private static void measure(String what, Desk desk, Desk.WhyAsked asked, int questions) {
    Random random = new Random(1);
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    List<Double> millis = new ArrayList<>();
    List<Double> cpu = new ArrayList<>();
    while (millis.size() < questions) {
      String id = Integer.toString(1 + random.nextInt(10_000));
      long from = System.nanoTime();
      long worked = threads.getCurrentThreadCpuTime();
      desk.why(id, asked);
      millis.add((System.nanoTime() - from) / 1e6);
      cpu.add((threads.getCurrentThreadCpuTime() - worked) / 1e6);
    }
    millis.sort(null);
    cpu.sort(null);
    System.out.printf(
        "%s: p50 %.1f ms, p90 %.1f ms, p99 %.1f ms, most %.1f ms of %d; of the processor p50 %.1f ms, p99 %.1f ms%n",
        what,
        millis.get(questions / 2),
        millis.get(questions * 9 / 10),
        millis.get(questions * 99 / 100),
        millis.get(questions - 1),
        questions,
        cpu.get(questions / 2),
        cpu.get(questions * 99 / 100));
  }
}
