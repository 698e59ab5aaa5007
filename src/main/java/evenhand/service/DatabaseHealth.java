package evenhand.service;

import evenhand.api.DatabaseAway;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Whether the database answers; why not is one sentence. In the log it is told by the cycle, once,
 * and not each time that somebody asks.
 */
final class DatabaseHealth extends AbstractHealthIndicator {
  private static final int ANSWERS_WITHIN_SECONDS = 5;

  private final DataSource source;

  DatabaseHealth(DataSource source) {
    this.source = source;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    try (Connection connection = source.getConnection()) {
      health
          .status(connection.isValid(ANSWERS_WITHIN_SECONDS) ? "UP" : "DOWN")
          .withDetail("database", connection.getMetaData().getDatabaseProductName())
          .withDetail("validationQuery", "isValid()");
    } catch (SQLException e) {
      health.down().withDetail("error", DatabaseAway.sentence(e));
    }
  }
}
