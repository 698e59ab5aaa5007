package evenhand.reference;

import static org.junit.jupiter.api.Assertions.fail;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Start;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Policies {@code budget} and {@code budget-slices} against the plain reading, on snapshots made up
 * from seeds. {@code -Devenhand.random.count} says how many (2,000), {@code -Devenhand.random.seed}
 * from which seed on; a failure prints its seed and the snapshot made smaller.
 */
class BudgetAgreesWithPlainReadingTest {
  private static final long SEED = 20_261_009L;

  @Test
  void budget() {
    agree("budget", Map.of(), null, 0, Integer.getInteger("evenhand.random.count", 2000));
  }

  @Test
  void budgetSlices() {
    int count = Integer.getInteger("evenhand.random.count", 2000);
    agree("budget-slices", Map.of(), Duration.ofMinutes(30), 0, count);
  }

  @Test
  void withAMargin() {
    int count = Integer.getInteger("evenhand.random.count", 500);
    agree("budget", Map.of("preemption_margin", "0.25"), null, 0.25, count);
  }

  private static void agree(
      String name, Map<String, String> settings, Duration window, double margin, int count) {
    Policy policy;
    try {
      policy = Policies.load(Optional.empty(), name, settings);
    } catch (PolicyFault e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
    long seed = Long.getLong("evenhand.random.seed", SEED);
    Map<String, Integer> seen = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      long own = seed + i;
      Snapshot snapshot = BudgetSnapshots.of(own, name);
      String difference = difference(policy, snapshot, window, margin, own);
      if (difference != null) {
        Snapshot least =
            FailingSnapshot.shrunk(
                snapshot, smaller -> difference(policy, smaller, window, margin, own) != null);
        fail(
            "Again with -Devenhand.random.seed="
                + own
                + " -Devenhand.random.count=1\n"
                + difference(policy, least, window, margin, own)
                + "\non this snapshot, made smaller:\n"
                + FailingSnapshot.text(least));
      }
      for (Decided decided : BudgetReading.decide(snapshot, window, margin)) {
        String kind = decided.outcome().getClass().getSimpleName() + " by " + decided.rule();
        seen.merge(kind, 1, Integer::sum);
      }
    }
    System.out.printf("%s: %d random snapshots from seed %d on, %s%n", name, count, seed, seen);
  }

  /** What is wrong with the decision on this snapshot, for people; null when nothing is. */
  private static String difference(
      Policy policy, Snapshot snapshot, Duration window, double margin, long seed) {
    List<String> expected = lines(BudgetReading.decide(snapshot, window, margin));
    Decision decision;
    Decision ofShuffled;
    try {
      decision = policy.decide(snapshot);
      ofShuffled = policy.decide(RandomSnapshots.shuffled(snapshot, seed + 1));
    } catch (RuntimeException e) {
      return "It threw " + e + ", the plain reading says\n  " + String.join("\n  ", expected);
    }
    List<String> actual = lines(decision.outcomes());
    if (!actual.equals(expected)) {
      return "The plain reading says\n  "
          + String.join("\n  ", expected)
          + "\nthe policy says\n  "
          + String.join("\n  ", actual);
    }
    List<String> violations = BudgetInvariants.violations(snapshot, decision.outcomes());
    if (!violations.isEmpty()) {
      return "Broken:\n  " + String.join("\n  ", violations);
    }
    if (!ofShuffled.outcomes().equals(decision.outcomes())) {
      return "Another order of the lists gives another decision:\n  "
          + decision.outcomes()
          + "\n  "
          + ofShuffled.outcomes();
    }
    return null;
  }

  /** As {@link OutcomeText}; drains as a set, and the nodes of a start as a set. */
  private static List<String> lines(List<Decided> outcomes) {
    List<Decided> drains = new ArrayList<>();
    List<Decided> rest = new ArrayList<>();
    for (Decided decided : outcomes) {
      boolean drain = decided.outcome() instanceof Preempt preempt && preempt.forJob() == null;
      if (drain && !rest.isEmpty()) {
        return List.of("X2 comes too late");
      }
      (drain ? drains : rest)
          .add(
              decided.outcome() instanceof Start start
                  ? new Decided(
                      new Start(
                          start.job(),
                          start.on().stream()
                              .sorted((a, b) -> a.node().compareTo(b.node()))
                              .toList(),
                          start.allocated()),
                      decided.rule())
                  : decided);
    }
    List<String> lines = new ArrayList<>(OutcomeText.lines(drains));
    Collections.sort(lines);
    for (Decided decided : rest) {
      String terms =
          decided.outcome() instanceof Start start ? " allocated " + start.allocated() : "";
      lines.add(OutcomeText.lines(List.of(decided)).get(0) + terms);
    }
    return lines;
  }
}
