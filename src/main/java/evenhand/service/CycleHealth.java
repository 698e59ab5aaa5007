package evenhand.service;

import evenhand.cycle.CycleReport;
import java.time.Clock;
import java.time.Duration;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Up while the cycle decides, stands by, or is paused. Down when it failed, a rule failed, or the
 * cluster could not be read for as long as a reading may be old.
 */
final class CycleHealth extends AbstractHealthIndicator {
  private final CycleTimer timer;
  private final Settings settings;
  private final Clock clock;

  CycleHealth(CycleTimer timer, Settings settings, Clock clock) {
    this.timer = timer;
    this.settings = settings;
    this.clock = clock;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    CycleTimer.Last last = timer.last();
    CycleReport report = last.report();
    health.up();
    if (!settings.cycle().enabled()) {
      health.withDetail("cycle", "paused");
    }
    Duration age =
        last.goodReadingAt() == null
            ? null
            : Duration.between(last.goodReadingAt(), clock.instant());
    if (age != null) {
      health.withDetail("readingAgeSeconds", age.toSeconds());
    }
    if (last.failure() != null) {
      health.down().withDetail("failure", last.failure());
    }
    if (report == null) {
      return;
    }
    health.withDetail("lastCycle", report.at().toString());
    health.withDetail("result", report.result().name());
    health.withDetail("wholeMillis", report.wholeMillis());
    if (report.because() != null) {
      health.withDetail("because", report.because());
    }
    boolean blind =
        report.result() == CycleReport.Result.NO_READING
            && (age == null || age.compareTo(settings.cycle().staleAfter()) > 0);
    if (blind || report.result() == CycleReport.Result.RULE_FAILED) {
      health.down();
    }
  }
}
