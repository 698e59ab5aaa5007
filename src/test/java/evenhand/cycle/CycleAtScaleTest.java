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
      // A noisy machine gets twice the second that a quiet one is given.
      assertThat(report.wholeMillis()).isLessThan(2_000);
    }
  }
}
