package evenhand.reference;

import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What no decision of policy {@code budget} may break, whatever the reading: outcomes are replayed
 * in their order on a board of GPUs. It shares only fit (F1), room (V1), the queue (Q3) and who is
 * allocated (N5) with {@link BudgetReading}, and which work a claim counts on with {@link Claim}.
 */
final class BudgetInvariants {
  private final Snapshot snapshot;
  private final BudgetReading.BudgetTree tree;
  private final List<BudgetReading.Spot> spots = new ArrayList<>();
  private final Map<String, Job> jobs = new HashMap<>();
  private final Map<String, Running> running = new HashMap<>();
  private final List<String> violations = new ArrayList<>();

  /** What stands at this moment of the cycle. */
  private Claim claim;

  /** Whether somebody makes room, and whether by the claim (G3), so on its placements alone. */
  private boolean makesRoom;

  private boolean byClaim;

  private BudgetInvariants(Snapshot snapshot) {
    this.snapshot = snapshot;
    this.tree = new BudgetReading.BudgetTree(snapshot);
    for (Placement placement : snapshot.placements()) {
      spots.add(new BudgetReading.Spot(placement));
    }
    snapshot.jobs().forEach(job -> jobs.put(job.id(), job));
    snapshot.running().forEach(run -> running.put(run.job(), run));
    this.claim = snapshot.claims().isEmpty() ? null : snapshot.claims().get(0);
  }

  /** Every breach found, as a sentence with its clause; empty when all hold. */
  static List<String> violations(Snapshot snapshot, List<Decided> outcomes) {
    BudgetInvariants invariants = new BudgetInvariants(snapshot);
    invariants.oneVerdictEach(outcomes);
    invariants.replay(outcomes);
    invariants.promiseIsKept();
    return invariants.violations;
  }

  private void oneVerdictEach(List<Decided> outcomes) {
    Set<String> answered = new HashSet<>();
    for (Decided decided : outcomes) {
      Outcome outcome = decided.outcome();
      if (outcome instanceof Start || outcome instanceof Wait || outcome instanceof Claimed) {
        if (!answered.add(outcome.job())) {
          broken("D4", outcome.job() + " has two verdicts");
        }
      } else if (!(outcome instanceof Preempt || outcome instanceof Release)) {
        broken("D4", "nothing of the kind belongs here: " + outcome);
      }
    }
    if (!answered.equals(jobs.keySet())) {
      broken("D4", "verdicts are for " + answered + ", the queue is " + jobs.keySet());
    }
  }

  private void replay(List<Decided> outcomes) {
    List<Running> victims = new ArrayList<>();
    String taker = null;
    List<Share> released = new ArrayList<>();
    for (Decided decided : outcomes) {
      if (decided.outcome() instanceof Preempt preempt) {
        Running victim = running.remove(preempt.job());
        if (victim == null || victim.leaving()) {
          broken("K4", preempt.job() + " does not run any more, or is leaving already");
          return;
        }
        if (victim.allocated() && snapshot.now().isBefore(victim.protectedUntil())) {
          broken("K2", preempt.job() + " is protected until " + victim.protectedUntil());
        }
        if (preempt.forJob() == null) {
          onlyFromABadNode(victim);
          give(victim);
          continue;
        }
        if (taker != null && !taker.equals(preempt.forJob())) {
          broken("K4", "victims for " + taker + ", and it did not start");
        }
        taker = preempt.forJob();
        makesRoom = true;
        byClaim = decided.rule().equals("G3");
        mayBeEndedFor(victim, jobs.get(taker), byClaim);
        victims.add(victim);
        continue;
      }
      if (taker != null
          && !(decided.outcome() instanceof Start && decided.outcome().job().equals(taker))) {
        broken("K4", "victims for " + taker + ", and it did not start");
        return;
      }
      if (decided.outcome() instanceof Release release) {
        released.add(new Share(release.node(), release.tier(), release.gpus()));
        if (claim == null || !claim.job().equals(release.job())) {
          broken("G4", release.job() + " has nothing to release");
        } else if (released.equals(claim.on())) {
          claim = null;
          released.clear();
        }
        continue;
      }
      if (!released.isEmpty()) {
        broken("G4", "a claim ends whole, and this is all that is released: " + released);
      }
      if (decided.outcome() instanceof Claimed claimed) {
        isSound(claimed);
        claim =
            new Claim(
                claimed.job(), claimed.on(), snapshot.now(), claimed.readyAt(), claimed.yields());
      }
      if (decided.outcome() instanceof Start start) {
        Job job = jobs.get(start.job());
        if (!victims.isEmpty() && BudgetReading.hasRoom(job, spots, s -> room(job, s, List.of()))) {
          broken("K4", job.id() + " makes room and has room");
        }
        allAreNeeded(victims, job);
        victims.forEach(this::give);
        take(start, job);
        victims.clear();
        taker = null;
        makesRoom = false;
        byClaim = false;
      }
    }
    if (taker != null) {
      broken("K4", "victims for " + taker + ", and it did not start");
    }
  }

