package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import evenhand.explain.Change;
import evenhand.explain.Miss;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What {@code why} tells besides the verdict, over cycles of the real policies. */
class WhyTest {
  static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  static final Tier LOW = new Tier("3080ti", 10, 34.1, 8, true, "low", "gpu:3080ti");
  static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");
  private static final Desk.WhyAsked CHANGES = new Desk.WhyAsked(null, true, false);

  final ManualClock clock = new ManualClock(T0);
  final SimulatedCluster cluster = new SimulatedCluster(clock);
  final Store store = make();
  final Recorder recorder = new JsonRecorder();
  Cycle cycle;
  FrontDesk desk;

  Store make() {
    return new MemoryStore();
  }

  StartEstimates estimates() {
    return StartEstimates.NONE;
  }

  private void start(String policyName) throws PolicyFault {
    Policy policy = Policies.load(Optional.empty(), policyName, Map.of());
    store.setUp(
        List.of(LOW, MID),
        List.of(new AccountSetup("A", null, 1), new AccountSetup("B", null, 1)),
        T0);
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
            estimates(),
            RuleAlarm.UNHEARD,
            CycleSettings.DEFAULT,
            clock);
    cycle.run();
  }

  private void after(int seconds) {
    clock.advance(Duration.ofSeconds(seconds));
    assertThat(cycle.run().result()).isEqualTo(CycleReport.Result.DECIDED);
  }

  private String submit(SomeJob job) {
    return desk.submit(job.made(), null).id();
  }

  @Test
  void everyPlacementIsInOneRowTheNearestMissFirst() throws PolicyFault {
    cluster.node("n1", MID, 2);
    cluster.node("n2", MID, 2);
    cluster.node("n3", LOW, 4);
    cluster.node("n4", LOW, 1);
    cluster.hold("n1", MID, 1);
    cluster.hold("n2", MID, 2);
    cluster.state("n3", NodeState.DRAINING);
    start("reservation");
    String first = submit(SomeJob.PLAIN.of("A").on(2, "4090"));
    String second = submit(SomeJob.PLAIN.of("B").on(2, null));
    after(5);
    Desk.Explanation why = desk.why(second);
    assertThat(why.code()).isEqualTo("NOT_FIRST");
    assertThat(why.details().eliminated())
        .extracting(m -> m.tier() + " " + m.condition() + " " + m.placements())
        .containsExactly("4090 few_idle 2", "3080ti draining 1", "3080ti too_small 1");
    Miss nearest = why.details().eliminated().get(0);
    assertThat(nearest.node()).isEqualTo("n1");
    assertThat(nearest.idle()).isEqualTo(1);
    assertThat(nearest.reserved()).isEqualTo(1);
    assertThat(nearest.holder()).isEqualTo(first);
    assertThat(nearest.message()).contains("1 idle of 2 needed on n1").contains("job " + first);
    assertThat(why.details().bound().notLaterThan()).isNull();
    assertThat(why.details().changes()).isNull();
    assertThat(desk.why(first).details().eliminated()).extracting(Miss::condition).contains("tier");
  }

  @Test
  void untilTheQueueIsLookedAtAgainTheAnswerIsThatOfTheLookBefore() throws PolicyFault {
    cluster.node("n1", MID, 4);
    cluster.hold("n1", MID, 4);
    start("reservation");
    String waits = submit(SomeJob.PLAIN.of("A").on(2, null));
    after(1);
    Instant before = desk.why(waits).at();
    assertThat(before).isEqualTo(clock.instant());
    after(1);
    desk.isLookedAt();
    assertThat(desk.why(waits).at()).isEqualTo(before);
    assertThat(desk.why(waits).details().asOf()).isEqualTo(before);
    desk.look();
    assertThat(desk.why(waits).at()).isEqualTo(before.plusSeconds(1));
    // What is done here is known at once, whoever is about to look.
    desk.isLookedAt();
    desk.cancel(submit(SomeJob.PLAIN.of("B").on(1, null)), "kim");
    after(1);
    assertThat(desk.why(waits).at()).isEqualTo(before.plusSeconds(2));
    // A look that is not taken in time is taken by whoever asks.
    after(1);
    desk.isLookedAt();
    clock.advance(Duration.ofSeconds(11));
    assertThat(desk.why(waits).at()).isEqualTo(before.plusSeconds(3));
  }

  @Test
  void theSmallestChangeStartsItWhenSubmittedSo() throws PolicyFault {
    cluster.node("n1", MID, 4);
    cluster.node("n2", LOW, 4);
    cluster.hold("n1", MID, 2);
    start("skip");
    String id = submit(SomeJob.PLAIN.of("A").on(4, "4090"));
    after(5);
    List<Change> changes = desk.why(id, CHANGES).details().changes().changes();
    assertThat(changes)
        .extracting(c -> c.kind() + " " + c.to())
        .containsExactly("num_gpus 2", "tier 3080ti");
    assertThat(changes.get(0).message())
        .isEqualTo("with num_gpus 2 instead of 4 it would be given 2 GPUs of n1 (4090) now");
    desk.cancel(id, "kim");
    String again = submit(SomeJob.PLAIN.of("A").on(2, "4090"));
    after(5);
    assertThat(desk.job(again).state()).isEqualTo(JobState.DISPATCHING);
  }

  @Test
  void aJobSubmittedJustNowIsAmongThoseThatWait() throws PolicyFault {
    cluster.node("n1", MID, 1);
    cluster.hold("n1", MID, 1);
    start("reservation");
    String first = submit(SomeJob.PLAIN.of("A").on(1, null));
    assertThat(desk.why(first).position()).isEqualTo(1);
    String second = submit(SomeJob.PLAIN.of("B").on(1, null));
    assertThat(desk.why(second).position()).isEqualTo(2);
    desk.cancel(first, "kim");
    assertThat(desk.why(second).position()).isEqualTo(1);
    cluster.hold("n1", MID, 0);
    assertThat(desk.why(second, CHANGES).details().changes().asIs()).isNull();
    clock.advance(Duration.ofSeconds(5));
    cycle.run();
    assertThat(desk.job(second).state()).isEqualTo(JobState.DISPATCHING);
  }

  @Test
  void whoHoldsAReservationKnowsItsBoundByTheTimeLimitsOfOthers() throws PolicyFault {
    cluster.node("n1", MID, 2);
    cluster.runTimes(order -> Duration.ofDays(1));
    start("reservation");
    NewJob limited = SomeJob.PLAIN.of("A").resumable(true).limit(600).made();
    desk.submit(limited, null);
    after(5);
    after(5);
    String first = submit(SomeJob.PLAIN.of("A").on(2, null));
    after(5);
    Desk.Bound bound = desk.why(first).details().bound();
    assertThat(desk.why(first).code()).isEqualTo("GATHERING");
    assertThat(bound.notLaterThan()).isEqualTo(T0.plusSeconds(5 + 600));
    assertThat(bound.message()).contains("time limits");
  }

  @Test
  void aContradictionIsTold() throws PolicyFault {
    cluster.node("n1", MID, 2);
    cluster.node("n2", LOW, 2);
    start("reservation");
    NewJob both = SomeJob.PLAIN.of("A").on(1, "3080ti").atLeast("4090").made();
    Desk.Refused no = catchThrowableOfType(Desk.Refused.class, () -> desk.submit(both, null));
    assertThat(no.code()).isEqualTo("INVALID_REQUEST");
    assertThat(no.field()).isEqualTo("minimum_tier");
    assertThat(no).hasMessageContaining("tier 3080ti is below minimum_tier 4090");
  }

  @Test
  void theStoryOfAJobThatMadeRoomIsWhole() throws PolicyFault {
    cluster.node("n1", MID, 2);
    cluster.runTimes(order -> Duration.ofSeconds(200));
    cluster.leaveTimes(order -> Duration.ofSeconds(2));
    start("budget");
    String victim = submit(SomeJob.PLAIN.of("B").on(2, null).minimum(0).resumable(true));
    after(5);
    after(5);
    String taker = submit(SomeJob.PLAIN.of("A").on(2, null).minimum(60).resumable(true));
    Instant before = clock.instant();
    after(5);
    after(5);
    Desk.Explanation waits = desk.why(victim);
    assertThat(waits.state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(waits.details().story()).extracting(Desk.Told::what).contains("preempted", "ran");
    for (int i = 0; i < 60; i++) {
      after(10);
    }
    assertThat(desk.job(victim).state()).isEqualTo(JobState.COMPLETED);
    List<Desk.Told> story = desk.why(victim).details().story();
    assertThat(story)
        .extracting(Desk.Told::what)
        .containsSubsequence("queued", "started", "preempted", "ran", "started", "ran", "ended");
    assertThat(story).isSortedAccordingTo(java.util.Comparator.comparing(Desk.Told::at));
    Desk.Told preempted =
        story.stream().filter(t -> t.what().equals("preempted")).findFirst().orElseThrow();
    assertThat(preempted.rule()).isEqualTo("K4");
    assertThat(preempted.message()).contains("job " + taker);
    assertThat(desk.why(taker).details().story())
        .anySatisfy(
            t -> {
              assertThat(t.what()).isEqualTo("room_made");
              assertThat(t.message()).contains("job " + victim);
              assertThat(desk.decision(t.decision()).json()).contains("preempt");
            })
        .anySatisfy(t -> assertThat(t.message()).contains("charged to A"));

    Desk.WhyAsked then = new Desk.WhyAsked(before, true, false);
    Desk.Explanation at = desk.why(victim, then);
    assertThat(at.code()).isEqualTo("STARTED");
    assertThat(at.state()).isEqualTo(JobState.DISPATCHING);
    assertThat(at.at()).isBeforeOrEqualTo(before);
    at = desk.why(victim, new Desk.WhyAsked(clock.instant(), true, false));
    assertThat(at.state()).isEqualTo(JobState.COMPLETED);
    assertThat(at.message()).contains("It was over at", ": COMPLETED.");
    at = desk.why(victim, new Desk.WhyAsked(before.plusSeconds(30), true, false));
    assertThat(at.at()).isAfter(before);
    assertThat(at.message()).startsWith("At 2026-04-10T09:00:");
    Desk.Refused no =
        catchThrowableOfType(
            Desk.Refused.class,
            () -> desk.why(victim, new Desk.WhyAsked(T0.minusSeconds(1), false, false)));
    assertThat(no.code()).isEqualTo("NOT_FOUND");
    assertThat(no).hasMessageContaining("was submitted at");
  }

  @Test
  void whatWasSaidAtATimeComesFromItsDecision() throws PolicyFault {
    cluster.node("n1", MID, 4);
    cluster.hold("n1", MID, 2);
    start("skip");
    String id = submit(SomeJob.PLAIN.of("A").on(4, null));
    after(5);
    Instant waiting = clock.instant();
    cluster.hold("n1", MID, 0);
    after(5);
    assertThat(desk.job(id).state()).isEqualTo(JobState.DISPATCHING);
    Desk.Explanation at = desk.why(id, new Desk.WhyAsked(waiting.plusSeconds(1), true, false));
    assertThat(at.state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(at.code()).isEqualTo("NO_IDLE");
    assertThat(at.position()).isEqualTo(1);
    assertThat(at.details().asOf()).isEqualTo(waiting);
    assertThat(at.details().eliminated()).extracting(Miss::condition).containsExactly("few_idle");
    assertThat(at.details().changes().changes())
        .extracting(c -> c.kind() + " " + c.to())
        .containsExactly("num_gpus 2");
  }

  @Test
  void anEstimateIsTheSameForTheSameQueueAndComesAfterWhatRuns() throws PolicyFault {
    cluster.node("n1", MID, 2);
    cluster.runTimes(order -> Duration.ofSeconds(100));
    start("reservation");
    for (int i = 0; i < 4; i++) {
      submit(SomeJob.PLAIN.of("A").on(2, null));
    }
    for (int i = 0; i < 30; i++) {
      after(5);
    }
    String last = submit(SomeJob.PLAIN.of("B").on(2, null));
    after(5);
    Desk.WhyAsked asked = new Desk.WhyAsked(null, false, true);
    Desk.Estimate estimate = desk.why(last, asked).details().estimate();
    assertThat(estimate.runs()).isPositive();
    assertThat(estimate.p50()).isAfter(clock.instant());
    assertThat(estimate.p90()).isAfterOrEqualTo(estimate.p50());
    Desk.Estimate again = desk.why(last, asked).details().estimate();
    if (again.runs() == estimate.runs()) {
      assertThat(again.p50()).isEqualTo(estimate.p50());
    }
    assertThat(estimate.message()).contains("simulations");
  }
}
