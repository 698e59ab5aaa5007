package evenhand.reference;

import static org.junit.jupiter.api.Assertions.fail;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Decision;
import evenhand.policy.Policy;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * The rules against the plain reading, on snapshots made up from seeds. {@code
 * -Devenhand.random.count} says how many (2,000), {@code -Devenhand.random.seed} from which seed
 * on; a failure prints the seed of its snapshot, and with count 1 that seed alone is tried.
 */
class PolicyAgreesWithPlainReadingTest {
  private static final long SEED = 20_260_410L;

  @Test
  void onRandomSnapshots() {
    Policy policy = ReservationPolicy.policy();
    int count = Integer.getInteger("evenhand.random.count", 2000);
    long seed = Long.getLong("evenhand.random.seed", SEED);
    System.out.printf("%d random snapshots from seed %d on%n", count, seed);
    for (int i = 0; i < count; i++) {
      agree(policy::decide, seed + i);
    }
  }

  /** Fails with the smallest snapshot that shows the difference. */
  static void agree(Function<Snapshot, Decision> decider, long seed) {
    Snapshot snapshot = RandomSnapshots.of(seed);
    String difference = difference(decider, snapshot, seed);
    if (difference == null) {
      return;
    }
    Snapshot least =
        FailingSnapshot.shrunk(snapshot, smaller -> difference(decider, smaller, seed) != null);
    fail(
        "Again with -Devenhand.random.seed="
            + seed
            + " -Devenhand.random.count=1\n"
            + difference(decider, least, seed)
            + "\non this snapshot, made smaller:\n"
            + FailingSnapshot.text(least));
  }

  /** What is wrong with the decision on this snapshot, for people; null when nothing is. */
  private static String difference(
      Function<Snapshot, Decision> decider, Snapshot snapshot, long seed) {
    List<String> expected = OutcomeText.lines(PlainReading.decide(snapshot).outcomes());
    Decision decision;
    Decision again;
    Decision ofShuffled;
    try {
      decision = decider.apply(snapshot);
      again = decider.apply(snapshot);
      ofShuffled = decider.apply(RandomSnapshots.shuffled(snapshot, seed + 1));
    } catch (RuntimeException e) {
      return "It threw " + e + ", the plain reading says\n" + String.join("\n", expected);
    }
    List<String> actual = OutcomeText.lines(decision.outcomes());
    if (!actual.equals(expected)) {
      return "The plain reading says\n  "
          + String.join("\n  ", expected)
          + "\nthe policy says\n  "
          + String.join("\n  ", actual);
    }
    List<String> violations = Invariants.violations(snapshot, decision);
    if (!violations.isEmpty()) {
      return "Broken:\n  " + String.join("\n  ", violations);
    }
    if (!again.equals(decision)) {
      return "Decided twice, and not the same:\n  " + decision + "\n  " + again;
    }
    // Messages too: what a person is told must not hang on the order of a list.
    if (!ofShuffled.outcomes().equals(decision.outcomes())) {
      return "Another order of the lists gives another decision:\n  "
          + decision.outcomes()
          + "\n  "
          + ofShuffled.outcomes();
    }
    return null;
  }
}
