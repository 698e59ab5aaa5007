package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.outcomes.Yield;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The shell around the policy, on a cluster in memory; here on a store in memory as well. */
class CycleTest {
  static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  static final Tier LOW = new Tier("3080ti", 10, 34.1, 8, true, "low", "gpu:3080ti");
  static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");

  final ManualClock clock = new ManualClock(T0);
  final SimulatedCluster cluster = new SimulatedCluster(clock);
  final List<Yield> yielded = new ArrayList<>();
  final RealPolicy policy = new RealPolicy();
  Store store = make();
  Cycle cycle;

  Store make() {
    return new MemoryStore();
  }

  @BeforeEach
  void start() {
    store.setUp(
        List.of(LOW, MID),
        List.of(new AccountSetup("BCG", null, 1), new AccountSetup("KDG", null, 1)),
        T0);
    cluster.node("n1", MID, 2);
    cycle = cycle(store, cluster);
  }

  Cycle cycle(Store on, Cluster with) {
    return new Cycle(
        on, with, yielded::add, () -> policy, Recorder.NOTHING, clock, CycleSettings.DEFAULT);
  }

  Token submit(String account, int gpus) {
    return submit(account, gpus, true, null);
  }

  Token submit(String account, int gpus, boolean resumable, String tier) {
    NewJob job = SomeJob.PLAIN.of(account).on(gpus, tier).resumable(resumable).made();
    long id = store.add(job, 0, null, null, clock.instant()).record().job().id();
    return new Token(store.installation(), id, 1);
  }

  CycleReport after(int seconds) {
    clock.advance(Duration.ofSeconds(seconds));
    CycleReport report = cycle.run();
    assertThat(report.result()).as(report.because()).isEqualTo(CycleReport.Result.DECIDED);
    return report;
  }

  StoredJob job(Token token) {
    return store.job(token.job()).orElseThrow().job();
  }

  static Token next(Token token) {
    return new Token(token.installation(), token.job(), token.attempt() + 1);
  }

  double usage(String account) {
    return store.load(null).accounts().stream()
        .filter(a -> a.id().equals(account))
        .findFirst()
        .orElseThrow()
        .cumulativeUsage();
  }

  /** C6: all that was held is charged, or still carried by a job that has not ended. */
  void balanced() {
    double held = 0;
    double uncharged = 0;
    for (Store.LedgerRow row : store.ledger(null, null, 100_000, Long.MAX_VALUE)) {
      held += row.tflopSeconds();
      uncharged += row.chargedAt() == null ? row.tflopSeconds() : 0;
    }
    double charged = usage("BCG") + usage("KDG");
    double carried =
        store.load(null).jobs().stream().mapToDouble(StoredJob::carriedTflopSeconds).sum();
    assertThat(charged + carried).isCloseTo(held, within(1e-6));
    assertThat(uncharged).isCloseTo(carried, within(1e-6));
  }

  @Test
  void aJobStartsRunsEndsAndIsChargedOnceAtItsEnd() {
    cluster.runTimes(order -> Duration.ofSeconds(100));
    Token a = submit("BCG", 2);
    CycleReport first = after(0);
    assertThat(RealPolicy.idle(first.snapshot(), "n1")).isEqualTo(2);
    assertThat(job(a).state()).isEqualTo(JobState.DISPATCHING);
    assertThat(yielded).containsExactly(new Yield(a.job() + "", "n1", "4090", 2));
    CycleReport second = after(5);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    assertThat(job(a).startedAt()).isEqualTo(T0);
    assertThat(RealPolicy.idle(second.snapshot(), "n1")).isZero();
    assertThat(RealPolicy.running(second.snapshot())).containsExactly(a.job() + "");
    assertThat(usage("BCG")).isZero();
    CycleReport third = after(100);
    assertThat(job(a).state()).isEqualTo(JobState.COMPLETED);
    assertThat(job(a).endedAt()).isEqualTo(T0.plusSeconds(100));
    assertThat(job(a).exitCode()).isZero();
    assertThat(usage("BCG")).isEqualTo(16520);
    assertThat(RealPolicy.idle(third.snapshot(), "n1")).isEqualTo(2);
    after(5);
    assertThat(usage("BCG")).isEqualTo(16520);
    assertThat(cluster.submitted()).hasSize(1);
    balanced();
  }

