package evenhand.policy;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.facts.Ended;
import evenhand.facts.Reservation;
import evenhand.facts.Tier;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Settlement;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Working memories that are used again answer as new ones do. */
class SessionsTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier TIER = new Tier("4090", 20, 82.6, 8, true, "p", "gpu:4090");

  @TempDir Path folder;

  /** The rules, in which C5 asks for something else than a moment. */
  private Policy withFactorWhen(String condition) throws Exception {
    EditedRules rules = EditedRules.in(folder).edit("charging/C5.drl", "Moment()", condition);
    return Policies.load(Optional.of(rules.folder()), "reservation", Map.of());
  }

  /** What the end of a job that held a GPU for 100 s brings, asked three times. */
  private static void chargesEachTime(Policy policy) {
    Reservation held = new Reservation("1", "BCG", "n1", TIER, 1, T0, 0, T0);
    Ended ended = new Ended("1", "BCG", "CANCELLED", 0, held, null);
    for (int i = 0; i < 3; i++) {
      Settlement settlement = policy.settle(ended, T0.plusSeconds(100));
      assertThat(settlement.outcomes())
          .extracting(d -> d.outcome())
          .contains(new Charge("BCG", "1", 8260));
      assertThat(settlement.held()).hasSize(1);
    }
  }

  @Test
  void everyPolicyOfOursUsesThemAgain() throws Exception {
    for (String name :
        List.of("reservation", "skip", "fifo", "budget", "budget-slices", "priority")) {
      Policy policy = Policies.load(Optional.empty(), name, Map.of());
      assertThat(policy).isInstanceOf(DroolsPolicy.class);
      assertThat(((DroolsPolicy) policy).reusesSessions()).as(name).isTrue();
      chargesEachTime(policy);
    }
  }

  @Test
  void aRuleThatAsksForNothingButASettingFiresEachTime() throws Exception {
    chargesEachTime(withFactorWhen("Setting( name == \"max_gpus_per_node\" )"));
  }

  @Test
  void aRuleThatAsksForNoFactFiresEachTime() throws Exception {
    Policy policy = withFactorWhen("not Resident( state == NodeState.DOWN )");
    assertThat(((DroolsPolicy) policy).reusesSessions()).isFalse();
    chargesEachTime(policy);
  }
}
