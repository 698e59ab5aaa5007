package evenhand.reference;

import evenhand.policy.Policy;
import org.opentest4j.TestAbortedException;

/** The one place where these tests get policy {@code reservation} as the rule files state it. */
final class ReservationPolicy {
  private static final String NOT_WIRED = "wired when the engine lands";

  private ReservationPolicy() {}

  /** Policy {@code reservation} with the parameters of its YAML. */
  static Policy policy() {
    throw new UnsupportedOperationException(NOT_WIRED);
  }

  /**
   * The same, but skips the test while there is no engine. Only for that very reason: an engine
   * that throws, whatever it throws, fails the test.
   */
  static Policy policyOrSkip() {
    try {
      return policy();
    } catch (UnsupportedOperationException e) {
      if (NOT_WIRED.equals(e.getMessage())) {
        throw new TestAbortedException(NOT_WIRED, e);
      }
      throw e;
    }
  }
}
