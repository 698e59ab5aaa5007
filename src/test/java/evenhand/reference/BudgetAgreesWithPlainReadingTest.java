package evenhand.reference;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Policies {@code budget} and {@code budget-slices} against {@link BudgetReading}. */
class BudgetAgreesWithPlainReadingTest {

  @Test
  void budget() {
    agree("budget", Map.of(), null, 0, 2000);
  }

  @Test
  void budgetSlices() {
    agree("budget-slices", Map.of(), Duration.ofMinutes(30), 0, 2000);
  }

  @Test
  void withAMargin() {
    agree("budget", Map.of("preemption_margin", "0.25"), null, 0.25, 500);
  }

  private static void agree(
      String name, Map<String, String> settings, Duration window, double margin, int count) {
    new BudgetAgreement(
            name,
            settings,
            seed -> BudgetSnapshots.of(seed, name),
            snapshot ->
                new BudgetReading.Read(BudgetReading.decide(snapshot, window, margin), List.of()))
        .on(count);
  }
}