  @Test
  void aJobThatWasJustHandedOverHoldsItsGpusBeforeTheClusterShowsThem() {
    cluster.startDelay(Duration.ofMinutes(1));
    Token a = submit("BCG", 1);
    after(0);
    CycleReport report = after(5);
    assertThat(job(a).state()).isEqualTo(JobState.DISPATCHING);
    assertThat(RealPolicy.idle(report.snapshot(), "n1")).isEqualTo(1);
  }

  @Test
  void gpusHeldByOthersAreUsedMinusOursAndNeverBelowZero() {
    cluster.node("n2", LOW, 4);
    cluster.hold("n2", LOW, 3);
    CycleReport report = after(0);
    assertThat(RealPolicy.idle(report.snapshot(), "n2")).isEqualTo(1);
    Token a = submit("BCG", 1);
    cluster.hold("n1", MID, 2);
    after(5);
    assertThat(store.job(a.job()).orElseThrow().attempt().on().get(0).node()).isEqualTo("n2");
    report = after(5);
    assertThat(RealPolicy.idle(report.snapshot(), "n2")).isZero();
    cluster.hold("n2", LOW, 4);
    report = after(5);
    assertThat(RealPolicy.idle(report.snapshot(), "n2")).isZero();
    cluster.hold("n2", LOW, 0);
    report = after(5);
    assertThat(RealPolicy.idle(report.snapshot(), "n2")).isEqualTo(3);
  }

  @Test
  void aModelWithoutATierIsToldOnceAndNotUsed() {
    cluster.node("n9", new Tier("h100", 1, 1, 1, true, "x", "gpu:h100"), 8);
    assertThat(after(0).notes()).anyMatch(n -> n.contains("h100"));
    CycleReport report = after(5);
    assertThat(report.notes()).isEmpty();
    assertThat(report.snapshot().placements()).extracting(p -> p.node()).containsExactly("n1");
  }

  @Test
  void aNodeThatVanishedIsDown() {
    cluster.node("n2", LOW, 4);
    after(0);
    cluster.remove("n1");
    CycleReport report = after(5);
    assertThat(report.snapshot().placements())
        .anyMatch(p -> p.node().equals("n1") && p.state() == NodeState.DOWN && p.capacity() == 2);
  }

