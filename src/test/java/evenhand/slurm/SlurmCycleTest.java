package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import evenhand.cycle.Cancellation;
import evenhand.cycle.Cluster;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleReport;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.cycle.Reading;
import evenhand.cycle.Recorder;
import evenhand.cycle.Release;
import evenhand.cycle.Router;
import evenhand.cycle.SeenJob;
import evenhand.cycle.SomeJob;
import evenhand.cycle.Store;
import evenhand.cycle.Submission;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.policy.Policies;
import evenhand.sandbox.RealSlurm;
import evenhand.sandbox.SlurmSandbox;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Scenarios of the design note, with the real policy on real daemons; only the store is memory. */
@RealSlurm(memoryLimits = true, slurmdTimeoutSeconds = 5, messageTimeoutSeconds = 3)
@Timeout(120)
class SlurmCycleTest extends CyclesOnSlurm {
  SlurmCycleTest(SlurmSandbox slurm) throws Exception {
    super(slurm, Policies.load(Optional.empty(), "reservation", Map.of()));
  }

  @AfterEach
  void emptyTheCluster() {
    slurm.run("scancel", "--user=" + System.getProperty("user.name"));
    slurm.awaitIdle(Duration.ofSeconds(60));
  }

  private long add(String account, int gpus, String tier, String script) {
    return add(SomeJob.PLAIN.of(account).on(gpus, tier).runs(script, work.toString()));
  }

  private Reservation holds(long id) {
    return job(id).job().reservation();
  }

  private List<Share> on(long id) {
    return job(id).attempt().on();
  }

  private String name(long id) {
    return new Token(store.installation(), id, job(id).attempt().attempt()).text();
  }

  /** Takes GPUs as somebody outside the service does. */
  private String foreign(String node, String gpus) {
    String id = slurm.submit("sleep 300", "--gres=gpu:" + gpus, "--nodelist=" + node);
    slurm.awaitJob(id, "RUNNING", Duration.ofSeconds(20));
    return id;
  }

  private double charged(long id) {
    return store.ledger(null, id, 100, Long.MAX_VALUE).stream()
        .mapToDouble(Store.LedgerRow::tflopSeconds)
        .sum();
  }

  @Test
  void aJobRunsAndItsAccountIsChargedForWhatSlurmSays() throws Exception {
    long id = add("bcg", 2, "3080ti", "#!/bin/sh\nsleep 2\nexit 3\n");
    awaitState(id, JobState.RUNNING);
    assertThat(on(id)).containsExactly(Orders.share("n3", Orders.T3080, 2));
    awaitState(id, JobState.FAILED);
    Store.JobRecord job = job(id);
    assertThat(job.job().exitCode()).isEqualTo(3);
    double seconds =
        Duration.between(job.attempt().startedAt(), job.job().endedAt()).toMillis() / 1000.0;
    assertThat(seconds).isBetween(1.0, 10.0);
    assertThat(charged(id)).isCloseTo(2 * seconds * 34.1, within(0.01));
    assertThat(store.load(null).accounts().get(0).cumulativeUsage())
        .isCloseTo(charged(id), within(0.01));
  }

  /** S6, S2, S8, S9, S3. */
  @Test
  void theFirstJobGathersGpusWhileOthersPassBy() throws Exception {
    foreign("n4", "4090:4");
    String inTheWay = foreign("n1", "4090:1");
    foreign("n2", "4090:1");
    long first = add("bcg", 2, "4090", SLEEP);
    long second = add("bcg", 2, "4090", SLEEP);
    long small = add("kdg", 1, "3080ti", SLEEP);
    // kdg ranks behind bcg.
    store.charge("kdg", 1000);
    run();
    assertThat(last.result()).isEqualTo(CycleReport.Result.DECIDED);
    assertThat(holds(first).node()).isEqualTo("n1");
    assertThat(holds(first).gpus()).isOne();
    assertThat(holds(second)).isNull();
    assertThat(on(small)).containsExactly(Orders.share("n3", Orders.T3080, 1));
    awaitState(small, JobState.RUNNING);

    slurm.run("scancel", inTheWay);
    awaitState(first, JobState.RUNNING);
    assertThat(on(first)).containsExactly(Orders.share("n1", Orders.T4090, 2));
    assertThat(holds(first)).isNull();
    assertThat(slurm.run("squeue", "-h", "-n", name(first), "-o", "%N")).isEqualTo("n1");
  }

