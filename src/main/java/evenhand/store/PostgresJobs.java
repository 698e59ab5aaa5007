package evenhand.store;

import static evenhand.store.Rows.each;
import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.one;
import static evenhand.store.Rows.time;

import evenhand.cycle.Attempt;
import evenhand.cycle.Changes;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.facts.Job;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.SqlArrayValue;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Jobs, their scripts, reservations and attempts. */
final class PostgresJobs {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final PostgresDatabase db;
  private final JdbcClient sql;
  private final JdbcTemplate batch;
  private final PostgresInventory inventory;

  PostgresJobs(PostgresDatabase db, PostgresInventory inventory) {
    this.db = db;
    this.sql = db.sql();
    this.batch = db.batch();
    this.inventory = inventory;
  }

  /** Jobs that have not ended, by id. */
  List<StoredJob> notEnded(Map<UUID, Tier> tiers) {
    return sql.sql(
            JOB_COLUMNS
                + """
                where j.state in ('GLOBAL_QUEUE_WAIT', 'DISPATCHING', 'RUNNING')
                order by j.id
                """)
        .query(job(tiers))
        .list();
  }

  /** Attempts that have not ended. */
  List<Attempt> open(Map<UUID, Tier> tiers) {
    return attempts("where a.ended_at is null", Map.of(), tiers);
  }

  /** All of a job but its script; conditions on {@code jobs j} follow. */
  static final String JOB_COLUMNS =
      """
      select j.id, j.name, j.account_id, j.user_name, j.nodes, j.num_gpus, j.tier,
             j.minimum_tier_sort_order, j.priority, j.min_runtime_s, j.resumable, j.preemptible,
             j.time_limit_s,
             j.state, j.state_reason, j.attempt, j.node_failures, j.submitted_at,
             j.queue_entered_at, j.started_at, j.ended_at, j.exit_code, j.reserved_gpus,
             j.reserved_node_name, j.reserved_tier_id, j.reservation_last_accrued_at,
             j.reservation_gpu_seconds, j.version, s.since as reserved_since
      from jobs j
      left join reservation_spans s
             on s.job_id = j.id and s.ended_at is null and j.reserved_gpus > 0
      """;

  static RowMapper<StoredJob> job(Map<UUID, Tier> tiers) {
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
              rs.getInt("attempt"),
              rs.getBoolean("preemptible")),
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
  List<Attempt> attempts(String where, Map<String, ?> params, Map<UUID, Tier> tiers) {
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

  void writeJobs(Changes changes) {
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

  void writeAttempts(Changes changes) {
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

  SubmitOrder submitOrder(Token token) {
    return db.reading()
        .execute(
            tx -> {
              List<Attempt> attempt =
                  attempts(
                      "where a.job_id = :job and a.attempt = :attempt",
                      Map.of("job", token.job(), "attempt", token.attempt()),
                      inventory.tiers());
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

  Store.Added add(NewJob job, int minimumTierSortOrder, String remark, Store.Key key, Instant now) {
    return db.writing()
        .execute(
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
                              minimum_tier_sort_order, priority, min_runtime_s, resumable, preemptible,
                              time_limit_s, state, state_reason, submitted_at, queue_entered_at)
                      values (:name, :account, :user, :nodes, :gpus, :tier, :minimum, :priority,
                              :minRuntime, :resumable, :preemptible, :limit, 'GLOBAL_QUEUE_WAIT', :remark, :now, :now)
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
                      .param("preemptible", job.preemptible())
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
                    sql.sql(
                            "update idempotency_keys set job_id = ? where account_id = ? and key = ?")
                        .params(id, key.account(), key.text())
                        .update(),
                    "idempotency key " + key.text());
              }
              return new Store.Added(job(id).orElseThrow(), true, true);
            });
  }

  Optional<Store.Added> added(Store.Key key) {
    return db.read(
        () ->
            sql.sql("select job_id, digest from idempotency_keys where account_id = ? and key = ?")
                .params(key.account(), key.text())
                .query(
                    (rs, n) ->
                        new Store.Added(
                            job(rs.getLong("job_id")).orElseThrow(),
                            false,
                            rs.getString("digest").equals(key.digest())))
                .optional());
  }

  Optional<Store.JobRecord> job(long id) {
    return db.read(() -> records("where j.id = :id", Map.of("id", id)).stream().findFirst());
  }

  List<Store.JobRecord> jobs(JobState state, String account, String user, int limit, long before) {
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
    if (user != null) {
      where += " and j.user_name = :user";
      params.put("user", user);
    }
    String page = where + " order by j.id desc limit :limit";
    return db.read(() -> records(page, params));
  }

  private List<Store.JobRecord> records(String page, Map<String, ?> params) {
    Map<UUID, Tier> tiers = inventory.tiers();
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
        .map(j -> new Store.JobRecord(j, newest.get(j.id()), charged.getOrDefault(j.id(), 0.0)))
        .toList();
  }

  /** Forgets idempotency keys from before then. */
  void forgetKeys(OffsetDateTime limit) {
    sql.sql("delete from idempotency_keys where created_at < ?").param(limit).update();
  }
}
