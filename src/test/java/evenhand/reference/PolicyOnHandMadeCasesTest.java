package evenhand.reference;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Decision;
import evenhand.policy.Policy;
import org.junit.jupiter.api.BeforeAll;

/** The rule files on the cases written by hand. */
class PolicyOnHandMadeCasesTest extends HandMadeCases {
  private static Policy policy;

  @BeforeAll
  static void load() {
    policy = ReservationPolicy.policy();
  }

  @Override
  Decision decide(Snapshot snapshot) {
    return policy.decide(snapshot);
  }
}
