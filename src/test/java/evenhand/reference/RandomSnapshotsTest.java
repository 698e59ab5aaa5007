package evenhand.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.Placement;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Wait;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The generator: what it makes can be, reaches every clause, and is made small when it fails. */
class RandomSnapshotsTest {
  private static final int COUNT = 2000;

  @Test
  void oneSeedOneSnapshot() {
    assertEquals(RandomSnapshots.of(7), RandomSnapshots.of(7));
    assertFalse(RandomSnapshots.of(7).equals(RandomSnapshots.of(8)));
  }

  @Test
  void everySnapshotCanBe() {
    for (long seed = 0; seed < COUNT; seed++) {
      assertCanBe(RandomSnapshots.of(seed), "seed " + seed);
    }
  }

  /** What can be, but for a lone reservation larger than its placement has or has idle (R5). */
  private static void assertCanBe(Snapshot snapshot, String seed) {
    Set<Tier> tiers = new HashSet<>(snapshot.tiers());
    Set<String> tierNames = new HashSet<>();
    tiers.forEach(tier -> assertTrue(tierNames.add(tier.name()), seed));

    Map<String, Placement> placements = new HashMap<>();
    Map<String, Object> states = new HashMap<>();
    for (Placement placement : snapshot.placements()) {
      assertTrue(tiers.contains(placement.tier()), seed);
      String key = placement.node() + "/" + placement.tier().name();
      assertTrue(placements.put(key, placement) == null, seed);
      assertTrue(0 <= placement.idle() && placement.idle() <= placement.capacity(), seed);
      assertEquals(0, placement.reserved(), seed);
      Object other = states.put(placement.node(), placement.state());
      assertTrue(other == null || other == placement.state(), seed);
    }

    Map<String, Account> accounts = new HashMap<>();
    snapshot.accounts().forEach(a -> assertTrue(accounts.put(a.id(), a) == null, seed));
    for (Account account : accounts.values()) {
      assertTrue(account.parent() == null || accounts.containsKey(account.parent()), seed);
      assertTrue(account.cumulativeUsage() >= 0 && account.cumulativeUsage() < 1e9, seed);
    }

    Map<String, Job> jobs = new HashMap<>();
    for (Job job : snapshot.jobs()) {
      assertTrue(jobs.put(job.id(), job) == null, seed);
      assertTrue(accounts.containsKey(job.account()), seed);
      assertTrue(1 <= job.numGpus() && job.numGpus() <= 8, seed);
      assertTrue(job.tier() == null || tierNames.contains(job.tier()), seed);
    }

    Map<String, Integer> reserved = new HashMap<>();
    Map<String, Integer> reservations = new HashMap<>();
    Set<String> holders = new HashSet<>();
    for (Reservation reservation : snapshot.reservations()) {
      Job holder = jobs.get(reservation.job());
      assertTrue(holder != null && holders.add(holder.id()), seed);
      assertEquals(holder.account(), reservation.account(), seed);
      assertTrue(1 <= reservation.gpus() && reservation.gpus() < holder.numGpus(), seed);
      assertFalse(reservation.since().isAfter(snapshot.now()), seed);
      String key = reservation.node() + "/" + reservation.tier().name();
      reserved.merge(key, reservation.gpus(), Integer::sum);
      reservations.merge(key, 1, Integer::sum);
    }
    reserved.forEach(
        (key, gpus) -> {
          Placement placement = placements.get(key);
          assertTrue(
              placement == null || gpus <= placement.idle() || reservations.get(key) == 1, seed);
        });

    Map<String, Integer> unheld = new HashMap<>();
    placements.forEach((key, placement) -> unheld.put(key, placement.capacity()));
    for (Running running : snapshot.running()) {
      assertFalse(jobs.containsKey(running.job()), seed);
      assertTrue(accounts.containsKey(running.account()), seed);
      for (Share share : running.on()) {
        unheld.merge(share.node() + "/" + share.tier().name(), -share.gpus(), Integer::sum);
      }
    }
    placements.forEach((key, placement) -> assertEquals(placement.idle(), unheld.get(key), seed));
  }

