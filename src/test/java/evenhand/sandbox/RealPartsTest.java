package evenhand.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.io.TempDir;

/** What happens where a real part isn't installed. */
class RealPartsTest {
  private static final String FOLDERS = "evenhand.programFolders";

  private String before;

  @BeforeEach
  void lookForProgramsInAnEmptyFolder(@TempDir Path empty) {
    before = System.getProperty(FOLDERS);
    System.setProperty(FOLDERS, empty.toString());
  }

  @AfterEach
  void lookWhereWeLookedBefore() {
    if (before == null) {
      System.clearProperty(FOLDERS);
    } else {
      System.setProperty(FOLDERS, before);
    }
  }

  @Test
  void absentSlurmIsToldWithTheCommandThatInstallsIt() {
    Availability slurm = SlurmSandbox.available();

    assertThat(slurm.present()).isFalse();
    assertThat(slurm.sentence())
        .contains("slurmctld, slurmd, slurmstepd, munged, sbatch")
        .contains(
            "apt-get install -y --no-install-recommends"
                + " slurmctld slurmd slurm-client munge slurm-wlm-basic-plugins");
    assertThatThrownBy(() -> SlurmSandbox.builder().start()).hasMessage(slurm.sentence());
  }

  @Test
  void everyPartNamesWhatIsMissing() {
    for (RealParts part : RealParts.values()) {
      assertThat(part.availability().present()).as(part.name()).isFalse();
      assertThat(part.availability().sentence()).as(part.name()).contains("apt-get install");
    }
  }

  @Test
  void anAbsentPartSkipsItsTestsWithThatSentence() {
    Availability slurm = SlurmSandbox.available();
    ConditionEvaluationResult result = NeedsRealCondition.judge(RealParts.SLURM, slurm, false);

    assertThat(result.isDisabled()).isTrue();
    assertThat(result.getReason()).contains("Real part absent: SLURM: " + slurm.sentence());
  }

  @Test
  void anAbsentPartFailsItsTestsWhereSkippingIsForbidden() {
    assertThatThrownBy(
            () -> NeedsRealCondition.judge(RealParts.SLURM, SlurmSandbox.available(), true))
        .hasMessageContaining("not found: slurmctld")
        .hasMessageContaining("may not be skipped");
  }

  @Test
  void aPresentPartRunsItsTests() {
    Availability here = Availability.here("Slurm");
    assertThat(NeedsRealCondition.judge(RealParts.SLURM, here, true).isDisabled()).isFalse();
    assertThat(NeedsRealCondition.judge(RealParts.SLURM, here, false).isDisabled()).isFalse();
  }
}
