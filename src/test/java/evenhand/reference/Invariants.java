package evenhand.reference;

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
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.outcomes.Yield;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What no decision of policy {@code reservation} may break, whatever the reading: outcomes are
 * replayed in their order on a board of GPUs, and each step is held against the clauses that say
 * "never" or "exactly". It shares only the queue's order (Q2) and fit (F1) with {@link
 * PlainReading}.
 */
final class Invariants {

  /** GPUs some queued job holds on a placement. */
  private record Held(String node, String tier, int gpus) {
    String key() {
      return node + "/" + tier;
    }
  }

  private final Snapshot snapshot;
  private final Decision decision;
  private final List<String> violations = new ArrayList<>();
  private final List<Job> queue;
  private final Map<String, Job> jobs = new HashMap<>();
  private final Map<String, Placement> placements = new LinkedHashMap<>();
  // GPUs that no research job holds, reserved ones among them; only starts take them.
  private final Map<String, Integer> unheld = new HashMap<>();
  private final Map<String, Held> reservations = new LinkedHashMap<>();

  private Invariants(Snapshot snapshot, Decision decision) {
    this.snapshot = snapshot;
    this.decision = decision;
    this.queue = PlainReading.queue(snapshot);
    for (Job job : queue) {
      jobs.put(job.id(), job);
    }
    for (Placement placement : snapshot.placements()) {
      String key = placement.node() + "/" + placement.tier().name();
      placements.put(key, placement);
      unheld.put(key, placement.idle());
    }
    for (Reservation reservation : snapshot.reservations()) {
      reservations.put(
          reservation.job(),
          new Held(reservation.node(), reservation.tier().name(), reservation.gpus()));
    }
  }

  /** Every breach found, as a sentence with its clause; empty when all hold. */
  static List<String> violations(Snapshot snapshot, Decision decision) {
    Invariants invariants = new Invariants(snapshot, decision);
    invariants.oneVerdictEachInQueueOrder();
    invariants.openingComesFirst();
    invariants.chargesAreForForcedReleases();
    invariants.noGpuIsGivenTwice();
    invariants.replay();
    invariants.accrualsAreWhatIsHeld();
    invariants.yieldsAreForStarts();
    return invariants.violations;
  }

  /** D4: exactly one verdict a queued job, none for others, in the queue's order. */
  private void oneVerdictEachInQueueOrder() {
    List<String> expected = new ArrayList<>();
    for (Job job : queue) {
      expected.add(job.id());
    }
    List<String> actual = new ArrayList<>();
    for (Decided decided : decision.outcomes()) {
      if (isVerdict(decided.outcome())) {
        actual.add(decided.outcome().job());
      }
    }
    if (!actual.equals(expected)) {
      violations.add("D4: verdicts are for " + actual + ", the queue is " + expected);
    }
  }

  /** R3, R5: before any job is taken; all releases, then all charges. */
  private void openingComesFirst() {
    int stage = 0;
    for (Decided decided : decision.outcomes()) {
      Outcome outcome = decided.outcome();
      int own = outcome instanceof Charge ? 1 : isForced(decided) ? 0 : 2;
      if (own < stage) {
        violations.add("R3, R5: " + text(decided) + " comes too late");
      }
      stage = Math.max(stage, own);
    }
  }

  /** C4: each forced release is charged once, to who pays for it; nothing else is (C3). */
  private void chargesAreForForcedReleases() {
    List<String> forced = new ArrayList<>();
    List<String> charged = new ArrayList<>();
    for (Decided decided : decision.outcomes()) {
      if (isForced(decided)) {
        forced.add(decided.outcome().job());
      }
      if (decided.outcome() instanceof Charge charge) {
        charged.add(charge.job());
        Job job = jobs.get(charge.job());
        if (job == null || !job.account().equals(charge.account())) {
          violations.add("C6: " + text(decided) + " is not for the account of that job");
        }
      }
    }
    if (!forced.equals(charged)) {
      violations.add("C4: forced releases of " + forced + ", charges for " + charged);
    }
  }

  /** On each placement, what is started and what stays reserved was unheld in the snapshot. */
  private void noGpuIsGivenTwice() {
    Map<String, Integer> given = new HashMap<>();
    Map<String, Held> left = new HashMap<>(reservations);
    for (Decided decided : decision.outcomes()) {
      if (decided.outcome() instanceof Start start) {
        for (Share share : start.on()) {
          given.merge(share.node() + "/" + share.tier().name(), share.gpus(), Integer::sum);
        }
        left.remove(start.job());
      } else if (decided.outcome() instanceof Release release) {
        left.remove(release.job());
      } else if (decided.outcome() instanceof Reserve reserve) {
        given.merge(reserve.node() + "/" + reserve.tier().name(), reserve.gpus(), Integer::sum);
      } else if (decided.outcome() instanceof Absorb absorb) {
        given.merge(absorb.node() + "/" + absorb.tier().name(), absorb.gpus(), Integer::sum);
      }
    }
    for (Held held : left.values()) {
      given.merge(held.key(), held.gpus(), Integer::sum);
    }
    given.forEach(
        (key, gpus) -> {
          Placement placement = placements.get(key);
          if (placement == null || placement.idle() < gpus) {
            violations.add(
                "C6: "
                    + gpus
                    + " GPUs are given on "
                    + key
                    + ", unheld are "
                    + (placement == null ? "none" : placement.idle()));
          }
        });
  }

