package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleReport;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.SomeJob;
import evenhand.cycle.Store;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.sandbox.RealSlurm;
import evenhand.sandbox.SlurmSandbox;
import evenhand.simulator.MemoryStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What Slurm and its administrators do beside starting and ending jobs, with the real policy; only
 * the store is memory. This Slurm forgets an ended job after five seconds.
 */
@RealSlurm(minJobAgeSeconds = 5, slurmdTimeoutSeconds = 5, messageTimeoutSeconds = 3)
@Timeout(120)
class SlurmWaysTest {
  private static final Duration SOON = Duration.ofSeconds(60);

  private static int stores;

  private final SlurmSandbox slurm;
  private final Policy policy;
  private final SlidingClock clock = new SlidingClock();
  private final MemoryStore store = new MemoryStore("w" + ++stores);
  private final List<String> notes = new ArrayList<>();
  private Path work;
  private Cycle cycle;

  /** The host's clock, which somebody may set. */
  private static final class SlidingClock extends Clock {
    private Duration ahead = Duration.ZERO;

    @Override
    public Instant instant() {
      return Instant.now().plus(ahead);
    }

    @Override
    public ZoneId getZone() {
      return ZoneId.of("UTC");
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }

  SlurmWaysTest(SlurmSandbox slurm) throws Exception {
    this.slurm = slurm;
    this.policy = Policies.load(Optional.empty(), "reservation", Map.of());
  }

  @BeforeEach
  void service() throws IOException {
    work = Files.createTempDirectory(slurm.folder().resolve("work"), "job");
    store.setUp(
        List.of(Orders.T4090, Orders.T5090, Orders.T3080),
        List.of(new AccountSetup("bcg", null, 1)),
        clock.instant());
    cycle = cycle();
  }

  @AfterEach
  void emptyTheCluster() {
    slurm.run("scancel", "--user=" + System.getProperty("user.name"));
    slurm.awaitIdle(Duration.ofSeconds(60));
  }

  /** As after a restart of the service. */
  private Cycle cycle() {
    CycleSettings quick =
        Orders.quick(Duration.ofSeconds(2), Duration.ofSeconds(4), CycleSettings.DEFAULT.slack());
    SlurmCluster cluster =
        new SlurmCluster(Orders.settings(slurm.clientConfWithTimeout(2), null), clock);
    return new Cycle(store, cluster, Router.NONE, () -> policy, Recorder.NOTHING, clock, quick);
  }

  private void cycles(String what, BooleanSupplier until) throws InterruptedException {
    long end = System.nanoTime() + SOON.toNanos();
    while (System.nanoTime() < end) {
      notes.addAll(cycle.run().notes());
      if (until.getAsBoolean()) {
        return;
      }
      Thread.sleep(250);
    }
    throw new AssertionError(
        "waited in vain for "
            + what
            + "\n"
            + store.jobs(null, null, null, 10, Long.MAX_VALUE)
            + "\n"
            + notes
            + "\n"
            + slurm.logTails());
  }

  private void awaitState(long id, JobState state) throws InterruptedException {
    cycles("job " + id + " to be " + state, () -> job(id).job().state() == state);
  }

  private long add(int gpus, String tier, String script) {
    NewJob job = SomeJob.PLAIN.on(gpus, tier).runs(script, work.toString()).made();
    return store.add(job, 0, null, null, clock.instant()).record().job().id();
  }

  /** Writes a line each time it runs. */
  private static String script(String then) {
    return "#!/bin/sh\necho $EVENHAND_ATTEMPT >> runs\n" + then + "\n";
  }

  private List<String> runs() throws IOException {
    Path runs = work.resolve("runs");
    return Files.exists(runs) ? Files.readAllLines(runs) : List.of();
  }

  private Store.JobRecord job(long id) {
    return store.job(id).orElseThrow();
  }

  private String number(long id) {
    return job(id).attempt().clusterJob();
  }

  @Test
  void aJobThatSlurmDoesNotStartGoesBackToTheQueueAndRunsOnce() throws Exception {
    // Takes all CPUs of the node but one, and none of its GPUs: they are idle, and still not ours.
    String inTheWay = slurm.submit("sleep 300", "--cpus-per-task=15", "--nodelist=n3");
    slurm.awaitJob(inTheWay, "RUNNING", SOON);
    String script = script("sleep 1").replace("sh\n", "sh\n#SBATCH --cpus-per-task=4\n");
    long id = add(2, "3080ti", script);
    cycles("a second attempt", () -> job(id).job().asks().attempt() == 2);
    assertThat(notes).anyMatch(n -> n.contains("is taken back from the cluster: Slurm did not"));
    slurm.run("scancel", inTheWay);
    awaitState(id, JobState.COMPLETED);
    assertThat(runs()).hasSize(1);
  }

  @Test
  void whatSlurmWillNeverStartEndsWithItsWord() throws Exception {
    String huge = "#!/bin/sh\n#SBATCH --mem=900G\ntrue\n";
    long id = add(1, "3080ti", huge);
    awaitState(id, JobState.FAILED);
    assertThat(job(id).job().stateReason()).contains("refused by Slurm");
    assertThat(job(id).job().asks().attempt()).isOne();
    assertThat(slurm.run("squeue", "--noheader", "--format=%i")).isEmpty();
  }

