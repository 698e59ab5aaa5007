package evenhand.policy;

import evenhand.facts.Account;
import evenhand.facts.Ended;
import evenhand.facts.Job;
import evenhand.facts.Placement;
import evenhand.facts.Request;
import evenhand.facts.Setting;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Settlement;
import evenhand.outcomes.Wait;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One policy, ready to decide: immutable, pure, safe to share between threads. The live service,
 * the simulator, {@code decide}, {@code check} and replay all call these three and nothing else.
 */
public interface Policy {

  /** Its name, as in {@code rules/policies/NAME.yaml}. */
  String name();

  /** What it is, in a few words. */
  String title();

  /** Where its rule files were read from, for people. */
  String where();

  /** {@code sha256:…} over its rule texts, their order, and every parameter's value. */
  String hash();

  /**
   * All that {@link #hash} is over, in its order: the policy's YAML by its path, its rule files by
   * theirs, and what was set for it as {@code --set NAME}. {@link Policies#stored} makes the same
   * policy of them again. Empty for a policy that is not made of files: what it decides cannot be
   * made again.
   */
  default Map<String, String> texts() {
    return Map.of();
  }

  /** Its clauses in order: rules, choices, parameters, and what the facts keep. */
  List<ClauseView> clauses();

  /** Whether any of its rules belongs to this stage. */
  default boolean has(Stage stage) {
    return clauses().stream().flatMap(c -> c.rules().stream()).anyMatch(r -> r.stage() == stage);
  }

  /** The window over which charged usage is summed (A3); empty where the policy has none. */
  Optional<Duration> lookback();

  /** One of its parameters as it stands; empty where it has none of that name. */
  default Optional<Setting> setting(String name) {
    return Optional.empty();
  }

  /** One rule by its whole name. */
  Optional<Rule> rule(String name);

  /**
   * The whole sentence of a clause, the name of its first rule; the clause itself where it has
   * none.
   */
  default String ruleName(String clause) {
    return clauses().stream()
        .filter(c -> c.clause().equals(clause) && !c.rules().isEmpty())
        .findFirst()
        .map(c -> c.rules().get(0).name())
        .orElse(clause);
  }

  /** What usage within the window is counted in (A3); GPU-seconds where the policy does not say. */
  default ChargeUnit chargeUnit() {
    return ChargeUnit.GPU_S;
  }

  /** Whether its accounts have budgets: its order looks at the account tree. */
  default boolean hasBudgets() {
    return false;
  }

  /**
   * Whether a minimum run time protects (K2). Where work makes room by classes of priority, what
   * protects it is that it does not consent (PR3).
   */
  default boolean minimumProtects() {
    return hasBudgets() || !has(Stage.PREEMPT);
  }

  /** The queue in the policy's order, and what put it so (Q1 to Q4). */
  Ordering ordering(Snapshot snapshot);

  /** The queue in the policy's order, first job first. */
  default List<Job> order(Snapshot snapshot) {
    return ordering(snapshot).jobs();
  }

  /**
   * Decides one cycle: reservations that must end, then every queued job's verdict, in queue order.
   * The decision's {@code snapshotHash} is null: whoever records it fills it in.
   *
   * @throws RuleFailed when a rule throws, loops, or the rules leave a job without exactly one
   *     verdict; the message names rule and job, and nothing was decided
   */
  Decision decide(Snapshot snapshot);

  /**
   * The same policy for one caller that asks it again and again and does not need to know why jobs
   * wait: the simulator. It decides what {@link #decide} does, in the same order, with the waits
   * left out. Not to be shared between threads.
   */
  default Acting acting() {
    return snapshot -> {
      Decision d = decide(snapshot);
      return new Decision(
          d.policy(),
          d.policyHash(),
          d.snapshotHash(),
          d.now(),
          d.outcomes().stream().filter(o -> !(o.outcome() instanceof Wait)).toList(),
          d.accruals(),
          d.yields());
    };
  }

  /** Decides without saying why jobs wait. */
  @FunctionalInterface
  interface Acting extends AutoCloseable {
    Decision decide(Snapshot snapshot);

    /** Gives back the working memory that it holds between decisions; asked again it takes one. */
    @Override
    default void close() {}
  }

  /**
   * Answers a submission (N1 to N6): placements are the whole inventory, down and drained ones too.
   *
   * @throws RuleFailed when a rule throws or loops
   */
  Admission admit(
      Request request, List<Account> accounts, List<Tier> tiers, List<Placement> placements);

  /** Answers submissions as {@link #admit} does. */
  @FunctionalInterface
  interface Admitting {
    Admission admit(
        Request request, List<Account> accounts, List<Tier> tiers, List<Placement> placements);
  }

  /**
   * The same answers for one caller with many submissions, most of them like others before: the
   * simulator. Not to be shared between threads.
   */
  default Admitting admitting() {
    return this::admit;
  }

  /**
   * What the end of a job, or of one attempt of it, brings (R4, C1 to C3), at this moment.
   *
   * @throws RuleFailed when a rule throws or loops
   */
  Settlement settle(Ended ended, Instant now);
}