  private void onlyFromABadNode(Running victim) {
    for (BudgetReading.Spot spot : spots) {
      if (!spot.up() && victim.on().stream().anyMatch(spot::isOf)) {
        return;
      }
    }
    broken("X2", victim.job() + " must leave, and all its nodes are up");
  }

  private void mayBeEndedFor(Running victim, Job taker, boolean leavesByClaim) {
    if (taker == null || !tree.allocated(taker)) {
      broken("K4", victim.job() + " is ended for a job that is not queued or not allocated");
    } else if (leavesByClaim) {
      if (!isClaimer(taker) || !claim.yields(victim)) {
        broken("G3", victim.job() + " leaves for " + taker.id() + ", which does not count on it");
      }
    } else if (victim.account().equals(taker.account())) {
      broken("K4", victim.job() + " is ended for a job of its own account");
    }
  }

  /** K4: nobody is touched unless the taker really starts, and nobody in vain. */
  private void allAreNeeded(List<Running> victims, Job taker) {
    for (Running spared : victims) {
      List<Running> others = new ArrayList<>(victims);
      others.remove(spared);
      if (BudgetReading.hasRoom(taker, spots, spot -> room(taker, spot, others))) {
        broken("K4", spared.job() + " is ended in vain: " + taker.id() + " has room without it");
      }
    }
  }

  private void give(Running victim) {
    for (BudgetReading.Spot spot : spots) {
      spot.idle += BudgetReading.leftBy(List.of(victim), spot);
      if (spot.idle > spot.placement.capacity()) {
        broken("K4", "more comes free on " + spot.placement + " than there is");
      }
    }
  }

  private void take(Start start, Job job) {
    if (tree.allocated(job) != Boolean.TRUE.equals(start.allocated())) {
      broken("N5", job.id() + " starts with allocated " + start.allocated());
    }
    Set<String> nodes = new HashSet<>();
    Set<String> tiers = new HashSet<>();
    for (Share share : start.on()) {
      nodes.add(share.node());
      tiers.add(share.tier().name());
      if (share.gpus() != job.numGpus()) {
        broken("V1", job.id() + " gets " + share.gpus() + " GPUs on " + share.node());
      }
      boolean found = false;
      for (BudgetReading.Spot spot : spots) {
        if (spot.isOf(share)) {
          found = true;
          if (room(job, spot, List.of()) < share.gpus()) {
            broken("G3", job.id() + " gets GPUs on " + share.node() + " that are claimed");
          }
          spot.idle -= share.gpus();
          if (spot.idle < 0) {
            broken("V1", job.id() + " gets GPUs on " + share.node() + " that others have");
          }
          if (spot.placement.state() != NodeState.UP) {
            broken("X1", job.id() + " starts on " + share.node() + ", which is not up");
          }
          if (!BudgetReading.fits(spot.placement, job)) {
            broken("F1", job.id() + " does not fit " + share.node());
          }
        }
      }
      if (!found) {
        broken("F1", "there is no placement " + share);
      }
    }
    if (nodes.size() != job.nodes() || start.on().size() != job.nodes() || tiers.size() != 1) {
      broken("GA", job.id() + " wants " + job.nodes() + " nodes of one tier, gets " + start.on());
    }
    Instant now = snapshot.now();
    Instant until = start.allocated() ? now.plusSeconds(job.minRuntimeSeconds()) : now;
    running.put(
        job.id(),
        new Running(job.id(), job.account(), start.on(), now, until, start.allocated(), true));
    jobs.remove(job.id());
  }

  private boolean isClaimer(Job job) {
    return claim != null && claim.job().equals(job.id());
  }

  private boolean isClaimed(BudgetReading.Spot spot) {
    return claim != null && claim.gpusOn(spot.placement.node(), spot.tier()) > 0;
  }