  @Test
  void aJobThatAnAdministratorHoldsIsLeftToThem() throws Exception {
    long id = add(1, "3080ti", script("sleep 300"));
    awaitState(id, JobState.RUNNING);
    slurm.run("scontrol", "update", "JobId=" + number(id), "Requeue=1");
    slurm.run("scontrol", "requeuehold", number(id));
    awaitState(id, JobState.DISPATCHING);
    long end = System.nanoTime() + Duration.ofSeconds(7).toNanos();
    cycles("more than the limit of pending jobs", () -> System.nanoTime() > end);
    assertThat(job(id).job().state()).isEqualTo(JobState.DISPATCHING);
    assertThat(job(id).job().asks().attempt()).isOne();
    assertThat(job(id).job().stateReason()).isEqualTo("held on the cluster by an administrator");
    slurm.run("scancel", number(id));
    awaitState(id, JobState.CANCELLED);
    assertThat(job(id).job().stateReason()).contains("not through evenhand");
  }

  @Test
  void aJobRequeuedByAnAdministratorIsFollowedAndBothItsRunsAreCharged() throws Exception {
    long id = add(1, "3080ti", script("sleep 2"));
    awaitState(id, JobState.RUNNING);
    Thread.sleep(1100); // Slurm counts in whole seconds
    slurm.run("scontrol", "update", "JobId=" + number(id), "Requeue=1");
    slurm.run("scontrol", "requeue", number(id));
    // It runs again only after its credential has expired, later than the limit here: it comes back
    // to the queue, and runs once more as the next attempt.
    awaitState(id, JobState.COMPLETED);
    List<Store.LedgerRow> rows = store.ledger(null, id, 10, Long.MAX_VALUE);
    assertThat(rows).as("rows of %s: %s", runs(), rows).hasSize(runs().size());
  }

  @Test
  void anEndThatSlurmForgotBeforeAnybodyLookedIsToldAsThat() throws Exception {
    long id = add(1, "3080ti", script("true"));
    cycles("a number", () -> job(id).attempt() != null && number(id) != null);
    String number = number(id);
    slurm.await(
        "Slurm to forget it",
        SOON,
        () -> slurm.tryRun("scontrol", "show", "job", number).exitCode() != 0);
    cycle = cycle();
    awaitState(id, JobState.FAILED);
    assertThat(job(id).job().stateReason())
        .isEqualTo("Slurm no longer knows this job; its end was not seen");
    assertThat(runs()).containsExactly("1");
    notes.addAll(cycle.run().notes());
    assertThat(runs()).containsExactly("1");
  }

  @Test
  void aNodeThatVanishesTakesItsJobToAnother() throws Exception {
    long id = add(2, "4090", script("[ $EVENHAND_ATTEMPT = 1 ] && sleep 300\ntrue"));
    awaitState(id, JobState.RUNNING);
    String node = job(id).attempt().on().get(0).node();
    slurm.killNode(node);
    try {
      awaitState(id, JobState.COMPLETED);
      assertThat(job(id).job().asks().attempt()).isEqualTo(2);
      assertThat(job(id).attempt().on().get(0).node()).isNotEqualTo(node);
      assertThat(runs()).containsExactly("1", "2");
    } finally {
      slurm.startNode(node);
      slurm.awaitNode(node, "idle"::equals, SOON);
    }
  }

  @Test
  void aControllerThatLostItsStateKnowsNoJobAndNoneIsTakenForAnother() throws Exception {
    long id = add(1, "3080ti", script("sleep 300"));
    awaitState(id, JobState.RUNNING);
    String number = number(id);
    slurm.restartControllerWithoutItsState();
    // Numbers start over: this one may well be the number of ours.
    String other = slurm.submit("sleep 300", "--gres=gpu:5090:1", "--nodelist=n4");
    awaitState(id, JobState.FAILED);
    assertThat(job(id).job().stateReason()).startsWith("Slurm no longer knows this job");
    System.out.println("state lost: ours was " + number + ", the next was " + other);
    long next = add(1, "5090", script("true"));
    awaitState(next, JobState.COMPLETED);
    assertThat(slurm.jobState(other)).isEqualTo("RUNNING");
  }

  @Test
  void aControllerRestartedWithItsStateForgetsNothing() throws Exception {
    long id = add(1, "3080ti", script("sleep 4"));
    awaitState(id, JobState.RUNNING);
    String number = number(id);
    slurm.stopController();
    assertThat(cycle.run().result()).isEqualTo(CycleReport.Result.NO_READING);
    slurm.startController();
    awaitState(id, JobState.COMPLETED);
    assertThat(number(id)).isEqualTo(number);
    assertThat(runs()).containsExactly("1");
  }

  @Test
  void aClockThatIsSetChangesNothingForJobsThatRun() throws Exception {
    long first = add(1, "3080ti", script("sleep 5"));
    awaitState(first, JobState.RUNNING);
    clock.ahead = Duration.ofHours(3);
    long second = add(1, "3080ti", script("sleep 2"));
    awaitState(second, JobState.RUNNING);
    clock.ahead = Duration.ofHours(-3);
    awaitState(second, JobState.COMPLETED);
    awaitState(first, JobState.COMPLETED);
    assertThat(runs()).containsExactly("1", "1");
    assertThat(store.ledger(null, null, 10, Long.MAX_VALUE))
        .allSatisfy(
            row ->
                assertThat(Duration.between(row.from(), row.to()))
                    .isBetween(Duration.ZERO, Duration.ofMinutes(1)));
  }
}
