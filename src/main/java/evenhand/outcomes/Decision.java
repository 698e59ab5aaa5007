package evenhand.outcomes;

import java.time.Instant;
import java.util.List;

/**
 * What one cycle decided. Every queued job has exactly one verdict among the outcomes: a start,
 * reserve, absorb or wait.
 *
 * @param policyHash names the exact rule text and parameters that decided, {@code sha256:…}
 * @param snapshotHash names what they knew, {@code sha256:…}
 * @param outcomes in the order in which they were decided
 * @param accruals what each reservation has cost since it was last accrued (C1)
 * @param yields what the LLM router is told (B2)
 */
public record Decision(
    String policy,
    String policyHash,
    String snapshotHash,
    Instant now,
    List<Decided> outcomes,
    List<HoldingCost> accruals,
    List<Yield> yields) {
  public Decision {
    outcomes = List.copyOf(outcomes);
    accruals = List.copyOf(accruals);
    yields = List.copyOf(yields);
  }

  /** The same decision, naming the snapshot it was made on. */
  public Decision on(String hash) {
    return new Decision(policy, policyHash, hash, now, outcomes, accruals, yields);
  }
}
