package evenhand.slurm.text;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.slurm.text.SbatchAnswer.NotSubmitted;
import evenhand.slurm.text.SbatchAnswer.Refused;
import evenhand.slurm.text.SbatchAnswer.Submitted;
import evenhand.slurm.text.SbatchAnswer.Unknown;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SbatchAnswerTest {

  @Test
  void submitted() {
    assertThat(SbatchAnswer.read(0, "123\n", "")).isEqualTo(new Submitted("123", null));
    assertThat(SbatchAnswer.read(0, "75168975;east\n", ""))
        .isEqualTo(new Submitted("75168975", "east"));
    assertThat(SbatchAnswer.read(0, "Submitted batch job 3969755 on cluster nautilus\n", ""))
        .isEqualTo(new Submitted("3969755", "nautilus"));
    assertThat(
            SbatchAnswer.read(
                0,
                "sbatch: Not running node verification test prior to job execution.\n\n"
                    + "Submitted batch job 125953\n",
                ""))
        .isEqualTo(new Submitted("125953", null));
    assertThat(
            SbatchAnswer.read(
                0, "7787232\n", "sbatch: no partition specified, using default partition all\n"))
        .isEqualTo(new Submitted("7787232", null));
    // the id came, then the client was stopped: the job is there
    assertThat(SbatchAnswer.read(143, "7\n", "")).isEqualTo(new Submitted("7", null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sbatch: error: Batch job submission failed: Requested node configuration is not available",
        "sbatch: error: Invalid generic resource (gres) specification",
        "sbatch: error: Batch job submission failed: Invalid node name specified",
        "sbatch: error: invalid partition specified: nope\n"
            + "sbatch: error: Batch job submission failed: Invalid partition name specified",
        "sbatch: error: Memory specification can not be satisfied\n"
            + "sbatch: error: Batch job submission failed: Requested node configuration is not available",
        "sbatch: error: Batch job submission failed: Invalid account or account/partition"
            + " combination specified",
        "sbatch: error: QOSMaxWallDurationPerJobLimit\n"
            + "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job"
            + " submit limit, user's size and/or time limits)",
        "sbatch: unrecognized option '--nope'\nTry \"sbatch --help\" for more information",
        "sbatch: error: Invalid --time specification",
        "sbatch: error: Unable to open file /no/such/script",
        "sbatch: error: --uid only permitted by root user",
        "sbatch: error: Invalid --uid specification",
      })
  void refused(String stderr) {
    assertThat(SbatchAnswer.read(1, "", stderr)).isInstanceOf(Refused.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect"
            + " failure)",
        "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job"
            + " violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
        "sbatch: error: QOSMaxSubmitJobPerUserLimit",
        "sbatch: error: Munge encode failed: Failed to access \"/run/munge.socket\": No such file\n"
            + "sbatch: error: Batch job submission failed: Protocol authentication error",
        "sbatch: fatal: Could not establish a configuration source",
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying",
        "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job"
            + " submit limit, user's size and/or time limits)",
      })
  void notSubmitted(String stderr) {
    assertThat(SbatchAnswer.read(1, "", stderr)).isInstanceOf(NotSubmitted.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1|''|sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "1|''|sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received",
        "1|''|sbatch: error: Batch job submission failed: Unspecified error",
        "1|''|sbatch: error: something nobody has seen",
        "0|''|''",
        "0|'0'|''",
        "0|'job 12 perhaps'|''",
        "137|''|sbatch: error: Invalid node name specified",
        "124|''|''",
        "-1|''|''",
        // both were said: the doubt counts
        "1|''|Unable to contact slurm controller (connect failure) Socket timed out",
      })
  void unknown(int exitCode, String stdout, String stderr) {
    assertThat(SbatchAnswer.read(exitCode, stdout, stderr)).isInstanceOf(Unknown.class);
  }

  @Test
  void sentencesSayWhatSlurmSaid() {
    Refused refused =
        (Refused)
            SbatchAnswer.read(
                1, "", "sbatch: error: Batch job submission failed: Invalid qos specification\n");
    assertThat(refused.sentence())
        .contains("the QOS does not exist")
        .contains("Invalid qos specification");
    Unknown long1 = (Unknown) SbatchAnswer.read(1, "", "x".repeat(10_000_000));
    assertThat(long1.sentence()).hasSizeLessThan(500);
  }

  @Test
  void everyRowOfTheTableHasAMeaning() {
    for (SbatchMessage message : SbatchMessage.values()) {
      assertThat(message.meaning()).isNotBlank();
      assertThat(message.pattern()).isNotBlank();
      assertThat(message.outcome()).isNotNull();
    }
  }
}
