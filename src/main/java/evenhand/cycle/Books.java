package evenhand.cycle;

import evenhand.facts.Account;
import evenhand.facts.NodeState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * All that a store has written about who held what and who paid for it, as it was at one moment.
 * Long lists are handed over one by one, in the order given.
 */
public interface Books {
  /** The inventory as it stands, configured tiers only. */
  List<Stock> stock();

  List<Account> accounts();

  /** Attempts that have not ended. */
  List<Attempt> running();

  /** Jobs that have not ended, and any other whose reservation columns are not empty. */
  void jobs(Consumer<StoredJob> each);

  /** All charges, oldest first. */
  void charges(Consumer<ChargeRow> each);

  /** All corrections, oldest first. */
  void corrections(Consumer<Correction> each);

  /** Rows that touch the filter's time, by node, tier, beginning and id. */
  void rows(Store.LedgerFilter filter, Consumer<Store.LedgerRow> each);

  /** All spans of all placements, by node, tier and id. */
  void spans(Consumer<Span> each);

  List<ClockStep> clockSteps();

  /** The first attempt that ran and ended, and has no row for one of its placements. */
  Optional<Attempt> runWithoutRow();

  /**
   * What an account paid for one job at one time.
   *
   * @param tflopSeconds what was added to its usage
   * @param factor C5: what was held was charged times this
   */
  record ChargeRow(
      long id,
      Instant at,
      String account,
      long job,
      int attempt,
      double tflopSeconds,
      double factor,
      String rule) {}

  /**
   * What moved an account's usage beside its charges.
   *
   * @param id 0 before it is written
   * @param kind {@link #OPENING} or {@link #CORRECTION}
   * @param tflopSeconds may be negative
   * @param by who made it
   * @param key the client's idempotency key, or null
   */
  record Correction(
      long id,
      Instant at,
      String kind,
      String account,
      double tflopSeconds,
      String reason,
      String by,
      String key) {
    public static final String OPENING = "opening";
    public static final String CORRECTION = "correction";
  }

  /**
   * What a placement was from when to when, as readings showed it.
   *
   * @param outside GPUs of it that jobs which are not ours held: sampled, never charged
   * @param to null while it is still so
   */
  record Span(
      long id,
      String node,
      String tier,
      int capacity,
      NodeState state,
      int outside,
      Instant from,
      Instant to) {}

  /** A clock that was found to have gone from {@code from} back to {@code to}. */
  record ClockStep(Instant from, Instant to) {}
}
