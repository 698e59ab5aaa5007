package evenhand.store;

import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.time;

import evenhand.cycle.Attempt;
import evenhand.cycle.Changes;
import evenhand.cycle.NodeDrain;
import evenhand.cycle.Stock;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.cycle.accounts.AccountChange;
import evenhand.cycle.events.Event;
import evenhand.cycle.events.EventFilter;
import evenhand.cycle.events.EventLog;
import evenhand.facts.NodeState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.SqlArrayValue;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Events in PostgreSQL. They are written in the transaction that is open, beside the rows that they
 * tell of.
 *
 * <p><b>Order.</b> Ids come from a sequence while transactions are under way, so that a row with a
 * lower id may be committed after one with a higher id, and an id whose transaction was undone
 * never comes. {@link #settled} therefore looks at the ids that are seen and at the server's
 * running transactions in one statement. Where no id is missing, all are settled. Where one is, it
 * waits until every transaction that ran at that look is over ({@code pg_snapshot_xmin} has passed
 * the {@code pg_snapshot_xmax} of the look): what is not there then never comes. That holds because
 * a transaction here takes its number before it takes ids. No transaction numbers are stored, so
 * that a database that was dumped and restored goes on well; and writers never wait for one
 * another.
 */
final class PostgresEvents implements EventLog {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final JdbcClient sql;
  private final JdbcTemplate batch;
  private final TransactionTemplate writing;
  private long settled = -1;
  private Look open;

  PostgresEvents(PostgresDatabase db) {
    this.sql = db.sql();
    this.batch = db.batch();
    this.writing = db.writing();
  }

  /**
   * One look at the table and at the server's transactions.
   *
   * @param last highest id that is seen
   * @param rows how many are seen above what was settled before
   * @param oldest no transaction below it still runs, {@code next}: none from it on has begun
   */
  private record Look(long last, long rows, long oldest, long next) {}

  @Override
  public synchronized long settled() {
    Look look =
        sql.sql(
                """
                select coalesce(max(id), 0) as last, count(*) as rows,
                       pg_snapshot_xmin(pg_current_snapshot())::text::bigint as oldest,
                       pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next
                from events where id > ?
                """)
            .param(settled)
            .query(
                (rs, n) ->
                    new Look(
                        rs.getLong("last"),
                        rs.getLong("rows"),
                        rs.getLong("oldest"),
                        rs.getLong("next")))
            .single();
    if (open != null && look.oldest() >= open.next()) {
      settled = Math.max(settled, open.last());
      open = null;
      return settled();
    }
    boolean whole = settled >= 0 && look.last() - settled == look.rows();
    if (look.rows() == 0 && settled >= 0) {
      open = null;
    } else if (whole || look.oldest() == look.next()) {
      // Nothing is missing, or nobody is under way who could still bring it.
      settled = Math.max(Math.max(settled, look.last()), 0);
      open = null;
    } else if (open == null) {
      open = look;
    }
    return Math.max(settled, 0);
  }

  private static final String COLUMNS =
      "select id, at, kind, job_id, account_id, node_name, message, data from events ";

  private static final RowMapper<Event> EVENT =
      (rs, n) ->
          new Event(
              rs.getLong("id"),
              instant(rs, "at"),
              Event.Kind.valueOf(rs.getString("kind").toUpperCase(Locale.ROOT)),
              rs.getString("job_id"),
              rs.getString("account_id"),
              rs.getString("node_name"),
              rs.getString("message"),
              JSON.readValue(rs.getString("data"), new TypeReference<Map<String, Object>>() {}));

  private JdbcClient.StatementSpec filtered(String range, EventFilter filter, String order) {
    return sql.sql(
            COLUMNS
                + range
                + (filter.kinds().isEmpty() ? "" : " and kind = any (:kinds)")
                + (filter.account() == null ? "" : " and account_id = :account")
                + (filter.job() == null ? "" : " and job_id = :job")
                + order)
        .param(
            "kinds",
            new SqlArrayValue("text", filter.kinds().stream().map(Event.Kind::word).toArray()))
        .param("account", filter.account())
        .param("job", filter.job() == null ? null : Long.valueOf(filter.job()));
  }

  @Override
  public List<Event> forward(long after, long upTo, EventFilter filter, int limit) {
    return filtered("where id > :after and id <= :upTo", filter, " order by id limit " + limit)
        .param("after", after)
        .param("upTo", upTo)
        .query(EVENT)
        .list();
  }

  @Override
  public List<Event> back(EventFilter filter, int limit, long before) {
    return filtered("where id < :before", filter, " order by id desc limit " + limit)
        .param("before", before)
        .query(EVENT)
        .list();
  }

  @Override
  public Optional<Cursor> cursor(String hook) {
    return sql.sql(
            """
            select hook, last_event, tries, failing_since, next_try_at, answer
            from webhook_cursors where hook = ?
            """)
        .param(hook)
        .query(
            (rs, n) ->
                new Cursor(
                    rs.getString("hook"),
                    rs.getLong("last_event"),
                    rs.getInt("tries"),
                    instant(rs, "failing_since"),
                    instant(rs, "next_try_at"),
                    rs.getString("answer")))
        .optional();
  }

  @Override
  public boolean move(Cursor now, Long was) {
    return writing.execute(
            tx ->
                was == null
                    ? sql.sql(
                            """
                            insert into webhook_cursors (hook, last_event) values (?, ?)
                            on conflict do nothing
                            """)
                        .params(now.hook(), now.last())
                        .update()
                    : sql.sql(
                            """
                            update webhook_cursors
                            set last_event = ?, tries = ?, failing_since = cast(? as timestamptz),
                                next_try_at = cast(? as timestamptz), answer = ?
                            where hook = ? and last_event = ?
                            """)
                        .params(
                            now.last(),
                            now.tries(),
                            time(now.failingSince()),
                            time(now.nextTryAt()),
                            now.answer(),
                            now.hook(),
                            was)
                        .update())
        == 1;
  }

  /** What these changes bring; before they are written, for it reads what stood until now. */
  void write(Changes changes) {
    List<StoredJob> jobs = changes.jobs();
    List<Attempt> attempts = changes.attempts();
    List<NodeDrain> drains = changes.drains().stream().filter(d -> d.id() != 0).toList();
    write(
        new EventsOfChanges(
                changes,
                jobs.isEmpty() ? Map.of() : jobs(jobs),
                attempts.isEmpty() ? Map.of() : attempts(attempts),
                drains.isEmpty() ? Map.of() : drains(drains))
            .events());
  }

  private Map<Long, EventsOfChanges.JobBefore> jobs(List<StoredJob> now) {
    Map<Long, EventsOfChanges.JobBefore> before = new HashMap<>();
    sql.sql("select id, state, reserved_gpus, reserved_node_name from jobs where id = any (?)")
        .param(new SqlArrayValue("bigint", now.stream().map(StoredJob::id).toArray()))
        .query(
            rs -> {
              before.put(
                  rs.getLong("id"),
                  new EventsOfChanges.JobBefore(
                      rs.getString("state"),
                      rs.getInt("reserved_gpus"),
                      rs.getString("reserved_node_name")));
            });
    return before;
  }

  private Map<Attempt.Victim, EventsOfChanges.AttemptBefore> attempts(List<Attempt> now) {
    Map<Attempt.Victim, EventsOfChanges.AttemptBefore> before = new HashMap<>();
    sql.sql(
            """
            select job_id, attempt, started_at, preempt_for from attempts
            where job_id = any (?) and ended_at is null
            """)
        .param(new SqlArrayValue("bigint", now.stream().map(Attempt::job).toArray()))
        .query(
            rs -> {
              before.put(
                  new Attempt.Victim(rs.getLong("job_id"), rs.getInt("attempt")),
                  new EventsOfChanges.AttemptBefore(
                      instant(rs, "started_at"), rs.getString("preempt_for")));
            });
    return before;
  }

  private Map<Long, EventsOfChanges.DrainBefore> drains(List<NodeDrain> now) {
    Map<Long, EventsOfChanges.DrainBefore> before = new HashMap<>();
    sql.sql("select id, reason, empty_since, ended_at from node_drains where id = any (?)")
        .param(new SqlArrayValue("bigint", now.stream().map(NodeDrain::id).toArray()))
        .query(
            rs -> {
              before.put(
                  rs.getLong("id"),
                  new EventsOfChanges.DrainBefore(
                      rs.getString("reason"),
                      instant(rs, "empty_since") != null,
                      instant(rs, "ended_at") != null));
            });
    return before;
  }

  /** A job that was put in the queue just now. */
  void submitted(Store.Added added) {
    write(List.of(EventsOfChanges.submitted(added.record().job())));
  }

  /** A change of the account tree that was written just now. */
  void changed(AccountChange change) {
    if (change.kind().ofWeight()) {
      write(List.of(EventsOfChanges.weight(change)));
    }
  }

  /**
   * Nodes that went away or came back with a reading.
   *
   * @param noted what is known of the inventory until then
   */
  void seen(List<Stock> noted, List<Stock> seen, Instant at) {
    Map<String, Boolean> wasDown = new HashMap<>();
    noted.forEach(s -> wasDown.merge(s.node(), s.state() == NodeState.DOWN, Boolean::logicalAnd));
    Map<String, Stock> there = new TreeMap<>();
    Map<String, Stock> down = new TreeMap<>();
    for (Stock stock : seen) {
      (stock.state() == NodeState.DOWN ? down : there).putIfAbsent(stock.node(), stock);
    }
    wasDown.keySet().stream()
        .filter(node -> !there.containsKey(node) && !down.containsKey(node))
        .forEach(node -> down.put(node, new Stock(node, null, 0, NodeState.DOWN, Stock.GONE)));
    List<Event> events = new ArrayList<>();
    down.forEach(
        (node, stock) -> {
          if (!there.containsKey(node) && !wasDown.getOrDefault(node, false)) {
            events.add(EventsOfChanges.node(at, stock));
          }
        });
    there.forEach(
        (node, stock) -> {
          if (wasDown.getOrDefault(node, false)) {
            events.add(EventsOfChanges.node(at, stock));
          }
        });
    write(events);
  }

  /** Forgets events older than this. */
  void forget(Instant limit) {
    sql.sql("delete from events where at < ?").param(time(limit)).update();
  }

  private void write(List<Event> events) {
    if (events.isEmpty()) {
      return;
    }
    List<Object[]> rows = new ArrayList<>(events.size());
    for (Event e : events) {
      rows.add(
          new Object[] {
            time(e.at()),
            e.kind().word(),
            e.job() == null ? null : Long.valueOf(e.job()),
            e.account(),
            e.node(),
            e.message(),
            JSON.writeValueAsString(e.data())
          });
    }
    // Its number first: settled() counts on it.
    sql.sql("select pg_current_xact_id()::text").query(String.class).single();
    batch.batchUpdate(
        """
        insert into events (at, kind, job_id, account_id, node_name, message, data)
        select v.at, v.kind, v.job_id, coalesce(v.account_id, j.account_id), v.node_name, v.message,
               v.data
        from (values (cast(? as timestamptz), ?, cast(? as bigint), cast(? as text),
                      cast(? as text), ?, cast(? as jsonb)))
             v (at, kind, job_id, account_id, node_name, message, data)
             left join jobs j on j.id = v.job_id
        """,
        rows);
  }
}
