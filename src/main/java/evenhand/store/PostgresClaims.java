package evenhand.store;

import static evenhand.store.Rows.each;
import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.one;
import static evenhand.store.Rows.time;

import evenhand.cycle.Changes;
import evenhand.facts.Claim;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.SqlArrayValue;

/** Claims of GPUs for jobs that are to gather them (G1 to G4). */
final class PostgresClaims {
  private final JdbcClient sql;
  private final JdbcTemplate batch;

  PostgresClaims(PostgresDatabase db) {
    this.sql = db.sql();
    this.batch = db.batch();
  }

  Claim claim(Map<UUID, Tier> tiers) {
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

  void write(Changes changes) {
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
}
