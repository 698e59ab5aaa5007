package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.cycle.Cancellation;
import evenhand.cycle.Cluster.ReadingFailed;
import evenhand.cycle.SeenJob;
import evenhand.cycle.Submission;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Answers that a real Slurm gives seldom, or never when one waits for them. */
@Timeout(30)
class FakeSlurmTest {
  private static final Token TOKEN = new Token("t3st", 1, 1);
  private static final String NAME = TOKEN.text();
  private static final Instant SINCE = Instant.parse("2026-01-01T00:00:00Z");
  private static final String NODES =
      SeenTest.node("n1", "IDLE", "gpu:4090:2", "gpu:4090:0(IDX:N/A)", "");

  @TempDir Path folder;
  private FakeCommands fake;
  private SlurmCluster cluster;

  @BeforeEach
  void commands() {
    fake = new FakeCommands(folder.resolve("bin"));
    cluster = cluster(SlurmSettings.Accounting.AUTO, 50);
    fake.printing("scontrol", NODES).printing("squeue", SeenTest.HEADER);
  }

  private SlurmCluster cluster(SlurmSettings.Accounting accounting, int details) {
    SlurmSettings base = Orders.settings(null, fake.bin());
    return new SlurmCluster(
        new SlurmSettings(
            null,
            base.bin(),
            java.time.Duration.ofSeconds(2),
            Map.of(),
            Map.of(),
            null,
            "/tmp",
            base.output(),
            List.of(),
            List.of(),
            List.of(),
            accounting,
            details,
            "TERM"),
        Clock.systemUTC());
  }

  private Submission submit(String sbatch) {
    fake.command("sbatch", sbatch);
    return cluster.submit(order());
  }

  private static SubmitOrder order() {
    return Orders.order("#!/bin/sh\n", Orders.share("n1", Orders.T4090, 1));
  }

  @Test
  void sbatchSaysItsNumberInManyWays() {
    assertThat(submit("echo 12")).isEqualTo(new Submission.Submitted("12"));
    assertThat(submit("echo '12;alpha'")).isEqualTo(new Submission.Submitted("12"));
    assertThat(submit("echo 'sbatch: lua: hello' >&2; echo 'no partition given'; echo 12"))
        .isEqualTo(new Submission.Submitted("12"));
    // Once it has said the number the job is there, whatever becomes of sbatch.
    assertThat(submit("echo 12; exit 1")).isEqualTo(new Submission.Submitted("12"));
    assertThat(submit("echo 12; sleep 20")).isEqualTo(new Submission.Submitted("12"));
  }

  @Test
  void whatMayHaveReachedTheControllerIsUnknown() {
    String failed = "sbatch: error: Batch job submission failed: ";
    assertThat(submit("exit 0")).isInstanceOf(Submission.Unknown.class);
    assertThat(submit("sleep 20")).isInstanceOf(Submission.Unknown.class);
    assertThat(submit("kill -9 $$")).isInstanceOf(Submission.Unknown.class);
    assertThat(submit("echo 'Segmentation fault' >&2; exit 139"))
        .isInstanceOf(Submission.Unknown.class);
    assertThat(submit("echo '" + failed + "Socket timed out on send/recv operation' >&2; exit 1"))
        .isInstanceOf(Submission.Unknown.class);
    assertThat(submit("echo '" + failed + "something new' >&2; exit 1"))
        .isInstanceOf(Submission.Unknown.class);
  }

  @Test
  void whatSurelyDidNotReachItMayBeTriedAgainOrNever() {
    String failed = "sbatch: error: Batch job submission failed: ";
    assertThat(
            submit(
                "echo '"
                    + failed
                    + "Unable to contact slurm controller (connect failure)' >&2; exit 1"))
        .isInstanceOf(Submission.NotSubmitted.class);
    assertThat(
            submit(
                "echo '"
                    + failed
                    + "Invalid account or account/partition combination specified' >&2; exit 1"))
        .isInstanceOf(Submission.Refused.class);
    fake.command("sbatch", "exit 0");
    assertThat(fake.bin().resolve("sbatch").toFile().delete()).isTrue();
    assertThat(cluster.submit(order())).isInstanceOf(Submission.NotSubmitted.class);
  }

