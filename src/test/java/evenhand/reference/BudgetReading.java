package evenhand.reference;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * One cycle of policies {@code budget} and {@code budget-slices} as their clauses read: N5, Q3, A1,
 * A3, F1, V1, D1, gangs, K2 to K5, K8, X1, X2. Reservations are no part of it; claims are {@link
 * ClaimReading}'s. One object decides one snapshot.
 *
 * <p>Loops over everything each time, on purpose: it must be easy to hold against the clauses, not
 * fast. Ratios are compared in exact decimals, so that a tie is a tie. {@link Wait#message()} is
 * left empty.
 */
public class BudgetReading {

  /** A placement as it stands at this moment of the cycle. */
  static final class Spot {
    final Placement placement;

    /** GPUs that nobody holds and nobody has claimed. */
    int idle;

    /** GPUs that nobody holds and a claim keeps. */
    int claimed;

    Spot(Placement placement) {
      this.placement = placement;
      this.idle = placement.idle();
    }

    Tier tier() {
      return placement.tier();
    }

    boolean up() {
      return placement.state() == NodeState.UP;
    }

    boolean isOf(Share share) {
      return placement.node().equals(share.node()) && tier().name().equals(share.tier().name());
    }
  }

  /**
   * What a reading comes to.
   *
   * @param met what kinds of things it has met on the way, for counting
   */
  record Read(List<Decided> outcomes, List<String> met) {}

  /** D1: the better tier, then the fullest node, then by name. */
  static final Comparator<Spot> PREFERENCE =
      Comparator.comparing((Spot spot) -> -spot.tier().sortOrder())
          .thenComparing(spot -> spot.idle)
          .thenComparing(spot -> spot.placement.node())
          .thenComparing(spot -> spot.tier().name());

  final Snapshot snapshot;
  final Duration window;
  final BudgetTree tree;
  final List<Job> queue;
  final List<Spot> spots = new ArrayList<>();
  final List<Running> running = new ArrayList<>();
  private final BigDecimal margin;
  private final List<Decided> outcomes = new ArrayList<>();

  BudgetReading(Snapshot snapshot, Duration window, double margin) {
    this.snapshot = snapshot;
    this.window = window;
    this.margin = BigDecimal.valueOf(margin);
    this.tree = new BudgetTree(snapshot);
    this.queue = tree.queue();
    for (Placement placement : snapshot.placements()) {
      spots.add(new Spot(placement));
    }
    for (Running run : snapshot.running()) {
      if (!run.leaving()) { // told to go already: it is nobody's victim a second time
        running.add(run);
      }
    }
  }

  /**
   * All outcomes of the cycle.
   *
   * @param window K8's {@code preempt_window}, null for {@code always}
   * @param margin K5's {@code preemption_margin}
   */
  public static List<Decided> decide(Snapshot snapshot, Duration window, double margin) {
    return new BudgetReading(snapshot, window, margin).read();
  }

  /** F1: this placement could ever run one node of this job. */
  static boolean fits(Placement placement, Job job) {
    return PlainReading.fits(placement, job);
  }

  /**
   * V1, and for gangs all nodes together: whether the job could start were so many GPUs its to take
   * on each spot.
   */
  static boolean hasRoom(Job job, List<Spot> spots, Function<Spot, Integer> gpus) {
    Map<String, Integer> placesOfTier = new HashMap<>();
    for (Spot spot : spots) {
      if (fits(spot.placement, job) && spot.up() && gpus.apply(spot) >= job.numGpus()) {
        placesOfTier.merge(spot.tier().name(), 1, Integer::sum);
      }
    }
    return placesOfTier.values().stream().anyMatch(count -> count >= job.nodes());
  }

  /** GPUs that these would leave on a placement. */
  static int leftBy(List<Running> leaving, Spot spot) {
    int gpus = 0;
    for (Running run : leaving) {
      for (Share share : run.on()) {
        if (spot.isOf(share)) {
          gpus += share.gpus();
        }
      }
    }
    return gpus;
  }

  final List<Decided> read() {
    opens();
    for (Job job : queue) {
      turn(job);
    }
    return outcomes;
  }

  /** What is settled before any job is taken. */
  void opens() {
    leaveNodes();
  }

  /** GPUs of a placement that are the job's to take, once these have left. */
  int room(Job job, Spot spot, List<Running> gone) {
    return spot.idle + leftBy(gone, spot);
  }

  private boolean hasRoom(Job job, List<Running> gone) {
    return hasRoom(job, spots, spot -> room(job, spot, gone));
  }

  /** X2: whoever is not protected leaves a node that takes no work, unless its work stays. */
  private void leaveNodes() {
    for (Running run : List.copyOf(running)) {
      boolean draining = false;
      boolean down = false; // then Slurm itself ends it, and it is queued again
      for (Spot spot : spots) {
        boolean there = run.on().stream().anyMatch(spot::isOf);
        draining |=
            there
                && spot.placement.state() == NodeState.DRAINING
                && !snapshot.workStays().contains(spot.placement.node());
        down |= there && spot.placement.state() == NodeState.DOWN;
      }
      if (draining && !down && endable(run)) {
        decide(new Preempt(run), "X2");
        leave(run);
      }
    }
  }

  /** K2: its minimum is over; N5: unallocated work has none. */
  final boolean endable(Running run) {
    return !run.allocated() || !snapshot.now().isBefore(run.protectedUntil());
  }

  /** Its GPUs are idle from now on, and it is nobody's victim any more. */
  void leave(Running run) {
    running.remove(run);
    for (Spot spot : spots) {
      spot.idle += leftBy(List.of(run), spot);
    }
  }

  void turn(Job job) {
    boolean allocated = tree.allocated(job);
    if (hasRoom(job, List.of())) {
      start(job, allocated, List.of(), job.nodes() > 1 ? "GA" : "D1");
    } else if (!allocated || !makesRoom(job) && !claims(job)) {
      sayWhy(job, allocated);
    }
  }

  /** K4: it starts where others leave for it; or nothing happens. */
  boolean makesRoom(Job job) {
    return makesRoom(job, run -> mayEnd(run, job), "K4");
  }

  /** As K4, of the work that may be ended for it. */
  final boolean makesRoom(Job job, Predicate<Running> mayEnd, String rule) {
    List<Running> victims = victims(job, mayEnd);
    if (victims == null) {
      return false;
    }
    for (Running victim : victims) {
      decide(new Preempt(victim.job(), job.id()), rule);
    }
    victims.forEach(this::leave);
    start(job, true, victims, rule);
    return true;
  }

  /** G1: whether an allocated job that cannot start claims GPUs; nobody does here. */
  boolean claims(Job job) {
    return false;
  }

  /** K4: the victims, cheapest first; null where they would not be enough. */
  private List<Running> victims(Job job, Predicate<Running> mayEnd) {
    List<Running> candidates = new ArrayList<>();
    for (Running run : running) {
      if (mayEnd.test(run)) {
        candidates.add(run);
      }
    }
    candidates.sort(this::cheaper);
    List<Running> chosen = new ArrayList<>();
    for (Running candidate : candidates) {
      if (!hasRoom(job, chosen)) {
        chosen.add(candidate);
      }
    }
    if (!hasRoom(job, chosen)) {
      return null;
    }
    for (int i = chosen.size() - 1; i >= 0; i--) { // the costliest first is spared
      List<Running> without = new ArrayList<>(chosen);
      without.remove(i);
      if (hasRoom(job, without)) {
        chosen.remove(i);
      }
    }
    return chosen;
  }

  /** K2, K8, and whom K4 lets be ended for the job at all. */
  final boolean mayEnd(Running run, Job job) {
    return mayYield(run, job)
        && endable(run)
        && (!run.allocated()
            || window == null
            || run.intoSlice(snapshot.now()) <= window.toNanos() / 1e9);
  }

  /** K3, K4's "never the job's own account", K5: once nothing protects it. */
  final boolean mayYield(Running run, Job job) {
    if (run.account().equals(job.account())) {
      return false;
    }
    if (!run.allocated()) {
      return true;
    }
    BigDecimal added =
        BigDecimal.valueOf((long) job.nodes() * job.numGpus())
            .multiply(BigDecimal.valueOf(job.minRuntimeSeconds()));
    return tree.behind(run.account(), job.account(), BigDecimal.ZERO, BigDecimal.ZERO)
        && tree.behind(run.account(), job.account(), added, margin);
  }

  /** K4's order: who is ended first. */
  private int cheaper(Running left, Running right) {
    return Comparator.comparing(Running::allocated)
        .thenComparing(run -> run.lostWork(snapshot.now()))
        .thenComparing(Running::account, tree::byOverServed)
        .thenComparing(Running::startedAt, Comparator.reverseOrder())
        .thenComparing(Running::job, PlainReading::compareIds)
        .compare(left, right);
  }

  /** D1 and gangs: on the preferred placements; after K4 first on those that victims left. */
  List<Share> start(Job job, boolean allocated, List<Running> victims, String rule) {
    Comparator<Spot> preference =
        Comparator.comparing((Spot spot) -> leftBy(victims, spot) > 0 ? 0 : 1)
            .thenComparing(PREFERENCE);
    List<Spot> available = new ArrayList<>();
    for (Spot spot : spots) {
      if (fits(spot.placement, job) && spot.up() && room(job, spot, List.of()) >= job.numGpus()) {
        available.add(spot);
      }
    }
    available.sort(preference);
    Map<String, List<Spot>> byTier = new LinkedHashMap<>();
    List<Spot> picks = null;
    for (Spot spot : available) {
      List<Spot> ofTier = byTier.computeIfAbsent(spot.tier().name(), t -> new ArrayList<>());
      ofTier.add(spot);
    }
    // Tiers in the order of their most preferred placement: the best tier first.
    for (List<Spot> ofTier : byTier.values()) {
      if (picks == null && ofTier.size() >= job.nodes()) {
        picks = ofTier.subList(0, job.nodes());
      }
    }
    List<Share> on = new ArrayList<>();
    for (Spot spot : picks) {
      int ofIdle = Math.min(spot.idle, job.numGpus());
      spot.idle -= ofIdle;
      spot.claimed -= job.numGpus() - ofIdle;
      on.add(new Share(spot.placement.node(), spot.tier(), job.numGpus()));
    }
    decide(new Start(job.id(), on, allocated), rule);
    return on;
  }

  /** Why a job waits: the first of these that applies. */
  private void sayWhy(Job job, boolean allocated) {
    if (!enoughFit(job, true)) {
      waits(job, "NO_FIT", oneFits(job, true) ? "GA" : "N6");
    } else if (!enoughFit(job, false)) {
      waits(job, "NODE_DRAINING", oneFits(job, false) ? "GA" : "X1");
    } else if (claimIsWhy(job)) {
      return;
    } else if (!allocated) {
      waits(job, "NO_IDLE", "D4");
    } else if (!makesRoomForAnyone(job)) {
      waits(job, "PROTECTED", "K2");
    } else {
      waits(job, "OVER_SHARE", "K3");
    }
  }

  /** Whether the job waits because of a claim, and is told so. */
  boolean claimIsWhy(Job job) {
    return false;
  }

  /** Whether it had room if all that is not protected left, whoever's it is. */
  boolean makesRoomForAnyone(Job job) {
    List<Running> endable = new ArrayList<>(running);
    endable.removeIf(run -> !endable(run));
    return hasRoom(job, spots, spot -> spot.idle + spot.claimed + leftBy(endable, spot));
  }

  /** N6, X1: as many fitting placements of one tier as it wants nodes. */
  private boolean enoughFit(Job job, boolean drainingToo) {
    Map<String, Integer> placesOfTier = new HashMap<>();
    for (Spot spot : spots) {
      boolean counts = spot.up() || drainingToo && spot.placement.state() == NodeState.DRAINING;
      if (counts && fits(spot.placement, job)) {
        placesOfTier.merge(spot.tier().name(), 1, Integer::sum);
      }
    }
    return placesOfTier.values().stream().anyMatch(count -> count >= job.nodes());
  }

  private boolean oneFits(Job job, boolean drainingToo) {
    for (Spot spot : spots) {
      boolean counts = spot.up() || drainingToo && spot.placement.state() == NodeState.DRAINING;
      if (counts && fits(spot.placement, job)) {
        return true;
      }
    }
    return false;
  }

  private void waits(Job job, String code, String rule) {
    decide(new Wait(job.id(), code, null, ""), rule);
  }

  final void decide(Outcome outcome, String rule) {
    outcomes.add(new Decided(outcome, rule));
  }

  /** The account tree as A1, A3 and Q3 read. */
  static final class BudgetTree {
    private final Snapshot snapshot;
    private final Map<String, Account> accounts = new HashMap<>();

    BudgetTree(Snapshot snapshot) {
      this.snapshot = snapshot;
      for (Account account : snapshot.accounts()) {
        accounts.put(account.id(), account);
      }
    }

    /** From the root down to this account. */
    private List<Account> path(String id) {
      List<Account> path = new ArrayList<>();
      for (Account at = accounts.get(id); at != null; at = accounts.get(at.parent())) {
        path.add(0, at);
      }
      return path;
    }

    private List<Account> childrenOf(String parent) {
      List<Account> children = new ArrayList<>();
      for (Account account : snapshot.accounts()) {
        if (parent == null ? account.parent() == null : parent.equals(account.parent())) {
          children.add(account);
        }
      }
      return children;
    }

    /** Charged usage of the account and all below it (A3). */
    private BigDecimal used(Account account) {
      BigDecimal sum = BigDecimal.valueOf(account.windowUsage());
      for (Account child : childrenOf(account.id())) {
        sum = sum.add(used(child));
      }
      return sum;
    }

    /**
     * A3: of two siblings' ratios. What all siblings have used and weigh is the same to both, so
     * usage by weight decides; no weight, no budget: an infinite ratio.
     */
    private static int compareRatios(
        BigDecimal used, double weight, BigDecimal otherUsed, double otherWeight) {
      if (weight == 0 || otherWeight == 0) {
        return Boolean.compare(weight == 0, otherWeight == 0);
      }
      return used.multiply(BigDecimal.valueOf(otherWeight))
          .compareTo(otherUsed.multiply(BigDecimal.valueOf(weight)));
    }

    /** N5: it declares a minimum, and its account has a share, the product down the tree (A1). */
    boolean allocated(Job job) {
      return job.minRuntimeSeconds() > 0
          && path(job.account()).stream().allMatch(account -> account.weight() > 0);
    }

    /**
     * A3: whether {@code victim} ranks behind {@code taker} where their paths part, with {@code
     * added} GPU-seconds more on the taker's side and its ratio made larger by {@code margin} parts
     * of one (K5).
     */
    boolean behind(String victim, String taker, BigDecimal added, BigDecimal margin) {
      List<Account> victims = path(victim);
      List<Account> takers = path(taker);
      int at = 0;
      while (at < Math.min(victims.size(), takers.size())
          && victims.get(at).id().equals(takers.get(at).id())) {
        at++;
      }
      if (at == Math.min(victims.size(), takers.size())) {
        return false; // one lies below the other: they do not part
      }
      Account behind = victims.get(at);
      Account ahead = takers.get(at);
      BigDecimal aheadUsed = used(ahead).add(added).multiply(margin.add(BigDecimal.ONE));
      return compareRatios(used(behind), behind.weight(), aheadUsed, ahead.weight()) > 0;
    }

    /** K4: of two accounts the one served later by Q3 is the more over-served. */
    int byOverServed(String left, String right) {
      List<String> served = new ArrayList<>();
      walkAccounts(null, account -> served.add(account.id()));
      return Integer.compare(served.indexOf(right), served.indexOf(left));
    }

    /** Q3: the whole queue. */
    List<Job> queue() {
      List<Job> queue = new ArrayList<>();
      walkAccounts(
          null,
          account -> {
            List<Job> own = new ArrayList<>(snapshot.jobs());
            own.removeIf(job -> !job.account().equals(account.id()) || !allocated(job));
            own.sort(
                Comparator.comparing((Job job) -> -job.priority())
                    .thenComparing(Job::queuedAt)
                    .thenComparing(Job::id, PlainReading::compareIds));
            queue.addAll(own);
          });
      List<Job> unallocated = new ArrayList<>(snapshot.jobs());
      unallocated.removeIf(this::allocated);
      unallocated.sort(
          Comparator.comparing(Job::queuedAt).thenComparing(Job::id, PlainReading::compareIds));
      queue.addAll(unallocated);
      return queue;
    }

    /** Q3: accounts in the order in which they are served, an account before those below it. */
    private void walkAccounts(String parent, Consumer<Account> visitor) {
      List<Account> children = childrenOf(parent);
      children.sort(
          ((Comparator<Account>)
                  (left, right) ->
                      compareRatios(used(left), left.weight(), used(right), right.weight()))
              .thenComparing(
                  child ->
                      jobsBelow(child).stream()
                          .map(Job::queuedAt)
                          .min(Comparator.naturalOrder())
                          .orElse(Instant.MAX))
              .thenComparing(Account::id));
      for (Account child : children) {
        visitor.accept(child);
        walkAccounts(child.id(), visitor);
      }
    }

    /** Queued jobs of the account and all below it, allocated or not. */
    private List<Job> jobsBelow(Account account) {
      List<Job> jobs = new ArrayList<>();
      for (Job job : snapshot.jobs()) {
        if (path(job.account()).contains(account)) {
          jobs.add(job);
        }
      }
      return jobs;
    }
  }
}
