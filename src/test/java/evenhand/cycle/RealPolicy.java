package evenhand.cycle;

import evenhand.facts.Account;
import evenhand.facts.Ended;
import evenhand.facts.Placement;
import evenhand.facts.Request;
import evenhand.facts.Running;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Settlement;
import evenhand.policy.ClauseView;
import evenhand.policy.Ordering;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Policy {@code reservation} as its rules state it, which a test may make preempt as well: that
 * policy itself never does, and what the shell does about it has to be tested apart from who is
 * chosen.
 */
final class RealPolicy implements Policy {
  private static final Policy RESERVATION;

  static {
    try {
      RESERVATION = Policies.load(Optional.empty(), "reservation", Map.of());
    } catch (PolicyFault e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  /** Running jobs to be preempted by the next decision, each for another. */
  final Map<String, String> preempt = new HashMap<>();

  static int idle(Snapshot snapshot, String node) {
    return snapshot.placements().stream()
        .filter(p -> p.node().equals(node))
        .findFirst()
        .orElseThrow()
        .idle();
  }

  static List<String> running(Snapshot snapshot) {
    return snapshot.running().stream().map(Running::job).toList();
  }

  @Override
  public Decision decide(Snapshot snapshot) {
    Decision d = RESERVATION.decide(snapshot);
    List<Decided> outcomes = new ArrayList<>(d.outcomes());
    preempt.forEach((job, other) -> outcomes.add(new Decided(new Preempt(job, other), "K4")));
    preempt.clear();
    return new Decision(
        d.policy(), d.policyHash(), d.snapshotHash(), d.now(), outcomes, d.accruals(), d.yields());
  }

  @Override
  public String name() {
    return RESERVATION.name();
  }

  @Override
  public String title() {
    return RESERVATION.title();
  }

  @Override
  public String where() {
    return RESERVATION.where();
  }

  @Override
  public String hash() {
    return RESERVATION.hash();
  }

  @Override
  public List<ClauseView> clauses() {
    return RESERVATION.clauses();
  }

  @Override
  public Optional<Duration> lookback() {
    return RESERVATION.lookback();
  }

  @Override
  public Optional<Rule> rule(String name) {
    return RESERVATION.rule(name);
  }

  @Override
  public Ordering ordering(Snapshot snapshot) {
    return RESERVATION.ordering(snapshot);
  }

  @Override
  public Admission admit(
      Request request, List<Account> accounts, List<Tier> tiers, List<Placement> placements) {
    return RESERVATION.admit(request, accounts, tiers, placements);
  }

  @Override
  public Settlement settle(Ended ended, Instant now) {
    return RESERVATION.settle(ended, now);
  }
}
