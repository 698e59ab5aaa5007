package evenhand.store;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.CycleSettings;
import evenhand.cycle.Ledger;
import evenhand.cycle.LedgerCheck;
import evenhand.cycle.Stock;
import evenhand.cycle.Store;
import evenhand.cycle.World;
import evenhand.cycle.accounts.AccountBook;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.simulator.ManualClock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A database that an earlier version has filled means the same after its migration. */
class MigrationTest {
  private static final Instant LATER = Instant.parse("2026-04-11T09:00:00Z");
  private static final Tier MID = new Tier("4090", 20, 82.6, 8, true, null, "gpu:4090");

  @Test
  void whatTheFirstVersionWroteAddsUpAndCanStillBeRead() {
    DataSource source = Database.empty();
    Flyway.configure().dataSource(source).target("1").load().migrate();
    JdbcClient sql = JdbcClient.create(source);
    for (String statement :
        """
        insert into gpu_tiers (name, sort_order, tflops, max_gpus, auto_assign)
        values ('4090', 20, 82.6, 8, true);
        insert into accounts (id, cumulative_usage, created_at)
        values ('BCG', 24000 + 24780, now()), ('KDG', 0, now());
        insert into jobs (name, account_id, user_name, nodes, num_gpus, resumable, state,
                          submitted_at, queue_entered_at)
        values ('a', 'BCG', 'kim', 1, 1, true, 'COMPLETED', now(), now());
        insert into charges (at, account_id, job_id, attempt, tflop_s, rule)
        values (now(), 'BCG', 1, 1, 24780, 'C3');
        insert into ledger (kind, job_id, attempt, account_id, node_name, tier_id, gpus, from_at,
                            to_at, tflop_s, charge_id)
        select 'run', 1, 1, 'BCG', 'n1', id, 1, timestamptz '2026-04-10 09:00Z',
               timestamptz '2026-04-10 09:05Z', 24780, 1 from gpu_tiers;
        insert into jobs (name, account_id, user_name, nodes, num_gpus, resumable, state,
                          submitted_at, queue_entered_at, reserved_gpus, reserved_node_name,
                          reserved_tier_id, reservation_last_accrued_at, reservation_gpu_seconds)
        select 'b', 'KDG', 'kim', 1, 2, true, 'GLOBAL_QUEUE_WAIT', now(), now(), 1, 'n1', id,
               timestamptz '2026-04-10 09:10Z', 999 from gpu_tiers;
        insert into reservation_spans (job_id, node_name, tier_id, since)
        select 2, 'n1', id, timestamptz '2026-04-10 09:05Z' from gpu_tiers;
        insert into ledger (kind, job_id, attempt, account_id, node_name, tier_id, gpus, from_at,
                            to_at, tflop_s)
        select 'reserved', 2, 1, 'KDG', 'n1', id, 1, timestamptz '2026-04-10 09:05Z',
               timestamptz '2026-04-10 09:10Z', 999 from gpu_tiers;
        insert into decisions (decided_at, policy, policy_hash, snapshot_hash, decision, snapshot)
        values (timestamptz '2026-04-10 09:00Z', 'p', 'h', 's', '{ }', '[ ]')
        """
            .split(";")) {
      sql.sql(statement).update();
    }
    Flyway.configure().dataSource(source).load().migrate();
    try (PostgresStore store = new PostgresStore(source)) {
      assertThat(sql.sql("select gpu_s from ledger order by id").query(Double.class).list())
          .containsExactly(300.0, 300.0);
      // The second was priced when the tier cost something else.
      List<Store.LedgerRow> rows = store.ledger(null, null, 10, Long.MAX_VALUE);
      assertThat(rows).extracting(Store.LedgerRow::tflops).containsExactly(null, 82.6);
      assertThat(store.receipt(1))
          .contains(
              new Store.Receipt(
                  1, Instant.parse("2026-04-10T09:00:00Z"), "p", "h", "s", "{ }", "[ ]", Map.of()));
      assertThat(store.accounts().usage(Instant.EPOCH, LATER))
          .containsExactly(
              new AccountBook.HourUse(
                  "BCG", Instant.parse("2026-04-10T09:00:00Z"), 82.6, 300_000_000));
      assertThat(store.accounts().changes("BCG", null, 9, Long.MAX_VALUE))
          .singleElement()
          .satisfies(c -> assertThat(c.became()).isEqualTo("1"));
      store.see(List.of(new Stock("n1", MID, 2, NodeState.UP, null)), LATER);
      Ledger ledger = new Ledger(store, CycleSettings.DEFAULT, new ManualClock(LATER));
      LedgerCheck.Result result = ledger.verify();
      assertThat(result.difference()).isNull();
      assertThat(result.notes()).anyMatch(note -> note.startsWith("1 rows are older"));
      assertThat(
              ledger.sums(Store.LedgerFilter.ALL, java.util.Set.of(Ledger.By.KIND)).stream()
                  .filter(l -> "opening".equals(l.group().get(Ledger.By.KIND)))
                  .mapToDouble(l -> l.chargedTflopSeconds().doubleValue())
                  .sum())
          .isEqualTo(24000);
      // An old row that is not charged yet can still be charged.
      assertThat(sql.sql("update ledger set charge_id = 1 where id = 2").update()).isEqualTo(1);
    }
  }

