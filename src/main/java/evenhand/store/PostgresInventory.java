package evenhand.store;

import static evenhand.store.Rows.each;
import static evenhand.store.Rows.instant;
import static evenhand.store.Rows.one;
import static evenhand.store.Rows.time;

import evenhand.cycle.Books;
import evenhand.cycle.NodeDrain;
import evenhand.cycle.Stock;
import evenhand.cycle.Store;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.SqlArrayValue;

/** Tiers, GPUs, what placements were from when to when, and drains of nodes. */
final class PostgresInventory {
  private final PostgresDatabase db;
  private final JdbcClient sql;
  private final JdbcTemplate batch;
  private final PostgresEvents events;

  PostgresInventory(PostgresDatabase db, PostgresEvents events) {
    this.db = db;
    this.events = events;
    this.sql = db.sql();
    this.batch = db.batch();
  }

  /** Brings the tiers in line with the settings. */
  void setUp(List<Tier> tiers) {
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
  }

  private record Known(UUID id, Tier tier) {}

  /** All there ever were: old attempts and ledger rows are of tiers that are not used any more. */
  Map<UUID, Tier> tiers() {
    return tiers("");
  }

  /**
   * @param where a condition on {@code gpu_tiers}, or nothing
   */
  Map<UUID, Tier> tiers(String where) {
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

  /** Those that the settings name, the lowest first. */
  List<Tier> configured() {
    return List.copyOf(tiers("where configured").values());
  }

  List<Stock> stock(Map<UUID, Tier> tiers) {
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

  boolean see(List<Stock> seen, List<Store.Outside> outside, Instant at) {
    return db.writing()
        .execute(
            tx -> {
              // Two processes may read the cluster at the same moment: one after the other they
              // note it, and tell it once.
              noteClock(at);
              Map<String, UUID> ids = new HashMap<>();
              Map<UUID, Tier> tiers = tiers();
              tiers.forEach((id, tier) -> ids.put(tier.name(), id));
              List<Stock> noted = stock(tiers);
              events.seen(noted, seen, at);
              Map<String, Stock> before = new TreeMap<>();
              for (Stock s : noted) {
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
                  gpus.add(
                      new Object[] {s.node(), tier, i, s.state().word(), s.reason(), time(at)});
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
  private void noteSpans(Map<UUID, Tier> tiers, List<Store.Outside> outside, Instant at) {
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

  List<NodeDrain> openDrains() {
    return sql.sql(DRAINS + "where ended_at is null order by node_name, source")
        .query(DRAIN)
        .list();
  }

  List<NodeDrain> drains(String node, int limit) {
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

  void write(NodeDrain d) {
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
}
