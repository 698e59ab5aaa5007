package evenhand.cycle;

import evenhand.explain.Miss;
import evenhand.explain.SmallestChanges;
import evenhand.facts.NodeState;
import evenhand.facts.Share;
import evenhand.policy.AccountTree;
import java.time.Instant;
import java.util.List;

/**
 * What people and programs ask of the service, whether by REST or by command line. Every answer
 * comes from the store and the last reading; none waits for the cluster.
 *
 * <p>Ids are given as text; one that names nothing is {@link Refused} with code {@code NOT_FOUND}.
 */
public interface Desk {

  /**
   * Puts a job in the queue.
   *
   * @param idempotencyKey null, or the client's key: the same key with the same job gives the first
   *     answer again, with another job {@code IDEMPOTENCY_CONFLICT}
   * @throws Refused with the admission rule's code; no row is left. {@code NOT_READY} before the
   *     cluster was read for the first time ever
   */
  JobView submit(NewJob job, String idempotencyKey);

  /**
   * The same, telling also whether the job is new. A desk that keeps keys says so itself; this
   * default takes every job for a new one.
   */
  default Receipt receive(NewJob job, String idempotencyKey) {
    return new Receipt(submit(job, idempotencyKey), true);
  }

  JobView job(String id);

  /** Newest first. {@code state}, {@code account} and {@code user} may be null for all. */
  Page<JobView> jobs(String state, String account, String user, int limit, String cursor);

  /**
   * Cancels a job: a queued one at once, with its reservation and what it cost (R4, C3), a running
   * one as soon as the cluster has ended it. Cancelling an ended job changes nothing and answers
   * its state.
   */
  JobView cancel(String id, String by);

  /**
   * The queue in the order of the active policy as it stands now, with the figures that order it;
   * before it, jobs that were given their GPUs and wait for others to leave them.
   */
  Page<QueueLine> queue(int limit, String cursor);

  /**
   * The same, of those only whose id, name, account, user or wait code has these letters in it, in
   * whatever case; each at its place in the whole queue.
   *
   * @param search null for all
   */
  Page<QueueLine> queue(String search, int limit, String cursor);

  List<PlacementView> placements();

  Explanation why(String id);

  /**
   * The same, with more than is told to everybody. A desk that knows no more leaves it out.
   *
   * @throws Refused with code {@code NOT_FOUND} when nothing is recorded of the time asked for
   */
  default Explanation why(String id, WhyAsked asked) {
    return why(id);
  }

  /**
   * What is asked besides.
   *
   * @param at as it was at that time, by what was recorded; null for now
   * @param changes whether the smallest changes are wanted that would start it
   * @param estimate whether simulations of the queue are wanted
   */
  record WhyAsked(Instant at, boolean changes, boolean estimate) {
    public static final WhyAsked PLAIN = new WhyAsked(null, false, false);
  }

  /**
   * Which of two waiting jobs comes first, and why.
   *
   * @throws Refused with code {@code NOT_WAITING} when one of them is not in the queue
   */
  Comparison against(String id, String other);

  /** Newest first. {@code job} may be null for all. */
  Page<DecisionView> decisions(String job, int limit, String cursor);

  /** Recorded decisions by what they say, newest first. */
  Page<DecisionFound> findDecisions(DecisionFilter filter, int limit, String cursor);

  DecisionView decision(String id);

  /**
   * The answer to a submission.
   *
   * @param created false when the key was used before and this is the first answer again
   */
  record Receipt(JobView job, boolean created, Terms terms) {

    /** One whose terms nobody says. */
    public Receipt(JobView job, boolean created) {
      this(job, created, null);
    }
  }

  /**
   * The terms on which a job waits (K1, K2, N5).
   *
   * @param allocated whether a budget pays for it; null under a policy without budgets
   * @param protectedSeconds for so long from each start nothing may preempt it
   * @param minimumGpuHours what its minimum run time will cost its account
   * @param shareOfWindow that cost as a part of what the account's share of the cluster comes to in
   *     one window; null where there is none
   * @param position its place in the queue now, null when it has left it
   * @param message all of that in a few sentences
   */
  record Terms(
      Boolean allocated,
      long protectedSeconds,
      double minimumGpuHours,
      Double shareOfWindow,
      Integer position,
      int queueLength,
      String message) {}

