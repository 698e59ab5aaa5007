package evenhand.service;

import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.SomeJob;
import evenhand.policy.RuleFiles;
import evenhand.rollout.Planner;
import evenhand.rollout.Rollout;
import evenhand.rollout.RulesFolder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.SimulatedCluster;
import evenhand.store.Database;
import evenhand.store.PostgresRollout;
import evenhand.store.PostgresStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import javax.sql.DataSource;

/**
 * How long {@code policy plan} takes over days that were recorded in PostgreSQL: those of the
 * demonstration of budgets, whose jobs come and run so many times slower that a cycle each so many
 * seconds misses nothing. Arguments: days, and seconds between cycles (7 60).
 */
public final class PlanOfDemoDays {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final List<String> ACCOUNTS =
      List.of("segmentation", "detection", "chat", "translation");
  private static final int MOST_WAITING = 4;

  private PlanOfDemoDays() {}

  public static void main(String[] args) throws Exception {
    int days = args.length > 0 ? Integer.parseInt(args[0]) : 7;
    int step = args.length > 1 ? Integer.parseInt(args[1]) : 60;
    int slower = step / 5;
    DataSource source = Database.fresh();
    ManualClock clock = new ManualClock(T0);
    SimulatedCluster cluster = BudgetDemo.cluster(clock);
    Recorder recorder = new JsonRecorder();
    try (PostgresStore store = new PostgresStore(source);
        Rollout rollout = begin(source, store, clock);
        Planner planner = new Planner(rollout, store, recorder, clock)) {
      Cycle cycle =
          new Cycle(
              store,
              cluster,
              Router.NONE,
              rollout.inForce(),
              recorder,
              clock,
              CycleSettings.DEFAULT);
      FrontDesk desk =
          new FrontDesk(store, rollout.inForce(), cycle::latest, CycleSettings.DEFAULT, clock);
      cycle.run();
      Random random = new Random(7);
      long began = System.nanoTime();
      int jobs = 0;
      long cycles = Duration.ofDays(days).toSeconds() / step;
      for (long i = 0; i < cycles; i++) {
        if (i % 4 == 0 && desk.queue(MOST_WAITING, null).items().size() < MOST_WAITING) {
          int which = random.nextInt(ACCOUNTS.size());
          SomeJob job =
              SomeJob.PLAIN
                  .of(ACCOUNTS.get(which))
                  .on(1 + random.nextInt(4), null)
                  .resumable(true)
                  .minimum(which == 3 ? 0 : 30L * slower)
                  .runs("#!/bin/sh\nsleep " + (40 + random.nextInt(80)) * slower + "\n", null);
          desk.submit(job.made(), null);
          jobs++;
        }
        clock.advance(Duration.ofSeconds(step));
        rollout.follow();
        rollout.decided(cycle.run());
      }
      System.out.printf(
          "%d days, %d cycles, %d jobs recorded in %.0f s%n",
          days, cycles, jobs, (System.nanoTime() - began) / 1e9);
      for (String keys : List.of("tier_desc,idle_asc,node_asc", "tier_desc,node_asc")) {
        plan(planner, Map.of("preference", keys), days);
      }
    }
  }

  private static Rollout begin(DataSource source, PostgresStore store, ManualClock clock)
      throws Exception {
    store.setUp(BudgetDemo.TIERS, BudgetDemo.ACCOUNTS, T0);
    return Rollout.begin(
        new PostgresRollout(source),
        new RulesFolder(RuleFiles.of(Optional.empty()), true),
        "budget",
        Rollout.Applies.PLANNED_ONLY,
        clock);
  }

  private static void plan(Planner planner, Map<String, String> set, int days) throws Exception {
    long began = System.nanoTime();
    long id = planner.begin(new Planner.Asked(null, null, set, days, null, 1, "kim"));
    String doing = null;
    Planner.Standing standing = planner.plan(id).orElseThrow();
    while (standing.state() == Planner.State.RUNNING) {
      if (!String.valueOf(standing.doing()).equals(doing)) {
        doing = standing.doing();
        System.out.printf("  %6.1f s %s%n", (System.nanoTime() - began) / 1e9, doing);
      }
      Thread.sleep(50);
      standing = planner.plan(id).orElseThrow();
    }
    System.out.printf(
        "plan %s: %s in %.1f s%n%.1200s%n",
        set,
        standing.state(),
        (System.nanoTime() - began) / 1e9,
        standing.report() == null ? standing.faults() : standing.report());
  }
}
