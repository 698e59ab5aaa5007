package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.service.JsonRecorder;
import evenhand.simulator.MemoryStore;
import evenhand.store.Database;
import evenhand.store.PostgresStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The same on PostgreSQL; and whatever is doctored there is found. */
class LedgerOnPostgresTest extends LedgerTest {
  private DataSource source;

  @Override
  Store make() {
    source = Database.fresh();
    return new PostgresStore(source);
  }

  /** Charged and uncharged rows, a reservation under way, a run, an ended one, a correction. */
  private void history() {
    cluster.node("n2", LOW, 2);
    Token a = submit("BCG", 2);
    after(0);
    after(10);
    cluster.end(a, SeenJob.State.FAILED, 1, null);
    after(1);
    submit("KDG", 1);
    after(0);
    cluster.hold("n2", LOW, 1);
    after(1);
    submit("BCG", 2);
    after(1);
    after(10);
    after(10);
    ledger.correct("BCG", 5, "for the sake of it", "lee", null);
    assertThat(difference()).isNull();
    assertThat(store.load(null).reservations()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cost|update ledger set tflop_s = tflop_s + 0.001 where kind = 'run'",
        "cost|update ledger set gpus = gpus + 1 where kind = 'run'",
        "cost|update ledger set to_at = to_at + interval '1 us' where kind = 'reserved'",
        "cost|update ledger set tflops = tflops * 2",
        "charge|update charges set tflop_s = tflop_s - 1",
        "charge|update charges set account_id = 'KDG' where account_id = 'BCG'",
        "charge|update charges set job_id = (select max(id) from jobs)",
        "charge|update ledger set charge_id = (select max(id) from charges) where id ="
            + " (select max(id) from ledger)",
        "charge|delete from ledger where kind = 'run'",
        "charged_once|update ledger set charge_id = null where kind = 'run';"
            + "update charges set tflop_s = 0",
        "usage|update ledger set kind = 'unallocated', charge_id = null where kind = 'run';"
            + "update charges set tflop_s = 0",
        "carried|delete from ledger where id = (select max(id) from ledger)",
        "carried|update jobs set reservation_gpu_seconds = reservation_gpu_seconds + 1 where"
            + " reserved_gpus > 0",
        "charged_once|update jobs set reservation_gpu_seconds = 7 where id = 1",
        "last_accrued|update jobs set reservation_last_accrued_at ="
            + " reservation_last_accrued_at - interval '1 s' where reserved_gpus > 0",
        "usage|update accounts set cumulative_usage = cumulative_usage + 0.001 where id = 'KDG'",
        "usage|update corrections set tflop_s = 6",
        "usage|delete from corrections",
        "missing_row|update attempts set ended_at = ended_at + interval '1 s'",
        "span|update placement_spans set capacity = 8 where to_at is null and node_name = 'n1'",
        "span|update placement_spans set from_at = from_at - interval '1 s' where id > 2",
        "span|delete from placement_spans where to_at is null and node_name = 'n1'",
        "capacity|update placement_spans set capacity = 1 where node_name = 'n1';"
            + " update gpu_resources set retired_at = now() where node_name = 'n1'"
            + " and gpu_index = 1",
        "capacity|insert into ledger (kind, job_id, attempt, account_id, node_name, tier_id, gpus,"
            + " from_at, to_at, tflop_s, tflops) select 'unallocated', job_id, attempt, account_id,"
            + " node_name, tier_id, gpus, from_at, to_at, tflop_s, tflops from ledger"
            + " where kind = 'run'",
      })
  void whatIsDoctoredIsFound(String what, String doctor) {
    history();
    JdbcClient sql = JdbcClient.create(source);
    // Whoever doctors a database takes its guards away first.
    for (String table : new String[] {"ledger", "charges", "corrections", "placement_spans"}) {
      sql.sql("alter table " + table + " disable trigger user").update();
    }
    for (String statement : doctor.split(";")) {
      assertThat(sql.sql(statement).update()).as(statement).isPositive();
    }
    LedgerCheck.Difference difference = difference();
    assertThat(difference).isNotNull();
    assertThat(difference.what()).as(difference.sentence()).isEqualTo(what);
    assertThat(difference.sentence()).endsWith(".");
    ((PostgresStore) store).close();
    store = new MemoryStore(); // nothing is to add up there any more
  }

