package evenhand.cycle;

import evenhand.policy.Policy;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/** The policy that decides at the moment; exchanged whole, between two cycles. */
public final class PolicyInForce implements Supplier<Policy> {
  private final AtomicReference<Policy> policy;

  public PolicyInForce(Policy first) {
    policy = new AtomicReference<>(first);
  }

  @Override
  public Policy get() {
    return policy.get();
  }

  /** Puts another policy in force and gives the one before. */
  public Policy exchange(Policy next) {
    return policy.getAndSet(next);
  }
}
