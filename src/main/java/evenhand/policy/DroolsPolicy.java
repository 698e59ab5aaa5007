package evenhand.policy;

import evenhand.facts.Account;
import evenhand.facts.Ended;
import evenhand.facts.Job;
import evenhand.facts.Moment;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Standing;
import evenhand.facts.Tier;
import evenhand.facts.Turn;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Refuse;
import evenhand.outcomes.Release;
import evenhand.outcomes.Remark;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Settlement;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.outcomes.Yield;
import evenhand.policy.Firing.Concluded;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.kie.api.runtime.rule.FactHandle;

/**
 * A policy decided by rule files. It holds the loop: who has a turn when, and what an outcome
 * changes on the board. Whether anything may happen is the rules' alone.
 */
final class DroolsPolicy implements Policy {
  private final Loaded loaded;

  DroolsPolicy(Loaded loaded) {
    this.loaded = loaded;
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
  public Optional<Rule> rule(String name) {
    return Optional.ofNullable(loaded.rules().get(name));
  }

  @Override
  public List<Job> order(Snapshot snapshot) {
    return loaded.order().sort(snapshot.jobs(), byId(snapshot));
  }

  @Override
  public Map<String, Object> figures(Job job, Snapshot snapshot) {
    return loaded.order().figures(job, byId(snapshot));
  }

  private static Map<String, Account> byId(Snapshot snapshot) {
    return snapshot.accounts().stream()
        .collect(Collectors.toMap(Account::id, Function.identity(), (a, b) -> a));
  }

  @Override
  public Decision decide(Snapshot snapshot) {
    try (Firing firing = new Firing(loaded.base(), loaded.rules())) {
      return new OneCycle(snapshot, firing).decide();
    }
  }

  /** The state of one decision. */
  private final class OneCycle {
    private final Snapshot snapshot;
    private final Firing firing;
    private final List<Job> queue;
    private final List<Decided> outcomes = new ArrayList<>();
    private final List<HoldingCost> accruals = new ArrayList<>();
    private final List<Yield> yields = new ArrayList<>();
    private final Map<String, Reservation> reservations = new LinkedHashMap<>();
    private final Set<Request> requests = new HashSet<>();
    private final Map<Request, Answer> answers = new HashMap<>();
    private Board board;
    private int starts;
    private String waiting;

    OneCycle(Snapshot snapshot, Firing firing) {
      this.snapshot = snapshot;
      this.firing = firing;
      this.queue = order(snapshot);
    }

    Decision decide() {
      loaded.settings().forEach(firing::insert);
      firing.insert(new Moment(snapshot.now()));
      open();
      board = new Board(snapshot, reservations.values(), firing, loaded.nodesMatter());
      snapshot.tiers().forEach(firing::insert);
      groups(snapshot.placements()).forEach(firing::insert);
      for (int i = 0; i < queue.size(); i++) {
        turn(queue.get(i), i == 0);
      }
      return new Decision(
          snapshot.policy(), hash(), null, snapshot.now(), outcomes, accruals, yields);
    }

    /**
     * Before any job is taken: accrual of every reservation, then forced releases and their
     * charges.
     */
    private void open() {
      if (snapshot.reservations().isEmpty()) {
        return;
      }
      Map<String, Integer> position = new HashMap<>();
      for (int i = 0; i < queue.size(); i++) {
        position.put(queue.get(i).id(), i);
      }
      List<Reservation> inOrder =
          snapshot.reservations().stream()
              .sorted(
                  Comparator.<Reservation>comparingInt(
                          r -> position.getOrDefault(r.job(), Integer.MAX_VALUE))
                      .thenComparing(Reservation::job, Natural.IDS))
              .toList();
      Map<String, Placement> at = new HashMap<>();
      snapshot.placements().forEach(p -> at.put(p.node() + "\n" + p.tier().name(), p));
      for (Reservation r : inOrder) {
        reservations.put(r.job(), r);
        Placement p = at.get(r.node() + "\n" + r.tier().name());
        firing.insert(
            new Standing(
                r,
                !queue.isEmpty() && queue.get(0).id().equals(r.job()),
                p == null ? NodeState.DOWN : p.state(),
                p == null ? 0 : p.capacity(),
                p == null ? 0 : p.idle()));
      }
      String about = "the reservations at the start of the cycle";
      for (Concluded c : firing.ask(Stage.ACCRUE, about)) {
        if (c.what() instanceof HoldingCost cost) {
          accruals.add(cost);
        }
      }
      accruals.sort(Comparator.comparing(c -> position.getOrDefault(c.job(), Integer.MAX_VALUE)));
      List<Concluded> releases = new ArrayList<>(firing.ask(Stage.LOST, about));
      releases.addAll(firing.ask(Stage.RANK, about));
      record(releases, position);
      firing.ask(Stage.FACTOR, about);
      record(firing.ask(Stage.FORCED, about), position);
      for (Concluded c : releases) {
        if (c.what() instanceof Release release) {
          reservations.remove(release.job());
        }
      }
      firing.forget(0);
    }

    /** Outcomes that rules reached side by side, in the order of the queue. */
    private void record(List<Concluded> concluded, Map<String, Integer> position) {
      concluded.stream()
          .filter(c -> c.what() instanceof Outcome)
          .sorted(
              Comparator.comparingInt(
                  c -> position.getOrDefault(((Outcome) c.what()).job(), Integer.MAX_VALUE)))
          .forEach(c -> outcomes.add(new Decided((Outcome) c.what(), c.by().clause())));
    }

    private void turn(Job job, boolean first) {
      Request request = request(job);
      Reservation reservation = reservations.get(job.id());
      boolean alike = !first && reservation == null;
      if (alike) {
        Answer known = answers.get(request);
        if (known != null && known.holds(board.version(), waiting)) {
          answered(known.told().to(job.id()), known.rule());
          return;
        }
      }
      Turn turn =
          new Turn(
              job.id(),
              request,
              first,
              queue.get(0).id(),
              reservation,
              reservation == null ? null : board.at(reservation.node(), reservation.tier()),
              starts,
              waiting);
      FactHandle handle = firing.insert(turn);
      String before = waiting;
      Decided verdict = ask(turn, reservation);
      firing.forget(0);
      firing.delete(handle);
      if (alike && verdict.outcome() instanceof Wait wait) {
        answers.put(request, new Answer(wait, verdict.rule(), board.version(), before));
      }
    }

    private void answered(Wait wait, String rule) {
      outcomes.add(new Decided(wait, rule));
      if (waiting == null) {
        waiting = wait.job();
      }
    }

    /** Asks the stages of a turn until one gives the verdict, and carries it out on the board. */
    private Decided ask(Turn turn, Reservation reservation) {
      String about = "job " + turn.job();
      if (requests.add(turn.request())) {
        firing.insert(turn.request());
        firing.ask(Stage.FIT, about);
        firing.keep(); // what fits a request stays true all cycle
      }
      firing.ask(Stage.AVAILABLE, about);
      firing.ask(Stage.PERMISSION, about);
      Decided verdict = verdict(firing.ask(Stage.START, about), about);
      if (verdict != null) {
        started((Start) verdict.outcome(), verdict.rule(), null);
        outcomes.add(verdict);
        for (Concluded c : firing.ask(Stage.SWAP, about)) {
          if (c.what() instanceof Release release) {
            released(release, c.by().clause());
          }
        }
        notified(about);
        return verdict;
      }
      verdict = verdict(firing.ask(Stage.ABSORB, about), about);
      if (verdict == null) {
        verdict = verdict(firing.ask(Stage.RESERVE, about), about);
      }
      if (verdict == null) {
        verdict = dominant(firing.ask(Stage.WAIT, about), about);
        answered((Wait) verdict.outcome(), verdict.rule());
        return verdict;
      }
      outcomes.add(verdict);
      if (verdict.outcome() instanceof Start start) {
        started(start, verdict.rule(), reservation);
        notified(about);
      } else if (verdict.outcome() instanceof Reserve r) {
        hold(r.job(), r.node(), r.tier(), r.gpus(), verdict.rule());
      } else if (verdict.outcome() instanceof Absorb a) {
        hold(a.job(), a.node(), a.tier(), a.gpus(), verdict.rule());
      }
      return verdict;
    }

    /** The one verdict among what a stage concluded, null when it concluded none. */
    private Decided verdict(List<Concluded> concluded, String about) {
      Decided verdict = null;
      for (Concluded c : concluded) {
        if (c.what() instanceof Start
            || c.what() instanceof Reserve
            || c.what() instanceof Absorb) {
          if (verdict != null) {
            throw new RuleFailed(
                "two verdicts for " + about + ": by " + verdict.rule() + " and by " + name(c));
          }
          verdict = new Decided((Outcome) c.what(), c.by().clause());
        }
      }
      return verdict;
    }

    /** The reason that is told, by the policy's {@code explain} order. */
    private Decided dominant(List<Concluded> concluded, String about) {
      Decided best = null;
      int bestRank = Integer.MAX_VALUE;
      for (Concluded c : concluded) {
        if (c.what() instanceof Wait wait) {
          int rank = loaded.explain().indexOf(wait.code());
          if (rank < 0) {
            throw new RuleFailed(
                "rule \""
                    + name(c)
                    + "\" gives wait code "
                    + wait.code()
                    + ", which the policy's explain order does not list");
          }
          if (rank < bestRank) {
            best = new Decided(wait, c.by().clause());
            bestRank = rank;
          }
        }
      }
      if (best == null) {
        throw new RuleFailed("no rule gives " + about + " a verdict: not even a reason to wait");
      }
      return best;
    }

    private static String name(Concluded c) {
      return c.by().name() + " (" + c.by().file() + ")";
    }

    /**
     * @param completed the reservation that ends by this start, or null where it is not used (D1)
     */
    private void started(Start start, String rule, Reservation completed) {
      for (Share share : start.on()) {
        Placement p = board.at(share.node(), share.tier());
        if (p == null || p.state() != NodeState.UP) {
          throw new RuleFailed(
              "rule " + rule + " starts job " + start.job() + " on " + share.node() + ", not up");
        }
        if (completed == null) {
          board.take(share.node(), share.tier(), share.gpus(), rule);
        } else {
          board.complete(
              share.node(),
              share.tier(),
              completed.gpus(),
              share.gpus() - completed.gpus(),
              start.job(),
              rule);
          reservations.remove(start.job());
        }
      }
      starts++;
    }

    private void hold(String job, String node, Tier tier, int gpus, String rule) {
      board.reserve(node, tier, gpus, job, rule);
    }

    private void released(Release release, String rule) {
      board.release(release.node(), release.tier(), release.gpus(), release.job(), rule);
      reservations.remove(release.job());
      outcomes.add(new Decided(release, rule));
    }

    private void notified(String about) {
      for (Concluded c : firing.ask(Stage.NOTIFY, about)) {
        if (c.what() instanceof Yield yield) {
          yields.add(yield);
        }
      }
    }
  }

  /** What jobs of one request were told, and under which circumstances. */
  private record Answer(Wait told, String rule, int version, String waiting) {
    boolean holds(int nowVersion, String nowWaiting) {
      return version == nowVersion && java.util.Objects.equals(waiting, nowWaiting);
    }
  }

  private Request request(Job job) {
    Set<String> looksAt = loaded.looksAt();
    return new Request(
        job.nodes(),
        job.numGpus(),
        job.tier(),
        job.minimumTierSortOrder(),
        looksAt.contains("job") ? job.id() : null,
        looksAt.contains("account") ? job.account() : null,
        looksAt.contains("user") ? job.user() : null,
        null,
        looksAt.contains("priority") ? job.priority() : 0,
        looksAt.contains("minRuntimeSeconds") ? job.minRuntimeSeconds() : 0,
        looksAt.contains("resumable") && job.resumable(),
        looksAt.contains("attempt") ? job.attempt() : 0);
  }

  private static Set<PlacementGroup> groups(List<Placement> placements) {
    return placements.stream()
        .map(Placement::group)
        .sorted(
            Comparator.<PlacementGroup>comparingInt(g -> g.tier().sortOrder())
                .thenComparing(g -> g.tier().name())
                .thenComparingInt(PlacementGroup::capacity)
                .thenComparing(PlacementGroup::state))
        .collect(Collectors.toCollection(java.util.LinkedHashSet::new));
  }

  @Override
  public Admission admit(Request request, List<Tier> tiers, List<Placement> placements) {
    try (Firing firing = new Firing(loaded.base(), loaded.rules())) {
      loaded.settings().forEach(firing::insert);
      tiers.forEach(firing::insert);
      groups(placements).forEach(firing::insert);
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
    try (Firing firing = new Firing(loaded.base(), loaded.rules())) {
      String about = "the end of job " + ended.job();
      loaded.settings().forEach(firing::insert);
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
          outcomes.add(new Decided(release, c.by().clause()));
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
          outcomes.add(new Decided(charge, c.by().clause()));
        }
      }
      return new Settlement(outcomes, held);
    }
  }
}
