package evenhand.store;

import static evenhand.store.Rows.time;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The texts of policies: of those that have decided, that were planned, and that were in force. Its
 * methods run in the transaction that is open, if one is.
 */
final class PolicyTexts {
  private final PostgresDatabase db;

  PolicyTexts(PostgresDatabase db) {
    this.db = db;
  }

  /** By name, in their order; empty when none are kept. */
  Map<String, String> of(String hash) {
    Map<String, String> texts = new LinkedHashMap<>();
    db.sql()
        .sql("select name, text from policy_texts where policy_hash = ? order by position")
        .param(hash)
        .query(
            rs -> {
              texts.put(rs.getString("name"), rs.getString("text"));
            });
    return texts;
  }

  /**
   * Keeps them, once for each hash; a policy that has no texts leaves none. Two transactions may
   * come with the same policy at the same moment, one that decides by it and one that plans it.
   */
  void keep(String hash, Map<String, String> texts, Instant at) {
    boolean known =
        texts.isEmpty()
            || db.sql()
                .sql("select exists (select 1 from policy_texts where policy_hash = ?)")
                .param(hash)
                .query(Boolean.class)
                .single();
    if (known) {
      return;
    }
    List<Object[]> rows = new ArrayList<>();
    texts.forEach((name, text) -> rows.add(new Object[] {hash, rows.size(), name, text, time(at)}));
    db.batch()
        .batchUpdate(
            """
            insert into policy_texts (policy_hash, position, name, text, written_at)
            values (?, ?, ?, ?, ?)
            on conflict do nothing
            """,
            rows);
  }
}