  @Test
  void aReadingThatFailedOrIsEmptyOrOldDecidesNothing() {
    cluster.runTimes(order -> Duration.ofSeconds(10));
    Token a = submit("BCG", 2);
    after(0);
    after(5);
    cluster.unreadable("slurm_load_jobs error: Socket timed out");
    clock.advance(Duration.ofSeconds(60));
    CycleReport report = cycle.run();
    assertThat(report.result()).isEqualTo(CycleReport.Result.NO_READING);
    assertThat(report.because()).contains("Socket timed out");
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    cluster.unreadable(null);
    cluster.remove("n1");
    report = cycle.run();
    assertThat(report.result()).isEqualTo(CycleReport.Result.NO_READING);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    Cycle late =
        cycle(
            store,
            new Answering(cluster) {
              @Override
              public Reading read() throws ReadingFailed {
                Reading read = super.read();
                return new Reading(T0.minusSeconds(900), read.placements(), read.jobs());
              }
            });
    cluster.node("n1", MID, 2);
    assertThat(late.run().because()).contains("old");
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.COMPLETED);
  }

  @Test
  void aReservationIsAccruedEveryCycleAndChargedAtTheEnd() {
    cluster.hold("n1", MID, 1);
    Token a = submit("BCG", 2);
    after(0);
    assertThat(job(a).reservation().gpus()).isEqualTo(1);
    for (int i = 0; i < 60; i++) {
      after(5);
    }
    assertThat(job(a).carriedTflopSeconds()).isCloseTo(24780, within(1e-6));
    assertThat(usage("BCG")).isZero();
    balanced();
    cluster.hold("n1", MID, 0);
    after(0);
    assertThat(job(a).state()).isEqualTo(JobState.DISPATCHING);
    assertThat(job(a).reservation()).isNull();
    assertThat(job(a).carriedTflopSeconds()).isCloseTo(24780, within(1e-6));
    after(5);
    cluster.end(a, SeenJob.State.COMPLETED, 0, null);
    after(5);
    assertThat(usage("BCG")).isCloseTo(24780 + 2 * 82.6 * 5, within(1e-6));
    assertThat(job(a).carriedTflopSeconds()).isZero();
    balanced();
  }

  @Test
  void aForcedReleaseIsChargedAtTheRelease() {
    cluster.node("n2", LOW, 1);
    cluster.hold("n1", MID, 1);
    Token a = submit("BCG", 2);
    after(0);
    cluster.state("n1", NodeState.DOWN);
    after(300);
    assertThat(usage("BCG")).isEqualTo(24780);
    assertThat(job(a).reservation()).isNull();
    assertThat(job(a).carriedTflopSeconds()).isZero();
    after(5);
    assertThat(usage("BCG")).isEqualTo(24780);
    balanced();
  }

  @Test
  void aClockThatStepsBackChargesNothingTwice() {
    cluster.hold("n1", MID, 1);
    Token a = submit("BCG", 2);
    after(0);
    after(100);
    clock.set(T0.plusSeconds(50));
    after(0);
    after(100);
    assertThat(job(a).carriedTflopSeconds()).isCloseTo(150 * 82.6, within(1e-6));
    balanced();
  }

  private Token ended(SeenJob.State how, boolean resumable, String tier) {
    Token a = submit("BCG", 1, resumable, tier);
    after(0);
    after(5);
    cluster.end(a, how, how == SeenJob.State.FAILED ? 3 : null, null);
    after(0);
    balanced();
    assertThat(usage("BCG")).isEqualTo(413);
    return a;
  }

  @Test
  void failedIsFinal() {
    Token a = ended(SeenJob.State.FAILED, true, null);
    assertThat(job(a).state()).isEqualTo(JobState.FAILED);
    assertThat(job(a).stateReason()).isEqualTo("failed with exit code 3");
    assertThat(job(a).exitCode()).isEqualTo(3);
  }

  @Test
  void timeoutIsFinal() {
    assertThat(job(ended(SeenJob.State.TIMEOUT, true, null)).state()).isEqualTo(JobState.TIMEOUT);
  }

  @Test
  void cancelledFromOutsideIsFinalAndSaysSo() {
    Token a = ended(SeenJob.State.CANCELLED, true, null);
    assertThat(job(a).state()).isEqualTo(JobState.CANCELLED);
    assertThat(job(a).stateReason()).contains("not through evenhand");
  }

  @Test
  void outOfMemoryWaitsForABetterTierOrFails() {
    cluster.node("a0", LOW, 1);
    cluster.state("n1", NodeState.DRAINING);
    Token a = submit("BCG", 1);
    after(0);
    after(5);
    cluster.end(a, SeenJob.State.OUT_OF_MEMORY, null, null);
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(job(a).asks().minimumTierSortOrder()).isEqualTo(20);
    assertThat(job(a).asks().attempt()).isEqualTo(2);
    assertThat(job(a).asks().queuedAt()).isEqualTo(T0);
    assertThat(job(a).stateReason()).contains("out of memory on tier 3080ti").contains("4090");
    assertThat(usage("BCG")).isEqualTo(170.5);
    cluster.state("n1", NodeState.UP);
    after(5);
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    cluster.end(next(a), SeenJob.State.OUT_OF_MEMORY, null, null);
    after(0);
    assertThat(job(a).state()).isEqualTo(JobState.FAILED);
    assertThat(job(a).stateReason()).contains("no tier is better");
    balanced();
  }

  @Test
  void outOfMemoryOnATierAskedForByNameFails() {
    Token a = ended(SeenJob.State.OUT_OF_MEMORY, true, "4090");
    assertThat(job(a).state()).isEqualTo(JobState.FAILED);
    assertThat(job(a).stateReason()).contains("by name");
  }

  @Test
  void aNodeFailureQueuesAgainAndNotForEver() {
    Token a = submit("BCG", 1);
    for (int i = 0; i < 5; i++) {
      after(5);
      after(5);
      assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
      cluster.end(
          new Token(a.installation(), a.job(), i + 1), SeenJob.State.NODE_FAIL, null, "NodeDown");
    }
    after(5);
    after(5);
    assertThat(job(a).asks().attempt()).isEqualTo(6);
    assertThat(job(a).nodeFailures()).isEqualTo(5);
    cluster.end(new Token(a.installation(), a.job(), 6), SeenJob.State.NODE_FAIL, null, null);
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.FAILED);
    assertThat(job(a).stateReason()).contains("its node failed").contains("5 times");
    balanced();
  }

  @Test
  void preemptedBySlurmIsQueuedAgainWhenResumable() {
    Token a = submit("BCG", 1, true, null);
    Token b = submit("BCG", 1, false, null);
    after(0);
    cluster.end(a, SeenJob.State.PREEMPTED, null, null);
    cluster.end(b, SeenJob.State.PREEMPTED, null, null);
    after(5);
    assertThat(job(a).asks().attempt()).isEqualTo(2);
    assertThat(job(b).state()).isEqualTo(JobState.PREEMPTED);
    balanced();
  }

  @Test
  void preemptedByThePolicyIsCancelledThereAndQueuedAgain() {
    Token a = submit("BCG", 1, true, null);
    Token b = submit("BCG", 1, false, null);
    Token c = submit("KDG", 2, true, null);
    after(0);
    policy.preempt.put(a.job() + "", c.job() + "");
    policy.preempt.put(b.job() + "", c.job() + "");
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    cluster.state("n1", NodeState.DRAINING);
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(job(a).asks().attempt()).isEqualTo(2);
    assertThat(job(a).stateReason()).isEqualTo("made room for job " + c.job() + " of account KDG");
    assertThat(job(b).state()).isEqualTo(JobState.PREEMPTED);
    balanced();
  }

  @Test
  void aJobQueuedAgainByAnAdministratorStaysOursAndItsFirstRunIsCharged() {
    Token a = submit("BCG", 1);
    after(0);
    after(10);
    cluster.requeue(a, Duration.ofMinutes(2));
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.DISPATCHING);
    assertThat(job(a).stateReason()).contains("not through evenhand");
    assertThat(usage("BCG")).isEqualTo(826);
    after(120);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    cluster.end(a, SeenJob.State.COMPLETED, 0, null);
    after(0);
    assertThat(usage("BCG")).isEqualTo(826 + 5 * 82.6);
    assertThat(cluster.submitted()).hasSize(1);
    balanced();
  }

  @Test
  void aRequeueBetweenTwoReadingsChargesBothRuns() {
    Token a = submit("BCG", 1);
    after(0);
    after(10);
    cluster.requeue(a, Duration.ZERO);
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    assertThat(usage("BCG")).isEqualTo(826);
    balanced();
  }

  @Test
  void aJobSlurmNoLongerKnowsIsNotCompleted() {
    Token a = submit("BCG", 1);
    after(0);
    after(10);
    cluster.forget(a);
    after(5);
    after(5);
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    after(60);
    assertThat(job(a).state()).isEqualTo(JobState.FAILED);
    assertThat(job(a).stateReason())
        .startsWith("the simulated cluster no longer knows this job")
        .doesNotContain("Slurm");
    assertThat(usage("BCG")).isEqualTo(826);
    balanced();
  }

  @Test
  void refusedIsFinalAndFreesTheGpus() {
    cluster.answerNext(new Submission.Refused("Invalid account"), false);
    Token a = submit("BCG", 2);
    Token b = submit("BCG", 2);
    after(0);
    assertThat(job(a).state()).isEqualTo(JobState.FAILED);
    assertThat(job(a).stateReason()).contains("Invalid account");
    after(5);
    assertThat(job(b).state()).isEqualTo(JobState.DISPATCHING);
    assertThat(cluster.submitted()).hasSize(2);
  }

  @Test
  void anAnswerThatNeverCameIsLookedUpAndAdopted() {
    cluster.answerNext(new Submission.Unknown("Socket timed out"), true);
    Token a = submit("BCG", 2);
    after(0);
    assertThat(store.job(a.job()).orElseThrow().attempt().clusterJob()).isNull();
    after(5);
    after(1);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    after(60);
    after(60);
    assertThat(cluster.submitted()).hasSize(1);
  }

  @Test
  void aJobFoundByLookingItUpIsAdopted() {
    // The reading does not show it, the look-up does: accounting may be quicker than squeue.
    Cluster blind =
        new Answering(cluster) {
          @Override
          public Reading read() throws ReadingFailed {
            Reading read = super.read();
            return new Reading(read.at(), read.placements(), List.of());
          }
        };
    cycle = cycle(store, blind);
    cluster.answerNext(new Submission.Unknown("Socket timed out"), true);
    Token a = submit("BCG", 2);
    after(0);
    after(5);
    assertThat(store.job(a.job()).orElseThrow().attempt().clusterJob()).isNull();
    CycleReport report = after(30);
    assertThat(report.notes()).anyMatch(n -> n.contains("adopted"));
    assertThat(store.job(a.job()).orElseThrow().attempt().clusterJob()).isNotNull();
    assertThat(cluster.submitted()).hasSize(1);
  }

  @Test
  void unknownAndNotThereAfterAPauseIsSubmittedAgainOnce() {
    cluster.answerNext(new Submission.Unknown("Socket timed out"), false);
    Token a = submit("BCG", 2);
    after(0);
    after(5);
    assertThat(cluster.submitted()).hasSize(1);
    after(30);
    assertThat(cluster.submitted()).hasSize(2);
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    after(300);
    assertThat(cluster.submitted()).hasSize(2);
  }

  @Test
  void whileItCannotBeLookedUpItIsNotSubmittedAgain() {
    cluster.answerNext(new Submission.Unknown("Socket timed out"), false);
    submit("BCG", 2);
    after(0);
    cycle =
        cycle(
            store,
            new Answering(cluster) {
              @Override
              public Optional<SeenJob> find(Token token, Instant since) throws ReadingFailed {
                throw new ReadingFailed("sacct: Connection refused");
              }
            });
    for (int i = 0; i < 20; i++) {
      after(60);
    }
    assertThat(cluster.submitted()).hasSize(1);
  }

  @Test
  void notSubmittedIsTriedAgainAndThenGoesBackToTheQueue() {
    for (int i = 0; i < 30; i++) {
      cluster.answerNext(new Submission.NotSubmitted("Unable to contact slurm controller"), false);
    }
    Token a = submit("BCG", 2);
    for (int i = 0; i < 25 && job(a).asks().attempt() == 1; i++) {
      after(60);
    }
    assertThat(job(a).asks().attempt()).isEqualTo(2);
    assertThat(cluster.submitted().size()).isBetween(3, 10);
    assertThat(usage("BCG")).isZero();
  }

  @Test
  void aBurstOfStartsReachesTheClusterAFewACycle() {
    CycleSettings d = CycleSettings.DEFAULT;
    CycleSettings few =
        new CycleSettings(
            d.cluster(),
            d.staleAfter(),
            d.lookback(),
            d.goneAfter(),
            d.goneReadings(),
            d.maxNodeFailures(),
            d.maxAttempts(),
            d.pause(),
            d.maxPause(),
            d.maxTries(),
            d.giveUpAfter(),
            d.pendingLimit(),
            d.slack(),
            3,
            d.failuresPerCycle());
    cluster.node("n2", MID, 8);
    for (int i = 0; i < 10; i++) {
      submit("BCG", 1);
    }
    cycle = new Cycle(store, cluster, Router.NONE, () -> policy, Recorder.NOTHING, clock, few);
    int before = 0;
    int cycles = 0;
    for (; cycles < 20 && cluster.submitted().size() < 10; cycles++) {
      after(5);
      assertThat(cluster.submitted().size() - before).isBetween(0, 3);
      before = cluster.submitted().size();
    }
    assertThat(before).isEqualTo(10);
    assertThat(cycles).isGreaterThan(3);
    after(5);
    assertThat(cluster.submitted()).hasSize(10);
  }

  @Test
  void aCrashAfterTheCommitSubmitsExactlyOnce() {
    Cluster crashing =
        new Answering(cluster) {
          @Override
          public Submission submit(SubmitOrder order) {
            throw new IllegalStateException("power cut");
          }
        };
    Token a = submit("BCG", 2);
    for (Cluster each : List.of(crashing, crashing)) {
      try {
        cycle(store, each).run();
      } catch (IllegalStateException e) {
        // Died between the commit and sbatch.
      }
      clock.advance(Duration.ofSeconds(5));
    }
    assertThat(job(a).state()).isEqualTo(JobState.DISPATCHING);
    cycle = cycle(store, cluster);
    after(5);
    after(60);
    after(60);
    assertThat(cluster.submitted()).hasSize(1);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void aCrashAfterSbatchAdoptsWhatIsThere() {
    Cluster crashing =
        new Answering(cluster) {
          @Override
          public Submission submit(SubmitOrder order) {
            super.submit(order);
            throw new IllegalStateException("power cut");
          }
        };
    Token a = submit("BCG", 2);
    try {
      cycle(store, crashing).run();
    } catch (IllegalStateException e) {
      // Died between sbatch and writing its answer down.
    }
    cycle = cycle(store, cluster);
    after(5);
    after(60);
    after(60);
    assertThat(cluster.submitted()).hasSize(1);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
  }

  /** An sbatch of a process that died or was frozen may reach the cluster after it was repeated. */
  @Test
  void aSubmissionThatArrivesLateIsWithdrawnAndNeverRuns() {
    Token a = submit("BCG", 1);
    after(0);
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    cluster.submit(cluster.submitted().get(0));
    CycleReport report = after(5);
    assertThat(report.notes()).anyMatch(n -> n.contains("never released; it is withdrawn"));
    assertThat(cluster.everything())
        .extracting(SeenJob::state)
        .containsExactly(SeenJob.State.RUNNING, SeenJob.State.CANCELLED);
    cluster.end(a, SeenJob.State.COMPLETED, 0, null);
    after(5);
    cluster.submit(cluster.submitted().get(0));
    after(5);
    assertThat(cluster.everything().get(2).state()).isEqualTo(SeenJob.State.CANCELLED);
    assertThat(job(a).state()).isEqualTo(JobState.COMPLETED);
    assertThat(after(5).notes()).isEmpty();
    balanced();
  }

  @Test
  void whatDoesNotStartForLongGoesBackToTheQueue() {
    cluster.startDelay(Duration.ofHours(9));
    Token a = submit("BCG", 2);
    after(0);
    for (int i = 0; i < 10; i++) {
      after(60);
    }
    assertThat(job(a).state()).isEqualTo(JobState.DISPATCHING);
    cluster.startDelay(Duration.ZERO);
    CycleReport report = after(60);
    assertThat(report.notes()).anyMatch(n -> n.contains("is taken back from the cluster"));
    after(5);
    Token again = next(a);
    assertThat(job(a).asks().attempt()).isEqualTo(2);
    assertThat(store.job(a.job()).orElseThrow().attempt().attempt()).isEqualTo(2);
    after(5);
    assertThat(job(again).state()).isEqualTo(JobState.RUNNING);
    assertThat(cluster.everything())
        .extracting(SeenJob::state)
        .containsExactly(SeenJob.State.CANCELLED, SeenJob.State.RUNNING);
    assertThat(usage("BCG")).isZero();
    balanced();
  }

  @Test
  void whatStartsJustWhenItIsTakenBackGoesOn() {
    cluster.startDelay(Duration.ofSeconds(603));
    Token a = submit("BCG", 2);
    after(0);
    cycle =
        cycle(
            store,
            new Answering(cluster) {
              @Override
              public Cancellation withdraw(String clusterJob, Token token) {
                clock.advance(Duration.ofSeconds(4));
                return super.withdraw(clusterJob, token);
              }
            });
    for (int i = 0; i < 4; i++) {
      after(i == 0 ? 1 : 200);
    }
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    assertThat(job(a).asks().attempt()).isOne();
    assertThat(store.backlog().orders()).isZero();
  }

  /** The number was written down when sbatch gave it, so the clocks need not agree. */
  @Test
  void aJobWhoseNumberIsKnownIsKnownWhateverTheClocksSay() {
    clock.advance(Duration.ofHours(2));
    Token a = submit("BCG", 2);
    CycleReport first = cycle.run();
    assertThat(first.result()).isEqualTo(CycleReport.Result.DECIDED);
    Cluster behind =
        new Answering(cluster) {
          @Override
          public Reading read() throws ReadingFailed {
            Reading read = super.read();
            return new Reading(
                read.at(),
                read.placements(),
                read.jobs().stream()
                    .map(
                        j ->
                            new SeenJob(
                                j.clusterJob(),
                                j.name(),
                                j.state(),
                                j.submittedAt().minus(Duration.ofHours(1)),
                                j.startedAt(),
                                j.endedAt(),
                                j.exitCode(),
                                j.reason(),
                                j.on(),
                                j.restarts()))
                    .toList());
          }
        };
    cycle = cycle(store, behind);
    after(5);
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void whatCannotBeReleasedIsTriedAgainAndGivenUpInTheEnd() {
    boolean[] open = {false};
    Cluster locked =
        new Answering(cluster) {
          @Override
          public Release release(String clusterJob, Token token) {
            return open[0]
                ? super.release(clusterJob, token)
                : new Release.Failed("Access/permission denied");
          }
        };
    cycle = cycle(store, locked);
    Token a = submit("BCG", 2);
    after(0);
    for (int i = 0; i < 20 && job(a).asks().attempt() == 1; i++) {
      after(60);
    }
    assertThat(job(a).asks().attempt()).isEqualTo(2);
    open[0] = true;
    for (int i = 0; i < 8; i++) {
      after(60);
    }
    assertThat(job(a).state()).isEqualTo(JobState.RUNNING);
    assertThat(cluster.everything())
        .extracting(SeenJob::state)
        .containsExactly(SeenJob.State.CANCELLED, SeenJob.State.RUNNING);
  }

  @Test
  void whenTheControllerIsAwayTheOtherOrdersWait() {
    cluster.node("n2", MID, 8);
    for (int i = 0; i < 10; i++) {
      submit("BCG", 1);
      cluster.answerNext(new Submission.NotSubmitted("away"), false);
    }
    after(0);
    assertThat(cluster.submitted()).hasSize(3);
  }

  /** A cluster that answers as another does, but for what a test overrides. */
  static class Answering implements Cluster {
    private final Cluster other;

    Answering(Cluster other) {
      this.other = other;
    }

    @Override
    public Reading read() throws ReadingFailed {
      return other.read();
    }

    @Override
    public Submission submit(SubmitOrder order) {
      return other.submit(order);
    }

    @Override
    public Optional<SeenJob> find(Token token, Instant since) throws ReadingFailed {
      return other.find(token, since);
    }

    @Override
    public Release release(String clusterJob, Token token) {
      return other.release(clusterJob, token);
    }

    @Override
    public Cancellation withdraw(String clusterJob, Token token) {
      return other.withdraw(clusterJob, token);
    }

    @Override
    public Cancellation signal(String clusterJob, Token token) {
      return other.signal(clusterJob, token);
    }

    @Override
    public Cancellation cancel(String clusterJob, Token token) {
      return other.cancel(clusterJob, token);
    }
  }
}
