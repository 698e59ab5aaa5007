package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.cycle.Cancellation;
import evenhand.cycle.Cluster.ReadingFailed;
import evenhand.cycle.Reading;
import evenhand.cycle.Release;
import evenhand.cycle.SeenJob;
import evenhand.cycle.Submission;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.facts.NodeState;
import evenhand.sandbox.ClientResult;
import evenhand.sandbox.RealSlurm;
import evenhand.sandbox.SlurmSandbox;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The adapter against real daemons. */
@RealSlurm(memoryLimits = true, slurmdTimeoutSeconds = 5, messageTimeoutSeconds = 3)
@Timeout(120)
class SlurmClusterTest {
  private static final Duration SOON = Duration.ofSeconds(25);
  // One process: were there two, the shell might see the other end first, and say 143 of it.
  private static final String SLEEP = "#!/bin/sh\nexec sleep 90\n";

  private final SlurmSandbox slurm;
  private final SlurmCluster cluster;
  private final Instant begun = Instant.now();
  private Path work;

  SlurmClusterTest(SlurmSandbox slurm) {
    this.slurm = slurm;
    this.cluster =
        new SlurmCluster(Orders.settings(slurm.clientConfWithTimeout(2), null), Clock.systemUTC());
  }

  @BeforeEach
  void folder() throws IOException {
    work = Files.createTempDirectory(slurm.folder().resolve("work"), "job");
  }

  @AfterEach
  void emptyTheCluster() {
    slurm.run("scancel", "--user=" + System.getProperty("user.name"));
    slurm.awaitIdle(Duration.ofSeconds(60));
  }

  private SubmitOrder order(String script, evenhand.facts.Share... on) {
    return Orders.order(script, List.of(), Map.of(), work.toString(), on);
  }

  private String submit(SubmitOrder order) {
    Submission answer = cluster.submit(order);
    assertThat(answer).isInstanceOf(Submission.Submitted.class);
    String number = ((Submission.Submitted) answer).clusterJob();
    assertThat(cluster.release(number, order.token())).isEqualTo(new Release.Done());
    return number;
  }

  private Optional<SeenJob> seen(Token token) throws ReadingFailed {
    return cluster.read().jobs().stream().filter(j -> j.name().equals(token.text())).findFirst();
  }

  private SeenJob await(SubmitOrder order, Predicate<SeenJob> what) throws Exception {
    long end = System.nanoTime() + SOON.toNanos();
    Optional<SeenJob> last = Optional.empty();
    while (System.nanoTime() < end) {
      last = seen(order.token());
      if (last.filter(what).isPresent()) {
        return last.get();
      }
      Thread.sleep(200);
    }
    throw new AssertionError("waited in vain, last seen " + last + "\n" + slurm.logTails());
  }

  private SeenJob await(SubmitOrder order, SeenJob.State state) throws Exception {
    return await(order, j -> j.state() == state);
  }

  private static Map<String, Reading.Seen> byPlacement(Reading reading) {
    return reading.placements().stream()
        .collect(Collectors.toMap(s -> s.node() + "/" + s.model(), s -> s));
  }

