package evenhand.reference;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * A reservation that policy {@code reservation} has left, when {@code budget} decides from now on:
 * a scenario is played by one policy, and cannot tell of it.
 */
class ReservationUnderBudgetTest {
  private static final Instant NOW = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier H100 = new Tier("h100", 30, 989, 8, true, "gpu", "gpu:h100");
  private static final Job LARGE = job("large", "A", 8, 0, 3600);
  private static final Job UNALLOCATED = job("debug", "C", 2, 0, 0);

  private static Job job(String id, String account, int gpus, int priority, long minimum) {
    return new Job(id, account, "kim", 1, gpus, null, 0, priority, NOW, minimum, true, 1);
  }

  /** Four of eight GPUs are idle, the others protected for an hour. */
  private static List<String> decided(boolean reserved, Job... jobs) throws Exception {
    Instant hourAgo = NOW.minusSeconds(3600);
    Snapshot snapshot =
        new Snapshot(
            "budget",
            NOW,
            "main",
            List.of(H100),
            List.of(new Placement("n1", new PlacementGroup(H100, 8, NodeState.UP), 4, 0, null)),
            List.of(
                new Account("A", null, 1, 0, 0),
                new Account("B", null, 1, 0, 900_000),
                new Account("C", null, 1, 0, 500_000)),
            List.of(jobs),
            reserved
                ? List.of(new Reservation("large", "A", "n1", H100, 4, hourAgo, 0, hourAgo))
                : List.of(),
            List.of(
                new Running(
                    "b1",
                    "B",
                    List.of(new Share("n1", H100, 4)),
                    NOW,
                    NOW.plusSeconds(3600),
                    true,
                    true)));
    List<String> lines =
        new ArrayList<>(
            OutcomeText.lines(
                Policies.load(Optional.empty(), "budget", Map.of("gang_reservation", "claim"))
                    .decide(snapshot)
                    .outcomes()));
    lines.removeIf(line -> line.startsWith("charge"));
    return lines;
  }

  @Test
  void theFirstJobGathersByItAndClaimsNothingBesides() throws Exception {
    assertThat(decided(true, LARGE)).containsExactly("wait large GATHERING by D2");
    assertThat(decided(false, LARGE)).singleElement().asString().startsWith("claim large on ");
  }

  @Test
  void unallocatedWorkRunsOnClaimedGpusAndNotOnReservedOnes() throws Exception {
    assertThat(decided(true, LARGE, UNALLOCATED))
        .containsExactly(
            "wait large GATHERING by D2", "wait debug HELD_BY_RESERVATION behind large by D5");
    assertThat(decided(false, LARGE, UNALLOCATED))
        .hasSize(2)
        .last()
        .asString()
        .startsWith("start debug on ");
  }

  @Test
  void itEndsWhenItsJobIsNotFirst() throws Exception {
    List<String> lines = decided(true, LARGE, UNALLOCATED, job("ahead", "A", 8, 1, 3600));
    assertThat(lines.get(0)).startsWith("release large").endsWith("by R3");
    assertThat(lines.get(1)).startsWith("claim ahead on ");
    assertThat(lines).anyMatch(line -> line.startsWith("start debug on "));
  }
}
