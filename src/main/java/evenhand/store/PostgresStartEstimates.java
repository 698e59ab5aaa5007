package evenhand.store;

import static evenhand.store.Rows.time;

import evenhand.cycle.Changes;
import evenhand.cycle.StartEstimates;
import evenhand.outcomes.Start;
import java.time.Instant;
import java.time.OffsetDateTime;
import javax.sql.DataSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Estimates of starts in PostgreSQL. Runs in the transaction that is open, if one is. */
public final class PostgresStartEstimates implements StartEstimates {
  private static final int LAST = 200;

  private final JdbcClient sql;

  /**
   * @param source a database that the migrations have been applied to
   */
  public PostgresStartEstimates(DataSource source) {
    this(PostgresDatabase.of(source));
  }

  PostgresStartEstimates(PostgresDatabase db) {
    this.sql = db.sql();
  }

  @Override
  public void made(long job, Instant at, Instant p50, Instant p90) {
    sql.sql(
            """
            insert into start_estimates (job_id, made_at, p50, p90)
            select ?, cast(? as timestamptz), cast(? as timestamptz), cast(? as timestamptz)
            where not exists (select 1 from start_estimates
                              where job_id = ? and started_at is null
                                and made_at > cast(? as timestamptz) - interval '10 minutes')
            """)
        .param(job)
        .param(time(at))
        .param(time(p50))
        .param(time(p90))
        .param(job)
        .param(time(at))
        .update();
  }

  /** Notes which of the jobs that were estimated a decision starts. */
  void started(Changes changes) {
    if (changes.decision() == null) {
      return;
    }
    Long[] jobs =
        changes.decision().decision().outcomes().stream()
            .filter(d -> d.outcome() instanceof Start)
            .map(d -> Long.valueOf(d.outcome().job()))
            .toArray(Long[]::new);
    if (jobs.length > 0) {
      sql.sql(
              """
              update start_estimates set started_at = ?
              where job_id = any(?) and started_at is null
              """)
          .param(time(changes.at()))
          .param(jobs)
          .update();
    }
  }

  /** Forgets estimates that were made before this. */
  void forget(OffsetDateTime before) {
    sql.sql("delete from start_estimates where made_at < ?").param(before).update();
  }

  @Override
  public Kept kept(Instant now) {
    return sql.sql(
            """
            select count(*) as checked, count(*) filter (where started_at <= p90) as held
            from (select e.started_at, e.p90
                  from start_estimates e join jobs j on j.id = e.job_id
                  where e.p90 < ?
                    and (e.started_at is not null or j.ended_at is null or j.ended_at > e.p90)
                  order by e.made_at desc limit ?) last
            """)
        .params(time(now), LAST)
        .query((rs, n) -> new Kept(rs.getInt("checked"), rs.getInt("held")))
        .single();
  }
}
