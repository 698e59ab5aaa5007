package evenhand.reference;

import evenhand.facts.Account;
import evenhand.facts.Cost;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.outcomes.Yield;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One cycle of policy {@code reservation} as its clauses read: Q2, F1, V1, D1 to D5, W1, R1 to R3,
 * R5, C1, and C4 with {@code forced_release_charge: at_release}. One object decides one snapshot.
 *
 * <p>Loops over everything each time, on purpose: it must be easy to hold against the clauses, not
 * fast. {@link Wait#message()} is left empty and {@link Wait#behind()} is filled only where {@link
 * OutcomeText} compares it.
 */
public final class PlainReading {

  /** A placement as it stands at this moment of the cycle. */
  private static final class Spot {
    final Placement placement;
    int idle;
    int reserved;

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
  }

  /** What a queued job holds. */
  private static final class Holding {
    final Reservation reservation;
    final Spot spot;
    int gpus;

    Holding(Reservation reservation, Spot spot) {
      this.reservation = reservation;
      this.spot = spot;
      this.gpus = reservation.gpus();
    }
  }

  private final Snapshot snapshot;
  private final List<Job> queue;
  private final List<Spot> spots = new ArrayList<>();
  private final Map<String, Holding> holdings = new HashMap<>();
  private final List<Decided> outcomes = new ArrayList<>();

  private PlainReading(Snapshot snapshot) {
    this.snapshot = snapshot;
    this.queue = queue(snapshot);
    for (Placement placement : snapshot.placements()) {
      spots.add(new Spot(placement));
    }
  }

  /** The whole decision; its hashes are only labels. */
  public static Decision decide(Snapshot snapshot) {
    List<Decided> outcomes = new PlainReading(snapshot).read();
    List<HoldingCost> accruals = new ArrayList<>();
    for (Reservation reservation : snapshot.reservations()) { // C1
      accruals.add(new HoldingCost(reservation, snapshot.now()));
    }
    List<Yield> yields = new ArrayList<>();
    for (Decided decided : outcomes) { // B2
      if (decided.outcome() instanceof Start start) {
        for (Share share : start.on()) {
          yields.add(new Yield(start.job(), share.node(), share.tier().name(), share.gpus()));
        }
      }
    }
    return new Decision(
        snapshot.policy(),
        "plain reading",
        "not hashed",
        snapshot.now(),
        outcomes,
        accruals,
        yields);
  }

  /**
   * Q2: by the account's {@code cumulative_usage}, then the time of entering the queue, then job
   * id.
   */
  static List<Job> queue(Snapshot snapshot) {
    Map<String, Double> usage = new HashMap<>();
    for (Account account : snapshot.accounts()) {
      usage.put(account.id(), account.cumulativeUsage());
    }
    List<Job> queue = new ArrayList<>(snapshot.jobs());
    queue.sort(
        Comparator.comparing((Job job) -> usage.get(job.account()))
            .thenComparing(Job::queuedAt)
            .thenComparing(Job::id, PlainReading::compareIds));
    return queue;
  }

  /**
   * Ids of digits only compare as numbers and come before all others, which compare as text. Two
   * spellings of one number ({@code 7}, {@code 07}) compare as text, so that the order is total.
   */
  static int compareIds(String left, String right) {
    boolean leftNumber = left.matches("[0-9]+");
    boolean rightNumber = right.matches("[0-9]+");
    if (leftNumber && rightNumber) {
      int order = new BigInteger(left).compareTo(new BigInteger(right));
      return order != 0 ? order : left.compareTo(right);
    }
    if (leftNumber != rightNumber) {
      return leftNumber ? -1 : 1;
    }
    return left.compareTo(right);
  }

  /** F1: this placement could ever run this job. Its node's state does not matter. */
  static boolean fits(Placement placement, Job job) {
    Tier tier = placement.tier();
    return placement.capacity() >= job.numGpus()
        && tier.autoAssign()
        && tier.sortOrder() >= job.minimumTierSortOrder()
        && (job.tier() == null || job.tier().equals(tier.name()));
  }

