package evenhand.service;

import evenhand.cycle.CycleReport;
import evenhand.policy.Policy;
import evenhand.rollout.Rollout;
import evenhand.rollout.Shadow;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Exchanges the policy between cycles, and counts what becomes of rules. */
final class RulesBesideCycle implements BesideCycle {
  private final Rollout rollout;
  private final Shadow shadow;
  private final MultiGauge info;
  private String shown;

  RulesBesideCycle(Rollout rollout, Shadow shadow, MeterRegistry meters) {
    this.rollout = rollout;
    this.shadow = shadow;
    this.info =
        MultiGauge.builder("evenhand.policy.info")
            .description("1, with the name and hash of the policy that decides")
            .register(meters);
    FunctionCounter.builder("evenhand.policy.faults", rollout, Rollout::faultsFound)
        .description("how often changed rules did not pass their check")
        .register(meters);
    FunctionCounter.builder("evenhand.policy.fallbacks", rollout, Rollout::fellBack)
        .description("how often a rule failed and the policy before took over")
        .register(meters);
    Gauge.builder("evenhand.policy.faulty", rollout, r -> r.status().faults().size())
        .description(
            "how many faults the rules at hand have; they cannot decide while there are any")
        .register(meters);
    Gauge.builder("evenhand.policy.alarm", rollout, r -> r.status().alarm() == null ? 0 : 1)
        .description("1 while a rule has failed in use, or the policy in force cannot be loaded")
        .register(meters);
    FunctionCounter.builder("evenhand.shadow.dropped", shadow, Shadow::dropped)
        .description("decisions that were not made again beside, for it did not keep up")
        .register(meters);
    show();
  }

  private void show() {
    Policy policy = rollout.inForce().get();
    if (!policy.hash().equals(shown)) {
      shown = policy.hash();
      info.register(
          List.of(MultiGauge.Row.of(Tags.of("policy", policy.name(), "hash", policy.hash()), 1)),
          true);
    }
  }

  @Override
  public void before() {
    rollout.follow();
    show();
  }

  @Override
  public void after(CycleReport report) {
    shadow.decided(report);
    rollout.decided(report);
  }

  @Override
  public void forget(Duration olderThan, Instant now) {
    rollout.forget(olderThan, now);
  }
}
