package evenhand.store;

import evenhand.cycle.Changes;
import evenhand.cycle.RuleHistory;
import evenhand.outcomes.Decided;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import javax.sql.DataSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** What is remembered of rules, in PostgreSQL. Runs in the transaction that is open, if one is. */
public final class PostgresRuleHistory implements RuleHistory {
  private final JdbcClient sql;
  private final PolicyTexts texts;

  /**
   * @param source a database that the migrations have been applied to
   */
  public PostgresRuleHistory(DataSource source) {
    this(PostgresDatabase.of(source));
  }

  PostgresRuleHistory(PostgresDatabase db) {
    this.sql = db.sql();
    this.texts = new PolicyTexts(db);
  }

  private record Key(String clause, String rule) {}

  /**
   * Counts what was decided: the outcomes of a decision that is recorded; or, where there is none,
   * what ends of jobs have charged.
   */
  void count(Changes changes) {
    Map<Key, Long> counts =
        new TreeMap<>(java.util.Comparator.comparing(Key::clause).thenComparing(Key::rule));
    String hash = "";
    if (changes.decision() != null) {
      hash = changes.decision().decision().policyHash();
      for (Decided d : changes.decision().decision().outcomes()) {
        counts.merge(new Key(d.rule(), d.ruleName() == null ? "" : d.ruleName()), 1L, Long::sum);
      }
    } else {
      changes.charges().forEach(c -> counts.merge(new Key(c.rule(), ""), 1L, Long::sum));
    }
    OffsetDateTime hour = changes.at().atOffset(ZoneOffset.UTC).truncatedTo(ChronoUnit.HOURS);
    for (Map.Entry<Key, Long> count : counts.entrySet()) {
      sql.sql(
              """
              insert into rule_counts (hour, policy_hash, clause, rule, outcomes)
              values (?, ?, ?, ?, ?)
              on conflict (hour, policy_hash, clause, rule)
              do update set outcomes = rule_counts.outcomes + excluded.outcomes
              """)
          .params(hour, hash, count.getKey().clause(), count.getKey().rule(), count.getValue())
          .update();
    }
  }

  /** Forgets counts of hours before this. */
  void forget(OffsetDateTime before) {
    sql.sql("delete from rule_counts where hour < ?").param(before).update();
  }

  @Override
  public List<Count> counts(Instant since) {
    return sql.sql(
            """
            select policy_hash, clause, rule, sum(outcomes) as outcomes, max(hour) as last
            from rule_counts where hour >= ?
            group by policy_hash, clause, rule order by policy_hash, clause, rule
            """)
        .param(since.atOffset(ZoneOffset.UTC).truncatedTo(ChronoUnit.HOURS))
        .query(
            (rs, n) ->
                new Count(
                    rs.getString("policy_hash"),
                    rs.getString("clause"),
                    rs.getString("rule"),
                    rs.getLong("outcomes"),
                    rs.getObject("last", OffsetDateTime.class).toInstant()))
        .list();
  }

  @Override
  public Instant countedSince() {
    // of no row the least hour is null
    OffsetDateTime first =
        sql.sql("select min(hour) as first from rule_counts")
            .query((rs, n) -> Optional.ofNullable(rs.getObject("first", OffsetDateTime.class)))
            .single()
            .orElse(null);
    return first == null ? null : first.toInstant();
  }

  @Override
  public Map<String, String> texts(String policyHash) {
    return texts.of(policyHash);
  }

  @Override
  public List<String> hashes(String beginning, int limit) {
    return sql.sql(
            """
            select distinct policy_hash from policy_texts
            where starts_with(policy_hash, ?) order by policy_hash limit ?
            """)
        .params(beginning, limit)
        .query(String.class)
        .list();
  }
}
