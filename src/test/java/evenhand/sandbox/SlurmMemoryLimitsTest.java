package evenhand.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

@RealSlurm(memoryLimits = true)
class SlurmMemoryLimitsTest {

  @Test
  void aJobThatTakesMoreMemoryThanItAskedForEndsOutOfMemory(SlurmSandbox slurm) {
    // tail keeps a file without line ends in memory, here 300 MB of it
    String greedy = slurm.submit("head -c 300M /dev/zero | tail >/dev/null", "--mem=40M");
    String modest = slurm.submit("true", "--mem=40M");

    slurm.awaitJob(greedy, "OUT_OF_MEMORY", Duration.ofSeconds(30));
    slurm.awaitJob(modest, "COMPLETED", Duration.ofSeconds(30));
    assertThat(slurm.run("scontrol", "show", "job", greedy))
        .contains("Reason=OutOfMemory", "ExitCode=0:125");
  }
}