  /** Rows that each version could hold, beside those of tables that are newer. */
  private static List<String> rows(String version) {
    int major = Integer.parseInt(version.substring(0, 1));
    String tflops = major < 2 ? "" : ", tflops";
    String price = major < 2 ? "" : ", 82.6";
    List<String> rows =
        new ArrayList<>(
            List.of(
                """
                insert into gpu_tiers (name, sort_order, tflops, max_gpus, auto_assign)
                values ('4090', 20, 82.6, 8, true)
                """,
                """
                insert into accounts (id, parent, cumulative_usage, created_at)
                values ('lab', null, 0, now()), ('BCG', 'lab', 24780, now()), ('KDG', 'lab', 0, now())
                """,
                """
                insert into jobs (name, account_id, user_name, nodes, num_gpus, resumable, state,
                                  submitted_at, queue_entered_at)
                values ('a', 'BCG', 'kim', 1, 1, true, 'COMPLETED', now(), now()),
                       ('b', 'KDG', 'lee', 1, 8, true, 'GLOBAL_QUEUE_WAIT', now(), now())
                """,
                """
                insert into charges (at, account_id, job_id, attempt, tflop_s, rule)
                values (now(), 'BCG', 1, 1, 24780, 'C3')
                """,
                """
                insert into ledger (kind, job_id, attempt, account_id, node_name, tier_id, gpus,
                                    from_at, to_at, tflop_s, charge_id%s)
                select 'run', 1, 1, 'BCG', 'n1', id, 1, timestamptz '2026-04-10 09:00Z',
                       timestamptz '2026-04-10 09:05Z', 24780, 1%s from gpu_tiers
                """
                    .formatted(tflops, price),
                """
                insert into decisions (decided_at, policy, policy_hash, snapshot_hash, decision,
                                       snapshot)
                values (timestamptz '2026-04-10 09:00Z', 'p', 'h', 's', '{ }', '[ ]')
                """));
    if (major >= 4) {
      rows.add("insert into account_owners (account_id, user_name) values ('lab', 'ada')");
      rows.add("insert into account_users (account_id, user_name) values ('KDG', 'lee')");
    }
    if (major >= 5) {
      rows.add(
          """
          insert into node_drains (node_name, source, reason, drained_by, since)
          values ('n1', 'evenhand', 'fan', 'ada', now())
          """);
      rows.add("insert into claims (job_id, since, ready_at) values (2, now(), now())");
      rows.add(
          "insert into claim_gpus (claim_id, position, node_name, tier_id, gpus) select 1, 1, 'n1',"
              + " id, 2 from gpu_tiers");
    }
    return rows;
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "2", "3", "3.1", "4", "5"})
  void aDatabaseOfEachReleasedVersionIsBroughtUpToDate(String version) {
    DataSource source = Database.empty();
    Flyway.configure().dataSource(source).target(version).load().migrate();
    JdbcClient sql = JdbcClient.create(source);
    rows(version).forEach(row -> sql.sql(row).update());
    Flyway flyway = Flyway.configure().dataSource(source).load();
    flyway.migrate();
    assertThat(flyway.info().pending()).isEmpty();
    assertThat(flyway.validateWithResult().validationSuccessful).isTrue();
    try (PostgresStore store = new PostgresStore(source)) {
      World world = store.load(LATER.minusSeconds(7 * 86_400));
      assertThat(world.jobs()).extracting(j -> j.asks().user()).containsExactly("lee");
      assertThat(world.used().get("BCG")).isNotNull();
      assertThat(world.drains()).hasSize(version.equals("5") ? 1 : 0);
      assertThat(world.claim() != null).isEqualTo(version.equals("5"));
      assertThat(store.accounts().entries())
          .filteredOn(e -> e.id().equals("KDG"))
          .flatExtracting(AccountBook.Entry::users)
          .hasSize(version.compareTo("4") >= 0 ? 1 : 0);
      store.see(List.of(new Stock("n1", MID, 2, NodeState.UP, null)), LATER);
      Ledger ledger = new Ledger(store, CycleSettings.DEFAULT, new ManualClock(LATER));
      assertThat(ledger.verify().difference()).isNull();
      assertThat(store.receipt(1)).isPresent();
      assertThat(new PostgresAccess(source).all(null, 10, Long.MAX_VALUE)).isEmpty();
    }
  }
}
