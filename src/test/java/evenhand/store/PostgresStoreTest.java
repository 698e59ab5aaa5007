package evenhand.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.cycle.Changes;
import evenhand.cycle.JobState;
import evenhand.cycle.Overtaken;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.outcomes.HoldingCost;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;

class PostgresStoreTest extends StoreContract {
  private DataSource source;

  @Override
  Store make() {
    source = Database.fresh();
    return new PostgresStore(source);
  }

  @Override
  Store restarted() {
    ((PostgresStore) store).close();
    store = new PostgresStore(source);
    store.lead();
    return store;
  }

  @AfterEach
  void close() {
    ((PostgresStore) store).close();
  }

  @Test
  void oneProcessDecidesAndAFrozenOneWritesNothing() throws InterruptedException {
    PostgresStore first = (PostgresStore) store;
    PostgresStore second = new PostgresStore(source);
    try {
      assertThat(first.lead()).isTrue();
      assertThat(second.lead()).isFalse();
      StoredJob job = add("a", "BCG", 1);
      // The first one's connection dies without it noticing, and the second takes over.
      JdbcClient.create(source)
          .sql("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'")
          .query()
          .listOfRows();
      boolean leads = second.lead();
      for (int i = 0; i < 100 && !leads; i++) { // it is told to end, and ends a little later
        Thread.sleep(50);
        leads = second.lead();
      }
      assertThat(leads).isTrue();
      Changes late = Changes.ofCycle(T0);
      late.put(job.to(JobState.DISPATCHING, null));
      assertThatThrownBy(() -> first.commit(late)).isInstanceOf(Overtaken.class);
      assertThat(first.lead()).isFalse();
      Changes cancel = Changes.ofDesk(T0);
      cancel.put(job.over(JobState.CANCELLED, "by kim", T0, null));
      first.commit(cancel);
    } finally {
      second.close();
    }
  }

  @Test
  void theLedgerCannotBeChanged() {
    StoredJob job = add("a", "BCG", 1);
    Changes changes = Changes.ofCycle(T0);
    changes.hold(
        1,
        new HoldingCost("run", job.asks().id(), "BCG", "n1", MID, 1, T0, T0.plusSeconds(1), 82.6));
    store.commit(changes);
    JdbcClient sql = JdbcClient.create(source);
    assertThatThrownBy(() -> sql.sql("update ledger set gpus = 2").update())
        .isInstanceOf(DataAccessException.class)
        .hasMessageContaining("append-only");
    assertThatThrownBy(() -> sql.sql("delete from ledger").update())
        .isInstanceOf(DataAccessException.class);
  }

  @Test
  void theReservationColumnsAreTheFiveOfTheClause() {
    var columns =
        JdbcClient.create(source)
            .sql(
                """
                select column_name || ' ' || data_type || ' ' || is_nullable
                from information_schema.columns
                where table_name = 'jobs' and column_name like 'reserv%' order by ordinal_position
                """)
            .query(String.class)
            .list();
    assertThat(columns)
        .containsExactly(
            "reserved_gpus integer NO",
            "reserved_node_name text YES",
            "reserved_tier_id uuid YES",
            "reservation_last_accrued_at timestamp with time zone YES",
            "reservation_gpu_seconds double precision NO");
  }

  @Test
  void tenThousandQueuedJobsAreLoadedInWellUnderASecond() {
    JdbcClient.create(source)
        .sql(
            """
            insert into jobs (name, account_id, user_name, nodes, num_gpus, resumable, state,
                              submitted_at, queue_entered_at)
            select 'j' || i, 'BCG', 'kim', 1, 2, true, 'GLOBAL_QUEUE_WAIT', now(), now()
            from generate_series(1, 10000) i
            """)
        .update();
    store.load(null);
    long from = System.nanoTime();
    assertThat(store.load(null).jobs()).hasSize(10_000);
    assertThat((System.nanoTime() - from) / 1_000_000).isLessThan(1_000);
  }
}