  /** S4. */
  @Test
  void aReservationIsSwappedForAPlacementThatHasAll() throws Exception {
    foreign("n4", "4090:4");
    foreign("n1", "4090:1");
    String whole = foreign("n2", "4090:2");
    long id = add("bcg", 2, "4090", SLEEP);
    run();
    assertThat(holds(id).node()).isEqualTo("n1");
    slurm.run("scancel", whole);
    awaitState(id, JobState.RUNNING);
    assertThat(on(id)).containsExactly(Orders.share("n2", Orders.T4090, 2));
    assertThat(holds(id)).isNull();
  }

  /** S12. */
  @Test
  void aNodeThatGoesDownEndsTheReservationOnIt() throws Exception {
    foreign("n4", "4090:4");
    foreign("n1", "4090:1");
    foreign("n2", "4090:1");
    long id = add("bcg", 2, "4090", SLEEP);
    run();
    assertThat(holds(id).node()).isEqualTo("n1");
    slurm.setNode("n1", "down", "smoke");
    try {
      cycles(() -> "a reservation on n2", () -> holds(id) != null && holds(id).node().equals("n2"));
      assertThat(job(id).job().state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
      assertThat(charged(id)).isPositive();
    } finally {
      slurm.setNode("n1", "resume", "");
    }
  }

  /** S10. */
  @Test
  void outOfMemoryMovesAJobToABetterTier() throws Exception {
    foreign("n4", "4090:4");
    foreign("n4", "5090:4");
    String first = foreign("n1", "4090:2");
    foreign("n2", "4090:2");
    String script =
        "#!/bin/sh\n#SBATCH --mem=40M\n"
            + "[ $EVENHAND_ATTEMPT = 1 ] && head -c 300M /dev/zero | tail >/dev/null\nsleep 1\n";
    long id = add("bcg", 1, null, script);
    awaitState(id, JobState.RUNNING);
    assertThat(on(id).get(0).tier()).isEqualTo(Orders.T3080);
    cycles(() -> "a second attempt", () -> job(id).job().asks().attempt() == 2);
    assertThat(job(id).job().state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    assertThat(job(id).job().asks().minimumTierSortOrder()).isEqualTo(20);
    // n3 is free again, but not good enough any more.
    run();
    assertThat(job(id).job().state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    slurm.run("scancel", first);
    awaitState(id, JobState.COMPLETED);
    assertThat(on(id)).containsExactly(Orders.share("n1", Orders.T4090, 1));
  }

  @Test
  void aCancelBehindOurBackIsSeenAndCharged() throws Exception {
    long outside = add("bcg", 1, "3080ti", SLEEP);
    awaitState(outside, JobState.RUNNING);
    Thread.sleep(1100); // Slurm counts in whole seconds
    slurm.run("scancel", job(outside).attempt().clusterJob());
    awaitState(outside, JobState.CANCELLED);
    assertThat(job(outside).job().stateReason())
        .isEqualTo("cancelled on the cluster, not through evenhand");
    assertThat(charged(outside)).isPositive();
  }

  @Test
  void whileTheControllerIsAwayNothingIsDecidedAndNothingLost() throws Exception {
    long running = add("bcg", 2, "3080ti", "#!/bin/sh\nsleep 6\n");
    awaitState(running, JobState.RUNNING);
    long waiting = add("bcg", 1, "3080ti", "#!/bin/sh\ntrue\n");
    slurm.stopController();
    try {
      for (int i = 0; i < 3; i++) {
        assertThat(run().result()).isEqualTo(CycleReport.Result.NO_READING);
        assertThat(last.because()).contains("Unable to contact slurm controller");
      }
      assertThat(job(running).job().state()).isEqualTo(JobState.RUNNING);
      assertThat(job(waiting).job().state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
    } finally {
      slurm.startController();
    }
    awaitState(running, JobState.COMPLETED);
    awaitState(waiting, JobState.COMPLETED);
    assertThat(job(running).job().exitCode()).isZero();
  }

  /** The controller hangs just while a job is given to it: there must be one job in the end. */
  @Test
  void anUnansweredSubmissionIsAdoptedAndNotRepeated() throws Exception {
    cycle =
        cycle(
            new Cluster() {
              private boolean hung;

              @Override
              public Reading read() throws ReadingFailed {
                return real.read();
              }

              @Override
              public Submission submit(SubmitOrder order) {
                if (hung) {
                  return real.submit(order);
                }
                hung = true;
                slurm.freezeController();
                try {
                  return real.submit(order);
                } finally {
                  slurm.thawController();
                }
              }

              @Override
              public Optional<SeenJob> find(Token token, Instant since) throws ReadingFailed {
                return real.find(token, since);
              }

              @Override
              public Release release(String clusterJob, Token token) {
                return real.release(clusterJob, token);
              }

              @Override
              public Cancellation withdraw(String clusterJob, Token token) {
                return real.withdraw(clusterJob, token);
              }

              @Override
              public Cancellation signal(String clusterJob, Token token) {
                return real.signal(clusterJob, token);
              }

              @Override
              public Cancellation cancel(String clusterJob, Token token) {
                return real.cancel(clusterJob, token);
              }
            });
    long id = add("bcg", 1, "3080ti", "#!/bin/sh\nsleep 4\n");
    run();
    assertThat(last.notes()).anyMatch(n -> n.contains("it is not known whether it was submitted"));
    awaitState(id, JobState.COMPLETED);
    assertThat(job(id).job().asks().attempt()).isOne();
    assertThat(slurm.run("squeue", "-h", "--states=all", "-n", name(id), "-o", "%i"))
        .isEqualTo(job(id).attempt().clusterJob());
  }

  /** S14: the router is told before sbatch is called, and nothing waits for it. */
  @Test
  void theRouterIsToldBeforeTheJobIsSubmitted() throws Exception {
    List<String> order = new ArrayList<>();
    Cluster witnessed =
        new Cluster() {
          @Override
          public Reading read() throws ReadingFailed {
            return real.read();
          }

          @Override
          public Submission submit(SubmitOrder what) {
            order.add("sbatch " + what.token().job());
            return real.submit(what);
          }

          @Override
          public Optional<SeenJob> find(Token token, Instant since) throws ReadingFailed {
            return real.find(token, since);
          }

          @Override
          public Release release(String clusterJob, Token token) {
            return real.release(clusterJob, token);
          }

          @Override
          public Cancellation withdraw(String clusterJob, Token token) {
            return real.withdraw(clusterJob, token);
          }

          @Override
          public Cancellation signal(String clusterJob, Token token) {
            return real.signal(clusterJob, token);
          }

          @Override
          public Cancellation cancel(String clusterJob, Token token) {
            return real.cancel(clusterJob, token);
          }
        };
    Router router =
        yield ->
            order.add(
                "yield "
                    + yield.job()
                    + " "
                    + yield.gpus()
                    + " "
                    + yield.tier()
                    + " "
                    + yield.node());
    cycle =
        new Cycle(
            store,
            witnessed,
            router,
            () -> policy,
            Recorder.NOTHING,
            Clock.systemUTC(),
            CycleSettings.DEFAULT);
    long id = add("bcg", 2, "3080ti", SLEEP);
    awaitState(id, JobState.RUNNING);
    assertThat(order).containsExactly("yield " + id + " 2 3080ti n3", "sbatch " + id);
  }

  /** S11, S7, S13: through the desk, with a real inventory. */
  @Test
  void cancelGivesTheReservationBackAndWhatCannotFitIsRefused() throws Exception {
    FrontDesk desk =
        new FrontDesk(store, () -> policy, cycle::latest, CycleSettings.DEFAULT, Clock.systemUTC());
    foreign("n4", "4090:4");
    foreign("n1", "4090:1");
    foreign("n2", "4090:2");
    long id = add("bcg", 2, "4090", SLEEP);
    run();
    assertThat(holds(id).gpus()).isOne();
    Thread.sleep(1100);
    run();
    desk.cancel(Long.toString(id), "kim");
    assertThat(job(id).job().state()).isEqualTo(JobState.CANCELLED);
    assertThat(holds(id)).isNull();
    double cost = charged(id);
    assertThat(cost).isBetween(82.6, 82.6 * 60);
    assertThat(store.load(null).accounts().get(0).cumulativeUsage()).isCloseTo(cost, within(0.01));
    // n4 has four of each of two models: four fit, eight do not.
    assertThatThrownBy(() -> desk.submit(whole(8), null))
        .isInstanceOfSatisfying(
            Desk.Refused.class, e -> assertThat(e.code()).isEqualTo("NO_FIT_PLACEMENT"))
        .hasMessageContaining("4 GPUs");
    assertThat(desk.submit(whole(4), null).state()).isEqualTo(JobState.GLOBAL_QUEUE_WAIT);
  }

  private NewJob whole(int gpus) {
    return SomeJob.PLAIN.on(gpus, null).runs("#!/bin/sh\nsleep 300\n", work.toString()).made();
  }
}
