package evenhand.reference;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Decision;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** One loaded policy is asked by many at once, as the cycle, questions and plans ask it. */
class ManyThreadsTest {
  private static final int THREADS = 12;

  @Test
  void eachIsToldWhatItWouldBeToldAlone() throws Exception {
    List<Snapshot> snapshots =
        LongStream.range(0, 30).mapToObj(i -> RandomSnapshots.of(77_000 + i)).toList();
    List<Decision> alone = new ArrayList<>();
    Policy before = Policies.load(Optional.empty(), "reservation", Map.of());
    snapshots.forEach(s -> alone.add(before.decide(s)));
    assertThat(alone).anySatisfy(d -> assertThat(d.outcomes()).hasSizeGreaterThan(3));

    // Loaded anew: what the engine prepares at its first questions is prepared by all of them.
    Policy asked = Policies.load(Optional.empty(), "reservation", Map.of());
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<List<Decision>>> answers = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int first = t * snapshots.size() / THREADS;
        answers.add(threads.submit(() -> inTurn(asked, snapshots, first)));
      }
      for (Future<List<Decision>> answer : answers) {
        assertThat(answer.get(1, TimeUnit.MINUTES)).isEqualTo(alone);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** The decisions on all of them, in their order, but asked for from one in their midst on. */
  private static List<Decision> inTurn(Policy policy, List<Snapshot> snapshots, int first) {
    int count = snapshots.size();
    Decision[] decisions = new Decision[count];
    for (int i = 0; i < count; i++) {
      int at = (first + i) % count;
      decisions[at] = policy.decide(snapshots.get(at));
    }
    return List.of(decisions);
  }
}