  private List<Decided> read() {
    opening();
    for (Job job : queue) { // D4: each once, in queue order
      turn(job);
    }
    return outcomes;
  }

  /** R3 and R5: reservations that end before any job is taken, and what they cost (C4). */
  private void opening() {
    List<Decided> charges = new ArrayList<>();
    int known = 0;
    for (Job job : queue) {
      for (Reservation reservation : snapshot.reservations()) {
        if (!reservation.job().equals(job.id())) {
          continue;
        }
        known++;
        Spot spot = spotOf(reservation);
        String rule = null;
        if (isGone(reservation, spot)) {
          rule = "R5"; // named where R3 applies too
        } else if (!job.id().equals(queue.get(0).id())) {
          rule = "R3";
        }
        if (rule == null) {
          // It stays, and idle is without its GPUs.
          holdings.put(job.id(), new Holding(reservation, spot));
          spot.idle -= reservation.gpus();
          spot.reserved += reservation.gpus();
        } else {
          decide(new Release(reservation), rule);
          charges.add(
              new Decided(new Charge(reservation.account(), job.id(), cost(reservation)), "C4"));
        }
      }
    }
    if (known != snapshot.reservations().size()) {
      throw new IllegalArgumentException("A reservation is for a job that is not queued (R4).");
    }
    outcomes.addAll(charges);
  }

  /** R5: node not up, placement not there, or less of it than what is reserved. */
  private static boolean isGone(Reservation reservation, Spot spot) {
    return spot == null
        || !spot.up()
        || spot.placement.capacity() < reservation.gpus()
        || spot.placement.idle() < reservation.gpus();
  }

  /** C1: all that a reservation has cost up to now. */
  private double cost(Reservation reservation) {
    return reservation.accruedTflopSeconds()
        + Cost.tflopSeconds(
            reservation.gpus(),
            reservation.accruedAt(),
            snapshot.now(),
            reservation.tier().tflops());
  }

  private void turn(Job job) {
    Holding held = holdings.get(job.id());
    boolean first = job.id().equals(queue.get(0).id()); // R2: fixed when the cycle starts

    // D1: start on the preferred available placement (V1).
    List<Spot> available = new ArrayList<>();
    for (Spot spot : spots) {
      if (fits(spot.placement, job) && spot.up() && spot.idle >= job.numGpus()) {
        available.add(spot);
      }
    }
    if (!available.isEmpty()) {
      Spot on = preferred(available);
      on.idle -= job.numGpus();
      decide(start(job, on), "D1");
      if (held != null) { // W1: the jobs after it may have what it held
        end(held);
        decide(
            new Release(job.id(), held.spot.placement.node(), held.spot.tier(), held.gpus), "W1");
      }
      return;
    }

    // D2: else a holder takes what has come free on its placement.
    if (held != null) {
      int lacking = job.numGpus() - held.gpus;
      int taken = Math.min(held.spot.idle, lacking);
      if (taken >= lacking) { // it has all
        end(held);
        held.spot.idle -= job.numGpus();
        decide(start(job, held.spot), "D2");
      } else if (taken > 0) {
        held.gpus += taken;
        held.spot.idle -= taken;
        held.spot.reserved += taken;
        decide(new Absorb(job.id(), held.spot.placement.node(), held.spot.tier(), taken), "D2");
      } else {
        sayWhy(job, held, first);
      }
      return;
    }

    // D3: else the first job, of two or more GPUs (R1, R2), reserves all that is idle on the
    // preferred fitting placement where anything is. Never where R5 would take it away again.
    if (first && job.numGpus() >= 2) {
      List<Spot> someIdle = new ArrayList<>();
      for (Spot spot : spots) {
        if (fits(spot.placement, job) && spot.up() && spot.idle > 0) {
          someIdle.add(spot);
        }
      }
      if (!someIdle.isEmpty()) {
        Spot on = preferred(someIdle);
        int taken = on.idle;
        on.idle = 0;
        on.reserved += taken;
        Holding begun =
            new Holding(
                new Reservation(
                    job.id(),
                    job.account(),
                    on.placement.node(),
                    on.tier(),
                    taken,
                    snapshot.now(),
                    0,
                    snapshot.now()),
                on);
        holdings.put(job.id(), begun);
        decide(new Reserve(job.id(), on.placement.node(), on.tier(), taken), "D3");
        return;
      }
    }

    sayWhy(job, null, first); // D4
  }