  @Test
  void readsAnIdleAndABusyCluster() throws Exception {
    Map<String, Reading.Seen> idle = byPlacement(cluster.read());
    assertThat(idle.keySet())
        .containsExactlyInAnyOrder("n1/4090", "n2/4090", "n3/3080ti", "n4/4090", "n4/5090");
    assertThat(idle.values()).allMatch(s -> s.state() == NodeState.UP && s.used() == 0);
    assertThat(idle.get("n4/4090").capacity()).isEqualTo(4);
    assertThat(idle.get("n4/4090").partitions())
        .containsExactlyInAnyOrder("main", "gpu4090", "gpu5090");

    SubmitOrder ours = order(SLEEP, Orders.share("n4", Orders.T5090, 3));
    SubmitOrder gang =
        order(SLEEP, Orders.share("n1", Orders.T4090, 2), Orders.share("n2", Orders.T4090, 2));
    submit(ours);
    submit(gang);
    String foreign = slurm.submit("sleep 90", "--gres=gpu:4090:1", "--nodelist=n4");
    slurm.awaitJob(foreign, "RUNNING", SOON);
    SeenJob one = await(ours, SeenJob.State.RUNNING);
    SeenJob two = await(gang, SeenJob.State.RUNNING);

    assertThat(one.on()).containsExactly(new SeenJob.On("n4", "5090", 3));
    assertThat(two.on())
        .containsExactlyInAnyOrder(
            new SeenJob.On("n1", "4090", 2), new SeenJob.On("n2", "4090", 2));
    assertThat(one.startedAt()).isBetween(begun.minusSeconds(2), Instant.now());
    assertThat(one.endedAt()).isNull();
    Reading busy = cluster.read();
    Map<String, Reading.Seen> now = byPlacement(busy);
    assertThat(now.get("n4/5090").used()).isEqualTo(3);
    assertThat(now.get("n4/4090").used()).isEqualTo(1);
    assertThat(now.get("n1/4090").used()).isEqualTo(2);
    assertThat(now.get("n2/4090").used()).isEqualTo(2);
    assertThat(now.get("n3/3080ti").used()).isZero();
    assertThat(now.get("n4/5090").stateText()).isEqualTo("MIXED");
    assertThat(busy.jobs()).extracting(SeenJob::clusterJob).doesNotContain(foreign);
  }

  @Test
  void aJobGetsItsScriptArgumentsEnvironmentAndFolderByteForByte() throws Exception {
    Path folder = Files.createDirectories(work.resolve("a b'\"$x`y`;ünï,=&"));
    List<String> arguments =
        List.of(
            "a b",
            "",
            "--array=1-9",
            "-w",
            "n3",
            "$(id)`id`$HOME",
            "'\"\\\\",
            "new\nline\n",
            "\tü 日本 🙂",
            "a,b=c;d|e&f>g",
            "*?[a]",
            "%j",
            "x".repeat(100_000));
    Map<String, String> environment = new TreeMap<>();
    for (int i = 0; i < 500; i++) {
      environment.put("MANY_" + i, "value " + i);
    }
    environment.put("LARGE", "ü".repeat(50_000));
    environment.putAll(
        Map.of(
            "COMMAS", "one,two=3,,",
            "NEWLINES", "a\n\nb\n",
            "QUOTES", "'\"`$(id)\\",
            "EMPTY", "",
            "UNICODE", "ü 日本 🙂",
            "odd name.x", "1",
            "SBATCH_PARTITION", "nope",
            "TZ", "Asia/Seoul",
            "PATH", "/usr/bin:/bin:/a b"));
    String script =
        """
        #!/bin/bash
        #SBATCH --mem=200M
        # ünï 日本 🙂 `echo no` $(echo no) \\ '"
        cat "$0" > script.copy
        printf '%s\\0' "$@" > arguments
        env -0 > environment
        pwd > folder
        exit 7
        # the last line has no end""";
    SubmitOrder order =
        Orders.order(
            script, arguments, environment, folder.toString(), Orders.share("n3", Orders.T3080, 2));

    SeenJob ended = null;
    submit(order);
    ended = await(order, j -> j.state().ended());

    assertThat(ended.state()).isEqualTo(SeenJob.State.FAILED);
    assertThat(ended.exitCode()).isEqualTo(7);
    assertThat(ended.endedAt()).isNotNull();
    assertThat(Files.readAllBytes(folder.resolve("script.copy")))
        .isEqualTo(script.getBytes(StandardCharsets.UTF_8));
    assertThat(words(folder.resolve("arguments"))).isEqualTo(arguments);
    assertThat(Files.readString(folder.resolve("folder"))).isEqualTo(folder + "\n");
    List<String> variables = words(folder.resolve("environment"));
    environment.forEach((name, value) -> assertThat(variables).contains(name + "=" + value));
    assertThat(variables)
        .contains(
            "EVENHAND_JOB_ID=" + order.token().job(),
            "EVENHAND_ATTEMPT=1",
            "CUDA_VISIBLE_DEVICES=0,1",
            "SLURM_CONF=" + slurm.slurmConf())
        .noneMatch(v -> v.startsWith("SLURM_GET_USER_ENV") || v.startsWith("LC_ALL="));
    assertThat(folder.resolve("evenhand-" + order.token().job() + "-1.out")).exists();
  }

