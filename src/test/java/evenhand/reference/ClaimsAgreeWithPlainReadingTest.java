package evenhand.reference;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Claims of policies {@code budget} and {@code budget-slices} against {@link ClaimReading}. */
class ClaimsAgreeWithPlainReadingTest {
  private static final double MARGIN = 0.05;

  /** A few snapshots, asked for to look at a failure again, need not show every outcome. */
  private static final boolean ALL_OF_THEM = System.getProperty("evenhand.random.count") == null;

  @Test
  void budget() {
    Map<String, Integer> seen = agree("budget", Map.of(), null, 0, true, 2000);
    if (ALL_OF_THEM) {
      assertThat(seen)
          .containsKeys(
              "Claimed by G2", "Release by G4", "Preempt by G3", "Start by G3", "Wait by G2")
          .containsKeys("Wait by G3", "Preempt by K4");
    }
  }

  @Test
  void budgetSlices() {
    agree("budget-slices", Map.of(), Duration.ofMinutes(30), 0, true, 500);
  }

  @Test
  void withAMargin() {
    agree("budget", Map.of("preemption_margin", "0.25"), null, 0.25, true, 300);
  }

  @Test
  void whereThePolicyHasNoneAnyMore() {
    Map<String, Integer> seen = agree("budget", Map.of(), null, 0, false, 300);
    assertThat(seen).doesNotContainKey("Claimed by G2");
    if (ALL_OF_THEM) {
      assertThat(seen).containsKey("Release by G4");
    }
  }

  private static Map<String, Integer> agree(
      String name,
      Map<String, String> settings,
      Duration window,
      double margin,
      boolean mayClaim,
      int count) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("gang_reservation", mayClaim ? "claim" : "off");
    return new BudgetAgreement(
            name,
            all,
            seed -> BudgetSnapshots.withClaim(seed, name),
            snapshot -> ClaimReading.decide(snapshot, window, margin, mayClaim, MARGIN))
        .on(count);
  }
}
