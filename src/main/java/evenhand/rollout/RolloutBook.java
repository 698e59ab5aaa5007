package evenhand.rollout;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The memory of what is in force, planned and compared. Each method is one transaction. */
public interface RolloutBook {

  /** The policy in force; empty before the first. */
  Optional<InForce> inForce();

  /**
   * Puts the first policy in force.
   *
   * @param texts as {@code Policy.texts} has them
   * @return false when there is one already
   */
  boolean begin(InForce first, Map<String, String> texts);

  /**
   * Puts another policy in force and writes it into the history.
   *
   * @param from what must be in force for it
   * @param texts of the policy; empty where they are kept
   * @return false when something else is in force by now, and nothing was changed
   */
  boolean change(String from, InForce next, Event.Kind kind, Map<String, String> texts);

  /**
   * The history, newest first.
   *
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<Event> history(int limit, long before);

  /** The texts of a policy; empty where none are kept. */
  Map<String, String> texts(String hash);

  /** Notes that a policy has decided without failing, the first time. */
  void proven(String hash, Instant at);

  boolean isProven(String hash);

  /** Notes that a rule of a policy has failed while it decided. */
  void failed(String hash, Instant at, String message);

  /** The last failure of a policy. */
  Optional<Failure> failure(String hash);

  /** When a policy failed, and how. */
  record Failure(Instant at, String message) {}

  /** An id for a plan that is about to be made. */
  long nextPlan();

  /** Keeps a plan, and the texts of its candidate. */
  void keep(Plan plan, Map<String, String> texts);

  Optional<Plan> plan(long id);

  /**
   * The newest plan of each policy whose hash begins so, newest first, at most two.
   *
   * @param hash beginning with {@code sha256:}
   */
  List<Plan> planned(String hash);

  /** Plans, newest first. */
  List<Plan> plans(int limit, long before);

  /**
   * What a change would do.
   *
   * @param against hash of the policy in force when it was made
   * @param passes whether no guard rail is broken
   * @param report {@link PlanReport} as JSON
   */
  record Plan(
      long id,
      Instant at,
      String by,
      String policy,
      String hash,
      String against,
      boolean passes,
      String report) {}

  /**
   * Ids of recorded decisions since a moment, oldest first, spread evenly over all there are.
   *
   * @param most how many at most
   */
  Sample decisions(Instant since, int most);

  /**
   * @param all how many there are
   */
  record Sample(List<Long> ids, long all) {}

  Optional<ShadowPolicy> shadow();

  /**
   * @param shadow null for none
   * @param texts of the policy; empty where they are kept
   */
  void shadow(ShadowPolicy shadow, Map<String, String> texts);

  /** The policy that decides beside the one in force. */
  record ShadowPolicy(String policy, String hash, Instant since, String by) {}

  /** Keeps a difference, and of those before only the newest. */
  void differs(ShadowDifference difference, int most);

  /** Differences, newest first. */
  List<ShadowDifference> differences(int limit, long before);

  /**
   * @param id 0 before it is written
   * @param at the decision's instant
   * @param against hash of the policy that was in force
   * @param report what differs, as JSON
   */
  record ShadowDifference(
      long id, Instant at, long decision, String hash, String against, String report) {}

  /** Forgets plans older than this. */
  void forget(Duration olderThan, Instant now);
}
