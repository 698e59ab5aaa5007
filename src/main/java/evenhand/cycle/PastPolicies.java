package evenhand.cycle;

import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import java.util.LinkedHashMap;
import java.util.Map;

/** Policies made of stored texts, the last few kept: compiling one takes longer than deciding. */
public final class PastPolicies {
  private static final int MOST = 4;

  private final Map<String, Policy> loaded =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Policy> eldest) {
          return size() > MOST;
        }
      };

  /**
   * The policy of this hash.
   *
   * @param texts as {@link Policy#texts} gave them
   * @throws PolicyFault when this version of the engine does not take them any more
   */
  public synchronized Policy of(String hash, Map<String, String> texts) throws PolicyFault {
    Policy policy = loaded.get(hash);
    if (policy == null) {
      policy = Policies.stored(texts);
      loaded.put(hash, policy);
    }
    return policy;
  }
}
