package evenhand.reference;

import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What no decision of policy {@code budget} may break, whatever the reading: outcomes are replayed
 * in their order on a board of GPUs. It shares only fit (F1), room (V1) and who is allocated (N5)
 * with {@link BudgetReading}.
 */
final class BudgetInvariants {
  private final Snapshot snapshot;
  private final BudgetReading.BudgetTree tree;
  private final List<BudgetReading.Spot> spots = new ArrayList<>();
  private final Map<String, Job> jobs = new HashMap<>();
  private final Map<String, Running> running = new HashMap<>();
  private final List<String> violations = new ArrayList<>();

  private BudgetInvariants(Snapshot snapshot) {
    this.snapshot = snapshot;
    this.tree = new BudgetReading.BudgetTree(snapshot);
    for (Placement placement : snapshot.placements()) {
      spots.add(new BudgetReading.Spot(placement));
    }
    snapshot.jobs().forEach(job -> jobs.put(job.id(), job));
    snapshot.running().forEach(run -> running.put(run.job(), run));
  }

  /** Every breach found, as a sentence with its clause; empty when all hold. */
  static List<String> violations(Snapshot snapshot, List<Decided> outcomes) {
    BudgetInvariants invariants = new BudgetInvariants(snapshot);
    invariants.oneVerdictEach(outcomes);
    invariants.replay(outcomes);
    return invariants.violations;
  }

  private void oneVerdictEach(List<Decided> outcomes) {
    Set<String> answered = new HashSet<>();
    for (Decided decided : outcomes) {
      Outcome outcome = decided.outcome();
      if (outcome instanceof Start || outcome instanceof Wait) {
        if (!answered.add(outcome.job())) {
          broken("D4", outcome.job() + " has two verdicts");
        }
      } else if (!(outcome instanceof Preempt)) {
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
        mayBeEndedFor(victim, jobs.get(taker));
        victims.add(victim);
        continue;
      }
      if (taker != null
          && !(decided.outcome() instanceof Start && decided.outcome().job().equals(taker))) {
        broken("K4", "victims for " + taker + ", and it did not start");
        return;
      }
      if (decided.outcome() instanceof Start start) {
        allAreNeeded(victims, jobs.get(start.job()));
        victims.forEach(this::give);
        take(start, jobs.get(start.job()));
        victims.clear();
        taker = null;
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

  private void mayBeEndedFor(Running victim, Job taker) {
    if (taker == null || !tree.allocated(taker)) {
      broken("K4", victim.job() + " is ended for a job that is not queued or not allocated");
    } else if (victim.account().equals(taker.account())) {
      broken("K4", victim.job() + " is ended for a job of its own account");
    }
  }

  /** K4: nobody is touched unless the taker really starts, and nobody in vain. */
  private void allAreNeeded(List<Running> victims, Job taker) {
    for (Running spared : victims) {
      List<Running> others = new ArrayList<>(victims);
      others.remove(spared);
      if (BudgetReading.hasRoom(taker, spots, spot -> BudgetReading.leftBy(others, spot))) {
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
  }

  private void broken(String clause, String what) {
    violations.add(clause + ": " + what);
  }
}
