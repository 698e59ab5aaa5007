package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FrontDeskTest {
  static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  static final Tier LOW = new Tier("3080ti", 10, 34.1, 8, true, "low", "gpu:3080ti");
  static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");

  final ManualClock clock = new ManualClock(T0);
  final SimulatedCluster cluster = new SimulatedCluster(clock);
  final RealPolicy policy = new RealPolicy();
  final Store store = new MemoryStore();
  Cycle cycle;
  Desk desk;

  @BeforeEach
  void start() {
    store.setUp(List.of(LOW, MID), List.of(new AccountSetup("BCG", null, 1)), T0);
    cluster.node("n1", MID, 2);
    cluster.node("n2", LOW, 4);
    cluster.hold("n1", MID, 1);
    cluster.hold("n2", LOW, 4);
    cycle =
        new Cycle(
            store,
            cluster,
            Router.NONE,
            () -> policy,
            Recorder.NOTHING,
            clock,
            CycleSettings.DEFAULT);
    desk = new FrontDesk(store, () -> policy, cycle::latest, cycle.settings(), clock);
    cycle.run();
  }

  static NewJob job(String account, int gpus, String tier, String minimum) {
    return new NewJob(
        "train",
        account,
        "kim",
        null,
        1,
        gpus,
        tier,
        minimum,
        0,
        true,
        0,
        null,
        "#!/bin/sh\n",
        List.of(),
        Map.of(),
        null);
  }

  Desk.JobView submit(int gpus) {
    return desk.submit(job("BCG", gpus, null, null), null);
  }

  void after(int seconds) {
    clock.advance(Duration.ofSeconds(seconds));
    cycle.run();
  }

  Desk.Refused refused(NewJob job, String key) {
    return catchThrowableOfType(Desk.Refused.class, () -> desk.submit(job, key));
  }

  @Test
  void whatCannotBeIsRefusedWithFieldAndKnownNames() {
    Desk.Refused no = refused(job("XYZ", 1, null, null), null);
    assertThat(no.code()).isEqualTo("INVALID_REQUEST");
    assertThat(no.field()).isEqualTo("account");
    assertThat(no).hasMessageContaining("XYZ").hasMessageContaining("BCG");
    assertThat(refused(job("BCG", 1, "h100", null), null)).hasMessageContaining("4090");
    assertThat(refused(job("BCG", 1, null, "h100"), null).field()).isEqualTo("minimum_tier");
    no = refused(job("BCG", 8, null, null), null);
    assertThat(no.code()).isEqualTo("NO_FIT_PLACEMENT");
    assertThat(no.rule()).isEqualTo("N2");
    assertThat(desk.jobs(null, null, null, 10, null).items()).isEmpty();
  }

  @Test
  void aTimeLimitBelowTheProtectedRunTimeIsRefusedWithBoth() {
    Desk.Refused no = refused(limited(3600, 3599L), null);
    assertThat(no.code()).isEqualTo("INVALID_REQUEST");
    assertThat(no.field()).isEqualTo("time_limit_s");
    assertThat(no).hasMessageContaining("3599").hasMessageContaining("3600");
    assertThat(desk.submit(limited(3600, 3600L), null).timeLimitSeconds()).isEqualTo(3600);
    assertThat(desk.submit(limited(3600, null), null).timeLimitSeconds()).isNull();
  }

  private static NewJob limited(long minimum, Long limit) {
    return new NewJob(
        "train",
        "BCG",
        "kim",
        null,
        1,
        1,
        null,
        null,
        minimum,
        true,
        0,
        limit,
        "#!/bin/sh\n",
        List.of(),
        Map.of(),
        null);
  }

  @Test
  void aNodeThatIsDownStillCountsForFit() {
    cluster.state("n1", NodeState.DOWN);
    after(5);
    assertThat(submit(2).state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
  }

  @Test
  void oneKeyOneAnswer() {
    String id = desk.submit(job("BCG", 2, null, null), "k").id();
    assertThat(desk.submit(job("BCG", 2, null, null), "k").id()).isEqualTo(id);
    assertThat(refused(job("BCG", 1, null, null), "k").code()).isEqualTo("IDEMPOTENCY_CONFLICT");
    cluster.remove("n1");
    assertThat(desk.submit(job("BCG", 2, null, null), "k").id()).isEqualTo(id);
  }

  @Test
  void aQueuedJobIsCancelledAtOnceAndPaysForWhatItReserved() {
    String id = submit(2).id();
    after(0);
    assertThat(desk.job(id).reservation()).isEqualTo(new Desk.ReservationView("n1", "4090", 1));
    clock.advance(Duration.ofSeconds(300));
    Desk.JobView view = desk.cancel(id, "kim");
    assertThat(view.state()).isEqualTo(JobState.CANCELLED);
    assertThat(view.stateReason()).isEqualTo("cancelled by kim");
    assertThat(view.reservation()).isNull();
    assertThat(view.chargedTflopSeconds()).isEqualTo(24780);
    assertThat(store.load(null).accounts().get(0).cumulativeUsage()).isEqualTo(24780);
    assertThat(desk.cancel(id, "lee").stateReason()).isEqualTo("cancelled by kim");
    assertThat(desk.why(id).message()).contains("24,780.0").contains("never ran");
  }

  @Test
  void aRunningJobIsCancelledWhenTheClusterHasEndedIt() {
    String id = submit(1).id();
    after(0);
    after(5);
    assertThat(desk.why(id).message()).contains("n1").contains("Slurm job");
    assertThat(desk.cancel(id, "kim").state()).isEqualTo(JobState.RUNNING);
    assertThat(desk.cancel(id, "kim").state()).isEqualTo(JobState.RUNNING);
    after(5);
    after(5);
    Desk.JobView view = desk.job(id);
    assertThat(view.state()).isEqualTo(JobState.CANCELLED);
    assertThat(view.stateReason()).isEqualTo("cancelled by kim");
    assertThat(view.chargedTflopSeconds()).isEqualTo(826);
  }

  @Test
  void aJobThatNeverReachedTheClusterIsCancelledAtOnce() {
    cluster.answerNext(new Submission.NotSubmitted("controller away"), false);
    String id = submit(1).id();
    after(0);
    assertThat(desk.job(id).state()).isEqualTo(JobState.DISPATCHING);
    assertThat(desk.cancel(id, "kim").state()).isEqualTo(JobState.CANCELLED);
    after(60);
    assertThat(cluster.submitted()).hasSize(1);
  }

  @Test
  void cancellingAJobOfWhichNobodyKnowsWhetherItIsThereEndsItWherever() {
    cluster.answerNext(new Submission.Unknown("timed out"), true);
    String id = submit(1).id();
    after(0);
    assertThat(desk.cancel(id, "kim").state()).isEqualTo(JobState.DISPATCHING);
    for (int i = 0; i < 3; i++) {
      after(10);
    }
    assertThat(desk.job(id).state()).isEqualTo(JobState.CANCELLED);
    cluster.answerNext(new Submission.Unknown("timed out"), false);
    String other = submit(1).id();
    after(0);
    desk.cancel(other, "kim");
    after(40);
    assertThat(desk.job(other).state()).isEqualTo(JobState.CANCELLED);
    assertThat(cluster.submitted()).hasSize(2);
  }

  @Test
  void whyAndQueueSayWhoIsAheadAndWhatIsMissing() {
    String first = submit(2).id();
    String second = submit(2).id();
    assertThat(desk.why(second).code()).isEqualTo("NOT_DECIDED");
    after(0);
    Desk.Explanation why = desk.why(second);
    assertThat(why.code()).isEqualTo("NOT_FIRST");
    assertThat(why.rule()).isEqualTo("R2");
    assertThat(why.ruleName())
        .isEqualTo("R2 A job of several GPUs that is not first waits without a reservation");
    assertThat(why.behind()).isEqualTo(first);
    assertThat(why.needs()).isEqualTo("2 GPUs on one node");
    assertThat(why.best()).isEqualTo("0 on n1 (4090)");
    assertThat(why.position()).isEqualTo(2);
    assertThat(why.aheadCount()).isEqualTo(1);
    assertThat(why.ahead()).extracting(Desk.QueueLine::id).containsExactly(first);
    assertThat(why.ahead().get(0).figures()).containsKey("id");
    assertThat(why.decision()).isNotNull();
    assertThat(why.message())
        .contains("Needs 2 GPUs on one node, which are not free together")
        .contains("The most free now is 0 on n1");
    assertThat(desk.why(first).code()).isEqualTo("GATHERING");
    assertThat(desk.why(first).message()).containsIgnoringCase("holds 1 of the 2");
    Desk.Page<Desk.QueueLine> page = desk.queue(1, null);
    assertThat(page.items()).extracting(Desk.QueueLine::id).containsExactly(first);
    assertThat(desk.queue(1, page.next()).items())
        .extracting(Desk.QueueLine::id)
        .containsExactly(second);
    assertThat(desk.queue(1, page.next()).next()).isNull();
    assertThat(desk.decisions(second, 10, null).items()).hasSize(1);
    assertThat(catchThrowableOfType(Desk.Refused.class, () -> desk.why("77")).code())
        .isEqualTo("NOT_FOUND");
    assertThat(catchThrowableOfType(Desk.Refused.class, () -> desk.decision("x")).code())
        .isEqualTo("NOT_FOUND");
  }

  @Test
  void aDecisionThatSaysNothingNewIsNotRecordedAgain() {
    submit(2);
    submit(2);
    after(0);
    after(5);
    int before = desk.decisions(null, 100, null).items().size();
    after(5);
    after(5);
    assertThat(desk.decisions(null, 100, null).items()).hasSize(before);
  }

  @Test
  void placementsShowWhoHoldsWhat() {
    String id = submit(2).id();
    after(0);
    cluster.node("n9", new Tier("h100", 1, 1, 1, true, "x", "gpu:h100"), 8);
    after(5);
    assertThat(desk.placements())
        .contains(
            new Desk.PlacementView("n1", "4090", 2, 0, 1, id, NodeState.UP, null, List.of()),
            new Desk.PlacementView(
                "n9",
                "h100",
                8,
                0,
                0,
                null,
                NodeState.UP,
                "no tier names this model: not used",
                List.of()));
  }

  @Test
  void anIdIsWrittenInOneWayOnly() {
    String id = submit(1).id();
    assertThat(desk.job(id).id()).isEqualTo(id);
    for (String other :
        List.of("0" + id, "+" + id, " " + id, "-1", "0", "1e0", "٣", "9".repeat(30))) {
      assertThat(catchThrowableOfType(Desk.Refused.class, () -> desk.job(other)).code())
          .isEqualTo("NOT_FOUND");
      assertThat(catchThrowableOfType(Desk.Refused.class, () -> desk.cancel(other, "kim")).code())
          .isEqualTo("NOT_FOUND");
    }
    assertThat(
            catchThrowableOfType(Desk.Refused.class, () -> desk.jobs(null, null, null, 1, "+1"))
                .code())
        .isEqualTo("INVALID_REQUEST");
  }

  @Test
  void theQueueSaysTheSameAsWhy() {
    String first = submit(2).id();
    String second = submit(2).id();
    for (int round = 0; round < 3; round++) {
      for (Desk.QueueLine line : desk.queue(10, null).items()) {
        assertThat(line.code()).isNotNull().isEqualTo(desk.why(line.id()).code());
        assertThat(line.message()).isNotBlank();
      }
      if (round == 0) {
        assertThat(desk.why(second).code()).isEqualTo("NOT_DECIDED");
      }
      after(5);
    }
    assertThat(desk.why(first).code()).isEqualTo("GATHERING");
  }

  @Test
  void aJobThatHasStartedIsNotCalledTheFirstOfTheQueue() {
    String first = submit(2).id();
    String second = submit(2).id();
    after(0);
    after(5);
    assertThat(desk.why(second).behind()).isEqualTo(first);
    assertThat(desk.why(second).message()).contains("first job of the queue, " + first);
    desk.cancel(first, "kim");
    Desk.Explanation why = desk.why(second);
    assertThat(why.code()).isEqualTo("NOT_FIRST");
    assertThat(why.behind()).isNull();
    assertThat(why.message())
        .contains("job " + first + " was ahead of it; that one has left the queue")
        .contains("It is the first of the queue")
        .doesNotContain("only the first job");
    assertThat(desk.queue(10, null).items().get(0).message()).contains("left the queue");
  }

  @Test
  void whatWasRemarkedUnderAnotherPolicyIsNotSaidAnyMore() throws PolicyFault {
    Policy budget = Policies.load(Optional.empty(), "budget", Map.of());
    PolicyInForce inForce = new PolicyInForce(budget);
    cycle =
        new Cycle(
            store, cluster, Router.NONE, inForce, Recorder.NOTHING, clock, CycleSettings.DEFAULT);
    desk = new FrontDesk(store, inForce, cycle::latest, cycle.settings(), clock);
    cluster.hold("n1", MID, 0);
    cycle.run();
    Desk.JobView runs = submit(2);
    assertThat(runs.stateReason()).startsWith("unallocated");
    after(0);
    after(5);
    assertThat(desk.why(runs.id()).message())
        .contains("nobody is charged for it")
        .doesNotContain("is charged when it ends");
    cluster.hold("n2", LOW, 4);
    String waits = submit(4).id();
    assertThat(desk.why(waits).message()).contains("Unallocated").doesNotContain("Before:");
    inForce.exchange(policy);
    assertThat(desk.why(waits).message()).doesNotContain("nallocated", "charged to nobody");
    assertThat(desk.job(waits).stateReason()).isNull();
    assertThat(desk.jobs(null, null, null, 10, null).items())
        .noneMatch(j -> j.id().equals(waits) && j.stateReason() != null);
  }
}