  @Test
  void theEnvironmentsFileIsPrivateAndGoneAfterwards() throws IOException {
    submit(
        "for a; do case $a in --export-file=*) f=${a#*=}; echo $f > $0.file; stat -c %a $f > $0.mode;"
            + " cat $f > $0.env;; esac; done; echo 12");
    assertThat(fake.read("sbatch.mode").strip()).isEqualTo("600");
    assertThat(fake.read("sbatch.env")).contains("EVENHAND_ATTEMPT=1\0");
    assertThat(Path.of(fake.read("sbatch.file").strip())).doesNotExist();
    submit("for a; do case $a in --export-file=*) echo ${a#*=} > $0.file;; esac; done; sleep 20");
    assertThat(Path.of(fake.read("sbatch.file").strip())).doesNotExist();
  }

  @Test
  void anOrderThatCannotBeGivenIsRefusedWithoutAsking() throws IOException {
    fake.command("sbatch", "echo x > $0.called; echo 12");
    Submission answer =
        cluster.submit(
            Orders.order("#!/bin/sh\n#SBATCH --array=1-9\n", Orders.share("n1", Orders.T4090, 1)));
    assertThat(answer).isInstanceOf(Submission.Refused.class);
    try (Stream<Path> files = Files.list(fake.bin())) {
      assertThat(files).noneMatch(f -> f.toString().endsWith(".called"));
    }
  }

  @Test
  void aReadingFailsWithTheCommandAndItsWords() {
    fake.command("squeue", "echo 'slurm_load_jobs error: Zero Bytes were transmitted' >&2; exit 1");
    assertThatThrownBy(() -> cluster.read())
        .isInstanceOf(ReadingFailed.class)
        .hasMessage(
            "squeue ended with exit code 1: slurm_load_jobs error: Zero Bytes were transmitted");
    fake.command("squeue", "exit 0");
    assertThatThrownBy(() -> cluster.read()).hasMessageContaining("squeue: the answer is empty");
    fake.command("squeue", "sleep 20");
    assertThatThrownBy(() -> cluster.read()).hasMessageContaining("did not answer in time");
    fake.command("scontrol", "exit 0");
    assertThatThrownBy(() -> cluster.read())
        .hasMessageContaining("scontrol show node: no node could be read");
    fake.command("scontrol", "echo 'slurm_load_node error: Unable to contact' >&2; exit 1");
    assertThatThrownBy(() -> cluster.read())
        .hasMessage(
            "scontrol show node ended with exit code 1: slurm_load_node error: Unable to contact");
  }

  @Test
  void exitCodesLeftOpenAreAskedForSinglyBoundedlyAndOnce() throws ReadingFailed {
    fake.printing("nodes", NODES)
        .command(
            "scontrol",
            "case \"$*\" in *node*) cat $0.nodes;; *) echo x >> $0.asked;"
                + " echo \"JobId=$4 JobName="
                + NAME
                + " JobState=FAILED Reason=JobLaunchFailure Restarts=0 ExitCode=0:11"
                + " SubmitTime=2026-01-01T00:00:01 NodeList=n1 Command=/dev/stdin x\";"
                // The job's own argument, with a line end and a record in it.
                + " echo \"JobId=9 JobName="
                + NAME
                + " JobState=FAILED ExitCode=9:0\";; esac")
        .command("squeue", "cat $0.txt");
    fake.printing("scontrol.nodes", "");
    writeNodes();
    fake.printing(
        "squeue",
        SeenTest.HEADER
            + SeenTest.job("7", "FAILED", "139", NAME, "JobLaunchFailure")
            + SeenTest.job("8", "FAILED", "139", NAME, "JobLaunchFailure"));
    cluster = cluster(SlurmSettings.Accounting.OFF, 1);

    List<SeenJob> first = cluster.read().jobs();
    assertThat(first).hasSize(1);
    assertThat(first.get(0).reason()).isEqualTo("ended by signal 11 (JobLaunchFailure)");
    assertThat(cluster.read().jobs()).hasSize(2);
    assertThat(cluster.read().jobs()).hasSize(2);
    assertThat(fake.read("scontrol.asked")).isEqualTo("x\nx\n");
  }

