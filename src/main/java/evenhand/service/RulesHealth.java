package evenhand.service;

import evenhand.policy.PolicyFault;
import evenhand.rollout.Rollout;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * How the rules stand. Up also while those at hand do not pass their check, for those in force
 * decide all the same; degraded when a rule has failed and the policy before has taken over.
 */
final class RulesHealth extends AbstractHealthIndicator {
  private static final int MOST_FAULTS = 10;
  private final Rollout rollout;

  RulesHealth(Rollout rollout) {
    this.rollout = rollout;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    Rollout.Status status = rollout.status();
    health
        .up()
        .withDetail("policy", status.inForce().policy())
        .withDetail("hash", rollout.inForce().get().hash())
        .withDetail(
            "rules",
            !status.faults().isEmpty()
                ? "fault"
                : status.candidate() != null ? "changed, not applied" : "in force");
    if (status.candidate() != null) {
      health.withDetail("candidate", status.candidate());
    }
    if (!status.faults().isEmpty()) {
      health.withDetail(
          "faults",
          status.faults().stream().limit(MOST_FAULTS).map(PolicyFault.Fault::toString).toList());
    }
    if (status.alarm() != null) {
      health.status("DEGRADED").withDetail("alarm", status.alarm());
    }
  }
}
