package evenhand.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What tests of the service rely on, tried on the real daemons. */
@RealSlurm(slurmdTimeoutSeconds = 5, messageTimeoutSeconds = 3)
class SlurmSandboxTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private final SlurmSandbox slurm;

  SlurmSandboxTest(SlurmSandbox slurm) {
    this.slurm = slurm;
  }

  /** One cluster serves all tests, so each leaves it idle and empty. */
  @AfterEach
  void emptyTheCluster() {
    slurm.run("scancel", "--user=" + System.getProperty("user.name"));
    slurm.awaitIdle(Duration.ofSeconds(60));
  }

  @Test
  void comesUpWithEveryNodeIdleAndEveryGpuConfigured() {
    assertThat(slurm.nodeStates().keySet()).containsExactly("n1", "n2", "n3", "n4");
    assertThat(slurm.nodeStates().values()).containsOnly("idle");
    assertThat(gres("n1", "Gres")).isEqualTo("gpu:4090:2");
    assertThat(gres("n2", "Gres")).isEqualTo("gpu:4090:2");
    assertThat(gres("n3", "Gres")).isEqualTo("gpu:3080ti:2");
    assertThat(gres("n4", "Gres")).isEqualTo("gpu:4090:4,gpu:5090:4");
  }

  @Test
  void hasOnePartitionForEachTypeOfGpuBesideMain() {
    assertThat(slurm.run("sinfo", "--noheader", "--format=%P %N").lines().map(String::strip))
        .containsExactlyInAnyOrder(
            "main* n[1-4]", "gpu3080ti n3", "gpu4090 n[1-2,4]", "gpu5090 n4");
  }

  @Test
  void showsTheGpuOfARunningJobOnItsNode() {
    String job = slurm.submit("sleep 60", "--gres=gpu:5090:1", "--partition=gpu5090");
    slurm.awaitJob(job, "RUNNING", SOON);

    assertThat(gres("n4", "GresUsed")).isEqualTo("gpu:4090:0(IDX:N/A),gpu:5090:1(IDX:4)");
    assertThat(gres("n1", "GresUsed")).isEqualTo("gpu:4090:0(IDX:N/A)");
    assertThat(slurm.nodeStates()).containsEntry("n4", "mixed").containsEntry("n1", "idle");
  }

  @Test
  void runsAJobToItsEndAndKeepsItsOutputInTheSandbox() throws IOException {
    String job = slurm.submit("echo gpus $CUDA_VISIBLE_DEVICES; exit 7", "--gres=gpu:3080ti:2");
    slurm.awaitJob(job, "FAILED", SOON);

    Path output = slurm.folder().resolve("work/slurm-" + job + ".out");
    assertThat(output).hasContent("gpus 0,1");
  }

  @Test
  void listensOnLoopbackOnly() throws IOException {
    List<String> addresses = new ArrayList<>();
    for (long pid : slurm.pids()) {
      addresses.addAll(ListeningSockets.of(pid));
    }
    // slurmctld and four slurmds, each at one port
    assertThat(addresses).hasSizeGreaterThanOrEqualTo(5).allMatch(a -> a.startsWith("127."));
  }

  @Test
  void clientConfDiffersOnlyInItsTimeout() throws IOException {
    List<String> original = new ArrayList<>(Files.readAllLines(slurm.slurmConf()));
    List<String> copy = new ArrayList<>(Files.readAllLines(slurm.clientConfWithTimeout(2)));
    assertThat(copy).contains("MessageTimeout=2");
    assertThat(original.removeIf(line -> line.startsWith("MessageTimeout="))).isTrue();
    copy.removeIf(line -> line.startsWith("MessageTimeout="));
    assertThat(copy).isEqualTo(original);
  }

  @Test
  void clientsFailWhileTheControllerIsDownAndJobsOutliveIt() {
    Path hasty = slurm.clientConfWithTimeout(2);
    String job = slurm.submit("sleep 60", "--gres=gpu:4090:1", "--nodelist=n1");
    slurm.awaitJob(job, "RUNNING", SOON);

    slurm.stopController();
    ClientResult sinfo = slurm.tryRun(hasty, "sinfo");
    ClientResult json = slurm.tryRun(hasty, "sinfo", "--json");
    ClientResult ping = slurm.tryRun(hasty, "scontrol", "ping");
    slurm.startController();

    assertThat(sinfo.exitCode()).isEqualTo(1);
    assertThat(sinfo.err()).contains("Unable to contact slurm controller (connect failure)");
    assertThat(sinfo.took()).isBetween(Duration.ofMillis(900), Duration.ofSeconds(5));
    // The trap that clients of JSON must know: success by exit code, the failure only inside.
    assertThat(json.exitCode()).isZero();
    assertThat(json.out()).contains("\"errno\": -1").doesNotContain("\"hostname\"");
    assertThat(ping.exitCode()).isEqualTo(1);
    assertThat(ping.out()).contains("is DOWN");
    assertThat(slurm.jobState(job)).isEqualTo("RUNNING");
  }

  @Test
  void aSubmissionThatTimesOutOnAHungControllerStillHappens() {
    Path hasty = slurm.clientConfWithTimeout(2);

    slurm.freezeController();
    ClientResult sinfo = slurm.tryRun(hasty, "sinfo");
    ClientResult sbatch =
        slurm.tryRun(hasty, "sbatch", "--job-name=ghost", "--output=/dev/null", "--wrap=sleep 60");
    slurm.thawController();

    assertThat(sinfo.exitCode()).isEqualTo(1);
    assertThat(sinfo.err()).contains("Socket timed out on send/recv operation");
    assertThat(sinfo.took()).isBetween(Duration.ofMillis(1900), Duration.ofSeconds(6));
    assertThat(sbatch.exitCode()).isEqualTo(1);
    assertThat(sbatch.err()).contains("Socket timed out on send/recv operation");
    slurm.await(
        "the job of the failed sbatch to run",
        SOON,
        () -> slurm.run("squeue", "--noheader", "--name=ghost", "--format=%T").equals("RUNNING"));
  }

  @Test
  void anAdministratorDrainsDownsAndResumesNodes() {
    slurm.setNode("n2", "drain", "new fan");
    slurm.setNode("n3", "down", "smoke");
    assertThat(slurm.nodeStates()).containsEntry("n2", "drained").containsEntry("n3", "down");
    assertThat(slurm.run("scontrol", "show", "node", "n2")).contains("Reason=new fan [");

    slurm.setNode("n2", "resume", "");
    slurm.setNode("n3", "resume", "");
    slurm.awaitIdle(SOON);

    assertThatThrownBy(() -> slurm.setNode("n2", "drain", ""))
        .hasMessageContaining("You must specify a reason");
    assertThatThrownBy(() -> slurm.setNode("n9", "drain", "no such node"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aKilledNodeIsNoticedItsJobRequeuedAndTheNodeComesBack() {
    String job = slurm.submit("sleep 60", "--requeue", "--gres=gpu:4090:2", "--nodelist=n2");
    slurm.awaitJob(job, "RUNNING", SOON);

    slurm.killNode("n2");
    try {
      slurm.awaitNode("n2", "down*"::equals, Duration.ofSeconds(60));
      slurm.awaitJob(job, "PENDING", SOON);
      assertThat(slurm.run("scontrol", "show", "job", job)).contains("Restarts=1");
      assertThat(slurm.run("scontrol", "show", "node", "n2")).contains("Not responding");
    } finally {
      slurm.startNode("n2");
    }
    // The job asked for this node by name, so it returns together with it.
    slurm.awaitJob(job, "RUNNING", Duration.ofSeconds(60));
    assertThat(gres("n2", "GresUsed")).isEqualTo("gpu:4090:2(IDX:0-1)");
  }

  @Test
  void saysWhatAClientAnsweredWhenItFails() {
    assertThatThrownBy(() -> slurm.run("scontrol", "show", "job", "99999"))
        .hasMessageContaining("exit code 1 from scontrol show job 99999")
        .hasMessageContaining("Invalid job id specified");
  }

  private String gres(String node, String column) {
    // sinfo cuts a column of -O at 20 characters unless told its width.
    return slurm.run(
        "sinfo", "--noheader", "--Node", "-p", "main", "-n", node, "-O", column + ":200");
  }
}
