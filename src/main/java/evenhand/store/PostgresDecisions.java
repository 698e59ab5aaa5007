package evenhand.store;

import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.time;

import evenhand.cycle.Changes;
import evenhand.cycle.Desk;
import evenhand.cycle.Store;
import evenhand.outcomes.Decision;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.SqlArrayValue;

/** Recorded decisions, packed, and the texts of the policies that made them. */
final class PostgresDecisions {
  /** So many decisions, and for so long, are packed against one before another takes its place. */
  private static final int MOST_FOLLOWERS = 500;

  private static final Duration BASE_LASTS = Duration.ofHours(6);

  private final PostgresDatabase db;
  private final JdbcClient sql;
  private final PolicyTexts texts;

  PostgresDecisions(PostgresDatabase db) {
    this.db = db;
    this.sql = db.sql();
    this.texts = new PolicyTexts(db);
  }

  /**
   * The decision that others are packed against at present.
   *
   * @param bytes what it takes itself
   * @param since when it was decided
   * @param followers how many are packed against it
   */
  record Kept(
      long id,
      Packed.Base decision,
      Packed.Base snapshot,
      int bytes,
      Instant since,
      int followers) {}

  String write(Changes.DecisionRecord record, Kept[] kept) {
    Decision decision = record.decision();
    texts.keep(decision.policyHash(), record.policyTexts(), decision.now());
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

  private static final RowMapper<Desk.DecisionView> DECISION =
      (rs, n) ->
          new Desk.DecisionView(
              rs.getString("id"),
              instant(rs, "decided_at"),
              rs.getString("policy"),
              rs.getString("policy_hash"),
              null);

  List<Desk.DecisionView> decisions(Long job, int limit, long before) {
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

  Optional<Desk.DecisionView> decision(long id) {
    return db.read(
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

  Map<Long, Desk.DecisionView> lastSaid(List<Long> jobs) {
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

  Optional<String> snapshot(long decision) {
    return db.read(() -> stored(decision).map(this::snapshotText));
  }

  Optional<Store.Receipt> receipt(long decision) {
    return db.read(
        () ->
            stored(decision)
                .map(
                    d ->
                        new Store.Receipt(
                            decision,
                            d.at(),
                            d.policy(),
                            d.policyHash(),
                            d.snapshotHash(),
                            decisionText(d),
                            snapshotText(d),
                            texts.of(d.policyHash()))));
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
                      new Store.Broken(
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
      throw new Store.Broken(part, "the " + part + " stored as " + d.id() + ": " + e.getMessage());
    }
  }

  /** Forgets decisions from before then, and the texts of policies that none is left of. */
  void forget(OffsetDateTime limit) {
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
              and not exists (select 1 from policies_kept k where k.hash = t.policy_hash)
            """)
        .param(limit)
        .update();
  }
}