  private static List<String> words(Path file) throws IOException {
    String text = Files.readString(file);
    return Arrays.asList(text.substring(0, text.length() - 1).split("\0", -1));
  }

  @Test
  void jobsEndInManyWays() throws Exception {
    SubmitOrder fine = order("#!/bin/sh\nexit 0\n", Orders.share("n1", Orders.T4090, 1));
    SubmitOrder killed = order("#!/bin/sh\nkill -SEGV $$\n", Orders.share("n1", Orders.T4090, 1));
    SubmitOrder stopped = order(SLEEP, Orders.share("n2", Orders.T4090, 1));
    SubmitOrder greedy =
        order(
            "#!/bin/sh\n#SBATCH --mem=40M\nhead -c 300M /dev/zero | tail >/dev/null\n",
            Orders.share("n3", Orders.T3080, 1));
    List.of(fine, killed, greedy).forEach(this::submit);
    String outside = submit(stopped);
    await(stopped, SeenJob.State.RUNNING);
    slurm.run("scancel", outside);

    assertThat(await(fine, SeenJob.State.COMPLETED).exitCode()).isZero();
    SeenJob signalled = await(killed, SeenJob.State.FAILED);
    assertThat(signalled.exitCode()).isNull();
    assertThat(signalled.reason()).isEqualTo("ended by signal 11 (JobLaunchFailure)");
    assertThat(await(stopped, SeenJob.State.CANCELLED).exitCode()).isNull();
    SeenJob out = await(greedy, j -> j.state().ended());
    assertThat(out.state()).isEqualTo(SeenJob.State.OUT_OF_MEMORY);
    assertThat(out.on()).isEmpty();
    assertThat(out.startedAt()).isNotNull();
    // Found the same way, by name.
    assertThat(cluster.find(killed.token(), begun).orElseThrow()).isEqualTo(signalled);
  }

  @Test
  void aJobThatFinishesStillHoldsItsGpus() throws Exception {
    SubmitOrder stubborn =
        order(
            "#!/bin/bash\ntrap '' TERM\nwhile :; do sleep 0.1; done\n",
            Orders.share("n1", Orders.T4090, 1));
    String number = submit(stubborn);
    await(stubborn, SeenJob.State.RUNNING);
    assertThat(cluster.cancel(number, stubborn.token())).isEqualTo(new Cancellation.Done());
    slurm.awaitJob(number, "COMPLETING", SOON);
    Reading reading = cluster.read();
    // KillWait is two seconds in the sandbox: for that long the state can be seen.
    assertThat(slurm.jobState(number)).isEqualTo("COMPLETING");
    assertThat(reading.jobs().stream().filter(j -> j.clusterJob().equals(number)).findFirst())
        .hasValueSatisfying(
            j -> {
              assertThat(j.state()).isEqualTo(SeenJob.State.RUNNING);
              assertThat(j.endedAt()).isNull();
            });
    assertThat(byPlacement(reading).get("n1/4090").used()).isEqualTo(2);
    await(stubborn, SeenJob.State.CANCELLED);
  }

  @Test
  void nodesAreDrainedAndDown() throws Exception {
    slurm.setNode("n2", "drain", "new fan = better, ok");
    slurm.setNode("n3", "down", "smoke");
    try {
      Map<String, Reading.Seen> now = byPlacement(cluster.read());
      assertThat(now.get("n2/4090").state()).isEqualTo(NodeState.DRAINING);
      assertThat(now.get("n2/4090").reason()).startsWith("new fan = better, ok [");
      assertThat(now.get("n3/3080ti").state()).isEqualTo(NodeState.DOWN);
      assertThat(now.get("n3/3080ti").reason()).startsWith("smoke [");
      assertThat(now.get("n1/4090").state()).isEqualTo(NodeState.UP);
    } finally {
      slurm.setNode("n2", "resume", "");
      slurm.setNode("n3", "resume", "");
    }
  }

