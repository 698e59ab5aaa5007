package evenhand.cycle;

import evenhand.policy.Policy;
import evenhand.policy.RuleFailed;
import java.util.function.Function;

/** Told of a rule that failed when a request had it asked, beside the cycle. */
@FunctionalInterface
public interface RuleAlarm {
  RuleAlarm UNHEARD = (policy, failed) -> {};

  /**
   * Called by the thread of the request.
   *
   * @param policy the one whose rule failed
   */
  void failed(Policy policy, RuleFailed failed);

  /**
   * Asks the policy, and tells when one of its rules fails.
   *
   * @throws RuleFailed all the same: there is no answer
   */
  default <T> T heard(Policy policy, Function<Policy, T> question) {
    try {
      return question.apply(policy);
    } catch (RuleFailed e) {
      failed(policy, e);
      throw e;
    }
  }
}
