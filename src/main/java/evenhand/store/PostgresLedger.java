package evenhand.store;

import static evenhand.store.Rows.each;
import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.one;
import static evenhand.store.Rows.time;

import evenhand.cycle.Attempt;
import evenhand.cycle.Books;
import evenhand.cycle.Changes;
import evenhand.cycle.Stock;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.facts.Account;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The ledger, charges, corrections, and the books as a whole. */
final class PostgresLedger {
  /** Rows that a cursor brings at once. */
  private static final int FETCH = 1000;

  private final PostgresDatabase db;
  private final JdbcClient sql;
  private final JdbcTemplate batch;
  private final PostgresInventory inventory;
  private final PostgresJobs jobs;
  private final PostgresAccounts tree;

  PostgresLedger(
      PostgresDatabase db, PostgresInventory inventory, PostgresJobs jobs, PostgresAccounts tree) {
    this.db = db;
    this.sql = db.sql();
    this.batch = db.batch();
    this.inventory = inventory;
    this.jobs = jobs;
    this.tree = tree;
  }

  /**
   * Rows and charges. A job is charged twice at once where a reading shows the end of two of its
   * runs: the second charge covers the rows that came after the first, so rows and charges are
   * written in rounds, each with one charge of a job at most.
   */
  void write(Changes changes) {
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

  private static final RowMapper<Store.LedgerRow> ROW =
      (rs, n) ->
          new Store.LedgerRow(
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

  private static Map<String, Object> params(Store.LedgerFilter filter) {
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

  List<Store.LedgerRow> ledger(Store.LedgerFilter filter, int limit, long before) {
    return sql.sql(ROW_COLUMNS + " and l.id < :before order by l.id desc limit :limit")
        .params(params(filter))
        .param("before", before)
        .param("limit", limit)
        .query(ROW)
        .list();
  }

  <T> T books(Function<Books, T> reader) {
    return db.read(() -> reader.apply(new StoredBooks()));
  }

  /** The books as one transaction sees them; long lists come through a cursor. */
  private final class StoredBooks implements Books {
    private final JdbcClient streams;

    StoredBooks() {
      JdbcTemplate template = new JdbcTemplate(db.source());
      template.setFetchSize(FETCH);
      streams = JdbcClient.create(template);
    }

    @Override
    public List<Stock> stock() {
      return inventory.stock(inventory.tiers());
    }

    @Override
    public List<Account> accounts() {
      return tree.all();
    }

    @Override
    public List<Attempt> running() {
      return jobs.open(inventory.tiers());
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
              PostgresJobs.JOB_COLUMNS
                  + """
                  where j.state in ('GLOBAL_QUEUE_WAIT', 'DISPATCHING', 'RUNNING')
                     or j.reservation_gpu_seconds <> 0 or j.reserved_gpus > 0
                  order by j.id
                  """),
          PostgresJobs.job(inventory.tiers()),
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
    public void rows(Store.LedgerFilter filter, Consumer<Store.LedgerRow> each) {
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
          PostgresInventory.SPAN,
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
      return jobs
          .attempts(
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
              inventory.tiers())
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

  Optional<Books.Correction> correct(Books.Correction c) {
    return db.writing()
        .execute(
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
}