  /** Why a job waits: the first of these that applies. */
  private void sayWhy(Job job, Holding held, boolean first) {
    boolean fitsUp = false;
    boolean fitsDraining = false;
    for (Spot spot : spots) {
      if (fits(spot.placement, job)) {
        fitsUp |= spot.up();
        fitsDraining |= spot.placement.state() == NodeState.DRAINING;
      }
    }
    if (!fitsUp && !fitsDraining) {
      waits(job, "NO_FIT", null, "N6");
      return;
    }
    if (!fitsUp) {
      waits(job, "NODE_DRAINING", null, "X1");
      return;
    }
    if (held != null) {
      waits(job, "GATHERING", null, "D2");
      return;
    }
    Spot reserved = bestReserved(job);
    if (reserved != null) {
      waits(job, "HELD_BY_RESERVATION", firstHolder(reserved), "D5");
      return;
    }
    if (job.numGpus() >= 2 && !first) {
      waits(job, "NOT_FIRST", queue.get(0).id(), "R2");
      return;
    }
    waits(job, "NO_IDLE", null, "D4");
  }

  /** D5: where the job could start if nothing were reserved; the best such place, or null. */
  private Spot bestReserved(Job job) {
    Spot best = null;
    for (Spot spot : spots) {
      if (fits(spot.placement, job)
          && spot.up()
          && spot.reserved > 0
          && spot.idle + spot.reserved >= job.numGpus()) {
        if (best == null
            || isBetter(spot, spot.idle + spot.reserved, best, best.idle + best.reserved)) {
          best = spot;
        }
      }
    }
    return best;
  }

  /** The job, first in queue order, that holds GPUs there. */
  private String firstHolder(Spot spot) {
    for (Job job : queue) {
      Holding holding = holdings.get(job.id());
      if (holding != null && holding.spot == spot) {
        return job.id();
      }
    }
    throw new IllegalStateException("Reserved GPUs without a holder on " + spot.placement);
  }

  /** The order of preference of D1 and D3: tier, idle, node name, tier name. */
  private static Spot preferred(List<Spot> candidates) {
    Spot best = candidates.get(0);
    for (Spot spot : candidates) {
      if (isBetter(spot, spot.idle, best, best.idle)) {
        best = spot;
      }
    }
    return best;
  }

  private static boolean isBetter(Spot left, int leftGpus, Spot right, int rightGpus) {
    if (left.tier().sortOrder() != right.tier().sortOrder()) {
      return left.tier().sortOrder() > right.tier().sortOrder();
    }
    if (leftGpus != rightGpus) {
      return leftGpus > rightGpus;
    }
    int byNode = left.placement.node().compareTo(right.placement.node());
    if (byNode != 0) {
      return byNode < 0;
    }
    return left.tier().name().compareTo(right.tier().name()) < 0;
  }

  private Spot spotOf(Reservation reservation) {
    for (Spot spot : spots) {
      if (spot.placement.node().equals(reservation.node())
          && spot.tier().name().equals(reservation.tier().name())) {
        return spot;
      }
    }
    return null;
  }

  private static Start start(Job job, Spot on) {
    return new Start(job.id(), List.of(new Share(on.placement.node(), on.tier(), job.numGpus())));
  }

  private void end(Holding held) {
    holdings.remove(held.reservation.job());
    held.spot.reserved -= held.gpus;
    held.spot.idle += held.gpus;
  }

  private void waits(Job job, String code, String behind, String rule) {
    decide(new Wait(job.id(), code, behind, ""), rule);
  }

  private void decide(Outcome outcome, String rule) {
    outcomes.add(new Decided(outcome, rule));
  }
}
