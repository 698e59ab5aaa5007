package evenhand.reference;

import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Release;
import evenhand.outcomes.Wait;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * What claims add to {@link BudgetReading}: G1 to G4 and K7, with {@code gang_reservation: claim}
 * or {@code off}.
 *
 * <p>A claim is on so many GPUs of each of its placements. What of them is not held by work that
 * leaves for it, it keeps from others ({@link BudgetReading.Spot#claimed}); the rest of the
 * placement is anybody's.
 */
final class ClaimReading extends BudgetReading {
  private final boolean mayClaim;
  private final BigDecimal reservationMargin;
  private Claim claim;

  private boolean claimersTurn;

  /** Where room is being made: on these placements alone. */
  private Predicate<Spot> madeOn = spot -> true;

  /** What has started in this cycle. */
  private final List<Running> begun = new ArrayList<>();

  private final List<String> met = new ArrayList<>();

  private ClaimReading(
      Snapshot snapshot,
      Duration window,
      double margin,
      boolean mayClaim,
      double reservationMargin) {
    super(snapshot, window, margin);
    this.mayClaim = mayClaim;
    this.reservationMargin = BigDecimal.valueOf(reservationMargin);
    this.claim = snapshot.claims().isEmpty() ? null : snapshot.claims().get(0);
  }

  /**
   * All outcomes of the cycle, and what kinds of claims it met.
   *
   * @param window K8's {@code preempt_window}, null for {@code always}
   * @param margin K5's {@code preemption_margin}
   * @param mayClaim whether {@code gang_reservation} is {@code claim}
   * @param reservationMargin G4's {@code reservation_margin}
   */
  static Read decide(
      Snapshot snapshot,
      Duration window,
      double margin,
      boolean mayClaim,
      double reservationMargin) {
    ClaimReading reading = new ClaimReading(snapshot, window, margin, mayClaim, reservationMargin);
    return new Read(reading.read(), reading.met);
  }

  @Override
  void opens() {
    if (claim != null && hasEnded()) {
      endClaim();
    }
    super.opens();
    keepClaimed();
  }

  @Override
  void turn(Job job) {
    claimersTurn = isClaimer(job);
    if (claimersTurn) {
      giveToClaimer();
    }
    super.turn(job);
    claimersTurn = false;
    keepClaimed();
  }

  private boolean isClaimer(Job job) {
    return claim != null && claim.job().equals(job.id());
  }

  // ---- G4: how a claim ends

  /** G4, before any job is taken: R4, R5, R3 with a margin, and a policy that has no claims. */
  private boolean hasEnded() {
    Job claimer = null;
    for (Job job : queue) {
      if (isClaimer(job)) {
        claimer = job;
      }
    }
    List<String> why = new ArrayList<>();
    if (claimer == null) {
      why.add("claim ends: its job is gone");
    }
    if (placementIsLost()) {
      why.add("claim ends: a placement is lost");
    }
    if (claimer != null && overtaken(claimer)) {
      boolean own = queue.get(0).account().equals(claimer.account());
      why.add("claim ends: overtaken by " + (own ? "its own account" : "another account"));
    }
    if (!mayClaim) {
      why.add("claim ends: there are none any more");
    }
    met.addAll(why);
    if (why.isEmpty() && !queue.get(0).id().equals(claimer.id())) {
      met.add("claim stands within the margin");
    }
    return !why.isEmpty();
  }

  /**
   * R5: a node is not up, or what is free there and what comes free for the claim is too little.
   */
  private boolean placementIsLost() {
    for (Share share : claim.on()) {
      int comes = 0;
      for (Spot spot : spots) {
        if (spot.isOf(share) && spot.up()) {
          comes = spot.idle + comesTo(spot);
        }
      }
      if (comes < share.gpus()) {
        return true;
      }
    }
    return false;
  }

  /** R3 with a margin; that a job of its own account comes first needs none. */
  private boolean overtaken(Job claimer) {
    Job first = queue.get(0);
    if (first.id().equals(claimer.id())) {
      return false;
    }
    return first.account().equals(claimer.account())
        || tree.behind(claimer.account(), first.account(), BigDecimal.ZERO, reservationMargin);
  }

  private void endClaim() {
    giveToClaimer(); // or to anybody
    for (Share share : claim.on()) {
      decide(new Release(claim.job(), share.node(), share.tier(), share.gpus()), "G4");
    }
    claim = null;
  }

  @Override
  List<Share> start(Job job, boolean allocated, List<Running> victims, String rule) {
    int ofClaimed = claimed();
    List<Share> on = super.start(job, allocated, victims, rule);
    if (isClaimer(job)) {
      boolean there = on.stream().allMatch(share -> claim.gpusOn(share.node(), share.tier()) > 0);
      met.add("claimer starts by " + rule + (there ? "" : " elsewhere"));
    } else if (claimed() < ofClaimed) {
      met.add((allocated ? "allocated" : "unallocated") + " work starts on claimed GPUs");
    }
    Instant now = snapshot.now();
    Instant until = allocated ? now.plusSeconds(job.minRuntimeSeconds()) : now;
    begun.add(new Running(job.id(), job.account(), on, now, until, allocated, job.resumable()));
    if (isClaimer(job)) {
      endClaim();
    }
    return on;
  }

  // ---- G3, K7: who may use what is claimed

  @Override
  void leave(Running run) {
    super.leave(run);
    keepClaimed();
  }

  /** What the claim keeps of what is free: what it is on, and no work holds that leaves for it. */
  private void keepClaimed() {
    if (claim == null || claimersTurn) {
      return;
    }
    for (Spot spot : spots) {
      if (!isClaimed(spot)) {
        continue;
      }
      int free = spot.idle + spot.claimed;
      int of = claim.gpusOn(spot.placement.node(), spot.tier());
      spot.claimed = Math.max(0, Math.min(free, of - comesTo(spot)));
      spot.idle = free - spot.claimed;
    }
  }

  /** GPUs of a placement that come to the claim when the work that leaves for it has left. */
  private int comesTo(Spot spot) {
    List<Running> there = new ArrayList<>(running);
    snapshot.running().stream().filter(Running::leaving).forEach(there::add);
    there.addAll(begun);
    List<Running> stays = new ArrayList<>(there);
    stays.removeIf(this::countsOn);
    there.removeAll(stays);
    // A start that waits for others to leave holds its GPUs beside them: theirs are promised to it.
    int free = spot.idle + spot.claimed;
    int atMost = spot.placement.capacity() - free - leftBy(stays, spot);
    return Math.max(0, Math.min(leftBy(there, spot), atMost));
  }

  private int claimed() {
    return spots.stream().mapToInt(spot -> spot.claimed).sum();
  }

  /** V1: to the claimer what it has claimed is idle. */
  private void giveToClaimer() {
    for (Spot spot : spots) {
      spot.idle += spot.claimed;
      spot.claimed = 0;
    }
  }

  @Override
  int room(Job job, Spot spot, List<Running> gone) {
    if (!madeOn.test(spot)) {
      return 0;
    }
    int ofClaimed = claim != null && mayUseClaimed(job) ? spot.claimed : 0;
    return super.room(job, spot, gone) + ofClaimed;
  }

  private boolean isClaimed(Spot spot) {
    return claim != null && claim.gpusOn(spot.placement.node(), spot.tier()) > 0;
  }

  /** K7, and G3's backfill by contract. */
  private boolean mayUseClaimed(Job job) {
    Instant protectedUntil = snapshot.now().plusSeconds(job.minRuntimeSeconds());
    return !tree.allocated(job) || !protectedUntil.isAfter(claim.readyAt());
  }

  /** Work that the claim counts on: it was there, or it has begun there by the claim's leave. */
  private boolean countsOn(Running run) {
    boolean there =
        run.on().stream().anyMatch(share -> claim.gpusOn(share.node(), share.tier()) > 0);
    boolean wasThere = claim.yields().contains(run.job());
    boolean byItsLeave =
        !run.startedAt().isBefore(claim.since())
            && (!run.allocated() || !run.protectedUntil().isAfter(claim.readyAt()));
    return there && !run.job().equals(claim.job()) && (run.leaving() || wasThere || byItsLeave);
  }

  /**
   * K4; on claimed placements for the claimer alone. What the claim counts on leaves for the
   * claimer besides, so that it starts on what it has claimed.
   */
  @Override
  boolean makesRoom(Job job) {
    boolean own = isClaimer(job);
    madeOn = spot -> own || !isClaimed(spot);
    boolean made = super.makesRoom(job);
    if (!made && own) {
      madeOn = this::isClaimed;
      made = makesRoom(job, run -> endable(run) && countsOn(run), "G3");
    }
    madeOn = spot -> true;
    return made;
  }

  /** Whether K4 would make room for it, were what is claimed anybody's. */
  private boolean wouldMakeRoom(Job job) {
    List<Running> victims = new ArrayList<>(running);
    victims.removeIf(run -> !mayEnd(run, job));
    return hasRoom(job, spots, spot -> spot.idle + spot.claimed + leftBy(victims, spot));
  }

  @Override
  boolean claimIsWhy(Job job) {
    if (isClaimer(job)) {
      decide(new Wait(job.id(), "GATHERING", null, ""), "G2");
      return true;
    }
    if (claim == null || !tree.allocated(job)) {
      return false;
    }
    boolean room = wouldMakeRoom(job);
    boolean idle = false;
    for (Spot spot : spots) {
      idle |=
          !mayUseClaimed(job)
              && fits(spot.placement, job)
              && spot.up()
              && spot.idle < job.numGpus()
              && spot.idle + spot.claimed >= job.numGpus();
    }
    if (room) {
      met.add("told of the claim for its room");
    }
    if (idle) {
      met.add("told of the claim for its idle GPUs");
    }
    if (room || idle) {
      decide(new Wait(job.id(), "HELD_BY_RESERVATION", claim.job(), ""), "G3");
    }
    return room || idle;
  }

  // ---- G1, G2: what the first job claims

  /** A placement as the first job could claim it. */
  private record Ready(Spot spot, Instant at, List<Running> yields) {}

  @Override
  boolean claims(Job job) {
    boolean first = queue.get(0).id().equals(job.id());
    if (!mayClaim || claim != null || !first || job.nodes() * job.numGpus() < 2) {
      return false;
    }
    List<Ready> chosen = soonest(job);
    if (chosen == null) {
      return false;
    }
    List<Share> on = new ArrayList<>();
    List<String> yields = new ArrayList<>();
    Instant readyAt = snapshot.now();
    for (Ready ready : chosen) {
      on.add(new Share(ready.spot.placement.node(), ready.spot.tier(), job.numGpus()));
      for (Running run : ready.yields) {
        if (!yields.contains(run.job())) {
          yields.add(run.job());
        }
      }
      readyAt = ready.at.isAfter(readyAt) ? ready.at : readyAt;
    }
    for (Ready ready : chosen) {
      meets(ready);
    }
    met.add(job.nodes() > 1 ? "claims as a gang" : "claims one node");
    decide(new Claimed(job.id(), on, readyAt, yields), "G2");
    claim = new Claim(job.id(), on, snapshot.now(), readyAt, yields);
    return true;
  }

  /** G2: as many placements of one tier as it wants nodes, those that are ready soonest. */
  private List<Ready> soonest(Job job) {
    List<Ready> all = new ArrayList<>();
    for (Spot spot : spots) {
      Ready ready = fits(spot.placement, job) && spot.up() ? ready(spot, job) : null;
      if (ready != null) {
        all.add(ready);
      }
    }
    all.sort(Comparator.comparing(Ready::at).thenComparing(Ready::spot, PREFERENCE));
    Map<String, List<Ready>> ofTier = new LinkedHashMap<>();
    List<Ready> soonest = null;
    for (Ready ready : all) {
      List<Ready> some = ofTier.computeIfAbsent(ready.spot.tier().name(), t -> new ArrayList<>());
      some.add(ready);
      if (some.size() == job.nodes() && soonest == null) {
        soonest = List.copyOf(some); // the first tier that is complete is the soonest
      } else if (soonest != null) {
        meetsChoice(job, soonest, some);
      }
    }
    return soonest;
  }

  /** Counts what else could have been claimed: more of its tier, or another tier. */
  private void meetsChoice(Job job, List<Ready> chosen, List<Ready> other) {
    Ready last = chosen.get(chosen.size() - 1);
    Ready left = other.get(other.size() - 1);
    String when = left.at.equals(last.at) ? " that is ready at the same time" : " that is later";
    if (left.spot.tier().equals(last.spot.tier())) {
      met.add("claims and leaves a placement" + when);
    } else if (other.size() == job.nodes()) {
      met.add("claims and leaves a tier" + when);
    }
  }

  /** Counts what a placement that is claimed counts on. */
  private void meets(Ready ready) {
    if (ready.spot.idle > 0) {
      met.add("claims idle GPUs");
    }
    if (ready.yields.size() > 1) {
      met.add("claims what several of one placement leave");
    }
    for (Running run : ready.yields) {
      boolean later =
          run.allocated()
              && leavesAt(run).isAfter(snapshot.now())
              && leavesAt(run).isAfter(run.protectedUntil());
      met.add(
          !run.allocated()
              ? "counts on unallocated work"
              : later
                  ? "counts on the next slice"
                  : endable(run) ? "counts on unprotected work" : "counts on protected work");
      if (run.on().size() > 1) {
        met.add("counts on a gang");
      }
    }
  }

  /** When a placement has enough GPUs by the contracts of those that run there; null for never. */
  private Ready ready(Spot spot, Job job) {
    List<Running> counted = new ArrayList<>();
    for (Running run : running) {
      if (leftBy(List.of(run), spot) > 0 && mayYield(run, job)) {
        counted.add(run);
      }
    }
    counted.sort(
        Comparator.comparing(this::leavesAt).thenComparing(Running::job, PlainReading::compareIds));
    List<Running> needed = new ArrayList<>();
    Instant at = snapshot.now();
    for (Running run : counted) {
      if (spot.idle + leftBy(needed, spot) < job.numGpus()) {
        needed.add(run);
        at = leavesAt(run);
      }
    }
    return spot.idle + leftBy(needed, spot) < job.numGpus() ? null : new Ready(spot, at, needed);
  }

  /** The first moment, from now on, at which nothing protects it (K2) and it is in a slice (K8). */
  private Instant leavesAt(Running run) {
    Instant now = snapshot.now();
    if (!run.allocated()) {
      return now;
    }
    Instant at = run.protectedUntil().isAfter(now) ? run.protectedUntil() : now;
    if (window != null && run.intoSlice(at) > window.toNanos() / 1e9) {
      long minimum = run.minRuntimeSeconds();
      long multiples = Duration.between(run.startedAt(), at).toSeconds() / minimum + 1;
      at = run.startedAt().plusSeconds(multiples * minimum);
    }
    return at;
  }
}
