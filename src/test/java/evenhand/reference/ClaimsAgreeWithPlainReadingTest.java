package evenhand.reference;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.facts.Snapshot;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** Claims of policies {@code budget} and {@code budget-slices} against {@link ClaimReading}. */
class ClaimsAgreeWithPlainReadingTest {
  private static final double MARGIN = 0.05;

  /** A few snapshots, asked for to look at a failure again, need not show every outcome. */
  private static final boolean ALL_OF_THEM = System.getProperty("evenhand.random.count") == null;

  @Test
  void claimsThatStand() {
    Map<String, Integer> seen = new HashMap<>(agree("budget", Map.of(), null, 0, true, 1000));
    agree("budget", Map.of(), null, 0, true, 600, BudgetSnapshots::standing)
        .forEach((kind, often) -> seen.merge(kind, often, Integer::sum));
    expect(
        seen,
        10,
        "Wait by G2",
        "claimer starts by K4",
        "claimer starts by G3",
        "claimer starts by D1",
        "claimer starts by GA",
        "claim ends: its job is gone",
        "claim ends: a placement is lost",
        "claim ends: overtaken by another account",
        "claim ends: overtaken by its own account",
        "claim stands within the margin",
        "allocated work starts on claimed GPUs",
        "unallocated work starts on claimed GPUs",
        "told of the claim for its idle GPUs",
        "told of the claim for its room");
  }

  @Test
  void claimsThatBegin() {
    Map<String, Integer> seen =
        agree("budget", Map.of(), null, 0, true, 1000, BudgetSnapshots::claiming);
    expect(
        seen,
        12,
        "claims one node",
        "claims as a gang",
        "claims idle GPUs",
        "claims what several of one placement leave",
        "claims and leaves a placement that is later",
        "claims and leaves a placement that is ready at the same time",
        "claims and leaves a tier that is later",
        "claims and leaves a tier that is ready at the same time",
        "counts on protected work",
        "counts on unprotected work",
        "counts on unallocated work",
        "counts on a gang",
        "Wait by G3");
  }

  @Test
  void claimsThatBeginInSlices() {
    Map<String, Integer> seen =
        agree(
            "budget-slices",
            Map.of(),
            Duration.ofMinutes(30),
            0,
            true,
            500,
            BudgetSnapshots::claiming);
    expect(seen, 10, "counts on the next slice", "counts on protected work", "claims as a gang");
  }

  @Test
  void budgetSlices() {
    agree("budget-slices", Map.of(), Duration.ofMinutes(30), 0, true, 300);
  }

  @Test
  void withAMargin() {
    agree("budget", Map.of("preemption_margin", "0.25"), null, 0.25, true, 200);
    agree(
        "budget",
        Map.of("preemption_margin", "0.25"),
        null,
        0.25,
        true,
        200,
        BudgetSnapshots::claiming);
  }

  @Test
  void whereThePolicyHasNoneAnyMore() {
    Map<String, Integer> seen = agree("budget", Map.of(), null, 0, false, 300);
    assertThat(seen).doesNotContainKey("Claimed by G2");
    expect(seen, 20, "Release by G4", "claim ends: there are none any more");
  }

  /** Each of these was met so often; a few snapshots need not show everything. */
  private static void expect(Map<String, Integer> seen, int often, String... kinds) {
    if (ALL_OF_THEM) {
      for (String kind : kinds) {
        assertThat(seen.getOrDefault(kind, 0)).as(kind).isGreaterThanOrEqualTo(often);
      }
    }
  }

  private static Map<String, Integer> agree(
      String name,
      Map<String, String> settings,
      Duration window,
      double margin,
      boolean mayClaim,
      int count) {
    return agree(name, settings, window, margin, mayClaim, count, BudgetSnapshots::withClaim);
  }

  private static Map<String, Integer> agree(
      String name,
      Map<String, String> settings,
      Duration window,
      double margin,
      boolean mayClaim,
      int count,
      BiFunction<Long, String, Snapshot> worlds) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("gang_reservation", mayClaim ? "claim" : "off");
    return new BudgetAgreement(
            name,
            all,
            seed -> worlds.apply(seed, name),
            snapshot -> ClaimReading.decide(snapshot, window, margin, mayClaim, MARGIN))
        .on(count);
  }
}
