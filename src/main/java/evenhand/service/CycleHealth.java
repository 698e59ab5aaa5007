package evenhand.service;

import evenhand.api.DatabaseAway;
import evenhand.cycle.CycleReport;
import evenhand.cycle.Store;
import java.time.Clock;
import java.time.Duration;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * What the cycle of this process is about: its role, the age of the last reading that could be
 * relied on, what of the outbox is still to be done, and how the last cycle went.
 *
 * <p>Up while it decides, stands by, or is paused. Down when it failed, a rule failed, the store
 * has refused several cycles in a row, the database is away, or there is no reading younger than
 * one may be.
 */
final class CycleHealth extends AbstractHealthIndicator {
  /** A cycle that is overtaken is nothing out of the way; that all are, is. */
  private static final int MOST_OVERTAKEN = 5;

  private final CycleTimer timer;
  private final Store store;
  private final Settings settings;
  private final Clock clock;

  CycleHealth(CycleTimer timer, Store store, Settings settings, Clock clock) {
    this.timer = timer;
    this.store = store;
    this.settings = settings;
    this.clock = clock;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    CycleTimer.Last last = timer.last();
    CycleReport report = last.report();
    health.up();
    health.withDetail("role", role(last));
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
    if (report != null) {
      health.withDetail("lastCycle", report.at().toString());
      health.withDetail("result", report.result().name());
      health.withDetail("wholeMillis", report.wholeMillis());
      if (report.because() != null) {
        health.withDetail("because", report.because());
      }
      if (report.result() == CycleReport.Result.RULE_FAILED) {
        health.down();
      }
      if (report.result() == CycleReport.Result.OVERTAKEN && last.undecided() >= MOST_OVERTAKEN) {
        health
            .down()
            .withDetail(
                "undecided",
                last.undecided()
                    + " cycles in a row were refused by the store, and nothing was decided: "
                    + report.because());
      }
    }
    boolean blind = age == null || age.compareTo(settings.cycle().staleAfter()) > 0;
    if (settings.cycle().enabled() && blind) {
      health.down().withDetail("reading", "there is none, or it is too old to decide on");
    }
    if (last.failure() != null) {
      health.down().withDetail("failure", last.failure());
    }
    try {
      Store.Backlog backlog = store.backlog();
      health.withDetail("outbox", backlog.orders());
      if (backlog.oldest() != null) {
        Duration oldest = Duration.between(backlog.oldest(), clock.instant());
        health.withDetail("outboxOldestSeconds", Math.max(0, oldest.toSeconds()));
      }
    } catch (RuntimeException e) {
      health
          .down()
          .withDetail(
              "database",
              DatabaseAway.is(e) ? DatabaseAway.sentence(e) : String.valueOf(e.getMessage()));
    }
  }

  /** A process that cannot reach the database does not know whether it decides. */
  private static String role(CycleTimer.Last last) {
    if (last.report() == null || last.failure() != null) {
      return "unknown";
    }
    return last.report().result() == CycleReport.Result.STANDBY ? "standby" : "leader";
  }
}