  @Test
  void everyByteOfAReceiptIsCovered() {
    cluster.hold("n1", MID, 1);
    submit("BCG", 2);
    after(0);
    submit("KDG", 1);
    after(10);
    JdbcClient sql = JdbcClient.create(source);
    Receipts receipts = new Receipts(store, new JsonRecorder(), PAST);
    List<Long> ids = sql.sql("select id from decisions order by id").query(Long.class).list();
    long newest = ids.get(ids.size() - 1);
    for (long id : ids) {
      Store.Receipt receipt = store.receipt(id).orElseThrow();
      assertThat(receipts.verify(Long.toString(id)).message()).isNull();
      for (String part : new String[] {"decision", "snapshot"}) {
        byte[] packed =
            sql.sql("select " + part + "_packed from decisions where id = ?")
                .param(id)
                .query(byte[].class)
                .single();
        for (int i = 0; i < packed.length; i += id == newest ? 1 : 5) {
          byte[] flipped = packed.clone();
          flipped[i] ^= (byte) (1 << (i % 8));
          if (i % 50 == 0) {
            sql.sql("vacuum decisions").update(); // or each look walks past all that was there
          }
          sql.sql("update decisions set " + part + "_packed = ? where id = ?")
              .params(flipped, id)
              .update();
          assertThat(receipts.verify(Long.toString(id)).part()).as("byte " + i).isEqualTo(part);
        }
        sql.sql("update decisions set " + part + "_packed = ? where id = ?")
            .params(packed, id)
            .update();
        // Whoever could pack it anew: the text itself, plain as rows of the first version have it;
        // every 20th character, as each is a decision made again.
        String text = part.equals("decision") ? receipt.decisionJson() : receipt.snapshotJson();
        Random random = new Random(id);
        for (int i = random.nextInt(20); i < text.length(); i += 20) {
          char[] flipped = text.toCharArray();
          flipped[i] = (char) (flipped[i] ^ 1 << random.nextInt(5));
          if (flipped[i] == 0) {
            continue;
          }
          sql.sql("update decisions set %1$s = ?, %1$s_packed = null where id = ?".formatted(part))
              .params(new String(flipped), id)
              .update();
          assertThat(receipts.verify(Long.toString(id)).same()).as("character " + i).isFalse();
        }
        sql.sql("update decisions set %1$s = null, %1$s_packed = ? where id = ?".formatted(part))
            .params(packed, id)
            .update();
      }
      for (String column : new String[] {"policy", "policy_hash", "snapshot_hash"}) {
        String value =
            sql.sql("select " + column + " from decisions where id = ?")
                .param(id)
                .query(String.class)
                .single();
        for (int i = 0; i < value.length(); i++) {
          char[] flipped = value.toCharArray();
          flipped[i] ^= 1;
          sql.sql("update decisions set " + column + " = ? where id = ?")
              .params(new String(flipped), id)
              .update();
          assertThat(receipts.verify(Long.toString(id)).same()).as(column + " " + i).isFalse();
        }
        sql.sql("update decisions set " + column + " = ? where id = ?").params(value, id).update();
      }
      sql.sql("update decisions set decided_at = decided_at + interval '1 us' where id = ?")
          .param(id)
          .update();
      assertThat(receipts.verify(Long.toString(id)).part()).isEqualTo("record");
      sql.sql("update decisions set decided_at = decided_at - interval '1 us' where id = ?")
          .param(id)
          .update();
      assertThat(receipts.verify(Long.toString(id)).message()).isNull();
    }
  }

  @Test
  void everyByteOfTheRulesIsCovered() {
    submit("BCG", 2);
    after(0);
    JdbcClient sql = JdbcClient.create(source);
    String id = store.decisions(null, 1, Long.MAX_VALUE).get(0).id();
    Receipts receipts = new Receipts(store, new JsonRecorder(), PAST);
    for (int position : new int[] {0, 1, 9}) {
      String text =
          sql.sql("select text from policy_texts where position = ?")
              .param(position)
              .query(String.class)
              .single();
      Random random = new Random(position);
      for (int n = 0; n < 150; n++) {
        int i = random.nextInt(text.length());
        char[] flipped = text.toCharArray();
        flipped[i] ^= 1;
        sql.sql("update policy_texts set text = ? where position = ?")
            .params(new String(flipped), position)
            .update();
        assertThat(receipts.verify(id).part()).isEqualTo("policy");
      }
      sql.sql("update policy_texts set text = ? where position = ?")
          .params(text, position)
          .update();
    }
    String[] names =
        sql.sql("select name from policy_texts order by position")
            .query(String.class)
            .list()
            .toArray(String[]::new);
    assertThat(names[0]).isEqualTo("policies/reservation.yaml");
    assertThat(Arrays.asList(names)).contains("reservation/R2.drl");
    sql.sql("update policy_texts set name = name || 'x' where position = 3").update();
    assertThat(receipts.verify(id).part()).isEqualTo("policy");
    sql.sql("update policy_texts set name = ? where position = 3").param(names[3]).update();
    sql.sql("create table kept as select * from policy_texts").update();
    sql.sql("delete from policy_texts").update();
    assertThat(receipts.verify(id).message()).contains("no texts are kept");
    sql.sql("insert into policy_texts select * from kept").update();
  }

  @Test
  void textsOfAPolicyAreKeptAsLongAsItsLastDecision() {
    submit("BCG", 2);
    after(0);
    JdbcClient sql = JdbcClient.create(source);
    store.forget(Duration.ofDays(1), clock.instant().plus(Duration.ofDays(2)));
    // The newest that others may be packed against stays, and its texts with it.
    assertThat(sql.sql("select count(*) from decisions").query(Long.class).single()).isEqualTo(1);
    assertThat(sql.sql("select count(*) from policy_texts").query(Long.class).single())
        .isGreaterThan(20);
  }
}
