package evenhand.store;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessResourceFailureException;

/** The right to decide: a lock of a session of its own, and an epoch that tells holders apart. */
final class Lead implements AutoCloseable {
  /** Names the right to decide among the advisory locks of a database. */
  private static final long LEAD_LOCK = 0x6576656e68616e64L;

  private final DataSource source;
  private final Duration lease;
  private final Runnable taken;
  private ScheduledExecutorService heart;
  private Connection lead;
  private volatile long epoch = -1;

  /**
   * @param lease after so long without a sign of life the right goes to another process
   * @param taken told each time this process takes it
   */
  Lead(DataSource source, Duration lease, Runnable taken) {
    this.source = source;
    this.lease = lease;
    this.taken = taken;
  }

  /** The epoch in which this process has the right; -1 while it has not. */
  long epoch() {
    return epoch;
  }

  /** Takes or keeps the right; see {@code Store.lead}. */
  synchronized boolean lead() {
    try {
      if (lead != null && lead.isValid((int) Math.max(1, lease.toSeconds()))) {
        return true;
      }
      drop();
      Connection connection = source.getConnection();
      try {
        if (!take(connection)) {
          connection.close();
          return false;
        }
      } catch (SQLException e) {
        discard(connection);
        throw e;
      }
      lead = connection;
      taken.run();
      beat();
      return true;
    } catch (SQLException e) {
      drop();
      throw new DataAccessResourceFailureException(
          "the database cannot be reached: " + e.getMessage(), e);
    }
  }

  /**
   * Takes the lock on this connection, and a new epoch with it. The lock is the session's: it is
   * free when the process dies. A process that is frozen keeps its session, so the server ends one
   * that has not been heard of for a lease.
   */
  private boolean take(Connection connection) throws SQLException {
    try (PreparedStatement ask = connection.prepareStatement("select pg_try_advisory_lock(?)")) {
      ask.setLong(1, LEAD_LOCK);
      try (ResultSet answer = ask.executeQuery()) {
        if (!answer.next() || !answer.getBoolean(1)) {
          return false;
        }
      }
    }
    try (Statement sql = connection.createStatement()) {
      sql.execute("set idle_session_timeout = " + lease.toMillis());
      try (ResultSet answer =
          sql.executeQuery(
              "update meta set leader_epoch = leader_epoch + 1 returning leader_epoch")) {
        answer.next();
        epoch = answer.getLong(1);
      }
    }
    return true;
  }

  /** From now on the session is heard of, for as long as this process runs at all. */
  private void beat() {
    if (heart == null) {
      heart =
          Executors.newSingleThreadScheduledExecutor(
              task -> {
                Thread thread = new Thread(task, "lead");
                thread.setDaemon(true);
                return thread;
              });
      long pause = lease.toMillis() / 5;
      heart.scheduleWithFixedDelay(this::hold, pause, pause, TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void hold() {
    try {
      if (lead != null && !lead.isValid((int) Math.max(1, lease.toSeconds()))) {
        drop();
      }
    } catch (SQLException e) {
      drop();
    }
  }

  /** Gives the right to decide back. */
  @Override
  public synchronized void close() {
    if (heart != null) {
      heart.shutdownNow();
    }
    drop();
  }

  private void drop() {
    epoch = -1;
    if (lead != null) {
      discard(lead);
      lead = null;
    }
  }

  /** Ends the session: back in a pool it would keep the lock, and nobody could decide any more. */
  private void discard(Connection connection) {
    try {
      if (source instanceof HikariDataSource pool) {
        pool.evictConnection(connection);
      } else {
        connection.abort(Runnable::run);
      }
      connection.close();
    } catch (SQLException e) {
      // It was lost already, which is why it is dropped.
    }
  }
}
