package evenhand.store;

import com.zaxxer.hikari.HikariDataSource;
import evenhand.cycle.AccountSetup;
import evenhand.cycle.Attempt;
import evenhand.cycle.Books;
import evenhand.cycle.Changes;
import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.cycle.NodeDrain;
import evenhand.cycle.Order;
import evenhand.cycle.Overtaken;
import evenhand.cycle.Stock;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.cycle.World;
import evenhand.cycle.accounts.AccountBook;
import evenhand.cycle.accounts.InUse;
import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.outcomes.Decision;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jdbc.support.SqlArrayValue;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** The store on PostgreSQL, its tables made by the migrations beside it. */
public final class PostgresStore implements Store, AutoCloseable {
  /** Names the right to decide among the advisory locks of a database. */
  private static final long LEAD_LOCK = 0x6576656e68616e64L;

  /** So many decisions, and for so long, are packed against one before another takes its place. */
  private static final int MOST_FOLLOWERS = 500;

  private static final Duration BASE_LASTS = Duration.ofHours(6);

  /** Rows that a cursor brings at once. */
  private static final int FETCH = 1000;

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final DataSource source;
  private final JdbcClient sql;
  private final JdbcTemplate batch;
  private final TransactionTemplate writing;
  private final TransactionTemplate reading;
  private final PostgresAccounts tree;
  private final String installation;
  private final Duration lease;
  private ScheduledExecutorService heart;
  private Connection lead;
  private volatile long epoch = -1;
  private volatile Kept base;

  /**
   * @param source a database that the migrations have been applied to
   */
  public PostgresStore(DataSource source) {
    this(source, Duration.ofSeconds(5));
  }

  /**
   * @param source a database that the migrations have been applied to
   * @param lease after so long without a sign of life the right to decide goes to another process
   */
  public PostgresStore(DataSource source, Duration lease) {
    this.source = source;
    this.lease = lease;
    this.sql = JdbcClient.create(source);
    this.batch = new JdbcTemplate(source);
    JdbcTransactionManager transactions = new JdbcTransactionManager(source);
    this.writing = new TransactionTemplate(transactions);
    this.reading = new TransactionTemplate(transactions);
    this.reading.setReadOnly(true);
    this.reading.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
    this.tree = new PostgresAccounts(sql, writing, reading);
    this.installation = sql.sql("select installation from meta").query(String.class).single();
  }

  @Override
  public String installation() {
    return installation;
  }