  /** Carries the outcomes out, one after another. */
  private void replay() {
    boolean opening = true;
    String justStarted = null;
    for (Decided decided : decision.outcomes()) {
      Outcome outcome = decided.outcome();
      if (opening && !isForced(decided) && !(outcome instanceof Charge)) {
        opening = false;
        // A reservation larger than what is there may have stood until R5 took it.
        everyIdleIsThere("the opening");
        onlyTheFirstHolds();
      }
      if (outcome instanceof Start start) {
        replayStart(decided, start);
      } else if (outcome instanceof Release release) {
        replayRelease(decided, release, justStarted);
      } else if (outcome instanceof Reserve reserve) {
        replayReserve(decided, reserve);
      } else if (outcome instanceof Absorb absorb) {
        replayAbsorb(decided, absorb);
      } else if (outcome instanceof Wait wait) {
        replayWait(decided, wait);
      } else if (outcome instanceof Preempt) {
        violations.add("K4: this policy preempts nothing, yet " + text(decided));
      }
      justStarted = outcome instanceof Start ? outcome.job() : null;
    }
    everyIdleIsThere("the cycle");
  }

  private void replayStart(Decided decided, Start start) {
    Job job = jobs.get(start.job());
    Held held = reservations.get(start.job());
    if (job == null) {
      return; // told by oneVerdictEachInQueueOrder
    }
    if (start.on().size() != 1 || start.on().get(0).gpus() != job.numGpus()) {
      violations.add("D1: " + text(decided) + " is not all it asks for on one placement");
    }
    boolean gathered = decided.rule().equals("D2");
    if (gathered) {
      // D2: it takes what it holds and the idle rest, so its reservation is over first.
      reservations.remove(start.job());
    }
    for (Share share : start.on()) {
      String key = share.node() + "/" + share.tier().name();
      take(decided, key, share.tier(), share.gpus(), job);
      unheld.merge(key, -share.gpus(), Integer::sum);
      if (gathered && (held == null || !held.key().equals(key))) {
        violations.add("D2: " + text(decided) + " is not where it holds GPUs");
      }
      if (!gathered
          && placements.containsKey(key)
          && !PlainReading.fits(placements.get(key), job)) {
        violations.add("F1: " + text(decided) + " is where the job does not fit");
      }
    }
    if (!gathered && held != null && !isFollowedByRelease(decided)) {
      violations.add("W1: " + text(decided) + " leaves the job its reservation");
    }
  }

  private void replayRelease(Decided decided, Release release, String justStarted) {
    Held held = reservations.remove(release.job());
    Held released = new Held(release.node(), release.tier().name(), release.gpus());
    if (!released.equals(held)) {
      violations.add("R1: " + text(decided) + ", but the job held " + held);
    }
    if (!isForced(decided) && !release.job().equals(justStarted)) {
      violations.add("W1: " + text(decided) + " does not follow its job's start");
    }
  }

  private void replayReserve(Decided decided, Reserve reserve) {
    Job job = jobs.get(reserve.job());
    if (reservations.containsKey(reserve.job())) {
      violations.add("R1: " + text(decided) + " is a second reservation of that job");
    }
    if (job == null) {
      return;
    }
    if (job.numGpus() < 2) {
      violations.add("R1: " + text(decided) + " is for a job of one GPU");
    }
    if (reserve.gpus() < 1 || reserve.gpus() >= job.numGpus()) {
      violations.add("D3: " + text(decided) + " is not a part of " + job.numGpus());
    }
    if (!job.equals(queue.get(0))) {
      violations.add("R2: " + text(decided) + " is not for the first job");
    }
    String key = reserve.node() + "/" + reserve.tier().name();
    take(decided, key, reserve.tier(), reserve.gpus(), job);
    if (placements.containsKey(key) && !PlainReading.fits(placements.get(key), job)) {
      violations.add("F1: " + text(decided) + " is where the job does not fit");
    }
    reservations.put(
        reserve.job(), new Held(reserve.node(), reserve.tier().name(), reserve.gpus()));
  }

