package evenhand.reference;

import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import java.util.Map;
import java.util.Optional;

/** The one place where these tests get policy {@code reservation} as the rule files state it. */
final class ReservationPolicy {
  private ReservationPolicy() {}

  /** Policy {@code reservation} with the parameters of its YAML. */
  static Policy policy() {
    try {
      return Policies.load(Optional.empty(), "reservation", Map.of());
    } catch (PolicyFault e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }
}
