package evenhand.cycle;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Decision;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;

/**
 * Makes recorded decisions again from nothing but what is stored with them, and wants the same
 * bytes: decision, waits, accruals and yields alike. Safe beside a running service; it only reads.
 */
public final class Receipts {
  private static final int CONTEXT = 60;

  private final Store store;
  private final Recorder recorder;
  private final PastPolicies policies;

  public Receipts(Store store, Recorder recorder, PastPolicies policies) {
    this.store = store;
    this.recorder = recorder;
    this.policies = policies;
  }

  /**
   * What became of a decision made again.
   *
   * @param part what is not as it was: {@code decision}, {@code snapshot}, {@code policy} (its
   *     YAML, rules or settings) or {@code record} (what is written beside them); null when all is
   * @param message one sentence about it; null when all is as it was
   */
  public record Verdict(String id, String part, String message) {
    public boolean same() {
      return part == null;
    }
  }

  /** The facts that a decision was made on: its snapshot, exactly as recorded. */
  public String facts(String id) {
    return store
        .snapshot(FrontDesk.number("decision", id))
        .orElseThrow(() -> FrontDesk.notFound("decision", id));
  }

  /**
   * Verifies one decision.
   *
   * @throws Desk.Refused {@code NOT_FOUND} when there is none of this id
   */
  public Verdict verify(String id) {
    long number = FrontDesk.number("decision", id);
    Store.Receipt receipt;
    try {
      receipt = store.receipt(number).orElseThrow(() -> FrontDesk.notFound("decision", id));
    } catch (Store.Broken e) {
      return new Verdict(id, e.part(), e.getMessage());
    }
    try {
      check(receipt);
      return new Verdict(id, null, null);
    } catch (Different e) {
      return new Verdict(id, e.part, e.getMessage());
    }
  }

  private static final class Different extends Exception {
    private static final long serialVersionUID = 1L;
    private final String part;

    Different(String part, String message) {
      super(message);
      this.part = part;
    }
  }

  private void check(Store.Receipt receipt) throws Different {
    Policy policy = policy(receipt);
    Snapshot snapshot = snapshot(receipt);
    if (!snapshot.policy().equals(receipt.policy()) || !policy.name().equals(receipt.policy())) {
      throw new Different(
          "record",
          "the record names policy "
              + receipt.policy()
              + ", the snapshot "
              + snapshot.policy()
              + ", and the policy of that hash is "
              + policy.name());
    }
    if (!snapshot.now().equals(receipt.at())) {
      throw new Different(
          "record", "the record is of " + receipt.at() + ", and its snapshot of " + snapshot.now());
    }
    String again;
    try {
      Decision decision = policy.decide(snapshot).on(receipt.snapshotHash());
      again = recorder.decision(decision);
    } catch (RuleFailed e) {
      throw new Different("decision", "it cannot be made again: " + e.getMessage());
    }
    if (!again.equals(receipt.decisionJson())) {
      throw new Different("decision", difference(receipt.decisionJson(), again));
    }
  }

  private Policy policy(Store.Receipt receipt) throws Different {
    String hash = receipt.policyHash();
    if (receipt.policyTexts().isEmpty()) {
      throw new Different("policy", "no texts are kept of policy " + hash);
    }
    String found = Policies.hash(receipt.policyTexts());
    if (!found.equals(hash)) {
      throw new Different(
          "policy", "the texts kept of policy " + hash + " have hash " + found + " now");
    }
    try {
      return policies.of(hash, receipt.policyTexts());
    } catch (PolicyFault e) {
      throw new Different(
          "policy",
          "the texts kept of policy " + hash + " can no longer be loaded: " + e.getMessage());
    }
  }

  private Snapshot snapshot(Store.Receipt receipt) throws Different {
    Snapshot snapshot;
    try {
      snapshot = recorder.readSnapshot(receipt.snapshotJson());
    } catch (RuntimeException e) {
      throw new Different("snapshot", "the snapshot cannot be read: " + e.getMessage());
    }
    String again = recorder.snapshot(snapshot);
    if (!again.equals(receipt.snapshotJson())) {
      throw new Different("snapshot", difference(receipt.snapshotJson(), again));
    }
    String hash = recorder.hash(snapshot);
    if (!hash.equals(receipt.snapshotHash())) {
      throw new Different(
          "snapshot", "the snapshot has hash " + hash + ", not " + receipt.snapshotHash());
    }
    return snapshot;
  }

  private static String difference(String stored, String again) {
    int at = 0;
    int end = Math.min(stored.length(), again.length());
    while (at < end && stored.charAt(at) == again.charAt(at)) {
      at++;
    }
    return "from character "
        + at
        + " on it is stored as \""
        + part(stored, at)
        + "\" and made again as \""
        + part(again, at)
        + "\"";
  }

  private static String part(String text, int at) {
    return text.substring(at, Math.min(text.length(), at + CONTEXT));
  }
}