  private void writeNodes() {
    try {
      Files.writeString(fake.bin().resolve("scontrol.nodes"), NODES);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void absenceIsAskedForTwice() throws ReadingFailed {
    fake.printing("scontrol", "AccountingStorageType = accounting_storage/none\n");
    fake.command(
        "squeue",
        "echo \"$*\" >> $0.asked; if [ -e $0.again ]; then cat $0.late; else echo x > $0.again;"
            + " head -1 $0.late; fi");
    write("squeue.late", SeenTest.HEADER + SeenTest.job("7", "RUNNING", "0", NAME, "None"));
    assertThat(cluster.find(TOKEN, SINCE))
        .hasValueSatisfying(j -> assertThat(j.clusterJob()).isEqualTo("7"));
    assertThat(fake.read("squeue.asked")).contains("--me", "--states=all", "--name=" + NAME);
  }

  private void write(String file, String text) {
    try {
      Files.writeString(fake.bin().resolve(file), text);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void theEarliestOfSeveralCountsAndOlderOnesAreOthers() throws ReadingFailed {
    fake.printing("scontrol", "AccountingStorageType = accounting_storage/none\n");
    fake.printing(
        "squeue",
        SeenTest.HEADER
            + SeenTest.job("9", "RUNNING", "0", NAME, "None").replace("00:00:01", "00:00:03")
            + SeenTest.job("10", "RUNNING", "0", NAME, "None").replace("00:00:01", "00:00:02")
            + SeenTest.job("3", "FAILED", "256", NAME, "None").replace("2026-01", "2019-01")
            + SeenTest.job("4", "RUNNING", "0", NAME + "1", "None"));
    assertThat(cluster.find(TOKEN, SINCE))
        .hasValueSatisfying(j -> assertThat(j.clusterJob()).isEqualTo("10"));
    // submitted in the second in which it was decided
    assertThat(cluster.find(TOKEN, Instant.parse("2026-01-01T00:00:03.700Z")))
        .hasValueSatisfying(j -> assertThat(j.clusterJob()).isEqualTo("9"));
    assertThat(cluster.find(TOKEN, Instant.parse("2026-01-02T00:00:00Z"))).isEmpty();
  }

  @Test
  void accountingIsAskedWhereThereIsOne() throws ReadingFailed {
    fake.printing("scontrol", "AccountingStorageType   = accounting_storage/slurmdbd\n");
    String header = "JobID|JobIDRaw|State|ExitCode|Submit|Start|End|Elapsed|NodeList|JobName\n";
    fake.printing(
        "sacct",
        header
            + "7|7|FAILED|7:0|2026-01-01T00:00:01|2026-01-01T00:00:02|2026-01-01T00:00:09|00:00:07|n1|"
            + NAME
            + "\n");
    SeenJob found = cluster.find(TOKEN, SINCE).orElseThrow();
    assertThat(found.state()).isEqualTo(SeenJob.State.FAILED);
    assertThat(found.exitCode()).isEqualTo(7);
    assertThat(found.endedAt()).isEqualTo(Instant.parse("2026-01-01T00:00:09Z"));

    fake.command("sacct", "echo \"$*\" > $0.asked; cat $0.txt");
    fake.printing("other", "");
    write("sacct.txt", header);
    assertThat(cluster.find(TOKEN, SINCE)).isEmpty();
    assertThat(fake.read("sacct.asked"))
        .contains("--name=" + NAME, "--starttime=2026-01-01T00:00:00", "--user=");

    write(
        "sacct.txt",
        header
            + "7|7|RUNNING|0:0|2026-01-01T00:00:01|2026-01-01T00:00:02|Unknown|00:10:00|n1|"
            + NAME
            + "\n");
    assertThatThrownBy(() -> cluster.find(TOKEN, SINCE)).hasMessageContaining("runawayjobs");

    fake.command("sacct", "echo 'sacct: error: Problem talking to the database' >&2; exit 1");
    assertThatThrownBy(() -> cluster.find(TOKEN, SINCE))
        .hasMessage("sacct ended with exit code 1: sacct: error: Problem talking to the database");
    assertThat(cluster(SlurmSettings.Accounting.OFF, 1).find(TOKEN, SINCE)).isEmpty();
  }

  private Cancellation cancel(String squeue) {
    fake.printing("squeue", squeue);
    fake.command("scancel", "echo \"$*\" >> $0.asked; exit 0");
    return cluster.cancel("7", TOKEN);
  }

  private boolean scancelled() {
    return Files.exists(fake.bin().resolve("scancel.asked"));
  }

  @Test
  void onlyTheJobThatStillCarriesOurNameIsCancelled() {
    assertThat(cancel(SeenTest.HEADER + SeenTest.job("7", "RUNNING", "0", "else", "None")))
        .isEqualTo(new Cancellation.Done());
    assertThat(cancel(SeenTest.HEADER + SeenTest.job("7", "COMPLETED", "0", NAME, "None")))
        .isEqualTo(new Cancellation.Done());
    assertThat(cancel(SeenTest.HEADER)).isEqualTo(new Cancellation.Done());
    assertThat(scancelled()).isFalse();
    assertThat(cancel("")).isInstanceOf(Cancellation.Failed.class);
    assertThat(cancel(SeenTest.HEADER + "gibberish\n")).isInstanceOf(Cancellation.Failed.class);
    fake.command("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
    assertThat(cluster.cancel("7", TOKEN)).isEqualTo(new Cancellation.Done());
    fake.command("squeue", "echo 'slurm_load_jobs error: Unable to contact' >&2; exit 1");
    assertThat(cluster.cancel("7", TOKEN)).isInstanceOf(Cancellation.Failed.class);
    assertThat(cluster.cancel("--user=root", TOKEN)).isInstanceOf(Cancellation.Failed.class);
    assertThat(scancelled()).isFalse();

    assertThat(cancel(SeenTest.HEADER + SeenTest.job("7", "RUNNING", "0", NAME, "None")))
        .isEqualTo(new Cancellation.Done());
    assertThat(fake.read("scancel.asked")).isEqualTo("7\n");
    fake.command(
        "scancel", "echo 'scancel: error: Kill job error on job id 7: Denied' >&2; exit 8");
    assertThat(cluster.cancel("7", TOKEN))
        .isEqualTo(
            new Cancellation.Failed(
                "scancel ended with exit code 8: scancel: error: Kill job error on job id 7: Denied"));
    assertThat(Optional.of(TOKEN)).isPresent();
  }

  @Test
  void aJobThatChangesItsNameStaysOursUntilItsNumberIsAnothers() throws ReadingFailed {
    fake.printing("scontrol", "NodeName=n1 State=IDLE Gres=gpu:4090:2 GresUsed=gpu:4090:0\n");
    String ours = SeenTest.HEADER + SeenTest.job("7", "RUNNING", "0", NAME, "None");
    fake.printing("squeue", ours);
    assertThat(cluster.read().jobs()).hasSize(1);

    String renamed = SeenTest.HEADER + SeenTest.job("7", "RUNNING", "0", "else", "None");
    fake.printing("squeue", renamed);
    assertThat(cluster.read().jobs()).singleElement().extracting(SeenJob::name).isEqualTo(NAME);
    assertThat(cancel(renamed)).isEqualTo(new Cancellation.Done());
    assertThat(fake.read("scancel.asked")).isEqualTo("7\n");

    fake.printing("squeue", renamed.replace("2026-01-01T00:00:01", "2026-01-01T00:00:02"));
    assertThat(cluster.read().jobs()).isEmpty();
  }

  @Test
  void whatWasRenamedBeforeARestartIsFoundByNumberAndStart() throws ReadingFailed {
    fake.printing("scontrol", "NodeName=n1 State=IDLE Gres=gpu:4090:2 GresUsed=gpu:4090:0\n");
    fake.printing("squeue", SeenTest.HEADER + SeenTest.job("7", "RUNNING", "0", "else", "None"));
    Instant start = Instant.parse("2026-01-01T00:00:02Z");
    assertThat(cluster.findStarted(TOKEN, "7", start.plusSeconds(1))).isEmpty();
    assertThat(cluster.findStarted(TOKEN, "8", start)).isEmpty();
    assertThat(cluster.read().jobs()).isEmpty();
    assertThat(cluster.findStarted(TOKEN, "7", start))
        .get()
        .extracting(SeenJob::name)
        .isEqualTo(NAME);
    assertThat(cluster.read().jobs()).singleElement().extracting(SeenJob::name).isEqualTo(NAME);
  }
}
