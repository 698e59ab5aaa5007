package evenhand.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The sandbox itself: what tests of the service rely on, tried on the real daemons. */
@RealSlurm(slurmdTimeoutSeconds = 5)
class SlurmSandboxTest {
  @Test
  void comesUp(SlurmSandbox slurm) {
    assertThat(slurm.nodeStates().values()).containsOnly("idle").hasSize(4);
  }
}
