package evenhand.cycle;

import evenhand.facts.Tier;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The memory: PostgreSQL, or tables in memory. Each method is one transaction. What a change means
 * is worked out by the callers; a store only reads and writes rows, and refuses what was worked out
 * from rows that have changed since. Instants are kept to the microsecond.
 */
public interface Store {

  /** Short random word of this database, made with it and never changed (see {@link Token}). */
  String installation();

  /**
   * Takes or keeps the right to decide, which one process at a time has; false while another has
   * it. A process that lost it without noticing has its {@link #commit} refused.
   *
   * @throws RuntimeException when the memory cannot be reached, so that nobody knows who decides
   */
  boolean lead();

  /**
   * Brings tiers and accounts in line with the settings: new ones are made, tiers are changed, an
   * account keeps its usage and weight. None is deleted: what was charged stays readable. But a
   * tier that is not among these is not used any more: neither it nor its GPUs are in the world.
   *
   * @throws IllegalArgumentException when an account's parent is not known
   */
  void setUp(List<Tier> tiers, List<AccountSetup> accounts, Instant now);

  /**
   * Notes what the cluster shows of the inventory. A placement that is not among {@code seen} is
   * remembered as down, with the reason that the cluster no longer shows it; one that shrank has
   * the GPUs that are gone retired.
   *
   * @return whether that changed anything a cycle reads
   */
  boolean see(List<Stock> seen, Instant at);

  /**
   * All that a cycle needs.
   *
   * @param window charged usage since then counts into {@code windowUsage}; null: none does
   */
  World load(Instant window);

  /** What a submission is judged by: tiers, inventory and accounts, but no jobs. */
  World inventory();

  /**
   * Writes all of it down, or nothing.
   *
   * @return id of the recorded decision, null when there is none in it
   * @throws Overtaken when a job, attempt or order has changed since it was read, or another
   *     process has the right to decide
   */
  String commit(Changes changes);

  /**
   * Orders that are open and due, by kind, oldest first.
   *
   * @param limit most of each kind
   */
  List<Order> due(Instant now, int limit);

  /** What of the outbox is still to be carried out. */
  Backlog backlog();

  /**
   * @param orders that are open
   * @param oldest when the oldest of them was written, null when there is none
   */
  record Backlog(int orders, Instant oldest) {}

  /** The open order of this kind for this attempt. */
  Optional<Order> open(Order.Kind kind, Token token);

  /**
   * What has to be given to the cluster for an attempt, its script in it.
   *
   * @throws IllegalArgumentException when there is no such attempt, or no script
   */
  SubmitOrder submitOrder(Token token);

  /**
   * Puts a job in the queue, or gives the one that was put there with the same key before.
   * Concurrent calls with one key make one job.
   *
   * @param minimumTierSortOrder what {@code job.minimumTier()} means, 0 for any
   * @param remark what its submitter is told about it, or null
   * @param key null, or the client's idempotency key
   */
  Added add(NewJob job, int minimumTierSortOrder, String remark, Key key, Instant now);

  /** The job that was put in the queue with this key before; empty when there is none. */
  Optional<Added> added(Key key);

  /** An idempotency key of one account, and a digest of the submission it came with. */
  record Key(String account, String text, String digest) {}

  /**
   * @param record the job with this key, new or not
   * @param isNew whether this call made it
   * @param sameBody whether the job was made from the same submission
   */
  record Added(JobRecord record, boolean isNew, boolean sameBody) {}

  Optional<JobRecord> job(long id);

  /**
   * Jobs, newest first.
   *
   * @param state null for all
   * @param account null for all
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<JobRecord> jobs(JobState state, String account, int limit, long before);

  /**
   * A job for people.
   *
   * @param attempt its newest attempt, or null
   * @param chargedTflopSeconds what its account was charged for it so far
   */
  record JobRecord(StoredJob job, Attempt attempt, double chargedTflopSeconds) {}

  /**
   * Recorded decisions, newest first.
   *
   * @param job only those that had something new to say about it; null for all
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<Desk.DecisionView> decisions(Long job, int limit, long before);

  Optional<Desk.DecisionView> decision(long id);

  /** For each of these jobs the newest decision that had something new to say about it. */
  Map<Long, Desk.DecisionView> lastSaid(List<Long> jobs);

  /** The snapshot a decision was made on, exactly as recorded. */
  Optional<String> snapshot(long decision);

  /**
   * Rows of the ledger, newest first: what was held, when, at what cost, and whether it is charged.
   *
   * @param account null for all
   * @param job null for all
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<LedgerRow> ledger(String account, Long job, int limit, long before);

  /**
   * @param kind {@code reserved} or {@code run}
   * @param chargedAt when it was charged to the account, null while it is not
   */
  record LedgerRow(
      long id,
      String kind,
      long job,
      int attempt,
      String account,
      String node,
      String tier,
      int gpus,
      Instant from,
      Instant to,
      double tflopSeconds,
      Instant chargedAt) {}

  /** Forgets recorded decisions, answered keys and closed orders older than this. */
  void forget(Duration olderThan, Instant now);
}
