package evenhand.store;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.PastPolicies;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.RuleAlarm;
import evenhand.cycle.RuleHistory;
import evenhand.cycle.SomeJob;
import evenhand.cycle.StartEstimates;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.SimulatedCluster;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What rules decided is counted with the decision; what was estimated is held against what came.
 */
class RuleHistoryTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");

  private final ManualClock clock = new ManualClock(T0);
  private final SimulatedCluster cluster = new SimulatedCluster(clock);
  private final DataSource source = Database.fresh();
  private final PostgresStore store = new PostgresStore(source);
  private final RuleHistory history = new PostgresRuleHistory(source);
  private final StartEstimates estimates = new PostgresStartEstimates(source);
  private final Recorder recorder = new JsonRecorder();
  private Policy policy;
  private Cycle cycle;
  private Desk desk;

  @BeforeEach
  void start() throws Exception {
    policy = Policies.load(Optional.empty(), "reservation", Map.of());
    store.setUp(List.of(MID), List.of(new AccountSetup("A", null, 1)), T0);
    cluster.node("n1", MID, 2);
    cluster.runTimes(order -> Duration.ofSeconds(60));
    cycle =
        new Cycle(
            store, cluster, Router.NONE, () -> policy, recorder, clock, CycleSettings.DEFAULT);
    desk =
        new FrontDesk(
            store,
            () -> policy,
            cycle::latest,
            recorder,
            new PastPolicies(),
            job -> Optional.empty(),
            estimates,
            RuleAlarm.UNHEARD,
            CycleSettings.DEFAULT,
            clock);
    cycle.run();
  }

  @AfterEach
  void close() {
    store.close();
  }

  private String submit(int gpus) {
    return desk.submit(SomeJob.PLAIN.of("A").on(gpus, null).made(), null).id();
  }

  private void after(int seconds) {
    clock.advance(Duration.ofSeconds(seconds));
    cycle.run();
  }

  private long count(Instant since, String clause) {
    return history.counts(since).stream()
        .filter(c -> c.clause().equals(clause))
        .mapToLong(RuleHistory.Count::outcomes)
        .sum();
  }

  @Test
  void everyRecordedOutcomeIsCountedInItsHour() {
    assertThat(history.countedSince()).isNull();
    submit(1);
    after(5);
    submit(2);
    submit(2);
    after(5);
    assertThat(count(T0, "D1")).isEqualTo(1);
    assertThat(count(T0, "D3")).isEqualTo(1);
    assertThat(count(T0, "R2")).isEqualTo(1);
    after(5); // the first one gathers, which is new
    assertThat(count(T0, "D2")).isEqualTo(1);
    assertThat(count(T0, "R2")).isEqualTo(2);
    after(5); // nothing new: not recorded, not counted
    assertThat(count(T0, "R2")).isEqualTo(2);
    assertThat(history.counts(T0))
        .allSatisfy(
            c -> {
              assertThat(c.last()).isEqualTo(T0);
              assertThat(c.policyHash()).isEqualTo(policy.hash());
            });
    // Of the two rules that R2 has the one that decided is named.
    assertThat(history.counts(T0))
        .filteredOn(c -> c.clause().equals("R2"))
        .extracting(RuleHistory.Count::rule)
        .containsExactly("R2 A job of several GPUs that is not first waits without a reservation");
    clock.set(T0.plus(Duration.ofMinutes(61)));
    cycle.run();
    after(5);
    assertThat(count(T0.plusSeconds(3600), "D3")).isZero();
    assertThat(count(T0, "C3")).as("what the end of a job charged").isEqualTo(1);
    assertThat(history.texts(policy.hash())).isEqualTo(policy.texts());
    assertThat(history.hashes(policy.hash().substring(0, 12), 5)).containsExactly(policy.hash());
    store.forget(Duration.ZERO, T0.plus(Duration.ofHours(2)));
    assertThat(history.counts(T0)).isEmpty();
  }

  @Test
  void anEstimateIsHeldAgainstWhatCame() {
    submit(2);
    after(5);
    String waits = submit(2);
    String never = submit(2);
    after(5);
    assertThat(estimates.kept(clock.instant())).isEqualTo(new StartEstimates.Kept(0, 0));
    Desk.WhyAsked asked = new Desk.WhyAsked(null, false, true);
    Desk.Estimate told = desk.why(waits, asked).details().estimate();
    assertThat(told.p90()).isNotNull();
    assertThat(told.checked()).isZero();
    desk.why(waits, asked); // the same question again is no second estimate
    estimates.made(Long.parseLong(never), clock.instant(), T0.plusSeconds(11), T0.plusSeconds(12));
    after(5);
    // One has not started by its p90, the other not yet.
    assertThat(estimates.kept(clock.instant())).isEqualTo(new StartEstimates.Kept(1, 0));
    for (int i = 0; i < 15; i++) {
      after(5);
    }
    Instant started = desk.job(waits).startedAt();
    assertThat(started).isNotNull();
    int held = started.isAfter(told.p90()) ? 0 : 1;
    assertThat(estimates.kept(told.p90()).checked())
        .as("it is not counted before its p90 has passed, though it has started")
        .isEqualTo(1);
    desk.cancel(never, "kim"); // too late to make its estimate a good one
    Instant later =
        Instant.ofEpochSecond(
            1 + Math.max(told.p90().getEpochSecond(), clock.instant().getEpochSecond()));
    assertThat(estimates.kept(later)).isEqualTo(new StartEstimates.Kept(2, held));
    clock.set(later);
    String other = submit(2);
    assertThat(desk.why(other, asked).details().estimate().message()).contains("Of the last 2");
  }
}
