package evenhand.store;

import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.one;
import static evenhand.store.Rows.time;

import evenhand.rollout.Event;
import evenhand.rollout.InForce;
import evenhand.rollout.RolloutBook;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;

/** What is in force, planned and compared, in PostgreSQL. */
public final class PostgresRollout implements RolloutBook {
  private final JdbcClient sql;
  private final PostgresDatabase db;
  private final PolicyTexts policyTexts;

  /**
   * @param source a database that the migrations have been applied to
   */
  public PostgresRollout(DataSource source) {
    this.db = PostgresDatabase.of(source);
    this.sql = db.sql();
    this.policyTexts = new PolicyTexts(db);
  }

  @Override
  public Optional<InForce> inForce() {
    return sql.sql("select policy, hash, since, made_by, reason, setting from policy_in_force")
        .query(
            (rs, n) ->
                new InForce(
                    rs.getString("policy"),
                    rs.getString("hash"),
                    instant(rs, "since"),
                    rs.getString("made_by"),
                    rs.getString("reason"),
                    rs.getString("setting")))
        .optional();
  }

  @Override
  public boolean begin(InForce first, Map<String, String> texts) {
    return Boolean.TRUE.equals(
        db.writing()
            .execute(
                tx -> {
                  int made =
                      sql.sql(
                              """
                          insert into policy_in_force (policy, hash, since, made_by, reason, setting)
                          values (?, ?, ?, ?, ?, ?)
                          on conflict do nothing
                          """)
                          .params(values(first))
                          .update();
                  if (made == 0) {
                    return false;
                  }
                  policyTexts.keep(first.hash(), texts, first.since());
                  write(null, first, Event.Kind.FIRST);
                  return true;
                }));
  }

  @Override
  public boolean change(String from, InForce next, Event.Kind kind, Map<String, String> texts) {
    return Boolean.TRUE.equals(
        db.writing()
            .execute(
                tx -> {
                  List<Object> values = new ArrayList<>(values(next));
                  values.add(from);
                  int changed =
                      sql.sql(
                              """
                          update policy_in_force
                          set policy = ?, hash = ?, since = ?, made_by = ?, reason = ?, setting = ?
                          where hash = ?
                          """)
                          .params(values)
                          .update();
                  if (changed == 0) {
                    return false;
                  }
                  policyTexts.keep(next.hash(), texts, next.since());
                  write(from, next, kind);
                  return true;
                }));
  }

  private static List<Object> values(InForce p) {
    return List.of(p.policy(), p.hash(), time(p.since()), p.by(), p.reason(), p.setting());
  }

  private void write(String from, InForce next, Event.Kind kind) {
    one(
        sql.sql(
                """
                insert into policy_history (at, kind, policy, hash, from_hash, made_by, reason)
                values (?, ?, ?, ?, ?, ?, ?)
                """)
            .param(time(next.since()))
            .param(kind.name().toLowerCase(Locale.ROOT))
            .param(next.policy())
            .param(next.hash())
            .param(from)
            .param(next.by())
            .param(next.reason())
            .update(),
        "entry of the history");
  }

  @Override
  public List<Event> history(int limit, long before) {
    return sql.sql(
            """
            select id, at, kind, policy, hash, from_hash, made_by, reason
            from policy_history where id < ? order by id desc limit ?
            """)
        .params(before, limit)
        .query(
            (rs, n) ->
                new Event(
                    rs.getLong("id"),
                    instant(rs, "at"),
                    Event.Kind.valueOf(rs.getString("kind").toUpperCase(Locale.ROOT)),
                    rs.getString("policy"),
                    rs.getString("hash"),
                    rs.getString("from_hash"),
                    rs.getString("made_by"),
                    rs.getString("reason")))
        .list();
  }

  @Override
  public Map<String, String> texts(String hash) {
    return policyTexts.of(hash);
  }

  @Override
  public void proven(String hash, Instant at) {
    sql.sql("insert into policies_proven (hash, at) values (?, ?) on conflict do nothing")
        .params(hash, time(at))
        .update();
  }

  @Override
  public boolean isProven(String hash) {
    return sql.sql("select exists (select 1 from policies_proven where hash = ?)")
        .param(hash)
        .query(Boolean.class)
        .single();
  }

  @Override
  public void failed(String hash, Instant at, String message) {
    one(
        sql.sql("insert into policy_failures (hash, at, message) values (?, ?, ?)")
            .params(hash, time(at), message)
            .update(),
        "failure");
  }

  @Override
  public Optional<Failure> failure(String hash) {
    return sql.sql(
            "select at, message from policy_failures where hash = ? order by id desc limit 1")
        .param(hash)
        .query((rs, n) -> new Failure(instant(rs, "at"), rs.getString("message")))
        .optional();
  }

  @Override
  public long nextPlan() {
    return sql.sql("select nextval('policy_plan_ids')").query(Long.class).single();
  }

