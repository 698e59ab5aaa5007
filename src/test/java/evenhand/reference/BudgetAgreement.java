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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongFunction;

/**
 * A policy with budgets against a plain reading of it, on snapshots made up from seeds. {@code
 * -Devenhand.random.count} says how many, {@code -Devenhand.random.seed} from which seed on; a
 * failure prints its seed and the snapshot made smaller.
 */
final class BudgetAgreement {
  private static final long SEED = 20_261_009L;

  private final String name;
  private final Policy policy;
  private final LongFunction<Snapshot> worlds;
  private final Function<Snapshot, BudgetReading.Read> reading;

  /**
   * @param settings parameters of the policy that are changed
   * @param reading says what the policy shall decide
   */
  BudgetAgreement(
      String name,
      Map<String, String> settings,
      LongFunction<Snapshot> worlds,
      Function<Snapshot, BudgetReading.Read> reading) {
    this.name = name;
    this.worlds = worlds;
    this.reading = reading;
    try {
      this.policy = Policies.load(Optional.empty(), name, settings);
    } catch (PolicyFault e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  /**
   * Fails on the first snapshot that they decide differently, or that breaks what no decision may
   * break.
   *
   * @return how often each outcome came, by its kind and clause, and what else the reading met
   */
  Map<String, Integer> on(int usually) {
    int count = Integer.getInteger("evenhand.random.count", usually);
    long seed = Long.getLong("evenhand.random.seed", SEED);
    Map<String, Integer> seen = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      long own = seed + i;
      Snapshot snapshot = worlds.apply(own);
      String difference = difference(snapshot, own);
      if (difference != null) {
        Snapshot least =
            FailingSnapshot.shrunk(snapshot, smaller -> difference(smaller, own) != null);
        fail(
            "Again with -Devenhand.random.seed="
                + own
                + " -Devenhand.random.count=1\n"
                + difference(least, own)
                + "\non this snapshot, made smaller:\n"
                + FailingSnapshot.text(least));
      }
      BudgetReading.Read read = reading.apply(snapshot);
      for (Decided decided : read.outcomes()) {
        String kind = decided.outcome().getClass().getSimpleName() + " by " + decided.rule();
        seen.merge(kind, 1, Integer::sum);
      }
      read.met().forEach(kind -> seen.merge(kind, 1, Integer::sum));
    }
    System.out.printf("%s: %d random snapshots from seed %d on, %s%n", name, count, seed, seen);
    return seen;
  }

  /** What is wrong with the decision on this snapshot, for people; null when nothing is. */
  String difference(Snapshot snapshot, long seed) {
    List<String> expected = lines(reading.apply(snapshot).outcomes());
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
