package evenhand.cycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Release;
import evenhand.outcomes.Start;
import evenhand.policy.RuleFailed;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is given back: a reservation, a claim, or what a rule only believes to be held. */
class EffectsTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "mid", "gpu:4090");
  private static final Claim CLAIM =
      new Claim("1", List.of(new Share("n1", MID, 1), new Share("n2", MID, 1)), T0, T0, List.of());

  private static Changes effects(Reservation held, Claim claim, Outcome... outcomes) {
    Job asks = new Job("1", "BCG", "kim", 1, 2, null, 0, 0, T0, 0, true, 1);
    Map<String, StoredJob> jobs = new HashMap<>();
    jobs.put(
        "1",
        new StoredJob(
            1,
            asks,
            "j",
            JobState.GLOBAL_QUEUE_WAIT,
            null,
            T0,
            null,
            null,
            null,
            null,
            held,
            0,
            0,
            0));
    Decision decision =
        new Decision(
            "p",
            "h",
            "s",
            T0,
            Arrays.stream(outcomes).map(o -> new Decided(o, "W1")).toList(),
            List.of(),
            List.of());
    return Effects.of(
        decision,
        "t",
        jobs,
        Map.of(),
        claim,
        new CycleSettings.Leaving(Duration.ZERO, Duration.ofMinutes(1)));
  }

  private static Start start() {
    return new Start("1", List.of(new Share("n2", MID, 2)));
  }

  @Test
  void aSwapGivesItsReservationBackAndEndsNoClaim() {
    Reservation held = new Reservation("1", "BCG", "n1", MID, 1, T0, 0, T0);
    Changes changes = effects(held, null, start(), new Release("1", "n1", MID, 1));
    assertThat(changes.claimEnd()).isNull();
    assertThat(changes.jobs())
        .singleElement()
        .satisfies(
            job -> {
              assertThat(job.state()).isEqualTo(JobState.DISPATCHING);
              assertThat(job.reservation()).isNull();
            });
  }

  @Test
  void aClaimEndsAsAWhole() {
    Changes changes =
        effects(
            null, CLAIM, start(), new Release("1", "n1", MID, 1), new Release("1", "n2", MID, 1));
    assertThat(changes.claimEnd()).isEqualTo(new Changes.ClaimEnd(1, "W1", null));
  }

  @Test
  void whatIsNotHeldCannotBeGivenBack() {
    assertThatThrownBy(() -> effects(null, null, new Release("1", "n1", MID, 1)))
        .isInstanceOf(RuleFailed.class)
        .hasMessage("job 1 would give back GPUs of n1 it does not hold");
    Reservation elsewhere = new Reservation("1", "BCG", "n2", MID, 1, T0, 0, T0);
    assertThatThrownBy(() -> effects(elsewhere, null, new Release("1", "n1", MID, 1)))
        .isInstanceOf(RuleFailed.class);
  }
}
