package evenhand.cycle;

import evenhand.facts.Claim;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Release;
import evenhand.outcomes.Settlement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one transaction shall change, worked out in memory: the store writes it down whole or not at
 * all. Stores apply it in the order of the getters here: jobs, attempts, ledger, charges, orders,
 * decision.
 */
public final class Changes {
  private final Instant at;
  private final boolean lead;
  private final Map<Long, StoredJob> jobs = new LinkedHashMap<>();
  private final List<Attempt> begun = new ArrayList<>();
  private final Map<Token, Attempt> attempts = new LinkedHashMap<>();
  private final List<Held> ledger = new ArrayList<>();
  private final List<Charged> charges = new ArrayList<>();
  private final List<Order> written = new ArrayList<>();
  private final Map<Long, Order> orders = new LinkedHashMap<>();
  private final List<Finish> finished = new ArrayList<>();
  private final List<Token> hurried = new ArrayList<>();
  private final List<NodeDrain> drains = new ArrayList<>();
  private Claim claim;
  private ClaimEnd claimEnd;
  private DecisionRecord decision;

  private Changes(Instant at, boolean lead) {
    this.at = at;
    this.lead = lead;
  }

  /** Changes of the cycle at this moment: only the process that decides may make them. */
  public static Changes ofCycle(Instant at) {
    return new Changes(at, true);
  }

  /** Changes that a person asked for at this moment, made by whatever process was asked. */
  public static Changes ofDesk(Instant at) {
    return new Changes(at, false);
  }

  /** A row of the ledger, and the attempt it belongs to. */
  public record Held(int attempt, HoldingCost cost) {}

  /**
   * A charge, the attempt it is for, and the clause that made it.
   *
   * @param after how many rows of {@link #ledger} were there when it was made: it covers the rows
   *     of its job among these that no charge before it covers, and what the store has of them
   */
  public record Charged(int attempt, Charge charge, String rule, int after) {}

  /**
   * A decision to be remembered.
   *
   * @param decisionJson exactly in the form that is printed
   * @param snapshotJson exactly in the form that is printed
   * @param jobs those it had something new to say about
   * @param policyTexts the texts of the policy that decided, in their order ({@code Policy.texts})
   */
  public record DecisionRecord(
      Decision decision,
      String decisionJson,
      String snapshotJson,
      List<Long> jobs,
      Map<String, String> policyTexts) {
    public DecisionRecord {
      jobs = List.copyOf(jobs);
      policyTexts = Collections.unmodifiableMap(new LinkedHashMap<>(policyTexts));
    }
  }

  public Instant at() {
    return at;
  }

  /** Whether only the process that has the right to decide may make these. */
  public boolean needsLead() {
    return lead;
  }

  /** The job as it will be; {@code version} stays the one it was read with. */
  public void put(StoredJob job) {
    jobs.put(job.id(), job);
  }

  /** The job as changed so far, or as it was read. */
  public StoredJob now(StoredJob read) {
    return jobs.getOrDefault(read.id(), read);
  }

  /** A new attempt. */
  public void begin(Attempt attempt) {
    begun.add(attempt);
  }

  /**
   * An attempt that is open in the store, as it will be, and its job: the job's version guards them
   * both.
   */
  public void put(StoredJob job, Attempt attempt) {
    put(job);
    attempts.put(new Token("", attempt.job(), attempt.attempt()), attempt);
  }

  public void hold(int attempt, HoldingCost cost) {
    ledger.add(new Held(attempt, cost));
  }

  public void charge(int attempt, Charge charge, String rule) {
    charges.add(new Charged(attempt, charge, rule, ledger.size()));
  }

  /** A new order. */
  public void write(Order order) {
    written.add(order);
  }

  /** An open order as it will be; refused when its {@code tries} went up since it was read. */
  public void put(Order order) {
    orders.put(order.id(), order);
  }

  /** Closes whatever orders of this kind are still open for this attempt; null: of any kind. */
  public void finish(Token token, Order.Kind kind, String because) {
    finished.add(new Finish(token, kind, because));
  }

  /** Open orders of one attempt that have become needless; {@code kind} null for all. */
  public record Finish(Token token, Order.Kind kind, String because) {}

  /** Makes the order to submit this attempt, if it is open, due at once: its number is known. */
  public void hurry(Token token) {
    hurried.add(token);
  }

  /** A drain that begins, or as it will be. */
  public void put(NodeDrain drain) {
    drains.add(drain);
  }

  /** The claim that stands ends (G4), by this clause; then another may begin. */
  public record ClaimEnd(long job, String rule, String because) {}

  public void end(ClaimEnd end) {
    claimEnd = end;
  }

  public void claim(Claim begun) {
    claim = begun;
  }

  public void decided(DecisionRecord record) {
    decision = record;
  }

  /**
   * Applies what the end of a job, or of one attempt, brings (R4, C3), and gives the job as it is
   * then: without reservation, and carrying nothing once it is charged.
   *
   * @param attempt the attempt that ended
   */
  public StoredJob settle(StoredJob job, int attempt, Settlement settlement) {
    StoredJob after = job;
    for (HoldingCost cost : settlement.held()) {
      hold(attempt, cost);
      if (cost.kind().equals(HoldingCost.RESERVED)) {
        after =
            after.holding(after.reservation(), after.carriedTflopSeconds() + cost.tflopSeconds());
      }
    }
    for (Decided decided : settlement.outcomes()) {
      Outcome outcome = decided.outcome();
      if (outcome instanceof Release) {
        after = after.holding(null, after.carriedTflopSeconds());
      } else if (outcome instanceof Charge charge) {
        charge(attempt, charge, decided.rule());
        after = after.holding(after.reservation(), 0);
      } else {
        throw new IllegalStateException("the end of a job cannot bring " + outcome);
      }
    }
    put(after);
    return after;
  }

  public List<StoredJob> jobs() {
    return List.copyOf(jobs.values());
  }

  /** New attempts. */
  public List<Attempt> begun() {
    return begun;
  }

  /** Changed attempts. */
  public List<Attempt> attempts() {
    return List.copyOf(attempts.values());
  }

  public List<Held> ledger() {
    return ledger;
  }

  public List<Charged> charges() {
    return charges;
  }

  /** New orders. */
  public List<Order> written() {
    return written;
  }

  /** Changed orders. */
  public List<Order> orders() {
    return List.copyOf(orders.values());
  }

  public List<Finish> finished() {
    return finished;
  }

  /** Attempts whose order to submit is due at once. */
  public List<Token> hurried() {
    return hurried;
  }

  /** New drains, and changed ones. */
  public List<NodeDrain> drains() {
    return drains;
  }

  /** The end of the claim that stood, or null; it comes before {@link #claim}. */
  public ClaimEnd claimEnd() {
    return claimEnd;
  }

  /** A new claim, or null. */
  public Claim claim() {
    return claim;
  }

  /** The decision to be remembered, or null. */
  public DecisionRecord decision() {
    return decision;
  }

  public boolean isEmpty() {
    return jobs.isEmpty()
        && begun.isEmpty()
        && attempts.isEmpty()
        && ledger.isEmpty()
        && charges.isEmpty()
        && written.isEmpty()
        && orders.isEmpty()
        && finished.isEmpty()
        && hurried.isEmpty()
        && drains.isEmpty()
        && claim == null
        && claimEnd == null
        && decision == null;
  }
}
