package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.SimulatedCluster;
import evenhand.store.Database;
import evenhand.store.PostgresStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The whole cycle with the real rules and PostgreSQL, at the size the service is made for. */
class CycleAtScaleTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");

  /** In which jobs end and others start; {@code -Devenhand.cycles=50} to measure. */
  private static final int CYCLES = Integer.getInteger("evenhand.cycles", 3);

  @Test
  void tenThousandQueuedJobsAndAThousandPlacements() throws Exception {
    Tier tier = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");
    DataSource source = Database.fresh();
    ManualClock clock = new ManualClock(T0);
    SimulatedCluster cluster = new SimulatedCluster(clock);
    for (int i = 0; i < 1000; i++) {
      String node = String.format("n%04d", i);
      cluster.node(node, tier, 8);
      cluster.hold(node, tier, i % 20 == 0 ? 7 : 8);
    }
    Policy policy = Policies.load(Optional.empty(), "reservation", Map.of());
    Recorder recorder = new JsonRecorder();
    try (PostgresStore store = new PostgresStore(source)) {
      store.setUp(List.of(tier), List.of(new AccountSetup("BCG", null, 1)), T0);
      JdbcClient.create(source)
          .sql(
              """
              insert into jobs (name, account_id, user_name, nodes, num_gpus, resumable, state,
                                submitted_at, queue_entered_at)
              select 'j' || i, 'BCG', 'kim', 1, 1 + i % 8, true, 'GLOBAL_QUEUE_WAIT',
                     timestamptz '2026-04-10 08:00Z' + i * interval '1 ms',
                     timestamptz '2026-04-10 08:00Z' + i * interval '1 ms'
              from generate_series(1, 10000) i
              """)
          .update();
      JdbcClient.create(source)
          .sql(
              """
              insert into job_scripts (job_id, script, arguments, environment)
              select id, '#!/bin/sh', '{}', '{}' from jobs
              """)
          .update();
      Cycle cycle =
          new Cycle(
              store, cluster, Router.NONE, () -> policy, recorder, clock, CycleSettings.DEFAULT);
      CycleReport report = null;
      for (int i = 0; i < 6; i++) {
        report = cycle.run();
        assertThat(report.result()).as(report.because()).isEqualTo(CycleReport.Result.DECIDED);
        System.out.printf(
            "cycle %d: read %d ms, decide %d ms, whole %d ms, %d outcomes%n",
            i,
            report.readMillis(),
            report.decideMillis(),
            report.wholeMillis(),
            report.decision().outcomes().size());
        clock.advance(Duration.ofSeconds(5));
      }
      // Jobs end and others start: every decision is a new one.
      for (int i = 0; i < CYCLES; i++) {
        store.load(null).attempts().stream()
            .filter(a -> a.state() == JobState.RUNNING)
            .limit(10)
            .map(a -> new Token(store.installation(), a.job(), a.attempt()))
            .forEach(token -> cluster.end(token, SeenJob.State.COMPLETED, 0, null));
        clock.advance(Duration.ofSeconds(5));
        report = cycle.run();
        System.out.printf(
            "ten jobs end and others start: decide %d ms, whole %d ms%n",
            report.decideMillis(), report.wholeMillis());
      }
      JdbcClient sql = JdbcClient.create(source);
      sql.sql(
              """
              select id, base_id, length(decision_packed) as d, length(snapshot_packed) as s
              from decisions order by id
              """)
          .query(
              rs -> {
                System.out.printf(
                    "decision %d, base %s: decision %,d bytes of %,d, snapshot %,d bytes of %,d%n",
                    rs.getLong("id"),
                    rs.getString("base_id"),
                    rs.getInt("d"),
                    store.receipt(rs.getLong("id")).orElseThrow().decisionJson().length(),
                    rs.getInt("s"),
                    store.receipt(rs.getLong("id")).orElseThrow().snapshotJson().length());
              });
      List<Long> sizes =
          sql.sql(
                  """
                  select length(decision_packed) + length(snapshot_packed) from decisions
                  where base_id is not null
                  """)
              .query(Long.class)
              .list();
      assertThat(sizes).isNotEmpty().allMatch(bytes -> bytes < 100_000);
      Receipts receipts = new Receipts(store, recorder, new PastPolicies());
      long from = System.nanoTime();
      String newest = store.decisions(null, 1, Long.MAX_VALUE).get(0).id();
      assertThat(receipts.verify(newest).message()).isNull();
      System.out.printf(
          "made again in %d ms, rules loaded first%n", (System.nanoTime() - from) / 1_000_000);
    }
  }
}
