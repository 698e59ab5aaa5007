package evenhand.store;

import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.time;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Books;
import evenhand.cycle.accounts.AccountBook;
import evenhand.cycle.accounts.AccountChange;
import evenhand.cycle.accounts.GpuTime;
import evenhand.cycle.accounts.InUse;
import evenhand.facts.Account;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

/** The account tree in PostgreSQL. Its methods run in the transaction that is open, if one is. */
final class PostgresAccounts implements AccountBook {
  /** Names the right to change the tree among the advisory locks of a database. */
  private static final long TREE_LOCK = 0x6163636f756e7473L;

  private final JdbcClient sql;
  private final TransactionTemplate writing;
  private final TransactionTemplate reading;

  PostgresAccounts(PostgresDatabase db) {
    this.sql = db.sql();
    this.writing = db.writing();
    this.reading = db.reading();
  }

  /** Makes the accounts of the settings; once a tree was applied, it moves none any more. */
  void setUp(List<AccountSetup> accounts, Instant now) {
    sql.sql("select pg_advisory_xact_lock(?)").param(TREE_LOCK).query().listOfRows();
    boolean applied =
        sql.sql("select tree_applied_at is not null from meta").query(Boolean.class).single();
    for (AccountSetup account : accounts) {
      if (account.parent() != null && parentOf(account.parent()).isEmpty()) {
        throw new IllegalArgumentException(
            "account " + account.id() + ": its parent " + account.parent() + " is not known");
      }
      Optional<Optional<String>> before = parentOf(account.id());
      String above = account.parent();
      if (before.isEmpty()) {
        write(
            change(
                now,
                account.id(),
                AccountChange.Kind.ADDED,
                null,
                Double.toString(account.weight()),
                above));
      } else if (!applied && !before.get().equals(Optional.ofNullable(above))) {
        write(
            change(
                now,
                account.id(),
                AccountChange.Kind.MOVED,
                before.get().orElse(null),
                above,
                above));
      }
    }
  }

  private static AccountChange change(
      Instant at, String id, AccountChange.Kind kind, String was, String became, String parent) {
    return new AccountChange(
        0, at, id, kind, was, became, parent, "settings", "the settings of the service");
  }

  /** Empty when there is no such account; its parent is empty at the top. */
  private Optional<Optional<String>> parentOf(String account) {
    return sql.sql("select parent from accounts where id = ?")
        .param(account)
        .query((rs, n) -> Optional.ofNullable(rs.getString("parent")))
        .optional();
  }

  /** Every account, retired ones too, with nothing in its window. */
  List<Account> all() {
    return sql.sql("select id, parent, weight, cumulative_usage from accounts order by id")
        .query(
            (rs, n) ->
                new Account(
                    rs.getString("id"),
                    rs.getString("parent"),
                    rs.getDouble("weight"),
                    rs.getDouble("cumulative_usage"),
                    0))
        .list();
  }

  /**
   * The accounts a cycle reads.
   *
   * @param withWork ids of those with jobs that are not over
   * @param window charged run time since then is summed; null: none is
   */
  InUse inUse(Set<String> withWork, Instant window) {
    Set<String> retired =
        new HashSet<>(
            sql.sql("select id from accounts where retired_at is not null")
                .query(String.class)
                .list());
    return InUse.of(all(), retired, withWork, window == null ? Map.of() : usedSince(window));
  }

  /**
   * Charged run time since a moment, by account: whole hours as they were summed when they were
   * charged, and the hour at the far edge cut from its rows. Equal to the sum over all rows, to the
   * microsecond.
   */
  private Map<String, GpuTime> usedSince(Instant window) {
    Instant hour = window.truncatedTo(ChronoUnit.HOURS);
    Instant whole = hour.equals(window) ? hour : hour.plus(1, ChronoUnit.HOURS);
    Map<String, GpuTime> used = new HashMap<>();
    sql.sql(
            """
            select account_id, tflops, sum(gpu_us)::bigint as gpu_us
            from (
                select account_id, tflops, gpu_us from usage_hours where hour >= :whole
                union all
                select account_id, row_price(tflops, tflop_s, gpu_s),
                       gpu_micros(gpus, greatest(from_at, :window), least(to_at, :whole))
                from ledger
                where kind = 'run' and charge_id is not null
                  and tstzrange(from_at, to_at) && tstzrange(:window, :whole)
            ) parts
            group by account_id, tflops
            """)
        .param("window", time(window))
        .param("whole", time(whole))
        .query(
            rs -> {
              used.computeIfAbsent(rs.getString("account_id"), a -> new GpuTime())
                  .add(rs.getDouble("tflops"), rs.getLong("gpu_us"));
            });
    return used;
  }

  @Override
  public List<Entry> entries() {
    return sql.sql(
            """
            select a.id, a.parent, a.weight, a.retired_at,
                   array(select user_name from account_owners o where o.account_id = a.id) as owners,
                   array(select user_name from account_users u where u.account_id = a.id) as users
            from accounts a
            order by a.id
            """)
        .query(
            (rs, n) ->
                new Entry(
                    rs.getString("id"),
                    rs.getString("parent"),
                    rs.getDouble("weight"),
                    names(rs, "owners"),
                    names(rs, "users"),
                    instant(rs, "retired_at")))
        .list();
  }

  private static List<String> names(ResultSet rs, String column) throws SQLException {
    return Arrays.asList((String[]) rs.getArray(column).getArray());
  }

  private static final String CHANGES =
      "select id, at, account_id, kind, was, became, parent, made_by, reason from account_changes";