  @Test
  void aControllerThatIsDownIsNoticedSoonAndForgetsNothing() throws Exception {
    SubmitOrder job = order(SLEEP, Orders.share("n1", Orders.T4090, 1));
    String number = submit(job);
    await(job, SeenJob.State.RUNNING);

    slurm.stopController();
    try {
      assertThatThrownBy(cluster::read)
          .isInstanceOf(ReadingFailed.class)
          .hasMessageContaining("scontrol show node ended with exit code 1")
          .hasMessageContaining("Unable to contact slurm controller");
      assertThat(cluster.submit(order(SLEEP, Orders.share("n2", Orders.T4090, 1))))
          .isInstanceOf(Submission.NotSubmitted.class);
      assertThatThrownBy(() -> cluster.find(job.token(), begun)).isInstanceOf(ReadingFailed.class);
      assertThat(cluster.cancel(number, job.token())).isInstanceOf(Cancellation.Failed.class);
    } finally {
      slurm.startController();
    }
    assertThat(await(job, SeenJob.State.RUNNING).clusterJob()).isEqualTo(number);
  }

  @Test
  void aSubmissionToAHungControllerIsUnknownAndFoundOnceItWakes() throws Exception {
    SubmitOrder job = order(SLEEP, Orders.share("n1", Orders.T4090, 1));
    Instant before = Instant.now();
    slurm.freezeController();
    try {
      assertThat(cluster.submit(job)).isInstanceOf(Submission.Unknown.class);
      assertThatThrownBy(() -> cluster.find(job.token(), before))
          .hasMessageContaining("Socket timed out");
    } finally {
      slurm.thawController();
    }
    // At once, while the order may still lie in the controller's queue.
    SeenJob found = cluster.find(job.token(), before).orElseThrow();
    assertThat(found.name()).isEqualTo(job.token().text());
    assertThat(found.state()).isEqualTo(SeenJob.State.HELD);
    assertThat(cluster.release(found.clusterJob(), job.token())).isEqualTo(new Release.Done());
    assertThat(await(job, SeenJob.State.RUNNING).clusterJob()).isEqualTo(found.clusterJob());
    assertThat(
            slurm.run("squeue", "-h", "--states=all", "--name=" + job.token().text(), "-o", "%i"))
        .isEqualTo(found.clusterJob());
    assertThat(cluster.find(new Token("t3st", 999_999, 1), before)).isEmpty();
  }

  @Test
  void whatSlurmRefusesIsRefusedInItsWords() throws Exception {
    evenhand.facts.Tier nope = new evenhand.facts.Tier("nope", 1, 1, 8, true, "main", "gpu:nope");
    // A held job is checked against the nodes only when it is released.
    SubmitOrder job = order(SLEEP, Orders.share("n1", nope, 1));
    String number = submit(job);
    SeenJob left = await(job, SeenJob.State.REFUSED);
    assertThat(left.reason()).isEqualTo("BadConstraints");
    assertThat(left.startedAt()).isNull();
    assertThat(cluster.withdraw(number, job.token())).isEqualTo(new Cancellation.Done());
    assertThat(await(job, SeenJob.State.CANCELLED).reason()).isEqualTo("BadConstraints");

    assertThat(cluster.submit(order("echo no head\n", Orders.share("n1", Orders.T4090, 1))))
        .isInstanceOf(Submission.Refused.class);
    assertThat(cluster.submit(order("#!/bin/sh\r\ntrue\r\n", Orders.share("n1", Orders.T4090, 1))))
        .isInstanceOf(Submission.Refused.class);
    assertThat(cluster.submit(order("", Orders.share("n1", Orders.T4090, 1))))
        .isInstanceOf(Submission.Refused.class);
    assertThat(cluster.submit(order(SLEEP, Orders.share("n77", Orders.T4090, 1))))
        .isInstanceOf(Submission.Refused.class);
  }

