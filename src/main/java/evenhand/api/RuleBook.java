package evenhand.api;

import evenhand.explain.PolicyDoc;

/** What rules say of themselves, and what was recorded of them. */
public interface RuleBook {

  /**
   * A policy as a document.
   *
   * @param hash of one that has decided, or the beginning of it; null for the active one
   * @throws evenhand.cycle.Desk.Refused {@code NOT_FOUND} when its texts are not kept
   */
  PolicyDoc doc(String hash);

  /**
   * A recorded decision as a scenario.
   *
   * @throws evenhand.cycle.Desk.Refused {@code NOT_FOUND}; {@code NOT_SAYABLE} with the reason
   */
  Recorded scenarioOfDecision(String id);

  /** The same of the last decision that had something new to say about a job. */
  Recorded scenarioOfJob(String id);

  /**
   * A scenario's file.
   *
   * @param file a name for it
   */
  record Recorded(String decision, String file, String scenario) {}
}
