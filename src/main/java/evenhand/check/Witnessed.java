package evenhand.check;

import evenhand.facts.Account;
import evenhand.facts.Ended;
import evenhand.facts.Placement;
import evenhand.facts.Request;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Settlement;
import evenhand.policy.ChargeUnit;
import evenhand.policy.ClauseView;
import evenhand.policy.Ordering;
import evenhand.policy.Policy;
import evenhand.policy.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The same policy; what it says at the end of jobs is noted, which no cycle's report shows. */
record Witnessed(Policy policy, List<Decided> settled) implements Policy {

  @Override
  public Settlement settle(Ended ended, Instant now) {
    Settlement settlement = policy.settle(ended, now);
    settled.addAll(settlement.outcomes());
    return settlement;
  }

  @Override
  public String name() {
    return policy.name();
  }

  @Override
  public String title() {
    return policy.title();
  }

  @Override
  public String where() {
    return policy.where();
  }

  @Override
  public String hash() {
    return policy.hash();
  }

  @Override
  public List<ClauseView> clauses() {
    return policy.clauses();
  }

  @Override
  public Optional<Duration> lookback() {
    return policy.lookback();
  }

  @Override
  public Optional<Rule> rule(String name) {
    return policy.rule(name);
  }

  @Override
  public ChargeUnit chargeUnit() {
    return policy.chargeUnit();
  }

  @Override
  public boolean hasBudgets() {
    return policy.hasBudgets();
  }

  @Override
  public Ordering ordering(Snapshot snapshot) {
    return policy.ordering(snapshot);
  }

  @Override
  public Decision decide(Snapshot snapshot) {
    return policy.decide(snapshot);
  }

  @Override
  public Admission admit(
      Request request, List<Account> accounts, List<Tier> tiers, List<Placement> placements) {
    return policy.admit(request, accounts, tiers, placements);
  }
}
