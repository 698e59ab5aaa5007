package evenhand.policy;

import evenhand.facts.Account;
import evenhand.facts.Ended;
import evenhand.facts.Moment;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Reservation;
import evenhand.facts.Setting;
import evenhand.facts.Snapshot;
import evenhand.facts.Standing;
import evenhand.facts.Tier;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Refuse;
import evenhand.outcomes.Release;
import evenhand.outcomes.Remark;
import evenhand.outcomes.Settlement;
import evenhand.policy.Firing.Concluded;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A policy decided by rule files. It holds the loop: who has a turn when, and what an outcome
 * changes on the board. Whether anything may happen is the rules' alone.
 */
final class DroolsPolicy implements Policy {
  private final Loaded loaded;
  private final Judging judging;
  private final Sessions sessions;

  DroolsPolicy(Loaded loaded) {
    this.loaded = loaded;
    this.judging = Judging.of(loaded);
    this.sessions = new Sessions(loaded);
  }

  /** Whether working memories are used again. */
  boolean reusesSessions() {
    return sessions.reusable();
  }

  @Override
  public String name() {
    return loaded.name();
  }

  @Override
  public String hash() {
    return loaded.hash();
  }

  @Override
  public Map<String, String> texts() {
    return loaded.texts();
  }

  @Override
  public String title() {
    return loaded.title();
  }

  @Override
  public String where() {
    return loaded.where();
  }

  @Override
  public List<ClauseView> clauses() {
    return loaded.clauses();
  }

  @Override
  public Optional<Duration> lookback() {
    return setting("lookback").map(s -> Duration.ofNanos(Math.round(s.number() * 1e9)));
  }

  @Override
  public Optional<Setting> setting(String name) {
    return loaded.settings().stream().filter(s -> s.name().equals(name)).findFirst();
  }

  @Override
  public Optional<Rule> rule(String name) {
    return Optional.ofNullable(loaded.rules().get(name));
  }

  @Override
  public ChargeUnit chargeUnit() {
    return loaded.chargeUnit();
  }

  @Override
  public boolean hasBudgets() {
    return loaded.order().usesTree();
  }

  @Override
  public Ordering ordering(Snapshot snapshot) {
    return loaded.order().order(snapshot, ranking(snapshot));
  }

  private AccountTree ranking(Snapshot snapshot) {
    return loaded.order().usesTree() ? new AccountTree(snapshot.accounts(), snapshot.jobs()) : null;
  }

  @Override
  public Decision decide(Snapshot snapshot) {
    try (Kept nothing = new Kept(loaded, sessions)) {
      return new OneCycle(loaded, judging, snapshot, nothing, null).decide();
    }
  }

  @Override
  public Acting acting() {
    return new Acting() {
      private Remembered remembered = new Remembered(loaded, judging, sessions.matching());
      private Kept kept = new Kept(loaded, sessions);

      @Override
      public Decision decide(Snapshot snapshot) {
        boolean decided = false;
        try {
          Decision decision = new OneCycle(loaded, judging, snapshot, kept, remembered).decide();
          kept.end();
          decided = true;
          return decision;
        } finally {
          if (!decided) { // whatever it left is no place to go on from
            close();
            remembered = new Remembered(loaded, judging, sessions.matching());
            kept = new Kept(loaded, sessions);
          }
        }
      }

      @Override
      public void close() {
        kept.close();
      }
    };
  }

  static Set<PlacementGroup> groups(List<Placement> placements) {
    Set<PlacementGroup> distinct = new HashSet<>();
    PlacementGroup last = null;
    for (Placement p : placements) {
      if (p.group() != last) { // most stand beside one of their group
        last = p.group();
        distinct.add(last);
      }
    }
    return distinct.stream()
        .sorted(
            Comparator.<PlacementGroup>comparingInt(g -> g.tier().sortOrder())
                .thenComparing(g -> g.tier().name())
                .thenComparingInt(PlacementGroup::capacity)
                .thenComparing(PlacementGroup::state))
        .collect(Collectors.toCollection(java.util.LinkedHashSet::new));
  }

  /** One placement of each group, standing for all of it, with nothing taken: the inventory. */
  private static List<Placement> kinds(List<Placement> placements) {
    return groups(placements).stream()
        .map(
            group -> {
              List<Placement> of =
                  placements.stream().filter(p -> p.group().equals(group)).toList();
              String node = of.stream().map(Placement::node).min(String::compareTo).orElseThrow();
              return new Placement(node, group, group.capacity(), 0, null, of.size());
            })
        .toList();
  }

  @Override
  public Admission admit(
      Request asked, List<Account> accounts, List<Tier> tiers, List<Placement> placements) {
    try (Firing firing = new Firing(sessions)) {
      Request request = withTerms(asked, accounts);
      accounts.forEach(firing::insert);
      tiers.forEach(firing::insert);
      groups(placements).forEach(firing::insert);
      kinds(placements).forEach(firing::insert);
      firing.insert(request);
      firing.ask(Stage.FIT, "a submission");
      firing.keep();
      Refuse refusal = null;
      Rule by = null;
      List<Remark> remarks = new ArrayList<>();
      for (Concluded c : firing.ask(Stage.ADMISSION, "a submission")) {
        if (c.what() instanceof Refuse refuse) {
          if (by == null || place(c.by()) < place(by)) {
            refusal = refuse;
            by = c.by();
          }
        } else if (c.what() instanceof Remark remark) {
          remarks.add(remark);
        }
      }
      return new Admission(refusal, by == null ? null : by.clause(), remarks);
    }
  }

  @Override
  public Admitting admitting() {
    return new Admissions(this, loaded);
  }

  /** Whether a submission would be allocated, where the policy knows budgets. */
  private Request withTerms(Request r, List<Account> accounts) {
    if (!loaded.order().usesTree() || r.account() == null) {
      return r;
    }
    AccountTree tree = new AccountTree(accounts, List.of());
    return r.onTerms(r.minRuntimeSeconds() > 0 && tree.share(r.account()) > 0);
  }

  /** Where a rule stands among the policy's modules. */
  private int place(Rule rule) {
    int i = 0;
    for (Rule r : loaded.rules().values()) {
      if (r == rule) {
        return i;
      }
      i++;
    }
    return i;
  }

  @Override
  public Settlement settle(Ended ended, Instant now) {
    try (Firing firing = new Firing(sessions)) {
      String about = "the end of job " + ended.job();
      firing.insert(new Moment(now));
      firing.insert(ended);
      if (ended.reservation() != null) {
        Reservation r = ended.reservation();
        firing.insert(new Standing(r, true, NodeState.UP, r.gpus(), r.gpus()));
      }
      List<Decided> outcomes = new ArrayList<>();
      List<HoldingCost> held = new ArrayList<>();
      for (Concluded c : firing.ask(Stage.END, about)) {
        if (c.what() instanceof Release release) {
          outcomes.add(c.by().decided(release));
        }
      }
      for (Concluded c : firing.ask(Stage.ACCRUE, about)) {
        if (c.what() instanceof HoldingCost cost) {
          held.add(cost);
        }
      }
      firing.ask(Stage.FACTOR, about);
      for (Concluded c : firing.ask(Stage.CHARGE, about)) {
        if (c.what() instanceof Charge charge) {
          outcomes.add(c.by().decided(charge));
        }
      }
      return new Settlement(outcomes, held);
    } catch (RuleFailed e) {
      throw e.about(ended.job());
    }
  }
}
