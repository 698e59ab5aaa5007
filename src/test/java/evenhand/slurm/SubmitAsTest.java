package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.NewJob;
import evenhand.cycle.Release;
import evenhand.cycle.SeenJob;
import evenhand.cycle.SomeJob;
import evenhand.cycle.Submission;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.sandbox.RealSlurm;
import evenhand.sandbox.SlurmSandbox;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that run as who submitted them, on real daemons; and what the doctor sees of those. */
@RealSlurm
@Timeout(120)
class SubmitAsTest {
  /** A user that every Linux has, and who owns nothing. */
  private static final String SOMEBODY = "nobody";

  private final SlurmSandbox slurm;
  private final SlurmSettings settings;
  private final SlurmCluster cluster;
  @TempDir private Path folder;

  SubmitAsTest(SlurmSandbox slurm) {
    this.slurm = slurm;
    SlurmSettings d = Orders.settings(slurm.clientConfWithTimeout(2), null);
    this.settings =
        new SlurmSettings(
            d.conf(),
            d.bin(),
            d.timeout(),
            d.environment(),
            d.jobEnvironment(),
            d.partition(),
            null,
            d.output(),
            List.of("--mem=50M"),
            d.scriptOptions(),
            d.usableStates(),
            SlurmSettings.Accounting.OFF,
            d.detailsPerReading(),
            d.preemptSignal(),
            SlurmSettings.SubmitAs.USER,
            1000);
    this.cluster =
        new SlurmCluster(
            settings,
            Clock.systemUTC(),
            token -> token.installation().equals("t3st") ? SOMEBODY : null);
  }

  private SubmitOrder order(String user, long job, String script) {
    return new SubmitOrder(
        new Token("t3st", job, 1),
        "a job",
        "bcg",
        user,
        List.of(Orders.share("n1", Orders.T4090, 1)),
        600L,
        script,
        List.of(),
        Map.of(),
        folder.toString());
  }

  private Optional<SeenJob> seen(Token token) throws Exception {
    return cluster.read().jobs().stream().filter(j -> j.name().equals(token.text())).findFirst();
  }

  @Test
  void aJobRunsAsItsUserAndNobodyElsePassesForIt() throws Exception {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    SubmitOrder order =
        order(SOMEBODY, 701, "#!/bin/sh\nid -un > who; id -gn >> who; echo $USER $HOME >> who\n");
    // Somebody else has given a job this name before, and another after it.
    String impostor =
        slurm.run(
            "sbatch", "--parsable", "--hold", "--job-name=" + order.token().text(), "--wrap=true");
    assertThat(cluster.find(order.token(), Instant.now().minusSeconds(60))).isEmpty();
    Submission answer = cluster.submit(order);
    assertThat(answer).isInstanceOf(Submission.Submitted.class);
    String number = ((Submission.Submitted) answer).clusterJob();
    assertThat(number).isNotEqualTo(impostor);
    assertThat(slurm.run("squeue", "-h", "-j", number, "-o", "%u %T"))
        .isEqualTo(SOMEBODY + " PENDING");
    assertThat(cluster.find(order.token(), Instant.now().minusSeconds(60)))
        .get()
        .extracting(SeenJob::clusterJob)
        .isEqualTo(number);
    assertThat(cluster.release(impostor, order.token())).isEqualTo(new Release.Done());
    assertThat(slurm.run("squeue", "-h", "-j", impostor, "-o", "%r")).isEqualTo("JobHeldUser");
    assertThat(cluster.release(number, order.token())).isEqualTo(new Release.Done());
    long end = System.nanoTime() + Duration.ofSeconds(40).toNanos();
    while (seen(order.token()).map(j -> j.state() != SeenJob.State.COMPLETED).orElse(true)) {
      assertThat(System.nanoTime())
          .as("%s\n%s", seen(order.token()), slurm.logTails())
          .isLessThan(end);
      Thread.sleep(200);
    }
    String group = new LocalUsers(settings).find(SOMEBODY).gid() == 65534 ? "nogroup" : SOMEBODY;
    assertThat(Files.readAllLines(folder.resolve("who")))
        .containsExactly(
            SOMEBODY, group, SOMEBODY + " " + new LocalUsers(settings).find(SOMEBODY).home());
    assertThat(Files.getOwner(folder.resolve("evenhand-701-1.out")).getName()).isEqualTo(SOMEBODY);
    slurm.run("scancel", impostor);
  }

  @Test
  void rootUsersOfTheSystemAndThoseNobodyKnowsAreRefusedWhenTheySubmit() {
    Objections objections = new Objections(settings);
    for (String[] user :
        new String[][] {
          {"root", "root is root"},
          {"daemon", "daemon is a user of the system (number 1, below"},
          {"ghost-4711", "there is no user ghost-4711"},
          {"0", "there is no user 0"},
          {"65534", "there is no user 65534"},
          {"-h", "there is no user -h"},
          {"no body", "there is no user no body"}
        }) {
      NewJob job = SomeJob.PLAIN.by(user[0]).made();
      assertThat(objections.to(job))
          .as(user[0])
          .get()
          .satisfies(o -> assertThat(o.field()).isEqualTo("user"))
          .satisfies(o -> assertThat(o.message()).contains(user[1], "submit-as=user"));
      // And were it in the queue all the same, it would go no further.
      assertThat(cluster.submit(order(user[0], 702, "#!/bin/sh\n")))
          .isInstanceOf(Submission.Refused.class);
    }
  }

  @Test
  void theDoctorSeesASlurmThatWorksAndSaysWhatOneLacksThatDoesNot() {
    assertThat(new SlurmLook(settings, Clock.systemUTC()).look())
        .allSatisfy(seen -> assertThat(seen.works()).as(seen.toString()).isTrue())
        .extracting(SlurmLook.Seen::what)
        .contains("slurm sbatch", "slurm controller", "slurm clock", "slurm MessageTimeout");
    SlurmSettings nowhere = Orders.settings(null, folder);
    assertThat(new SlurmLook(nowhere, Clock.systemUTC()).look())
        .singleElement()
        .satisfies(seen -> assertThat(seen.works()).isFalse())
        .satisfies(seen -> assertThat(seen.mend()).contains("evenhand.slurm.bin"));
    // A host whose clock is wrong sees it.
    Clock fast = Clock.offset(Clock.systemUTC(), Duration.ofSeconds(30));
    assertThat(new SlurmLook(settings, fast).look())
        .filteredOn(seen -> !seen.works())
        .singleElement()
        .satisfies(seen -> assertThat(seen.found()).contains("s from this host's"));
  }
}
