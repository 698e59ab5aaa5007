package evenhand.policy;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.Snapshot;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The line that is kept from snapshot to snapshot is the one that a snapshot alone gives. */
class WaitingLineTest {
  private static final int COURSES = 300;
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final List<List<String>> ORDERS =
      List.of(
          List.of("allocated_desc", "account_tree_asc", "priority_desc", "queued_at_asc", "id_asc"),
          List.of("account_usage_asc", "queued_at_asc", "id_asc"),
          List.of("priority_class_desc", "queued_at_asc", "id_asc"),
          List.of("priority_desc", "account_usage_desc", "id_asc"),
          List.of("account_tree_desc", "account_usage_asc", "queued_at_desc"));

  @Test
  void isTheOneThatASnapshotAloneGives() {
    int moved = 0;
    for (int seed = 1; seed <= COURSES; seed++) {
      Random random = new Random(seed);
      Choices.Order order = new Choices.Order(ORDERS.get(seed % ORDERS.size()));
      WaitingLine kept = new WaitingLine(order);
      List<Job> jobs = new ArrayList<>();
      int id = 0;
      List<Job> before = List.of();
      for (int step = 0; step < 20; step++) {
        jobs.removeIf(j -> random.nextInt(5) == 0);
        for (int n = random.nextInt(step == 0 ? 40 : 4); n > 0; n--) {
          jobs.add(job(++id, random));
        }
        if (!jobs.isEmpty() && random.nextInt(4) == 0) {
          int i = random.nextInt(jobs.size());
          jobs.set(
              i, jobs.get(i).protectedFor(random.nextInt(2) * 60)); // the same job, asking anew
        }
        if (jobs.size() > 1 && random.nextInt(8) == 0) {
          jobs.add(0, jobs.remove(jobs.size() - 1)); // the snapshot tells them in any order
        }
        Snapshot snapshot = snapshot(jobs, random);
        kept.follow(snapshot);
        WaitingLine fresh = new WaitingLine(order);
        fresh.follow(snapshot);
        assertThat(kept.jobs()).as("seed " + seed + ", step " + step).isEqualTo(fresh.jobs());
        assertThat(kept.jobs()).hasSameSizeAs(jobs).containsAll(jobs);
        moved += kept.jobs().equals(before) ? 0 : 1;
        before = kept.jobs();
      }
    }
    assertThat(moved).isGreaterThan(COURSES * 10);
  }

  private static Job job(int id, Random random) {
    return new Job(
        Integer.toString(id),
        "a" + random.nextInt(3),
        "u",
        1,
        1,
        null,
        0,
        random.nextInt(4) - 1,
        T0.plusSeconds(random.nextInt(3)),
        random.nextInt(3) == 0 ? 0 : 60,
        true,
        1);
  }

  private static Snapshot snapshot(List<Job> jobs, Random random) {
    List<Account> accounts = new ArrayList<>();
    accounts.add(new Account("top", null, 1, 0, 0));
    for (int a = 0; a < 3; a++) {
      accounts.add(
          new Account(
              "a" + a,
              a == 0 ? "top" : null,
              random.nextInt(6) == 0 ? 0 : 1 + random.nextInt(2),
              random.nextInt(3),
              random.nextInt(3)));
    }
    return new Snapshot(
        "p", T0, "main", List.of(), List.of(), accounts, jobs, List.of(), List.of());
  }
}