  @Override
  public void keep(Plan plan, Map<String, String> texts) {
    db.writing()
        .executeWithoutResult(
            tx -> {
              policyTexts.keep(plan.hash(), texts, plan.at());
              one(
                  sql.sql(
                          """
                      insert into policy_plans
                             (id, at, made_by, policy, hash, against, passes, report)
                      values (?, ?, ?, ?, ?, ?, ?, ?)
                      """)
                      .params(
                          plan.id(),
                          time(plan.at()),
                          plan.by(),
                          plan.policy(),
                          plan.hash(),
                          plan.against(),
                          plan.passes(),
                          plan.report())
                      .update(),
                  "plan");
            });
  }

  private static final String PLAN =
      "select id, at, made_by, policy, hash, against, passes, report from policy_plans ";

  private static final RowMapper<Plan> AS_PLAN =
      (rs, n) ->
          new Plan(
              rs.getLong("id"),
              instant(rs, "at"),
              rs.getString("made_by"),
              rs.getString("policy"),
              rs.getString("hash"),
              rs.getString("against"),
              rs.getBoolean("passes"),
              rs.getString("report"));

  @Override
  public Optional<Plan> plan(long id) {
    return sql.sql(PLAN + "where id = ?").param(id).query(AS_PLAN).optional();
  }

  @Override
  public List<Plan> planned(String hash) {
    return sql.sql(
            PLAN
                + """
                where id in (select max(id) from policy_plans where starts_with(hash, ?) group by hash)
                order by id desc limit 2
                """)
        .param(hash)
        .query(AS_PLAN)
        .list();
  }

  @Override
  public List<Plan> plans(int limit, long before) {
    return sql.sql(PLAN + "where id < ? order by id desc limit ?")
        .params(before, limit)
        .query(AS_PLAN)
        .list();
  }

  @Override
  public Sample decisions(Instant since, int most) {
    long all =
        sql.sql("select count(*) from decisions where decided_at >= ?")
            .param(time(since))
            .query(Long.class)
            .single();
    List<Long> ids =
        sql.sql(
                """
                select id from (
                    select id, row_number() over (order by id) - 1 as n
                    from decisions where decided_at >= :since
                ) numbered
                where n = 0 or n * :most / :all <> (n - 1) * :most / :all
                order by id limit :most
                """)
            .param("most", (long) most)
            .param("all", Math.max(1, all))
            .param("since", time(since))
            .query(Long.class)
            .list();
    return new Sample(ids, all);
  }

  @Override
  public Optional<ShadowPolicy> shadow() {
    return sql.sql("select policy, hash, since, made_by from policy_shadow")
        .query(
            (rs, n) ->
                new ShadowPolicy(
                    rs.getString("policy"),
                    rs.getString("hash"),
                    instant(rs, "since"),
                    rs.getString("made_by")))
        .optional();
  }

  @Override
  public void shadow(ShadowPolicy shadow, Map<String, String> texts) {
    db.writing()
        .executeWithoutResult(
            tx -> {
              sql.sql("delete from policy_shadow").update();
              if (shadow == null) {
                return;
              }
              policyTexts.keep(shadow.hash(), texts, shadow.since());
              one(
                  sql.sql(
                          "insert into policy_shadow (policy, hash, since, made_by) values (?, ?, ?, ?)")
                      .params(shadow.policy(), shadow.hash(), time(shadow.since()), shadow.by())
                      .update(),
                  "shadow");
            });
  }

  @Override
  public void differs(ShadowDifference d, int most) {
    db.writing()
        .executeWithoutResult(
            tx -> {
              one(
                  sql.sql(
                          """
                      insert into shadow_differences (at, decision_id, hash, against, report)
                      values (?, ?, ?, ?, ?)
                      """)
                      .params(time(d.at()), d.decision(), d.hash(), d.against(), d.report())
                      .update(),
                  "difference");
              sql.sql(
                      """
                  delete from shadow_differences
                  where id <= (select id from shadow_differences order by id desc offset ? limit 1)
                  """)
                  .param(most)
                  .update();
            });
  }

  @Override
  public List<ShadowDifference> differences(int limit, long before) {
    return sql.sql(
            """
            select id, at, decision_id, hash, against, report
            from shadow_differences where id < ? order by id desc limit ?
            """)
        .params(before, limit)
        .query(
            (rs, n) ->
                new ShadowDifference(
                    rs.getLong("id"),
                    instant(rs, "at"),
                    rs.getLong("decision_id"),
                    rs.getString("hash"),
                    rs.getString("against"),
                    rs.getString("report")))
        .list();
  }

  @Override
  public void forget(Duration olderThan, Instant now) {
    sql.sql("delete from policy_plans where at < ?").param(time(now.minus(olderThan))).update();
  }
}