  @Override
  public synchronized boolean lead() {
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
      base = null; // what another process recorded meanwhile is not known here
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

  @Override
  public void setUp(List<Tier> tiers, List<AccountSetup> accounts, Instant now) {
    writing.executeWithoutResult(
        tx -> {
          for (Tier tier : tiers) {
            one(
                sql.sql(
                        """
                        insert into gpu_tiers
                               (name, sort_order, tflops, max_gpus, auto_assign, partition, gres)
                        values (?, ?, ?, ?, ?, ?, ?)
                        on conflict (name) do update
                        set sort_order = excluded.sort_order, tflops = excluded.tflops,
                            max_gpus = excluded.max_gpus, auto_assign = excluded.auto_assign,
                            partition = excluded.partition, gres = excluded.gres,
                            configured = true
                        """)
                    .params(
                        tier.name(),
                        tier.sortOrder(),
                        tier.tflops(),
                        tier.maxGpus(),
                        tier.autoAssign(),
                        tier.partition(),
                        tier.gres())
                    .update(),
                "tier " + tier.name());
          }
          sql.sql("update gpu_tiers set configured = false where configured and name <> all (?)")
              .param(new SqlArrayValue("text", tiers.stream().map(Tier::name).toArray()))
              .update();
          tree.setUp(accounts, now);
        });
  }

  @Override
  public AccountBook accounts() {
    return tree;
  }

  private record Known(UUID id, Tier tier) {}

  /** All there ever were: old attempts and ledger rows are of tiers that are not used any more. */
  private Map<UUID, Tier> tiers() {
    return tiers("");
  }

  /**
   * @param where a condition on {@code gpu_tiers}, or nothing
   */
  private Map<UUID, Tier> tiers(String where) {
    Map<UUID, Tier> tiers = new LinkedHashMap<>();
    sql.sql(
            """
            select id, name, sort_order, tflops, max_gpus, auto_assign, partition, gres
            from gpu_tiers
            """
                + where
                + " order by sort_order, name")
        .query(
            (rs, n) ->
                new Known(
                    rs.getObject("id", UUID.class),
                    new Tier(
                        rs.getString("name"),
                        rs.getInt("sort_order"),
                        rs.getDouble("tflops"),
                        rs.getInt("max_gpus"),
                        rs.getBoolean("auto_assign"),
                        rs.getString("partition"),
                        rs.getString("gres"))))
        .list()
        .forEach(k -> tiers.put(k.id(), k.tier()));
    return tiers;
  }

  private List<Stock> stock(Map<UUID, Tier> tiers) {
    return sql.sql(
            """
            select p.node_name, p.tier_id, p.capacity, p.state, p.reason
            from placements p join gpu_tiers t on t.id = p.tier_id
            where t.configured
            order by p.node_name, t.sort_order, t.name
            """)
        .query(
            (rs, n) ->
                new Stock(
                    rs.getString("node_name"),
                    tiers.get(rs.getObject("tier_id", UUID.class)),
                    rs.getInt("capacity"),
                    NodeState.valueOf(rs.getString("state").toUpperCase(Locale.ROOT)),
                    rs.getString("reason")))
        .list();
  }

  @Override
  public boolean see(List<Stock> seen, List<Outside> outside, Instant at) {
    return writing.execute(
        tx -> {
          Map<String, UUID> ids = new HashMap<>();
          Map<UUID, Tier> tiers = tiers();
          tiers.forEach((id, tier) -> ids.put(tier.name(), id));
          Map<String, Stock> before = new TreeMap<>();
          for (Stock s : stock(tiers)) {
            before.put(s.node() + "\n" + s.tier().name(), s);
          }
          List<Object[]> gpus = new ArrayList<>();
          List<Object[]> retired = new ArrayList<>();
          List<Object[]> states = new ArrayList<>();
          for (Stock s : seen) {
            Stock old = before.remove(s.node() + "\n" + s.tier().name());
            UUID tier = ids.get(s.tier().name());
            int was = old == null ? 0 : old.capacity();
            for (int i = was; i < s.capacity(); i++) {
              gpus.add(new Object[] {s.node(), tier, i, s.state().word(), s.reason(), time(at)});
            }
            if (s.capacity() < was) {
              retired.add(new Object[] {time(at), s.node(), tier, s.capacity()});
            }
            if (old != null
                && (old.state() != s.state()
                    || !java.util.Objects.equals(old.reason(), s.reason()))) {
              states.add(new Object[] {s.state().word(), s.reason(), s.node(), tier});
            }
          }
          for (Stock gone : before.values()) {
            if (gone.state() != NodeState.DOWN || !Stock.GONE.equals(gone.reason())) {
              states.add(
                  new Object[] {
                    NodeState.DOWN.word(), Stock.GONE, gone.node(), ids.get(gone.tier().name())
                  });
            }
          }
          batch.batchUpdate(
              """
              insert into gpu_resources (node_name, tier_id, gpu_index, state, reason, last_seen)
              values (?, ?, ?, ?, ?, ?)
              on conflict (node_name, tier_id, gpu_index) do update
              set retired_at = null, state = excluded.state, reason = excluded.reason,
                  last_seen = excluded.last_seen
              """,
              gpus);
          batch.batchUpdate(
              """
              update gpu_resources set retired_at = ?
              where node_name = ? and tier_id = ? and gpu_index >= ? and retired_at is null
              """,
              retired);
          batch.batchUpdate(
              """
              update gpu_resources set state = ?, reason = ?
              where node_name = ? and tier_id = ? and retired_at is null
              """,
              states);
          sql.sql(
                  """
                  update gpu_resources set last_seen = :at
                  where retired_at is null and reason is distinct from :gone
                    and last_seen < cast(:at as timestamptz) - interval '1 minute'
                  """)
              .param("at", time(at))
              .param("gone", Stock.GONE)
              .update();
          noteClock(at);
          noteSpans(tiers, outside, at);
          return !(gpus.isEmpty() && retired.isEmpty() && states.isEmpty());
        });
  }

  private void noteClock(Instant at) {
    Optional<OffsetDateTime> last =
        sql.sql("select at from last_reading for update").query(OffsetDateTime.class).optional();
    if (last.isPresent() && at.isBefore(last.get().toInstant())) {
      sql.sql("insert into clock_steps (from_at, to_at) values (?, ?)")
          .params(last.get(), time(at))
          .update();
    }
    sql.sql(
            """
            insert into last_reading (at) values (?)
            on conflict (one) do update set at = excluded.at
            """)
        .param(time(at))
        .update();
  }

  /** Begins a new span of every placement that is not what its open one says. */
  private void noteSpans(Map<UUID, Tier> tiers, List<Outside> outside, Instant at) {
    Map<String, Integer> used = new HashMap<>();
    outside.forEach(o -> used.put(o.node() + "\n" + o.tier(), o.gpus()));
    Map<String, Stock> now = new TreeMap<>();
    stock(tiers).forEach(s -> now.put(s.node() + "\n" + s.tier().name(), s));
    List<Object[]> closed = new ArrayList<>();
    List<Object[]> begun = new ArrayList<>();
    sql.sql(
            """
            select s.id, s.node_name, t.name as tier, s.capacity, s.state, s.outside, s.from_at,
                   s.to_at
            from placement_spans s join gpu_tiers t on t.id = s.tier_id
            where s.to_at is null
            """)
        .query(SPAN)
        .list()
        .forEach(
            open -> {
              String key = open.node() + "\n" + open.tier();
              Stock s = now.get(key);
              if (s != null
                  && s.capacity() == open.capacity()
                  && s.state() == open.state()
                  && used.getOrDefault(key, 0) == open.outside()) {
                now.remove(key);
                return;
              }
              // A clock that stepped back makes a span of 0 s, never a negative one.
              Instant end = at.isBefore(open.from()) ? open.from() : at;
              closed.add(new Object[] {time(end), open.id()});
              if (s != null) {
                begun.add(span(s, used.getOrDefault(key, 0), end));
                now.remove(key);
              }
            });
    now.forEach((key, s) -> begun.add(span(s, used.getOrDefault(key, 0), at)));
    each(
        batch.batchUpdate(
            "update placement_spans set to_at = ? where id = ? and to_at is null", closed),
        i -> "span " + closed.get(i)[1]);
    each(
        batch.batchUpdate(
            """
            insert into placement_spans (node_name, tier_id, capacity, state, outside, from_at)
            select ?, id, ?, ?, ?, cast(? as timestamptz) from gpu_tiers where name = ?
            """,
            begun),
        i -> "the tier " + begun.get(i)[5]);
  }

  private static Object[] span(Stock s, int outside, Instant from) {
    return new Object[] {
      s.node(), s.capacity(), s.state().word(), outside, time(from), s.tier().name()
    };
  }

  static final RowMapper<Books.Span> SPAN =
      (rs, n) ->
          new Books.Span(
              rs.getLong("id"),
              rs.getString("node_name"),
              rs.getString("tier"),
              rs.getInt("capacity"),
              NodeState.valueOf(rs.getString("state").toUpperCase(Locale.ROOT)),
              rs.getInt("outside"),
              instant(rs, "from_at"),
              instant(rs, "to_at"));

  @Override
  public World load(Instant window) {
    return reading.execute(
        tx -> {
          Map<UUID, Tier> tiers = tiers();
          List<StoredJob> jobs =
              sql.sql(
                      JOB_COLUMNS
                          + """
                          where j.state in ('GLOBAL_QUEUE_WAIT', 'DISPATCHING', 'RUNNING')
                          order by j.id
                          """)
                  .query(job(tiers))
                  .list();
          InUse accounts =
              tree.inUse(
                  jobs.stream().map(j -> j.asks().account()).collect(Collectors.toSet()), window);
          return new World(
              List.copyOf(tiers("where configured").values()),
              stock(tiers),
              accounts.accounts(),
              jobs,
              attempts("where a.ended_at is null", Map.of(), tiers),
              accounts.used(),
              openDrains(),
              claim(tiers));
        });
  }

  @Override
  public World inventory() {
    return reading.execute(
        tx ->
            new World(
                List.copyOf(tiers("where configured").values()),
                stock(tiers()),
                tree.inUse(Set.of(), null).accounts(),
                List.of(),
                List.of(),
                Map.of(),
                openDrains(),
                null));
  }

  private static final String JOB_COLUMNS =
      """
      select j.id, j.name, j.account_id, j.user_name, j.nodes, j.num_gpus, j.tier,
             j.minimum_tier_sort_order, j.priority, j.min_runtime_s, j.resumable, j.time_limit_s,
             j.state, j.state_reason, j.attempt, j.node_failures, j.submitted_at,
             j.queue_entered_at, j.started_at, j.ended_at, j.exit_code, j.reserved_gpus,
             j.reserved_node_name, j.reserved_tier_id, j.reservation_last_accrued_at,
             j.reservation_gpu_seconds, j.version, s.since as reserved_since
      from jobs j
      left join reservation_spans s
             on s.job_id = j.id and s.ended_at is null and j.reserved_gpus > 0
      """;

  private static RowMapper<StoredJob> job(Map<UUID, Tier> tiers) {
    return (rs, n) -> {
      String id = rs.getString("id");
      double carried = rs.getDouble("reservation_gpu_seconds");
      Reservation held = null;
      if (rs.getInt("reserved_gpus") > 0) {
        held =
            new Reservation(
                id,
                rs.getString("account_id"),
                rs.getString("reserved_node_name"),
                tiers.get(rs.getObject("reserved_tier_id", UUID.class)),
                rs.getInt("reserved_gpus"),
                instant(rs, "reserved_since"),
                carried,
                instant(rs, "reservation_last_accrued_at"));
      }
      return new StoredJob(
          rs.getLong("id"),
          new Job(
              id,
              rs.getString("account_id"),
              rs.getString("user_name"),
              rs.getInt("nodes"),
              rs.getInt("num_gpus"),
              rs.getString("tier"),
              rs.getInt("minimum_tier_sort_order"),
              rs.getInt("priority"),
              instant(rs, "queue_entered_at"),
              rs.getLong("min_runtime_s"),
              rs.getBoolean("resumable"),
              rs.getInt("attempt")),
          rs.getString("name"),
          JobState.valueOf(rs.getString("state")),
          rs.getString("state_reason"),
          instant(rs, "submitted_at"),
          instant(rs, "started_at"),
          instant(rs, "ended_at"),
          rs.getObject("exit_code", Integer.class),
          rs.getObject("time_limit_s", Long.class),
          held,
          carried,
          rs.getInt("node_failures"),
          rs.getLong("version"));
    };
  }

  private record Place(long job, int attempt) {}

  /**
   * @param where a condition on {@code attempts a}, with named parameters
   */
  private List<Attempt> attempts(String where, Map<String, ?> params, Map<UUID, Tier> tiers) {
    Map<Place, List<Share>> on = new HashMap<>();
    sql.sql(
            """
            select g.job_id, g.attempt, g.node_name, g.tier_id, g.gpus
            from attempt_gpus g join attempts a on a.job_id = g.job_id and a.attempt = g.attempt
            """
                + where
                + " order by g.job_id, g.attempt, g.position")
        .params(params)
        .query(
            rs -> {
              on.computeIfAbsent(
                      new Place(rs.getLong("job_id"), rs.getInt("attempt")), p -> new ArrayList<>())
                  .add(
                      new Share(
                          rs.getString("node_name"),
                          tiers.get(rs.getObject("tier_id", UUID.class)),
                          rs.getInt("gpus")));
            });
    return sql.sql(
            """
            select a.job_id, a.attempt, j.account_id, a.state, a.decided_at, a.cluster_job,
                   a.started_at, a.ended_at, a.last_seen_at, a.restarts, a.allocated, a.cancel_by,
                   a.preempt_for, a.end_by, a.recalled, a.waits_for, a.waits_until, a.checkpoint_at
            from attempts a join jobs j on j.id = a.job_id
            """
                + where
                + " order by a.job_id, a.attempt")
        .params(params)
        .query(
            (rs, n) -> {
              long job = rs.getLong("job_id");
              int attempt = rs.getInt("attempt");
              return new Attempt(
                  job,
                  attempt,
                  rs.getString("account_id"),
                  on.getOrDefault(new Place(job, attempt), List.of()),
                  JobState.valueOf(rs.getString("state")),
                  instant(rs, "decided_at"),
                  rs.getString("cluster_job"),
                  instant(rs, "started_at"),
                  instant(rs, "ended_at"),
                  instant(rs, "last_seen_at"),
                  rs.getInt("restarts"),
                  rs.getBoolean("allocated"),
                  rs.getString("cancel_by"),
                  rs.getString("preempt_for"),
                  instant(rs, "end_by"),
                  rs.getString("recalled"),
                  Arrays.stream((String[]) rs.getArray("waits_for").getArray())
                      .map(Attempt.Victim::read)
                      .toList(),
                  instant(rs, "waits_until"),
                  instant(rs, "checkpoint_at"));
            })
        .list();
  }

  @Override
  public String commit(Changes changes) {
    Kept[] kept = {base};
    try {
      String id =
          writing.execute(
              tx -> {
                if (changes.needsLead()) {
                  // Shared, so that whoever takes the lead meanwhile waits for this to be written.
                  long current =
                      sql.sql("select leader_epoch from meta for share").query(Long.class).single();
                  if (current != epoch) {
                    throw new Overtaken("another process decides now");
                  }
                }
                writeJobs(changes);
                writeAttempts(changes);
                writeMoney(changes);
                writeOrders(changes);
                changes.drains().forEach(this::write);
                writeClaims(changes);
                new PostgresRuleHistory(sql).count(changes);
                new PostgresStartEstimates(sql).started(changes);
                return changes.decision() == null ? null : writeDecision(changes.decision(), kept);
              });
      base = kept[0];
      return id;
    } catch (ConcurrencyFailureException e) {
      throw new Overtaken("two transactions were in each other's way: " + e.getMessage());
    }
  }

  private void writeJobs(Changes changes) {
    List<StoredJob> jobs = changes.jobs();
    if (jobs.isEmpty()) {
      return;
    }
    List<Object[]> rows = new ArrayList<>(jobs.size());
    List<Object[]> spans = new ArrayList<>();
    for (StoredJob job : jobs) {
      Reservation held = job.reservation();
      rows.add(
          new Object[] {
            job.state().name(),
            job.stateReason(),
            job.asks().attempt(),
            job.asks().minimumTierSortOrder(),
            job.nodeFailures(),
            time(job.startedAt()),
            time(job.endedAt()),
            job.exitCode(),
            held == null ? 0 : held.gpus(),
            held == null ? null : held.node(),
            held == null ? null : held.tier().name(),
            held == null ? null : time(held.accruedAt()),
            job.carriedTflopSeconds(),
            job.id(),
            job.version()
          });
      if (held != null) {
        spans.add(new Object[] {job.id(), held.node(), time(held.since()), held.tier().name()});
      }
    }
    each(
        batch.batchUpdate(
            """
            update jobs
            set state = ?, state_reason = ?, attempt = ?, minimum_tier_sort_order = ?,
                node_failures = ?, started_at = cast(? as timestamptz),
                ended_at = cast(? as timestamptz), exit_code = cast(? as integer),
                reserved_gpus = ?, reserved_node_name = ?,
                reserved_tier_id = (select id from gpu_tiers where name = ?),
                reservation_last_accrued_at = cast(? as timestamptz), reservation_gpu_seconds = ?,
                version = version + 1
            where id = ? and version = ?
            """,
            rows),
        i -> "job " + jobs.get(i).id());
    // Spans follow the columns: what no longer stands there has ended, what is new has begun.
    sql.sql(
            """
            update reservation_spans s set ended_at = ?
            from jobs j
            where j.id = s.job_id and s.ended_at is null and j.id = any (?)
              and (j.reserved_gpus = 0 or j.reserved_node_name <> s.node_name
                   or j.reserved_tier_id <> s.tier_id)
            """)
        .params(
            time(changes.at()),
            new SqlArrayValue("bigint", jobs.stream().map(StoredJob::id).toArray()))
        .update();
    batch.batchUpdate(
        """
        insert into reservation_spans (job_id, node_name, since, tier_id)
        select ?, ?, cast(? as timestamptz), id from gpu_tiers where name = ?
        on conflict (job_id) where ended_at is null do nothing
        """,
        spans);
  }

  private void writeAttempts(Changes changes) {
    List<Object[]> begun = new ArrayList<>();
    List<Object[]> gpus = new ArrayList<>();
    for (Attempt a : changes.begun()) {
      begun.add(
          new Object[] {
            a.job(),
            a.attempt(),
            a.state().name(),
            time(a.decidedAt()),
            a.allocated(),
            victims(a),
            time(a.waitsUntil())
          });
      int position = 0;
      for (Share share : a.on()) {
        gpus.add(
            new Object[] {
              a.job(), a.attempt(), position++, share.node(), share.gpus(), share.tier().name()
            });
      }
    }
    if (!begun.isEmpty()) {
      batch.batchUpdate(
          """
          insert into attempts
                 (job_id, attempt, state, decided_at, allocated, waits_for, waits_until)
          values (?, ?, ?, ?, ?, ?, cast(? as timestamptz))
          """,
          begun);
      each(
          batch.batchUpdate(
              """
              insert into attempt_gpus (job_id, attempt, position, node_name, gpus, tier_id)
              select ?, ?, ?, ?, ?, id from gpu_tiers where name = ?
              """,
              gpus),
          i -> "the tier " + gpus.get(i)[5]);
    }
    List<Attempt> changed = changes.attempts();
    List<Object[]> rows = new ArrayList<>(changed.size());
    for (Attempt a : changed) {
      rows.add(
          new Object[] {
            a.state().name(),
            a.clusterJob(),
            time(a.startedAt()),
            time(a.endedAt()),
            time(a.lastSeenAt()),
            a.restarts(),
            a.cancelBy(),
            a.preemptFor(),
            time(a.endBy()),
            a.recalled(),
            victims(a),
            time(a.waitsUntil()),
            time(a.checkpointAt()),
            a.job(),
            a.attempt()
          });
    }
    each(
        batch.batchUpdate(
            """
            update attempts
            set state = ?, cluster_job = ?, started_at = cast(? as timestamptz),
                ended_at = cast(? as timestamptz), last_seen_at = cast(? as timestamptz),
                restarts = ?, cancel_by = ?, preempt_for = ?, end_by = cast(? as timestamptz),
                recalled = ?, waits_for = ?, waits_until = cast(? as timestamptz),
                checkpoint_at = cast(? as timestamptz)
            where job_id = ? and attempt = ? and ended_at is null
            """,
            rows),
        i -> "attempt " + changed.get(i).attempt() + " of job " + changed.get(i).job());
  }

  private static SqlArrayValue victims(Attempt attempt) {
    return new SqlArrayValue(
        "text", attempt.waitsFor().stream().map(Attempt.Victim::text).toArray());
  }

  /**
   * Rows and charges. A job is charged twice at once where a reading shows the end of two of its
   * runs: the second charge covers the rows that came after the first, so rows and charges are
   * written in rounds, each with one charge of a job at most.
   */
  private void writeMoney(Changes changes) {
    Map<String, List<Changes.Charged>> ofJob = new HashMap<>();
    List<List<Changes.Charged>> charges = new ArrayList<>();
    Map<String, Double> byAccount = new LinkedHashMap<>();
    for (Changes.Charged c : changes.charges()) {
      List<Changes.Charged> before =
          ofJob.computeIfAbsent(c.charge().job(), job -> new ArrayList<>());
      if (before.size() == charges.size()) {
        charges.add(new ArrayList<>());
      }
      charges.get(before.size()).add(c);
      before.add(c);
      byAccount.merge(c.charge().account(), c.charge().tflopSeconds(), Double::sum);
    }
    List<List<Changes.Held>> held = new ArrayList<>();
    for (int i = 0; i < changes.ledger().size(); i++) {
      Changes.Held row = changes.ledger().get(i);
      int round = 0;
      for (Changes.Charged c : ofJob.getOrDefault(row.cost().job(), List.of())) {
        round += c.after() <= i ? 1 : 0;
      }
      while (held.size() <= round) {
        held.add(new ArrayList<>());
      }
      held.get(round).add(row);
    }
    for (int round = 0; round < Math.max(held.size(), charges.size()); round++) {
      writeRows(round < held.size() ? held.get(round) : List.of());
      for (Changes.Charged c :
          round < charges.size() ? charges.get(round) : List.<Changes.Charged>of()) {
        writeCharge(changes.at(), c);
      }
    }
    byAccount.forEach(
        (account, tflopSeconds) ->
            one(
                sql.sql("update accounts set cumulative_usage = cumulative_usage + ? where id = ?")
                    .params(tflopSeconds, account)
                    .update(),
                "account " + account));
  }

  private void writeRows(List<Changes.Held> rows) {
    List<Object[]> held = new ArrayList<>();
    for (Changes.Held row : rows) {
      held.add(
          new Object[] {
            row.cost().kind(),
            Long.parseLong(row.cost().job()),
            row.attempt(),
            row.cost().account(),
            row.cost().node(),
            row.cost().gpus(),
            time(row.cost().from()),
            time(row.cost().to()),
            BigDecimal.valueOf(row.cost().tflopSeconds()),
            row.cost().tier().tflops(),
            row.cost().tier().name()
          });
    }
    each(
        batch.batchUpdate(
            """
            insert into ledger (kind, job_id, attempt, account_id, node_name, gpus, from_at, to_at,
                                tflop_s, tflops, tier_id)
            select ?, ?, ?, ?, ?, ?, cast(? as timestamptz), cast(? as timestamptz), ?, ?, id
            from gpu_tiers where name = ?
            """,
            held),
        i -> "the tier " + held.get(i)[10]);
  }

  /**
   * One statement writes a charge and marks what it covers: all of the job's rows until now, but
   * for those that are charged to nobody (N5).
   */
  private void writeCharge(Instant at, Changes.Charged c) {
    sql.sql(
            """
            with charge as (
                insert into charges (at, account_id, job_id, attempt, tflop_s, factor, rule)
                values (?, ?, ?, ?, ?, ?, ?)
                returning id, job_id)
            update ledger l set charge_id = c.id
            from charge c
            where l.job_id = c.job_id and l.charge_id is null and l.kind <> 'unallocated'
            """)
        .params(
            time(at),
            c.charge().account(),
            Long.parseLong(c.charge().job()),
            c.attempt(),
            BigDecimal.valueOf(c.charge().tflopSeconds()),
            BigDecimal.valueOf(c.charge().factor()),
            c.rule())
        .update();
  }

  private void writeOrders(Changes changes) {
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

  /**
   * The decision that others are packed against at present.
   *
   * @param bytes what it takes itself
   * @param since when it was decided
   * @param followers how many are packed against it
   */
  private record Kept(
      long id,
      Packed.Base decision,
      Packed.Base snapshot,
      int bytes,
      Instant since,
      int followers) {}

  private String writeDecision(Changes.DecisionRecord record, Kept[] kept) {
    Decision decision = record.decision();
    writeTexts(decision, record.policyTexts());
    Kept on = kept[0];
    byte[] packedDecision = null;
    byte[] packedSnapshot = null;
    if (on != null
        && on.followers() < MOST_FOLLOWERS
        && Duration.between(on.since(), decision.now()).abs().compareTo(BASE_LASTS) < 0) {
      packedDecision = Packed.pack(record.decisionJson(), on.decision());
      packedSnapshot = Packed.pack(record.snapshotJson(), on.snapshot());
      if (packedDecision.length + packedSnapshot.length > on.bytes() / 2) {
        on = null; // too much has changed for this base to save anything
      }
    } else {
      on = null;
    }
    if (on == null) {
      packedDecision = Packed.pack(record.decisionJson(), Packed.ALONE);
      packedSnapshot = Packed.pack(record.snapshotJson(), Packed.ALONE);
    }
    long id =
        sql.sql(
                """
                insert into decisions
                       (decided_at, policy, policy_hash, snapshot_hash, base_id, decision_packed,
                        snapshot_packed)
                values (?, ?, ?, ?, ?, ?, ?)
                returning id
                """)
            .params(
                time(decision.now()),
                decision.policy(),
                decision.policyHash(),
                decision.snapshotHash(),
                on == null ? null : on.id(),
                packedDecision,
                packedSnapshot)
            .query(Long.class)
            .single();
    kept[0] =
        on == null
            ? new Kept(
                id,
                new Packed.Base(record.decisionJson()),
                new Packed.Base(record.snapshotJson()),
                packedDecision.length + packedSnapshot.length,
                decision.now(),
                0)
            : new Kept(
                on.id(), on.decision(), on.snapshot(), on.bytes(), on.since(), on.followers() + 1);
    sql.sql("insert into decision_jobs (decision_id, job_id) select ?, unnest(?)")
        .params(id, new SqlArrayValue("bigint", record.jobs().toArray()))
        .update();
    return Long.toString(id);
  }

  /** Before the first decision of its hash; a policy that has no texts leaves none. */
  private void writeTexts(Decision decision, Map<String, String> texts) {
    boolean known =
        texts.isEmpty()
            || sql.sql("select exists (select 1 from policy_texts where policy_hash = ?)")
                .param(decision.policyHash())
                .query(Boolean.class)
                .single();
    if (known) {
      return;
    }
    List<Object[]> rows = new ArrayList<>();
    texts.forEach(
        (name, text) ->
            rows.add(
                new Object[] {
                  decision.policyHash(), rows.size(), name, text, time(decision.now())
                }));
    each(
        batch.batchUpdate(
            """
            insert into policy_texts (policy_hash, position, name, text, written_at)
            values (?, ?, ?, ?, ?)
            """,
            rows),
        i -> "text " + rows.get(i)[2] + " of the policy");
  }

  private static final RowMapper<NodeDrain> DRAIN =
      (rs, n) ->
          new NodeDrain(
              rs.getLong("id"),
              rs.getString("node_name"),
              NodeDrain.Source.valueOf(rs.getString("source").toUpperCase(Locale.ROOT)),
              rs.getString("reason"),
              rs.getString("drained_by"),
              instant(rs, "since"),
              instant(rs, "empty_since"),
              instant(rs, "ended_at"),
              rs.getString("ended_by"));

  private static final String DRAINS =
      """
      select id, node_name, source, reason, drained_by, since, empty_since, ended_at, ended_by
      from node_drains
      """;

  private List<NodeDrain> openDrains() {
    return sql.sql(DRAINS + "where ended_at is null order by node_name, source")
        .query(DRAIN)
        .list();
  }

  @Override
  public List<NodeDrain> drains(String node, int limit) {
    return sql.sql(
            DRAINS
                + """
                where cast(:node as text) is null or node_name = :node
                order by id desc limit :limit
                """)
        .param("node", node)
        .param("limit", limit)
        .query(DRAIN)
        .list();
  }

  private void write(NodeDrain d) {
    if (d.id() == 0) {
      int begun =
          sql.sql(
                  """
                  insert into node_drains
                         (node_name, source, reason, drained_by, since, empty_since)
                  values (?, ?, ?, ?, ?, cast(? as timestamptz))
                  on conflict (node_name, source) where ended_at is null do nothing
                  """)
              .params(
                  d.node(),
                  d.source().name().toLowerCase(Locale.ROOT),
                  d.reason(),
                  d.by(),
                  time(d.since()),
                  time(d.emptySince()))
              .update();
      one(begun, "node " + d.node());
    } else {
      one(
          sql.sql(
                  """
                  update node_drains
                  set reason = ?, drained_by = ?, empty_since = cast(? as timestamptz),
                      ended_at = cast(? as timestamptz), ended_by = ?
                  where id = ? and ended_at is null
                  """)
              .params(
                  d.reason(), d.by(), time(d.emptySince()), time(d.endedAt()), d.endedBy(), d.id())
              .update(),
          "the drain of node " + d.node());
    }
  }

  private Claim claim(Map<UUID, Tier> tiers) {
    List<Share> on = new ArrayList<>();
    sql.sql(
            """
            select g.node_name, g.tier_id, g.gpus
            from claims c join claim_gpus g on g.claim_id = c.id
            where c.ended_at is null
            order by g.position
            """)
        .query(
            rs -> {
              on.add(
                  new Share(
                      rs.getString("node_name"),
                      tiers.get(rs.getObject("tier_id", UUID.class)),
                      rs.getInt("gpus")));
            });
    return sql.sql("select job_id, since, ready_at, yields from claims where ended_at is null")
        .query(
            (rs, n) ->
                new Claim(
                    rs.getString("job_id"),
                    on,
                    instant(rs, "since"),
                    instant(rs, "ready_at"),
                    Arrays.asList((String[]) rs.getArray("yields").getArray())))
        .optional()
        .orElse(null);
  }

  private void writeClaims(Changes changes) {
    if (changes.claimEnd() != null) {
      one(
          sql.sql(
                  """
                  update claims set ended_at = ?, rule = ?, reason = ?
                  where job_id = ? and ended_at is null
                  """)
              .params(
                  time(changes.at()),
                  changes.claimEnd().rule(),
                  changes.claimEnd().because(),
                  changes.claimEnd().job())
              .update(),
          "the claim of job " + changes.claimEnd().job());
    }
    if (changes.claim() == null) {
      return;
    }
    Claim claim = changes.claim();
    long id =
        sql.sql(
                """
                insert into claims (job_id, since, ready_at, yields) values (?, ?, ?, ?)
                returning id
                """)
            .params(
                Long.parseLong(claim.job()),
                time(claim.since()),
                time(claim.readyAt()),
                new SqlArrayValue("text", claim.yields().toArray()))
            .query(Long.class)
            .single();
    List<Object[]> rows = new ArrayList<>();
    for (Share share : claim.on()) {
      rows.add(new Object[] {id, rows.size(), share.node(), share.gpus(), share.tier().name()});
    }
    each(
        batch.batchUpdate(
            """
            insert into claim_gpus (claim_id, position, node_name, gpus, tier_id)
            select ?, ?, ?, ?, id from gpu_tiers where name = ?
            """,
            rows),
        i -> "the tier " + rows.get(i)[4]);
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

  @Override
  public List<Order> due(Instant now, int limit) {
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

  @Override
  public Backlog backlog() {
    return sql.sql("select count(*), min(created_at) as oldest from outbox where closed_at is null")
        .query((rs, n) -> new Backlog(rs.getInt(1), instant(rs, "oldest")))
        .single();
  }

  @Override
  public Optional<Order> open(Order.Kind kind, Token token) {
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

  @Override
  public SubmitOrder submitOrder(Token token) {
    return reading.execute(
        tx -> {
          List<Attempt> attempt =
              attempts(
                  "where a.job_id = :job and a.attempt = :attempt",
                  Map.of("job", token.job(), "attempt", token.attempt()),
                  tiers());
          if (attempt.size() != 1) {
            throw new IllegalArgumentException("there is no attempt " + token.text());
          }
          return sql.sql(
                  """
                  select j.name, j.account_id, j.user_name, j.time_limit_s,
                         s.script, s.arguments, s.environment, s.workdir,
                         (select count(*) from attempts a
                          where a.job_id = j.id and a.attempt < ? and a.started_at is not null)
                             as resumed
                  from jobs j join job_scripts s on s.job_id = j.id
                  where j.id = ?
                  """)
              .params(token.attempt(), token.job())
              .query(
                  (rs, n) ->
                      new SubmitOrder(
                          token,
                          rs.getString("name"),
                          rs.getString("account_id"),
                          rs.getString("user_name"),
                          attempt.get(0).on(),
                          rs.getObject("time_limit_s", Long.class),
                          rs.getString("script"),
                          Arrays.asList((String[]) rs.getArray("arguments").getArray()),
                          JSON.readValue(
                              rs.getString("environment"),
                              new TypeReference<Map<String, String>>() {}),
                          rs.getString("workdir"),
                          rs.getInt("resumed")))
              .optional()
              .orElseThrow(
                  () -> new IllegalArgumentException("job " + token.job() + " has no script"));
        });
  }

  @Override
  public Added add(NewJob job, int minimumTierSortOrder, String remark, Key key, Instant now) {
    return writing.execute(
        tx -> {
          if (key != null) {
            // Whoever comes second waits here until the first has its job, then finds the key.
            int made =
                sql.sql(
                        """
                        insert into idempotency_keys (account_id, key, digest, created_at)
                        values (?, ?, ?, ?)
                        on conflict do nothing
                        """)
                    .params(key.account(), key.text(), key.digest(), time(now))
                    .update();
            if (made == 0) {
              return added(key).orElseThrow();
            }
          }
          if (sql.sql("select count(*) from accounts where id = ?")
                  .param(job.account())
                  .query(Long.class)
                  .single()
              == 0) {
            throw new IllegalArgumentException("there is no account " + job.account());
          }
          long id =
              sql.sql(
                      """
                      insert into jobs
                             (name, account_id, user_name, nodes, num_gpus, tier,
                              minimum_tier_sort_order, priority, min_runtime_s, resumable,
                              time_limit_s, state, state_reason, submitted_at, queue_entered_at)
                      values (:name, :account, :user, :nodes, :gpus, :tier, :minimum, :priority,
                              :minRuntime, :resumable, :limit, 'GLOBAL_QUEUE_WAIT', :remark, :now, :now)
                      returning id
                      """)
                  .param("name", job.name())
                  .param("account", job.account())
                  .param("user", job.user())
                  .param("nodes", job.nodes())
                  .param("gpus", job.numGpus())
                  .param("tier", job.tier())
                  .param("minimum", minimumTierSortOrder)
                  .param("priority", job.priority())
                  .param("minRuntime", job.minRuntimeSeconds())
                  .param("resumable", job.resumable())
                  .param("limit", job.timeLimitSeconds())
                  .param("remark", remark)
                  .param("now", time(now))
                  .query(Long.class)
                  .single();
          one(
              sql.sql(
                      """
                      insert into job_scripts (job_id, script, arguments, environment, workdir)
                      values (?, ?, ?, cast(? as jsonb), ?)
                      """)
                  .params(
                      id,
                      job.script(),
                      new SqlArrayValue("text", job.arguments().toArray()),
                      JSON.writeValueAsString(job.environment()),
                      job.workdir())
                  .update(),
              "the script of job " + id);
          if (key != null) {
            one(
                sql.sql("update idempotency_keys set job_id = ? where account_id = ? and key = ?")
                    .params(id, key.account(), key.text())
                    .update(),
                "idempotency key " + key.text());
          }
          return new Added(job(id).orElseThrow(), true, true);
        });
  }

  @Override
  public Optional<Added> added(Key key) {
    return reading(
        () ->
            sql.sql("select job_id, digest from idempotency_keys where account_id = ? and key = ?")
                .params(key.account(), key.text())
                .query(
                    (rs, n) ->
                        new Added(
                            job(rs.getLong("job_id")).orElseThrow(),
                            false,
                            rs.getString("digest").equals(key.digest())))
                .optional());
  }

  @Override
  public Optional<JobRecord> job(long id) {
    return reading(() -> records("where j.id = :id", Map.of("id", id)).stream().findFirst());
  }

  @Override
  public List<JobRecord> jobs(JobState state, String account, int limit, long before) {
    Map<String, Object> params = new HashMap<>();
    params.put("before", before);
    params.put("limit", limit);
    String where = "where j.id < :before";
    if (state != null) {
      where += " and j.state = :state";
      params.put("state", state.name());
    }
    if (account != null) {
      where += " and j.account_id = :account";
      params.put("account", account);
    }
    String page = where + " order by j.id desc limit :limit";
    return reading(() -> records(page, params));
  }

  /** Reads in one transaction: the one that is open, or one of its own. */
  private <T> T reading(Supplier<T> what) {
    return org.springframework.transaction.support.TransactionSynchronizationManager
            .isActualTransactionActive()
        ? what.get()
        : reading.execute(tx -> what.get());
  }

  private List<JobRecord> records(String page, Map<String, ?> params) {
    Map<UUID, Tier> tiers = tiers();
    List<StoredJob> jobs = sql.sql(JOB_COLUMNS + page).params(params).query(job(tiers)).list();
    if (jobs.isEmpty()) {
      return List.of();
    }
    List<Long> ids = jobs.stream().map(StoredJob::id).toList();
    Map<Long, Attempt> newest = new HashMap<>();
    attempts(
            """
            where a.job_id in (:ids)
              and a.attempt = (select max(m.attempt) from attempts m where m.job_id = a.job_id)
            """,
            Map.of("ids", ids),
            tiers)
        .forEach(a -> newest.put(a.job(), a));
    Map<Long, Double> charged = new HashMap<>();
    sql.sql(
            """
            select job_id, sum(tflop_s) as tflop_s from charges where job_id in (:ids)
            group by job_id
            """)
        .param("ids", ids)
        .query(
            rs -> {
              charged.put(rs.getLong("job_id"), rs.getDouble("tflop_s"));
            });
    return jobs.stream()
        .map(j -> new JobRecord(j, newest.get(j.id()), charged.getOrDefault(j.id(), 0.0)))
        .toList();
  }

  private static final RowMapper<Desk.DecisionView> DECISION =
      (rs, n) ->
          new Desk.DecisionView(
              rs.getString("id"),
              instant(rs, "decided_at"),
              rs.getString("policy"),
              rs.getString("policy_hash"),
              null);

  @Override
  public List<Desk.DecisionView> decisions(Long job, int limit, long before) {
    return job == null
        ? sql.sql(
                """
                select id, decided_at, policy, policy_hash from decisions
                where id < ? order by id desc limit ?
                """)
            .params(before, limit)
            .query(DECISION)
            .list()
        : sql.sql(
                """
                select d.id, d.decided_at, d.policy, d.policy_hash
                from decision_jobs j join decisions d on d.id = j.decision_id
                where j.job_id = ? and j.decision_id < ?
                order by j.decision_id desc limit ?
                """)
            .params(job, before, limit)
            .query(DECISION)
            .list();
  }

  @Override
  public Optional<Desk.DecisionView> decision(long id) {
    return reading(
        () ->
            stored(id)
                .map(
                    d ->
                        new Desk.DecisionView(
                            Long.toString(id),
                            d.at(),
                            d.policy(),
                            d.policyHash(),
                            decisionText(d))));
  }

  @Override
  public Map<Long, Desk.DecisionView> lastSaid(List<Long> jobs) {
    Map<Long, Long> newest = new HashMap<>();
    sql.sql(
            """
            select job_id, max(decision_id) as id from decision_jobs where job_id = any (?)
            group by job_id
            """)
        .param(new SqlArrayValue("bigint", jobs.toArray()))
        .query(
            rs -> {
              newest.put(rs.getLong("job_id"), rs.getLong("id"));
            });
    Map<Long, Optional<Desk.DecisionView>> read = new HashMap<>();
    Map<Long, Desk.DecisionView> said = new HashMap<>();
    newest.forEach(
        (job, id) ->
            read.computeIfAbsent(id, this::decision).ifPresent(view -> said.put(job, view)));
    return said;
  }

  @Override
  public Optional<String> snapshot(long decision) {
    return reading(() -> stored(decision).map(this::snapshotText));
  }

  @Override
  public Optional<Receipt> receipt(long decision) {
    return reading(
        () ->
            stored(decision)
                .map(
                    d ->
                        new Receipt(
                            decision,
                            d.at(),
                            d.policy(),
                            d.policyHash(),
                            d.snapshotHash(),
                            decisionText(d),
                            snapshotText(d),
                            policyTexts(d.policyHash()))));
  }

  /** A decision as its row has it. */
  private record StoredDecision(
      long id,
      Instant at,
      String policy,
      String policyHash,
      String snapshotHash,
      Long base,
      String decision,
      String snapshot,
      byte[] decisionPacked,
      byte[] snapshotPacked) {}

  private Optional<StoredDecision> stored(long id) {
    return sql.sql(
            """
            select id, decided_at, policy, policy_hash, snapshot_hash, base_id, decision, snapshot,
                   decision_packed, snapshot_packed
            from decisions where id = ?
            """)
        .param(id)
        .query(
            (rs, n) ->
                new StoredDecision(
                    rs.getLong("id"),
                    instant(rs, "decided_at"),
                    rs.getString("policy"),
                    rs.getString("policy_hash"),
                    rs.getString("snapshot_hash"),
                    rs.getObject("base_id", Long.class),
                    rs.getString("decision"),
                    rs.getString("snapshot"),
                    rs.getBytes("decision_packed"),
                    rs.getBytes("snapshot_packed")))
        .optional();
  }

  private String decisionText(StoredDecision d) {
    return text(d, "decision", d.decision(), d.decisionPacked(), this::decisionText);
  }

  private String snapshotText(StoredDecision d) {
    return text(d, "snapshot", d.snapshot(), d.snapshotPacked(), this::snapshotText);
  }

  private String text(
      StoredDecision d,
      String part,
      String plain,
      byte[] packed,
      Function<StoredDecision, String> ofBase) {
    if (plain != null) {
      return plain;
    }
    Packed.Base on = Packed.ALONE;
    if (d.base() != null) {
      StoredDecision base =
          stored(d.base())
              .filter(b -> b.base() == null)
              .orElseThrow(
                  () ->
                      new Broken(
                          part,
                          "the "
                              + part
                              + " of decision "
                              + d.id()
                              + " is packed against decision "
                              + d.base()
                              + ", which is not kept whole"));
      on = new Packed.Base(ofBase.apply(base));
    }
    try {
      return Packed.unpack(packed, on);
    } catch (Packed.Damaged e) {
      throw new Broken(part, "the " + part + " stored as " + d.id() + ": " + e.getMessage());
    }
  }

  private Map<String, String> policyTexts(String hash) {
    Map<String, String> texts = new LinkedHashMap<>();
    sql.sql("select name, text from policy_texts where policy_hash = ? order by position")
        .param(hash)
        .query(
            rs -> {
              texts.put(rs.getString("name"), rs.getString("text"));
            });
    return texts;
  }

  private static final String ROW_COLUMNS =
      """
      select l.id, l.kind, l.job_id, l.attempt, l.account_id, l.node_name, t.name as tier, l.gpus,
             case when l.kind = 'reserved' then l.from_at else coalesce(a.decided_at, l.from_at)
             end as given, l.from_at, l.to_at, l.tflop_s, l.tflops, l.charge_id,
             c.at as charged_at, coalesce(c.factor, 1) as factor
      from ledger l
      join gpu_tiers t on t.id = l.tier_id
      left join attempts a on a.job_id = l.job_id and a.attempt = l.attempt
      left join charges c on c.id = l.charge_id
      where (cast(:account as text) is null or l.account_id = :account)
        and (cast(:job as bigint) is null or l.job_id = :job)
        and (cast(:node as text) is null or l.node_name = :node)
        and (cast(:tier as text) is null or t.name = :tier)
        and (cast(:kind as text) is null or l.kind = :kind)
        and (cast(:to as timestamptz) is null or l.from_at < :to)
        and (cast(:from as timestamptz) is null or l.to_at > :from
             or l.to_at = l.from_at and l.to_at >= :from)
      """;

  private static final RowMapper<LedgerRow> ROW =
      (rs, n) ->
          new LedgerRow(
              rs.getLong("id"),
              rs.getString("kind"),
              rs.getLong("job_id"),
              rs.getInt("attempt"),
              rs.getString("account_id"),
              rs.getString("node_name"),
              rs.getString("tier"),
              rs.getInt("gpus"),
              instant(rs, "given"),
              instant(rs, "from_at"),
              instant(rs, "to_at"),
              rs.getDouble("tflop_s"),
              rs.getObject("tflops", Double.class),
              rs.getObject("charge_id", Long.class),
              instant(rs, "charged_at"),
              rs.getDouble("factor"));

  private static Map<String, Object> params(LedgerFilter filter) {
    Map<String, Object> params = new HashMap<>();
    params.put("account", filter.account());
    params.put("job", filter.job());
    params.put("node", filter.node());
    params.put("tier", filter.tier());
    params.put("kind", filter.kind());
    params.put("from", time(filter.from()));
    params.put("to", time(filter.to()));
    return params;
  }

  @Override
  public List<LedgerRow> ledger(LedgerFilter filter, int limit, long before) {
    return sql.sql(ROW_COLUMNS + " and l.id < :before order by l.id desc limit :limit")
        .params(params(filter))
        .param("before", before)
        .param("limit", limit)
        .query(ROW)
        .list();
  }

  @Override
  public <T> T books(Function<Books, T> reader) {
    return reading(() -> reader.apply(new StoredBooks()));
  }

  /** The books as one transaction sees them; long lists come through a cursor. */
  private final class StoredBooks implements Books {
    private final JdbcClient streams;

    StoredBooks() {
      JdbcTemplate template = new JdbcTemplate(source);
      template.setFetchSize(FETCH);
      streams = JdbcClient.create(template);
    }

    @Override
    public List<Stock> stock() {
      return PostgresStore.this.stock(PostgresStore.this.tiers());
    }

    @Override
    public List<Account> accounts() {
      return tree.all();
    }

    @Override
    public List<Attempt> running() {
      return attempts("where a.ended_at is null", Map.of(), PostgresStore.this.tiers());
    }

    private <R> void stream(JdbcClient.StatementSpec statement, RowMapper<R> row, Consumer<R> to) {
      statement.query(
          rs -> {
            to.accept(row.mapRow(rs, 0));
          });
    }

    @Override
    public void jobs(Consumer<StoredJob> each) {
      stream(
          streams.sql(
              JOB_COLUMNS
                  + """
                  where j.state in ('GLOBAL_QUEUE_WAIT', 'DISPATCHING', 'RUNNING')
                     or j.reservation_gpu_seconds <> 0 or j.reserved_gpus > 0
                  order by j.id
                  """),
          job(PostgresStore.this.tiers()),
          each);
    }

    @Override
    public void charges(Consumer<ChargeRow> each) {
      stream(
          streams.sql(
              """
              select id, at, account_id, job_id, attempt, tflop_s, factor, rule
              from charges
              order by id
              """),
          (rs, n) ->
              new ChargeRow(
                  rs.getLong("id"),
                  instant(rs, "at"),
                  rs.getString("account_id"),
                  rs.getLong("job_id"),
                  rs.getInt("attempt"),
                  rs.getDouble("tflop_s"),
                  rs.getDouble("factor"),
                  rs.getString("rule")),
          each);
    }

    @Override
    public void corrections(Consumer<Correction> each) {
      stream(streams.sql(CORRECTIONS + " order by id"), CORRECTION, each);
    }

    @Override
    public void rows(LedgerFilter filter, Consumer<LedgerRow> each) {
      stream(
          streams
              .sql(ROW_COLUMNS + " order by l.node_name, t.name, l.from_at, l.id")
              .params(params(filter)),
          ROW,
          each);
    }

    @Override
    public void spans(Consumer<Span> each) {
      stream(
          streams.sql(
              """
              select s.id, s.node_name, t.name as tier, s.capacity, s.state, s.outside, s.from_at,
                     s.to_at
              from placement_spans s join gpu_tiers t on t.id = s.tier_id
              order by s.node_name, t.name, s.id
              """),
          SPAN,
          each);
    }

    @Override
    public List<ClockStep> clockSteps() {
      return sql.sql("select from_at, to_at from clock_steps order by id")
          .query((rs, n) -> new ClockStep(instant(rs, "from_at"), instant(rs, "to_at")))
          .list();
    }

    @Override
    public Optional<Attempt> runWithoutRow() {
      return attempts(
              """
              where (a.job_id, a.attempt) in (
                  select e.job_id, e.attempt
                  from attempts e join attempt_gpus g
                       on g.job_id = e.job_id and g.attempt = e.attempt
                  where e.started_at is not null and e.ended_at is not null
                    and not exists (
                        select 1 from ledger l
                        where l.job_id = e.job_id and l.attempt = e.attempt
                          and l.kind in ('run', 'unallocated')
                          and l.node_name = g.node_name and l.tier_id = g.tier_id
                          and l.gpus = g.gpus and l.from_at = e.started_at
                          and l.to_at = greatest(e.started_at, e.ended_at))
                  order by e.job_id, e.attempt
                  limit 1)
              """,
              Map.of(),
              PostgresStore.this.tiers())
          .stream()
          .findFirst();
    }
  }

  private static final String CORRECTIONS =
      "select id, at, kind, account_id, tflop_s, reason, made_by, key from corrections";

  private static final RowMapper<Books.Correction> CORRECTION =
      (rs, n) ->
          new Books.Correction(
              rs.getLong("id"),
              instant(rs, "at"),
              rs.getString("kind"),
              rs.getString("account_id"),
              rs.getDouble("tflop_s"),
              rs.getString("reason"),
              rs.getString("made_by"),
              rs.getString("key"));

  @Override
  public Optional<Books.Correction> correct(Books.Correction c) {
    return writing.execute(
        tx -> {
          if (sql.sql("select count(*) from accounts where id = ?")
                  .param(c.account())
                  .query(Long.class)
                  .single()
              == 0) {
            return Optional.empty();
          }
          Optional<Long> id =
              sql.sql(
                      """
                      insert into corrections (at, kind, account_id, tflop_s, reason, made_by, key)
                      values (?, ?, ?, ?, ?, ?, ?)
                      on conflict (key) do nothing
                      returning id
                      """)
                  .params(
                      time(c.at()),
                      c.kind(),
                      c.account(),
                      BigDecimal.valueOf(c.tflopSeconds()),
                      c.reason(),
                      c.by(),
                      c.key())
                  .query(Long.class)
                  .optional();
          if (id.isEmpty()) {
            return sql.sql(CORRECTIONS + " where key = ?")
                .param(c.key())
                .query(CORRECTION)
                .optional();
          }
          // What was all it had used may be a few digits more than the doubles say.
          int moved =
              sql.sql(
                      """
                      update accounts set cumulative_usage = greatest(cumulative_usage + :by, 0)
                      where id = :account and cumulative_usage + :by > -1e-6
                      """)
                  .param("by", c.tflopSeconds())
                  .param("account", c.account())
                  .update();
          if (moved == 0) {
            tx.setRollbackOnly();
            return Optional.empty();
          }
          return sql.sql(CORRECTIONS + " where id = ?")
              .param(id.get())
              .query(CORRECTION)
              .optional();
        });
  }

  @Override
  public void forget(Duration olderThan, Instant now) {
    OffsetDateTime limit = time(now.minus(olderThan));
    writing.executeWithoutResult(
        tx -> {
          // One that others are packed against stays as long as they do, and the newest such.
          sql.sql(
                  """
                  delete from decisions d
                  where d.decided_at < :limit
                    and not exists (select 1 from decisions f
                                    where f.base_id = d.id and f.decided_at >= :limit)
                    and d.id <> (select coalesce(max(b.id), 0) from decisions b
                                 where b.base_id is null)
                  """)
              .param("limit", limit)
              .update();
          sql.sql(
                  """
                  delete from policy_texts t
                  where t.written_at < ?
                    and not exists (select 1 from decisions d where d.policy_hash = t.policy_hash)
                  """)
              .param(limit)
              .update();
          sql.sql("delete from idempotency_keys where created_at < ?").param(limit).update();
          new PostgresRuleHistory(sql).forget(limit);
          new PostgresStartEstimates(sql).forget(limit);
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
        });
  }

  private static OffsetDateTime time(Instant instant) {
    return instant == null ? null : instant.atOffset(ZoneOffset.UTC);
  }

  private static Instant instant(ResultSet rs, String column) throws SQLException {
    OffsetDateTime time = rs.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }

  static void one(int count, String what) {
    if (count != 1) {
      throw new Overtaken(what + " has changed since it was read");
    }
  }

  private static void each(int[] counts, java.util.function.IntFunction<String> what) {
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] != 1 && counts[i] != Statement.SUCCESS_NO_INFO) {
        throw new Overtaken(what.apply(i) + " has changed since it was read");
      }
    }
  }
}