  /**
   * What tells two waiting jobs apart.
   *
   * @param first the one that comes first, {@code second} the other
   * @param key the first key of the policy's order that differs, e.g. {@code account_tree}
   * @param ofFirst what the first has there, {@code ofSecond} the other; null for the tree
   * @param fork where in the account tree they part; null for another key
   */
  record Comparison(
      String first,
      String second,
      String key,
      Object ofFirst,
      Object ofSecond,
      AccountTree.Fork fork,
      String message) {}

  /** A part of a list; {@code next} is the cursor of the part after it, null at the end. */
  record Page<T>(List<T> items, String next) {
    public Page {
      items = List.copyOf(items);
    }
  }

  /**
   * A job as people see it.
   *
   * @param state one of {@link JobState}
   * @param stateReason why it is in this state, in words; null when there is nothing to say
   * @param reservation what it holds while queued, or null
   * @param on the GPUs it runs or ran on; empty while queued
   * @param clusterJob its number in Slurm, null before it has one
   * @param reservationTflopSeconds what its reservations have cost and its account was not charged
   *     yet
   * @param chargedTflopSeconds what its account was charged for it so far
   * @param makesRoomFor the job it was told to make room for (K4), {@code node} where it has to
   *     leave its node (X2), or null
   * @param endsBy when it is ended if it has not left before (K6), or null
   * @param waitsFor jobs that have to leave before it can start on the GPUs it was given
   * @param waitsUntil when its start is undone should they still be there, or null
   * @param checkpointAt the last checkpoint it reported, or null
   */
  record JobView(
      String id,
      String name,
      String account,
      String user,
      JobState state,
      String stateReason,
      int nodes,
      int numGpus,
      String tier,
      int minimumTierSortOrder,
      int priority,
      long minRuntimeSeconds,
      boolean resumable,
      boolean preemptible,
      Long timeLimitSeconds,
      int attempt,
      Instant submittedAt,
      Instant queuedAt,
      Instant startedAt,
      Instant endedAt,
      Integer exitCode,
      String clusterJob,
      ReservationView reservation,
      List<Share> on,
      double reservationTflopSeconds,
      double chargedTflopSeconds,
      String makesRoomFor,
      Instant endsBy,
      List<String> waitsFor,
      Instant waitsUntil,
      Instant checkpointAt) {}

  record ReservationView(String node, String tier, int gpus) {}

  /**
   * A line of the queue.
   *
   * @param position 1 for the first; 0 for a job that was given its GPUs and waits for others to
   *     leave them
   * @param figures what ordered it: name of the key, e.g. {@code account_usage}, and its value
   * @param path the ratios that placed it, from the top of the account tree down; empty under a
   *     policy that does not look at the tree, and for unallocated work
   * @param code and {@code message}: why it waits, from the last decision, as {@code why} has them;
   *     {@code NOT_DECIDED} before it had a turn
   */
  record QueueLine(
      int position,
      String id,
      String name,
      String account,
      String user,
      int nodes,
      int numGpus,
      String tier,
      Instant queuedAt,
      java.util.Map<String, Object> figures,
      List<AccountTree.Step> path,
      ReservationView reservation,
      String code,
      String message) {}

  /**
   * A placement as it stands.
   *
   * @param idle GPUs no job holds and nobody reserved; 0 when the node is not up
   * @param reserved GPUs held by reservations
   * @param reason why the node is not up, or null
   */
  record PlacementView(
      String node,
      String tier,
      int capacity,
      int idle,
      int reserved,
      String reservedFor,
      NodeState state,
      String reason,
      List<String> jobs) {}

