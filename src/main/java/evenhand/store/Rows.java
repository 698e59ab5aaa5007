package evenhand.store;

import evenhand.cycle.Overtaken;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.function.IntFunction;

/** What rows are written from and read into, and that a write met the rows it was meant for. */
final class Rows {
  private Rows() {}

  static OffsetDateTime time(Instant instant) {
    return instant == null ? null : instant.atOffset(ZoneOffset.UTC);
  }

  static Instant instant(ResultSet rs, String column) throws SQLException {
    OffsetDateTime time = rs.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }

  /** Wants one row to have been written; none means that somebody else was faster. */
  static void one(int count, String what) {
    if (count != 1) {
      throw new Overtaken(what + " has changed since it was read");
    }
  }

  /** Wants one row of each of a batch. */
  static void each(int[] counts, IntFunction<String> what) {
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] != 1 && counts[i] != Statement.SUCCESS_NO_INFO) {
        throw new Overtaken(what.apply(i) + " has changed since it was read");
      }
    }
  }
}
