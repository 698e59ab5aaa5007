package evenhand.store;

import static evenhand.store.Rows.each;
import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.time;

import evenhand.cycle.Changes;
import evenhand.cycle.Order;
import evenhand.cycle.Store;
import evenhand.cycle.Token;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Orders to the outside, written with the decision that made them. */
final class PostgresOutbox {
  private final JdbcClient sql;
  private final JdbcTemplate batch;
  private final String installation;

  PostgresOutbox(PostgresDatabase db, String installation) {
    this.sql = db.sql();
    this.batch = db.batch();
    this.installation = installation;
  }

  void write(Changes changes) {
    List<Object[]> written = new ArrayList<>();
    for (Order o : changes.written()) {
      written.add(
          new Object[] {
            word(o.kind()),
            o.token().job(),
            o.token().attempt(),
            o.node(),
            o.tier(),
            o.gpus(),
            time(o.createdAt()),
            time(o.nextTryAt())
          });
    }
    batch.batchUpdate(
        """
        insert into outbox (kind, job_id, attempt, node_name, tier, gpus, created_at, next_try_at)
        values (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        written);
    List<Order> orders = changes.orders();
    List<Object[]> rows = new ArrayList<>(orders.size());
    for (Order o : orders) {
      rows.add(
          new Object[] {
            o.tries(),
            o.inDoubt(),
            time(o.nextTryAt()),
            time(o.triedAt()),
            o.answer(),
            time(o.closedAt()),
            o.id(),
            o.tries() - 1,
            o.tries()
          });
    }
    each(
        batch.batchUpdate(
            """
            update outbox
            set tries = ?, in_doubt = ?, next_try_at = ?, tried_at = cast(? as timestamptz),
                answer = ?, closed_at = cast(? as timestamptz)
            where id = ? and closed_at is null and tries between ? and ?
            """,
            rows),
        i -> "order " + orders.get(i).id());
    List<Object[]> finished = new ArrayList<>();
    for (Changes.Finish f : changes.finished()) {
      String kind = f.kind() == null ? null : word(f.kind());
      finished.add(
          new Object[] {
            time(changes.at()), f.because(), f.token().job(), f.token().attempt(), kind, kind
          });
    }
    batch.batchUpdate(
        """
        update outbox set closed_at = ?, answer = ?, in_doubt = false
        where job_id = ? and attempt = ? and closed_at is null
          and (cast(? as text) is null or kind = ?)
        """,
        finished);
    batch.batchUpdate(
        """
        update outbox set next_try_at = ?
        where kind = 'submit' and job_id = ? and attempt = ? and closed_at is null
        """,
        changes.hurried().stream()
            .map(token -> new Object[] {time(changes.at()), token.job(), token.attempt()})
            .toList());
  }

  private Order order(ResultSet rs) throws SQLException {
    return new Order(
        rs.getLong("id"),
        Order.Kind.valueOf(rs.getString("kind").toUpperCase(Locale.ROOT)),
        new Token(installation, rs.getLong("job_id"), rs.getInt("attempt")),
        rs.getString("node_name"),
        rs.getString("tier"),
        rs.getInt("gpus"),
        instant(rs, "created_at"),
        rs.getInt("tries"),
        rs.getBoolean("in_doubt"),
        instant(rs, "next_try_at"),
        instant(rs, "tried_at"),
        rs.getString("answer"),
        instant(rs, "closed_at"));
  }

  private static String word(Order.Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  List<Order> due(Instant now, int limit) {
    List<Order> due = new ArrayList<>();
    for (Order.Kind kind : Order.Kind.values()) {
      due.addAll(
          sql.sql(
                  """
                  select id, kind, job_id, attempt, node_name, tier, gpus, created_at, tries,
                         in_doubt, next_try_at, tried_at, answer, closed_at
                  from outbox
                  where closed_at is null and next_try_at <= ? and kind = ?
                  order by id limit ?
                  """)
              .params(time(now), word(kind), limit)
              .query((rs, n) -> order(rs))
              .list());
    }
    return due;
  }

  Store.Backlog backlog() {
    return sql.sql("select count(*), min(created_at) as oldest from outbox where closed_at is null")
        .query((rs, n) -> new Store.Backlog(rs.getInt(1), instant(rs, "oldest")))
        .single();
  }

  Optional<Order> open(Order.Kind kind, Token token) {
    return sql.sql(
            """
            select id, kind, job_id, attempt, node_name, tier, gpus, created_at, tries, in_doubt,
                   next_try_at, tried_at, answer, closed_at
            from outbox
            where closed_at is null and kind = ? and job_id = ? and attempt = ?
            order by id limit 1
            """)
        .params(word(kind), token.job(), token.attempt())
        .query((rs, n) -> order(rs))
        .optional();
  }

  /** Forgets closed orders from before then. */
  void forget(OffsetDateTime limit) {
    // An order to submit stays as long as its attempt is open: there is never a second one.
    sql.sql(
            """
            delete from outbox o
            where o.closed_at < ?
              and not exists (select 1 from attempts a
                              where a.job_id = o.job_id and a.attempt = o.attempt
                                and a.ended_at is null)
            """)
        .param(limit)
        .update();
  }
}
