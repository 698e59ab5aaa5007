package evenhand.cycle;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Decision;
import evenhand.policy.Rule;
import evenhand.policy.RuleFailed;
import java.time.Instant;
import java.util.List;

/**
 * What became of one cycle.
 *
 * @param because why nothing was decided, or null
 * @param failure of which rule, and over which job; null unless the result is {@code RULE_FAILED}
 * @param readingAt when the reading it stands on began, null when there is none
 * @param snapshot what the decision was made on, null when nothing was decided
 * @param decision null when nothing was decided
 * @param decisionId under which the newest recorded decision is kept; the same as the cycle before
 *     when this one said nothing new; null before any
 * @param endings attempts that the reading showed to have ended
 * @param orders how many orders to the outside were carried out
 * @param notes what people who run the service should know, one sentence each
 * @param readMillis time the reading took
 * @param decideMillis time the policy took
 * @param wholeMillis time of all of it
 */
public record CycleReport(
    Instant at,
    Result result,
    String because,
    Failure failure,
    Instant readingAt,
    Snapshot snapshot,
    Decision decision,
    String decisionId,
    List<Ending> endings,
    int orders,
    List<String> notes,
    long readMillis,
    long decideMillis,
    long wholeMillis) {
  public CycleReport {
    endings = List.copyOf(endings);
    notes = List.copyOf(notes);
  }

  /**
   * An attempt that ended.
   *
   * @param state of the job now: over for good, or {@code GLOBAL_QUEUE_WAIT} again
   * @param because why, in words, or null
   * @param chargedTflopSeconds what its account was charged for it (C3)
   */
  public record Ending(
      String job, String account, JobState state, String because, double chargedTflopSeconds) {}

  /**
   * A rule that failed.
   *
   * @param clause of the rule, and {@code rule} its whole name; null where the engine names none
   * @param job the one that was decided on, null where it was none
   */
  public record Failure(String clause, String rule, String job) {
    static Failure of(RuleFailed failed) {
      return new Failure(
          failed.rule().map(Rule::clause).orElse(null),
          failed.rule().map(Rule::name).orElse(null),
          failed.job().orElse(null));
    }
  }

  /** How it went. */
  public enum Result {
    DECIDED,
    /** Another process decides. */
    STANDBY,
    /** The cluster could not be read, or what was read cannot be relied on. */
    NO_READING,
    /** A rule failed: nothing was decided. */
    RULE_FAILED,
    /** The queue changed under it more often than it will try in one cycle. */
    OVERTAKEN
  }
}