  private void replayAbsorb(Decided decided, Absorb absorb) {
    Held held = reservations.get(absorb.job());
    Job job = jobs.get(absorb.job());
    if (job == null) {
      return;
    }
    String key = absorb.node() + "/" + absorb.tier().name();
    if (held == null || !held.key().equals(key)) {
      violations.add("D2: " + text(decided) + " is not where the job holds GPUs");
      return;
    }
    if (absorb.gpus() < 1 || held.gpus() + absorb.gpus() >= job.numGpus()) {
      violations.add("D2: " + text(decided) + " is not a part of what it lacks");
    }
    take(decided, key, absorb.tier(), absorb.gpus(), job);
    reservations.put(absorb.job(), new Held(held.node(), held.tier(), held.gpus() + absorb.gpus()));
  }

  /** D1: nobody waits beside a placement that is available to it. */
  private void replayWait(Decided decided, Wait wait) {
    Job job = jobs.get(wait.job());
    if (job == null) {
      return;
    }
    placements.forEach(
        (key, placement) -> {
          if (placement.state() == NodeState.UP
              && PlainReading.fits(placement, job)
              && idle(key) >= job.numGpus()) {
            violations.add("D1: " + text(decided) + ", but " + key + " is available");
          }
        });
  }

  /** V1, X1, D5: GPUs that are there, on a node that is up, and reserved for nobody. */
  private void take(Decided decided, String key, Tier tier, int gpus, Job job) {
    Placement placement = placements.get(key);
    if (placement == null) {
      violations.add("V1: " + text(decided) + " is on no placement of the snapshot");
      return;
    }
    if (!placement.tier().equals(tier)) {
      violations.add("F1: " + text(decided) + " has another tier than its placement");
    }
    if (placement.state() != NodeState.UP) {
      violations.add("X1: " + text(decided) + " is on a node that is " + placement.state().word());
    }
    if (gpus <= unheld.get(key) && gpus > idle(key)) {
      violations.add("D5: " + text(decided) + " takes GPUs reserved for " + holders(key, job));
    } else if (gpus > idle(key)) {
      violations.add("V1: " + text(decided) + " where " + idle(key) + " are idle");
    }
  }

  private List<String> holders(String key, Job except) {
    List<String> holders = new ArrayList<>();
    reservations.forEach(
        (job, held) -> {
          if (held.key().equals(key) && !job.equals(except.id())) {
            holders.add(job);
          }
        });
    return holders;
  }

  private void everyIdleIsThere(String after) {
    for (String key : placements.keySet()) {
      if (idle(key) < 0) {
        violations.add("V1: after " + after + ", idle of " + key + " is " + idle(key));
      }
    }
  }

  /** R3, R5: who still holds anything when jobs are taken. */
  private void onlyTheFirstHolds() {
    reservations.forEach(
        (job, held) -> {
          Placement placement = placements.get(held.key());
          if (placement == null || placement.state() != NodeState.UP) {
            violations.add("R5: " + job + " keeps " + held.key() + ", which is gone");
          }
          if (!job.equals(queue.get(0).id())) {
            violations.add("R3: " + job + " keeps its reservation and is not first");
          }
        });
  }

  private int idle(String key) {
    int idle = unheld.get(key);
    for (Held held : reservations.values()) {
      if (held.key().equals(key)) {
        idle -= held.gpus();
      }
    }
    return idle;
  }

  private boolean isFollowedByRelease(Decided start) {
    int next = decision.outcomes().indexOf(start) + 1;
    return next < decision.outcomes().size()
        && decision.outcomes().get(next).outcome() instanceof Release release
        && release.job().equals(start.outcome().job());
  }

  /** C1: what was held during the interval, once for each reservation. */
  private void accrualsAreWhatIsHeld() {
    List<HoldingCost> left = new ArrayList<>(decision.accruals());
    for (Reservation reservation : snapshot.reservations()) {
      HoldingCost expected = new HoldingCost(reservation, snapshot.now());
      if (!left.remove(expected) && expected.tflopSeconds() > 0) {
        violations.add("C1: the reservation of " + reservation.job() + " is not accrued");
      }
    }
    for (HoldingCost extra : left) {
      violations.add("C1: accrued, but not held: " + extra);
    }
  }

  /** B2: the router hears of each start, and of nothing else. */
  private void yieldsAreForStarts() {
    List<Yield> expected = new ArrayList<>();
    for (Decided decided : decision.outcomes()) {
      if (decided.outcome() instanceof Start start) {
        for (Share share : start.on()) {
          expected.add(new Yield(start.job(), share.node(), share.tier().name(), share.gpus()));
        }
      }
    }
    if (!decision.yields().equals(expected)) {
      violations.add("B2: yields are " + decision.yields() + ", starts need " + expected);
    }
  }

  private static boolean isVerdict(Outcome outcome) {
    return outcome instanceof Start
        || outcome instanceof Reserve
        || outcome instanceof Absorb
        || outcome instanceof Wait;
  }

  private static boolean isForced(Decided decided) {
    return decided.outcome() instanceof Release
        && (decided.rule().equals("R3") || decided.rule().equals("R5"));
  }

  private static String text(Decided decided) {
    return OutcomeText.lines(List.of(decided)).get(0);
  }
}