  /**
   * Why a job is where it is.
   *
   * @param code the dominant reason: a wait code ({@code NO_IDLE}, …), or the job's state when it
   *     does not wait
   * @param rule clause that says so, or null
   * @param ruleName the rule's whole sentence, or null
   * @param message one paragraph a person understands
   * @param needs what it needs, e.g. {@code 2 GPUs of sort_order >= 20 on one node}
   * @param best the nearest there is, e.g. {@code 1 idle on n2 (4090)}, or null
   * @param ahead jobs before it in the queue, nearest to the front first, at most 10, with figures
   * @param aheadCount how many there are in all
   * @param decision id of the decision this comes from, or null
   * @param at when that was decided
   */
  record Explanation(
      String id,
      JobState state,
      String code,
      String rule,
      String ruleName,
      String message,
      String behind,
      String needs,
      String best,
      Integer position,
      List<QueueLine> ahead,
      int aheadCount,
      String decision,
      Instant at,
      Details details) {

    /** Without details. */
    public Explanation(
        String id,
        JobState state,
        String code,
        String rule,
        String ruleName,
        String message,
        String behind,
        String needs,
        String best,
        Integer position,
        List<QueueLine> ahead,
        int aheadCount,
        String decision,
        Instant at) {
      this(
          id,
          state,
          code,
          rule,
          ruleName,
          message,
          behind,
          needs,
          best,
          position,
          ahead,
          aheadCount,
          decision,
          at,
          Details.NONE);
    }
  }

  /**
   * What stands behind an explanation.
   *
   * @param asOf of which moment {@code eliminated} and {@code changes} are; null when they are
   *     empty
   * @param eliminated what of the cluster is no place for it, and why, the nearest miss first
   * @param changes the smallest changes that would start it; null when not asked for
   * @param bound when it starts at the latest; null for a job that does not wait
   * @param story what became of it so far, oldest first; empty for one that has only waited
   * @param estimate when it will probably start; null when not asked for
   */
  record Details(
      Instant asOf,
      List<Miss> eliminated,
      SmallestChanges changes,
      Bound bound,
      List<Told> story,
      Estimate estimate) {
    public static final Details NONE = new Details(null, List.of(), null, null, List.of(), null);

    public Details {
      eliminated = List.copyOf(eliminated);
      story = List.copyOf(story);
    }

    Details with(List<Told> itsStory) {
      return new Details(asOf, eliminated, changes, bound, itsStory, estimate);
    }
  }

  /**
   * Until when a job starts at the latest.
   *
   * @param notLaterThan null where nothing promises a time
   * @param message on what that rests, or why there is none
   */
  record Bound(Instant notLaterThan, String message) {}

  /**
   * Something that became of a job.
   *
   * @param what {@code queued}, {@code waited}, {@code reserved}, {@code absorbed}, {@code
   *     released}, {@code claimed}, {@code started}, {@code room_made}, {@code preempted}, {@code
   *     held}, {@code ran}, {@code charged}, {@code ended}, {@code left_out}
   * @param rule the clause that decided it, or null
   * @param decision the recorded decision, or null
   */
  record Told(Instant at, String what, String rule, String message, String decision) {}

  /**
   * When a job will probably start, by simulations of the queue.
   *
   * @param p50 and {@code p90}: by then it had started in so many of a hundred runs; null where it
   *     had not within the time simulated
   * @param runs how many there were
   * @param checked how many earlier estimates of p90 could be held against what came, and {@code
   *     held} how many of them were kept
   * @param message on what it rests
   */
  record Estimate(Instant p50, Instant p90, int runs, int checked, int held, String message) {}

  /**
   * A recorded decision.
   *
   * @param json the decision in the form that is printed, exactly as it was recorded; null in lists
   */
  record DecisionView(String id, Instant at, String policy, String policyHash, String json) {}

  /** The service says no. */
  final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final String code;
    private final String field;
    private final String rule;

    /**
     * @param code stable: {@code NO_FIT_PLACEMENT}, {@code INVALID_REQUEST}, {@code NOT_FOUND},
     *     {@code IDEMPOTENCY_CONFLICT}, …
     * @param field the field at fault, or null
     * @param rule the clause that refused, or null
     * @param message what was asked, why not, what would work
     */
    public Refused(String code, String field, String rule, String message) {
      super(message);
      this.code = code;
      this.field = field;
      this.rule = rule;
    }

    public String code() {
      return code;
    }

    public String field() {
      return field;
    }

    public String rule() {
      return rule;
    }
  }
}
