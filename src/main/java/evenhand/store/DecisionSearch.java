package evenhand.store;

import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.time;

import evenhand.cycle.Changes;
import evenhand.cycle.DecisionFilter;
import evenhand.cycle.DecisionFound;
import evenhand.outcomes.Decided;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.SqlArrayValue;

/** Finds recorded decisions by what they say. */
final class DecisionSearch {
  /** So many jobs of one clause are named in a line. */
  private static final int NAMED = 5;

  private final JdbcClient sql;
  private final JdbcTemplate batch;

  DecisionSearch(PostgresDatabase db) {
    this.sql = db.sql();
    this.batch = db.batch();
  }

  /** Notes by which clauses a decision says something new, and about which jobs. */
  void write(long decision, Changes.DecisionRecord record) {
    Set<Long> told = new HashSet<>(record.jobs());
    Set<List<Object>> rows = new LinkedHashSet<>();
    for (Decided decided : record.decision().outcomes()) {
      long job = Long.parseLong(decided.outcome().job());
      if (told.contains(job)) {
        rows.add(List.of(decision, decided.rule(), job));
      }
    }
    batch.batchUpdate(
        "insert into decision_rules (decision_id, rule, job_id) values (?, ?, ?)",
        rows.stream().map(List::toArray).toList());
  }

  List<DecisionFound> find(DecisionFilter filter, int limit, long before) {
    Map<String, Object> params = new HashMap<>();
    params.put("before", before);
    params.put("limit", limit);
    StringBuilder where = new StringBuilder("where d.id < :before");
    if (filter.since() != null) {
      where.append(" and d.decided_at >= :since");
      params.put("since", time(filter.since()));
    }
    if (filter.until() != null) {
      where.append(" and d.decided_at < :until");
      params.put("until", time(filter.until()));
    }
    if (filter.clause() != null) {
      params.put("clause", filter.clause());
    }
    if (filter.job() != null) {
      params.put("job", filter.job());
    }
    if (filter.account() != null) {
      params.put("account", filter.account());
    }
    // A job and a clause together mean what that clause said of that job.
    if (filter.clause() != null) {
      where.append(
          " and exists (select 1 from decision_rules r"
              + (filter.account() == null ? "" : " join jobs j on j.id = r.job_id")
              + " where r.decision_id = d.id and r.rule = :clause"
              + (filter.job() == null ? "" : " and r.job_id = :job")
              + (filter.account() == null ? "" : " and j.account_id = :account")
              + ")");
    } else if (filter.job() != null || filter.account() != null) {
      where.append(
          " and exists (select 1 from decision_jobs s"
              + (filter.account() == null ? "" : " join jobs j on j.id = s.job_id")
              + " where s.decision_id = d.id"
              + (filter.job() == null ? "" : " and s.job_id = :job")
              + (filter.account() == null ? "" : " and j.account_id = :account")
              + ")");
    }
    List<DecisionFound> found =
        sql.sql(
                "select d.id, d.decided_at, d.policy, d.policy_hash from decisions d "
                    + where
                    + " order by d.id desc limit :limit")
            .params(params)
            .query(
                (rs, n) ->
                    new DecisionFound(
                        rs.getString("id"),
                        instant(rs, "decided_at"),
                        rs.getString("policy"),
                        rs.getString("policy_hash"),
                        new ArrayList<>()))
            .list();
    Map<Long, DecisionFound> byId = new HashMap<>();
    found.forEach(f -> byId.put(Long.parseLong(f.id()), f));
    sql.sql(
            """
            select decision_id, rule, count(*) as jobs, (array_agg(job_id order by job_id))[1:?] as of
            from decision_rules where decision_id = any (?)
            group by decision_id, rule order by decision_id, rule
            """)
        .params(NAMED, new SqlArrayValue("bigint", byId.keySet().toArray()))
        .query(
            rs -> {
              byId.get(rs.getLong("decision_id"))
                  .said()
                  .add(new DecisionFound.Said(rs.getString("rule"), rs.getInt("jobs"), ids(rs)));
            });
    return found;
  }

  private static List<String> ids(ResultSet rs) throws SQLException {
    return Arrays.stream((Long[]) rs.getArray("of").getArray())
        .map(id -> Long.toString(id))
        .toList();
  }
}