  @Test
  void whatIsSubmittedRunsOnlyOnceItIsReleased() throws Exception {
    SubmitOrder job = order(SLEEP, Orders.share("n1", Orders.T4090, 1));
    String number = ((Submission.Submitted) cluster.submit(job)).clusterJob();
    Thread.sleep(3000); // Slurm starts what it may start within one second or two
    assertThat(seen(job.token()).orElseThrow().state()).isEqualTo(SeenJob.State.HELD);
    Token other = new Token("t3st", 999_999, 1);
    assertThat(cluster.release(number, other)).isEqualTo(new Release.Done());
    assertThat(seen(job.token()).orElseThrow().state()).isEqualTo(SeenJob.State.HELD);

    assertThat(cluster.release(number, job.token())).isEqualTo(new Release.Done());
    await(job, SeenJob.State.RUNNING);
    assertThat(cluster.release(number, job.token())).isEqualTo(new Release.Done());
    assertThat(cluster.withdraw(number, job.token())).isEqualTo(new Cancellation.Done());
    assertThat(slurm.jobState(number)).isEqualTo("RUNNING");

    SubmitOrder stray = order(SLEEP, Orders.share("n2", Orders.T4090, 1));
    String never = ((Submission.Submitted) cluster.submit(stray)).clusterJob();
    assertThat(cluster.withdraw(never, stray.token())).isEqualTo(new Cancellation.Done());
    SeenJob gone = await(stray, SeenJob.State.CANCELLED);
    assertThat(gone.startedAt()).isNull();
    assertThat(cluster.release(never, stray.token())).isEqualTo(new Release.Done());
    assertThat(cluster.release("66000000", stray.token())).isEqualTo(new Release.Done());
    assertThat(cluster.release("-1", stray.token())).isInstanceOf(Release.Failed.class);
  }

  @Test
  void aJobThatAnAdministratorHoldsIsNotReleased() throws Exception {
    SubmitOrder job = order(SLEEP, Orders.share("n1", Orders.T4090, 1));
    String number = ((Submission.Submitted) cluster.submit(job)).clusterJob();
    slurm.run("scontrol", "hold", number);
    assertThat(cluster.release(number, job.token())).isEqualTo(new Release.Done());
    SeenJob held = seen(job.token()).orElseThrow();
    assertThat(held.state()).isEqualTo(SeenJob.State.PARKED);
    assertThat(held.reason()).isEqualTo("JobHeldAdmin");
  }

  @Test
  void cancelsARunningAndAWaitingJobAndNoOther() throws Exception {
    SubmitOrder first = order(SLEEP, Orders.share("n1", Orders.T4090, 2));
    SubmitOrder second = order(SLEEP, Orders.share("n1", Orders.T4090, 2));
    String running = submit(first);
    String waiting = submit(second);
    await(first, SeenJob.State.RUNNING);
    assertThat(await(second, SeenJob.State.PENDING).startedAt()).isNull();

    assertThat(cluster.cancel(running, second.token())).isEqualTo(new Cancellation.Done());
    assertThat(slurm.jobState(running)).isEqualTo("RUNNING");
    assertThat(cluster.cancel(waiting, second.token())).isEqualTo(new Cancellation.Done());
    SeenJob never = await(second, SeenJob.State.CANCELLED);
    assertThat(never.startedAt()).isNull();
    assertThat(never.endedAt()).isNotNull();
    assertThat(cluster.cancel(running, first.token())).isEqualTo(new Cancellation.Done());
    await(first, SeenJob.State.CANCELLED);
    assertThat(cluster.cancel(running, first.token())).isEqualTo(new Cancellation.Done());
    assertThat(cluster.cancel("66000000", first.token())).isEqualTo(new Cancellation.Done());
  }

  @Test
  void aRequeueOutsideIsSeenAsPendingWithOneMoreRestart() throws Exception {
    SubmitOrder job = order(SLEEP, Orders.share("n2", Orders.T4090, 1));
    String number = submit(job);
    await(job, SeenJob.State.RUNNING);
    // --no-requeue is undone, as an administrator may.
    slurm.run("scontrol", "update", "JobId=" + number, "Requeue=1");
    slurm.run("scontrol", "requeue", number);
    SeenJob again = await(job, j -> j.restarts() == 1);
    assertThat(again.state()).isIn(SeenJob.State.PENDING, SeenJob.State.RUNNING);
    ClientResult shown = slurm.tryRun("scontrol", "show", "job", number);
    assertThat(shown.out()).contains("Restarts=1");
  }
}