  @Test
  void everyClauseIsReachedOften() {
    Map<String, Integer> reached = new TreeMap<>();
    for (long seed = 0; seed < COUNT; seed++) {
      Snapshot snapshot = RandomSnapshots.of(seed);
      Set<String> here = new HashSet<>();
      for (Decided decided : PlainReading.decide(snapshot).outcomes()) {
        String kind = decided.outcome().getClass().getSimpleName();
        here.add(kind + " " + decided.rule());
        if (decided.outcome() instanceof Wait wait) {
          here.add(wait.code());
        }
      }
      here.forEach(what -> reached.merge(what, 1, Integer::sum));
    }
    List<String> expected =
        List.of(
            "Start D1",
            "Start D2",
            "Absorb D2",
            "Reserve D3",
            "Release W1",
            "Release R3",
            "Release R5",
            "Charge C4",
            "NO_FIT",
            "NODE_DRAINING",
            "GATHERING",
            "HELD_BY_RESERVATION",
            "NOT_FIRST",
            "NO_IDLE");
    for (String what : expected) {
      assertTrue(reached.getOrDefault(what, 0) >= COUNT / 50, what + " is rare: " + reached);
    }
  }

  @Test
  void thePlainReadingKeepsItsOwnInvariantsWhateverTheOrder() {
    for (long seed = 0; seed < COUNT; seed++) {
      PolicyAgreesWithPlainReadingTest.agree(PlainReading::decide, seed);
    }
  }

  @Test
  void aWrongDeciderIsShownOnTheSmallestSnapshot() {
    // One that forgets to charge what it takes away.
    AssertionFailedError failure =
        assertThrows(
            AssertionFailedError.class,
            () -> {
              for (long seed = 0; seed < COUNT; seed++) {
                PolicyAgreesWithPlainReadingTest.agree(
                    snapshot -> without("C4", PlainReading.decide(snapshot)), seed);
              }
            });
    String message = failure.getMessage();
    assertTrue(message.contains("-Devenhand.random.seed="), message);
    // What is left: one job, its reservation on a placement that is gone, and what these name.
    String snapshot = message.substring(message.indexOf("{\"policy\""));
    assertEquals(1, snapshot.split("\"num_gpus\"").length - 1, snapshot);
    assertEquals(1, snapshot.split("\"accrued_at\"").length - 1, snapshot);
    assertTrue(snapshot.contains("\"placements\":[]"), snapshot);
    assertTrue(snapshot.contains("\"running\":[]"), snapshot);
    assertTrue(snapshot.split("\"sort_order\"").length - 1 <= 2, snapshot);
  }

  @Test
  void whatIsMadeSmallerCanStillBe() {
    for (long seed = 0; seed < 200; seed++) {
      Snapshot from = RandomSnapshots.of(seed);
      if (from.reservations().isEmpty()) {
        continue;
      }
      Snapshot least = FailingSnapshot.shrunk(from, s -> !s.reservations().isEmpty());
      assertEquals(1, least.jobs().size());
      assertEquals(1, least.reservations().size());
      assertTrue(least.placements().isEmpty());
      assertCanBe(least, "seed " + seed);
    }
  }

  @Test
  void theTextOfASnapshotIsJsonWithAllOfIt() {
    for (long seed = 0; seed < 100; seed++) {
      Snapshot snapshot = RandomSnapshots.of(seed);
      JsonNode json = JsonMapper.shared().readTree(FailingSnapshot.text(snapshot));
      assertEquals(snapshot.tiers().size(), json.get("tiers").size());
      assertEquals(snapshot.placements().size(), json.get("placements").size());
      assertEquals(snapshot.accounts().size(), json.get("accounts").size());
      assertEquals(snapshot.jobs().size(), json.get("jobs").size());
      assertEquals(snapshot.reservations().size(), json.get("reservations").size());
      assertEquals(snapshot.running().size(), json.get("running").size());
      List<String> queue = new ArrayList<>();
      json.get("jobs").forEach(job -> queue.add(job.get("id").asString()));
      assertEquals(PlainReading.queue(snapshot).stream().map(Job::id).toList(), queue);
    }
  }

  private static Decision without(String rule, Decision decision) {
    List<Decided> outcomes = new ArrayList<>(decision.outcomes());
    outcomes.removeIf(decided -> decided.rule().equals(rule));
    return new Decision(
        decision.policy(),
        decision.policyHash(),
        decision.snapshotHash(),
        decision.now(),
        outcomes,
        decision.accruals(),
        decision.yields());
  }
}