  /**
   * G3, K7: GPUs of a spot that a job may take once these are gone. Of a claimed one: all but what
   * the claim needs beside the work that leaves for it; that is for the claimer, for unallocated
   * work, and for what is protected no longer than until the ready time. For nobody but the claimer
   * room is made there.
   */
  private int room(Job job, BudgetReading.Spot spot, List<Running> gone) {
    if (byClaim && !isClaimed(spot)) {
      return 0;
    }
    if (!isClaimed(spot) || isClaimer(job)) {
      return spot.idle + BudgetReading.leftBy(gone, spot);
    }
    if (makesRoom) {
      return 0;
    }
    boolean inTime =
        !tree.allocated(job)
            || !snapshot.now().plusSeconds(job.minRuntimeSeconds()).isAfter(claim.readyAt());
    return inTime ? spot.idle : Math.max(0, Math.min(spot.idle, reach(spot) - claimedOf(spot)));
  }

  private int claimedOf(BudgetReading.Spot spot) {
    return claim.gpusOn(spot.placement.node(), spot.tier());
  }

  /**
   * GPUs of a spot that are free, or held by work that leaves for the claim and not promised to a
   * start that waits for it.
   */
  private int reach(BudgetReading.Spot spot) {
    List<Running> yields = new ArrayList<>(running.values());
    yields.removeIf(run -> !claim.yields(run));
    List<Running> stays = new ArrayList<>(running.values());
    stays.removeAll(yields);
    return Math.min(
        spot.idle + BudgetReading.leftBy(yields, spot),
        spot.placement.capacity() - BudgetReading.leftBy(stays, spot));
  }

  /** G1, G2: a new claim. */
  private void isSound(Claimed claimed) {
    Job job = jobs.get(claimed.job());
    if (claim != null) {
      broken("G1", claimed.job() + " claims, and so does " + claim.job());
    }
    if (!tree.queue().get(0).equals(job) || !tree.allocated(job)) {
      broken("G1", claimed.job() + " claims and is not the first allocated job");
    }
    if (job.nodes() * job.numGpus() < 2) {
      broken("G1", claimed.job() + " claims a single GPU");
    }
    if (!claimed.readyAt().isAfter(snapshot.now())) {
      broken("G1", claimed.job() + " claims what is ready: it could have started");
    }
    for (String yielding : claimed.yields()) {
      Running run = running.get(yielding);
      if (run == null || run.leaving() || run.account().equals(job.account())) {
        broken("G2", yielding + " is counted on and is no work of another that stays");
      } else if (run.allocated() && run.protectedUntil().isAfter(claimed.readyAt())) {
        broken("G2", yielding + " is counted on and is protected beyond the ready time");
      }
    }
    Set<String> nodes = new HashSet<>();
    Set<String> tiers = new HashSet<>();
    for (Share share : claimed.on()) {
      nodes.add(share.node());
      tiers.add(share.tier().name());
      for (BudgetReading.Spot spot : spots) {
        if (spot.isOf(share) && !(spot.up() && BudgetReading.fits(spot.placement, job))) {
          broken("G2", claimed.job() + " claims on " + share.node() + " and cannot start there");
        }
      }
      if (share.gpus() != job.numGpus()) {
        broken("G2", claimed.job() + " claims " + share.gpus() + " on " + share.node());
      }
    }
    if (nodes.size() != job.nodes() || claimed.on().size() != job.nodes() || tiers.size() != 1) {
      broken("GA", claimed.job() + " wants " + job.nodes() + " nodes, claims " + claimed.on());
    }
  }

  /** G2: what is claimed comes to the claim, and "not later than" is so. */
  private void promiseIsKept() {
    if (claim == null) {
      return;
    }
    if (!jobs.containsKey(claim.job())) {
      broken("G4", claim.job() + " has started or ended, and its claim stands");
      return;
    }
    boolean all = !claim.readyAt().isAfter(snapshot.now()) && tree.allocated(jobs.get(claim.job()));
    for (BudgetReading.Spot spot : spots) {
      if (isClaimed(spot)) {
        all &= spot.up() && BudgetReading.fits(spot.placement, jobs.get(claim.job()));
        if (!spot.up() || reach(spot) < claimedOf(spot)) {
          broken("G4", claim.job() + " keeps its claim on " + spot.placement + ", which is lost");
        }
      }
    }
    for (Running run : running.values()) {
      all &= !claim.yields(run) || !run.leaving() && run.unprotected(snapshot.now());
    }
    if (all) {
      broken("G2", claim.job() + " has all it has claimed, is ready and does not start");
    }
  }

  private void broken(String clause, String what) {
    violations.add(clause + ": " + what);
  }
}