  private static final RowMapper<AccountChange> CHANGE =
      (rs, n) ->
          new AccountChange(
              rs.getLong("id"),
              instant(rs, "at"),
              rs.getString("account_id"),
              AccountChange.Kind.valueOf(rs.getString("kind").toUpperCase(Locale.ROOT)),
              rs.getString("was"),
              rs.getString("became"),
              rs.getString("parent"),
              rs.getString("made_by"),
              rs.getString("reason"));

  @Override
  public List<AccountChange> changes(String of, String below, int limit, long before) {
    return sql.sql(
            CHANGES
                + """
                 where id < :before
                  and (cast(:of as text) is null or account_id = :of)
                  and (cast(:below as text) is null or parent = :below)
                order by id desc limit :limit
                """)
        .param("of", of)
        .param("below", below)
        .param("before", before)
        .param("limit", limit)
        .query(CHANGE)
        .list();
  }

  @Override
  public List<AccountChange> changesSince(Instant after) {
    return sql.sql(CHANGES + " where at > ? order by id desc")
        .param(time(after))
        .query(CHANGE)
        .list();
  }

  @Override
  public List<AccountChange> change(Function<List<Entry>, Amendment> work) {
    return writing.execute(
        tx -> {
          sql.sql("select pg_advisory_xact_lock(?)").param(TREE_LOCK).query().listOfRows();
          Amendment amendment = work.apply(entries());
          if (amendment.wholeTree() && !amendment.changes().isEmpty()) {
            Rows.one(
                sql.sql("update meta set tree_applied_at = ?")
                    .param(time(amendment.changes().get(0).at()))
                    .update(),
                "that a tree was applied");
          }
          return amendment.changes().stream().map(this::write).toList();
        });
  }

  /** Writes a change down and what it changes. */
  private AccountChange write(AccountChange c) {
    switch (c.kind()) {
      case ADDED ->
          one(
              c,
              sql.sql("insert into accounts (id, parent, weight, created_at) values (?, ?, ?, ?)")
                  .params(c.account(), c.parent(), c.weightBecame(), time(c.at())));
      case WEIGHT ->
          one(
              c,
              sql.sql("update accounts set weight = ? where id = ? and retired_at is null")
                  .params(c.weightBecame(), c.account()));
      case MOVED ->
          one(
              c,
              sql.sql("update accounts set parent = ? where id = ?")
                  .params(c.became(), c.account()));
      case RETIRED ->
          one(
              c,
              sql.sql("update accounts set weight = 0, retired_at = ? where id = ?")
                  .params(time(c.at()), c.account()));
      case RESTORED ->
          one(
              c,
              sql.sql("update accounts set weight = ?, retired_at = null where id = ?")
                  .params(c.weightBecame(), c.account()));
      case OWNERS -> names("account_owners", c);
      case USERS -> names("account_users", c);
    }
    long id =
        sql.sql(
                """
                insert into account_changes
                       (at, account_id, kind, was, became, parent, made_by, reason)
                values (?, ?, ?, ?, ?, ?, ?, ?)
                returning id
                """)
            .params(
                time(c.at()),
                c.account(),
                c.kind().word(),
                c.was(),
                c.became(),
                c.parent(),
                c.by(),
                c.reason())
            .query(Long.class)
            .single();
    return c.written(id);
  }

  private static void one(AccountChange c, JdbcClient.StatementSpec statement) {
    Rows.one(statement.update(), "account " + c.account());
  }

  /**
   * @param table one of the two that have account_id and user_name
   */
  private void names(String table, AccountChange c) {
    sql.sql("delete from " + table + " where account_id = ?").param(c.account()).update();
    // A person has one account: whoever comes to this one leaves the other.
    String conflict =
        table.equals("account_users")
            ? " on conflict (user_name) do update set account_id = excluded.account_id"
            : "";
    for (String name : c.namesBecame()) {
      one(
          c,
          sql.sql("insert into " + table + " (account_id, user_name) values (?, ?)" + conflict)
              .params(c.account(), name));
    }
  }

  @Override
  public List<HourUse> usage(Instant from, Instant to) {
    return sql.sql(
            """
            select account_id, hour, tflops, gpu_us from usage_hours where hour >= ? and hour < ?
            """)
        .params(time(from), time(to))
        .query(
            (rs, n) ->
                new HourUse(
                    rs.getString("account_id"),
                    instant(rs, "hour"),
                    rs.getDouble("tflops"),
                    rs.getLong("gpu_us")))
        .list();
  }

  @Override
  public List<HourUse> demand(Instant from, Instant to) {
    return sql.sql("select account_id, hour, gpu_us from demand_hours where hour >= ? and hour < ?")
        .params(time(from), time(to))
        .query(
            (rs, n) ->
                new HourUse(
                    rs.getString("account_id"), instant(rs, "hour"), 0, rs.getLong("gpu_us")))
        .list();
  }

  @Override
  public List<Books.Span> spans(Instant from, Instant to) {
    return sql.sql(
            """
            select s.id, s.node_name, t.name as tier, s.capacity, s.state, s.outside, s.from_at,
                   s.to_at
            from placement_spans s join gpu_tiers t on t.id = s.tier_id
            where (s.to_at is null or s.to_at > ?) and s.from_at < ? and t.configured
            order by s.id
            """)
        .params(time(from), time(to))
        .query(PostgresInventory.SPAN)
        .list();
  }

  @Override
  public Map<String, Integer> openJobs() {
    Map<String, Integer> open = new HashMap<>();
    sql.sql(
            """
            select account_id, count(*) as jobs from jobs
            where state in ('GLOBAL_QUEUE_WAIT', 'DISPATCHING', 'RUNNING')
            group by account_id
            """)
        .query(
            rs -> {
              open.put(rs.getString("account_id"), rs.getInt("jobs"));
            });
    return open;
  }

  @Override
  public <T> T atOneMoment(Function<AccountBook, T> reader) {
    return reading.execute(tx -> reader.apply(this));
  }
}
