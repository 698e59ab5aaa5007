package evenhand.policy;

import evenhand.facts.Claim;
import evenhand.facts.ClaimStanding;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.Reservation;
import evenhand.facts.Resident;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Standing;
import evenhand.facts.Tier;
import evenhand.outcomes.Decided;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Release;
import evenhand.outcomes.Unclaim;
import evenhand.policy.Firing.Concluded;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a cycle begins with, before any job is taken: accrual of every reservation (C2), then forced
 * releases (R3, R5), the end of the claim (G4), running jobs that must leave their node (X2), and
 * what all that charges.
 */
final class Opening {
  private final Loaded loaded;
  private final Snapshot snapshot;
  private final Kept kept;
  private final Firing firing;
  private final WaitingLine queue;
  private final Claim claim;
  private final List<Decided> outcomes = new ArrayList<>();
  private final List<HoldingCost> accruals = new ArrayList<>();
  private final Map<String, Reservation> reservations = new LinkedHashMap<>();
  private final Map<String, Integer> positions = new HashMap<>();
  private int positioned;
  private boolean claimEnds;

  /**
   * @param claim the one that stands; null for none
   */
  Opening(Loaded loaded, Snapshot snapshot, Kept kept, Claim claim) {
    this.loaded = loaded;
    this.snapshot = snapshot;
    this.kept = kept;
    this.firing = kept.firing();
    this.queue = kept.line();
    this.claim = claim;
  }

  /** What was decided, in the order of the queue. */
  List<Decided> outcomes() {
    return outcomes;
  }

  List<HoldingCost> accruals() {
    return accruals;
  }

  /** The reservations that still stand, by job, in the order of the queue. */
  Map<String, Reservation> reservations() {
    return reservations;
  }

  boolean claimEnds() {
    return claimEnds;
  }

  void run() {
    String about = "the start of the cycle";
    boolean any = standings();
    any |= kept.has(Stage.DRAIN) && residents();
    any |= claimStands();
    if (!any) {
      return;
    }
    for (Concluded c : firing.ask(Stage.ACCRUE, about)) {
      if (c.what() instanceof HoldingCost cost) {
        accruals.add(cost);
      }
    }
    accruals.sort(Comparator.comparing(c -> position(c.job())));
    List<Concluded> releases = new ArrayList<>(firing.ask(Stage.LOST, about));
    releases.addAll(firing.ask(Stage.RANK, about));
    record(releases);
    for (Concluded c : releases) {
      if (c.what() instanceof Unclaim unclaim) {
        outcomes.addAll(released(unclaim.claim(), c.by()));
        claimEnds = true;
      }
    }
    record(firing.ask(Stage.DRAIN, about));
    firing.ask(Stage.FACTOR, about);
    record(firing.ask(Stage.FORCED, about));
    for (Concluded c : releases) {
      if (c.what() instanceof Release release) {
        reservations.remove(release.job());
      }
    }
    firing.forget(0);
  }

  /** A claim ends: every GPU of it is released. */
  static List<Decided> released(Claim claim, Rule by) {
    return claim.on().stream()
        .map(s -> by.decided(new Release(claim.job(), s.node(), s.tier(), s.gpus())))
        .toList();
  }

  /** Seldom asked, and for few of them. */
  private Placement inSnapshot(String node, Tier tier) {
    for (Placement p : snapshot.placements()) {
      if (p.node().equals(node) && p.tier().name().equals(tier.name())) {
        return p;
      }
    }
    return null;
  }

  /**
   * Where a job stands in the queue, from 0; those that are not queued come last. The queue is
   * looked through no further than it has to be: who holds a reservation is most often first.
   */
  private int position(String job) {
    Integer known = positions.get(job);
    for (; known == null && positioned < queue.size(); positioned++) {
      String next = queue.at(positioned).job.id();
      positions.put(next, positioned);
      known = next.equals(job) ? positioned : null;
    }
    return known == null ? Integer.MAX_VALUE : known;
  }

