package evenhand.cycle;

import evenhand.cycle.accounts.AccountBook;
import evenhand.facts.Tier;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

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
   * account keeps its usage and weight, and, once people have applied a tree, its place too. None
   * is deleted: what was charged stays readable. But a tier that is not among these is not used any
   * more: neither it nor its GPUs are in the world.
   *
   * @throws IllegalArgumentException when an account's parent is not known
   */
  void setUp(List<Tier> tiers, List<AccountSetup> accounts, Instant now);

  /**
   * Notes what the cluster shows of the inventory. A placement that is not among {@code seen} is
   * remembered as down, with the reason that the cluster no longer shows it; one that shrank has
   * the GPUs that are gone retired. A change of a placement's capacity, state or outside use begins
   * a new {@link Books.Span} of it, at this instant and in the same transaction; that the clock has
   * stepped back since the last reading is noted too.
   *
   * @param outside GPUs held by jobs that are not ours; 0 for placements that are not among them
   * @return whether that changed anything a cycle reads
   */
  boolean see(List<Stock> seen, List<Outside> outside, Instant at);

  /** The same for a cluster that runs no jobs but ours. */
  default boolean see(List<Stock> seen, Instant at) {
    return see(seen, List.of(), at);
  }

  /** GPUs of one placement that jobs which are not ours hold. */
  record Outside(String node, String tier, int gpus) {}

  /**
   * All that a cycle needs.
   *
   * @param window charged run time since then is in {@code used}; null: none is
   */
  World load(Instant window);

  /** The account tree and its changes. */
  AccountBook accounts();

  /** What a submission is judged by: tiers, inventory and accounts, but no jobs. */
  World inventory();

  /**
   * Writes all of it down, or nothing.
   *
   * <p>A recorded decision's policy texts are kept with it, written once for each policy hash.
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
  List<JobRecord> jobs(JobState state, String account, String user, int limit, long before);

  /**
   * A job for people.
   *
   * @param attempt its newest attempt, or null
   * @param chargedTflopSeconds what its account was charged for it so far
   */
  record JobRecord(StoredJob job, Attempt attempt, double chargedTflopSeconds) {}

  /**
   * Recorded decisions, newest first, without their text.
   *
   * @param job only those that had something new to say about it; null for all
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<Desk.DecisionView> decisions(Long job, int limit, long before);

  /**
   * Recorded decisions by what they say, newest first.
   *
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<DecisionFound> findDecisions(DecisionFilter filter, int limit, long before);

  Optional<Desk.DecisionView> decision(long id);

  /** For each of these jobs the newest decision that had something new to say about it. */
  Map<Long, Desk.DecisionView> lastSaid(List<Long> jobs);

  /** The snapshot a decision was made on, exactly as recorded. */
  Optional<String> snapshot(long decision);

  /**
   * All that a decision can be made again from.
   *
   * @throws Broken when what is stored cannot be read as what was written
   */
  Optional<Receipt> receipt(long decision);

  /**
   * A recorded decision, exactly as it was written.
   *
   * @param policyTexts by name, in their order ({@code Policy.texts}); empty when they are not kept
   */
  record Receipt(
      long id,
      Instant at,
      String policy,
      String policyHash,
      String snapshotHash,
      String decisionJson,
      String snapshotJson,
      Map<String, String> policyTexts) {}

  /** What is stored of a receipt is not what was written. */
  final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final String part;

    /**
     * @param part {@code decision}, {@code snapshot} or {@code policy}
     */
    public Broken(String part, String message) {
      super(message);
      this.part = part;
    }

    public String part() {
      return part;
    }
  }

  /**
   * Rows of the ledger, newest first: what was held, when, at what cost, and whether it is charged.
   *
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<LedgerRow> ledger(LedgerFilter filter, int limit, long before);

  /** The same for one account and job; null for all. */
  default List<LedgerRow> ledger(String account, Long job, int limit, long before) {
    return ledger(new LedgerFilter(account, job, null, null, null, null, null), limit, before);
  }

  /**
   * Which rows are meant; null for all.
   *
   * @param kind one of the kinds of {@code HoldingCost}
   * @param from only rows that end after it, or are 0 s long and not before it
   * @param to only rows that begin before it
   */
  record LedgerFilter(
      String account, Long job, String node, String tier, String kind, Instant from, Instant to) {
    public static final LedgerFilter ALL =
        new LedgerFilter(null, null, null, null, null, null, null);

    /** Whether a row is meant. */
    public boolean means(LedgerRow row) {
      return (account == null || account.equals(row.account()))
          && (job == null || job == row.job())
          && (node == null || node.equals(row.node()))
          && (tier == null || tier.equals(row.tier()))
          && (kind == null || kind.equals(row.kind()))
          && (to == null || row.from().isBefore(to))
          && (from == null
              || row.to().isAfter(from)
              || row.to().equals(row.from()) && !row.to().isBefore(from));
    }
  }

  /**
   * @param kind {@code run}, {@code unallocated} or {@code reserved}
   * @param given when it was decided that the job gets these GPUs: before {@code from} for a run
   * @param tflops the price that was used, TFLOPS of the tier; null in rows older than that column
   * @param charge id of the charge that covers it, null while there is none
   * @param chargedAt when it was charged to the account, null while it is not
   * @param factor what it was charged times (C5); 1 while it is not charged
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
      Instant given,
      Instant from,
      Instant to,
      double tflopSeconds,
      Double tflops,
      Long charge,
      Instant chargedAt,
      double factor) {}

  /**
   * Drains, newest first, ended ones too.
   *
   * @param node null for all nodes
   */
  List<NodeDrain> drains(String node, int limit);

  /** Reads the books, all of one moment. */
  <T> T books(Function<Books, T> reader);

  /**
   * Writes a correction down and moves the account's usage with it, or nothing. One with a key that
   * was used before writes nothing and is answered by the first.
   *
   * @return what was written, with its id; empty when the account is not known, or would have used
   *     less than nothing
   */
  Optional<Books.Correction> correct(Books.Correction correction);

  /**
   * Forgets recorded decisions, answered keys and closed orders older than this; the texts of a
   * policy with the last decision it made.
   */
  void forget(Duration olderThan, Instant now);
}