  /** Inserts how each reservation stands; false when there is none. */
  private boolean standings() {
    if (snapshot.reservations().isEmpty()) {
      return false;
    }
    List<Reservation> inOrder =
        snapshot.reservations().stream()
            .sorted(
                Comparator.<Reservation>comparingInt(r -> position(r.job()))
                    .thenComparing(Reservation::job, Natural.IDS))
            .toList();
    for (Reservation r : inOrder) {
      reservations.put(r.job(), r);
      Placement p = inSnapshot(r.node(), r.tier());
      firing.passing(
          new Standing(
              r,
              queue.size() > 0 && queue.at(0).job.id().equals(r.job()),
              p == null ? NodeState.DOWN : p.state(),
              p == null ? 0 : p.capacity(),
              p == null ? 0 : p.idle()));
    }
    return true;
  }

  /** Inserts how the claim stands; false when there is none. */
  private boolean claimStands() {
    if (claim == null) {
      return false;
    }
    boolean gone = false;
    ClaimedWork work = new ClaimedWork(claim, snapshot.running());
    for (Share share : claim.on()) {
      Placement p = inSnapshot(share.node(), share.tier());
      gone |= p == null || p.state() != NodeState.UP || inReach(p, work) < share.gpus();
    }
    Job its = queued(claim.job());
    firing.passing(new ClaimStanding(claim, its != null, gone, its != null && overtaken(its)));
    return true;
  }

  /** Null when it does not wait. */
  private Job queued(String job) {
    int position = position(job);
    return position < queue.size() ? queue.at(position).job : null;
  }

  /** GPUs of a placement that are idle, or may come to the claim by the contracts it counts on. */
  private static int inReach(Placement p, ClaimedWork work) {
    // A start that waits for others to leave has their GPUs: these are counted to it and to them.
    return Math.min(
        p.idle() + work.yieldingOn(p.node(), p.tier()),
        p.capacity() - work.firmOn(p.node(), p.tier()));
  }

  /**
   * Whether another job of the queue is ahead of the claimer: of its own account, for priority is
   * the account's own word, or of one that is served less by more than the margin.
   */
  private boolean overtaken(Job claimer) {
    AccountTree tree = queue.tree();
    Job first = queue.at(0).job;
    return !first.id().equals(claimer.id())
        && (tree == null
            || first.account().equals(claimer.account())
            || tree.behindAfter(
                claimer.account(),
                first.account(),
                0,
                loaded.setting("reservation_margin").number()));
  }

  /** Inserts the running jobs on nodes that are not up; false when there is none. */
  private boolean residents() {
    Map<String, NodeState> states = new HashMap<>();
    for (Placement p : snapshot.placements()) {
      // One that is closed for others keeps what it runs; only a drain ends that (X2).
      if (p.state() != NodeState.UP
          && !(p.state() == NodeState.DRAINING && snapshot.workStays().contains(p.node()))) {
        states.put(p.node(), p.state());
      }
    }
    if (states.isEmpty()) {
      return false;
    }
    boolean any = false;
    for (Running r : snapshot.running()) {
      NodeState worst = NodeState.UP;
      for (Share share : r.on()) {
        NodeState state = states.getOrDefault(share.node(), NodeState.UP);
        worst = state.compareTo(worst) > 0 ? state : worst;
      }
      if (worst != NodeState.UP && !r.leaving()) {
        firing.passing(new Resident(r, worst, r.unprotected(snapshot.now())));
        any = true;
      }
    }
    return any;
  }

  /**
   * Outcomes that rules reached side by side, in the order of the queue; those about jobs that are
   * not queued after them, by id.
   */
  private void record(List<Concluded> concluded) {
    concluded.stream()
        .filter(c -> c.what() instanceof Outcome)
        .sorted(
            Comparator.<Concluded>comparingInt(c -> position(((Outcome) c.what()).job()))
                .thenComparing(c -> ((Outcome) c.what()).job(), Natural.IDS))
        .forEach(c -> outcomes.add(c.by().decided((Outcome) c.what())));
  }
}
