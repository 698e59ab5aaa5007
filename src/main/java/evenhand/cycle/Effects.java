package evenhand.cycle;

import evenhand.facts.Claim;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Yield;
import evenhand.policy.RuleFailed;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a decision does to jobs, accounts and the outbox: accruals first, then its outcomes. The one
 * place where that is worked out, for the service and for the simulator, which keeps its world in
 * other ways.
 */
public final class Effects {
  /** Most jobs that one sentence names. */
  private static final int MOST_NAMED = 10;

  private final Decision decision;
  private final String installation;
  private final Changes changes;
  private final Map<String, StoredJob> jobs;
  private final Map<String, Attempt> attempts;
  private final CycleSettings.Leaving leaving;
  private final List<Attempt> preempted = new ArrayList<>();
  private final Map<String, Reservation> reserved = new HashMap<>();
  private Claim claim;

  private Effects(
      Decision decision,
      String installation,
      Changes changes,
      Map<String, StoredJob> jobs,
      Map<String, Attempt> attempts,
      Claim claim,
      CycleSettings.Leaving leaving) {
    this.claim = claim;
    this.decision = decision;
    this.installation = installation;
    this.changes = changes;
    this.jobs = jobs;
    this.attempts = attempts;
    this.leaving = leaving;
  }

  /**
   * Works it out.
   *
   * @param installation the word in the tokens of attempts that begin
   * @param jobs all that have not ended, by id; brought up to date
   * @param attempts those that have not ended, by the id of their job
   * @param claim the one that stands, or null
   * @param leaving how preempted work leaves (K6)
   * @throws RuleFailed when the decision is about something that is not there
   */
  public static Changes of(
      Decision made,
      String installation,
      Map<String, StoredJob> jobs,
      Map<String, Attempt> attempts,
      Claim claim,
      CycleSettings.Leaving leaving) {
    Changes changes = Changes.ofCycle(made.now());
    new Effects(made, installation, changes, jobs, attempts, claim, leaving).apply();
    return changes;
  }

  private void apply() {
    decision.accruals().forEach(this::accrue);
    for (Decided decided : decision.outcomes()) {
      Outcome outcome = decided.outcome();
      if (outcome instanceof Start start) {
        start(start);
      } else if (outcome instanceof Reserve r) {
        reserve(r);
      } else if (outcome instanceof Absorb absorb) {
        absorb(absorb);
      } else if (outcome instanceof Release release) {
        release(release, decided.rule());
      } else if (outcome instanceof Claimed c) {
        claim = new Claim(c.job(), c.on(), decision.now(), c.readyAt(), c.yields());
        changes.claim(claim);
      } else if (outcome instanceof Charge charge) {
        StoredJob job = job(charge.job());
        changes.charge(job.asks().attempt(), charge, decided.rule());
        Reservation held = job.reservation();
        put(job.holding(held == null ? null : accrued(held, held.gpus(), 0, decision.now()), 0));
      } else if (outcome instanceof Preempt preempt) {
        preempt(preempt);
      }
    }
  }

  /**
   * Of a reservation, or of one placement of the claim, which ends as a whole (G4). A job that
   * swaps (W1) has started by now and holds its reservation no more; the release is of that all the
   * same.
   */
  private void release(Release release, String rule) {
    Reservation held = heldAtFirst(release.job());
    if (held != null
        && held.node().equals(release.node())
        && held.tier().name().equals(release.tier().name())) {
      reserved.put(release.job(), null);
      StoredJob job = job(release.job());
      if (job.reservation() != null) {
        put(job.holding(null, job.carriedTflopSeconds()));
      }
    } else if (claim != null && claim.job().equals(release.job())) {
      changes.end(new Changes.ClaimEnd(Long.parseLong(release.job()), rule, null));
    } else {
      throw new RuleFailed(
          "job "
              + release.job()
              + " would give back GPUs of "
              + release.node()
              + " it does not hold");
    }
  }

  private StoredJob job(String id) {
    StoredJob job = jobs.get(id);
    if (job == null) {
      throw new RuleFailed("the decision is about job " + id + ", which is not in the snapshot");
    }
    return job;
  }

  private void put(StoredJob job) {
    String id = job.asks().id();
    if (!reserved.containsKey(id)) {
      reserved.put(id, jobs.get(id).reservation());
    }
    jobs.put(id, job);
    changes.put(job);
  }

  /** What a job held before the decision, and has not given back since; null for nothing. */
  private Reservation heldAtFirst(String id) {
    StoredJob job = jobs.get(id);
    return job == null || reserved.containsKey(id) ? reserved.get(id) : job.reservation();
  }

  /** A clock that stepped back moves nothing: the stretch counts from the later moment on. */
  private static Reservation accrued(Reservation held, int gpus, double tflopSeconds, Instant at) {
    return new Reservation(
        held.job(),
        held.account(),
        held.node(),
        held.tier(),
        gpus,
        held.since(),
        tflopSeconds,
        at.isBefore(held.accruedAt()) ? held.accruedAt() : at);
  }

  private void accrue(HoldingCost cost) {
    StoredJob job = job(cost.job());
    Reservation held = job.reservation();
    if (held == null) {
      throw new RuleFailed("the decision accrues for job " + job.id() + ", which holds nothing");
    }
    if (!cost.to().isAfter(cost.from())) {
      return;
    }
    changes.hold(job.asks().attempt(), cost);
    double carried = job.carriedTflopSeconds() + cost.tflopSeconds();
    put(job.holding(accrued(held, held.gpus(), carried, cost.to()), carried));
  }

  private void reserve(Reserve reserve) {
    StoredJob job = job(reserve.job());
    if (job.reservation() != null) {
      throw new RuleFailed("job " + job.id() + " would hold two reservations");
    }
    Reservation held =
        new Reservation(
            reserve.job(),
            job.asks().account(),
            reserve.node(),
            reserve.tier(),
            reserve.gpus(),
            decision.now(),
            job.carriedTflopSeconds(),
            decision.now());
    put(job.holding(held, job.carriedTflopSeconds()));
  }

  private void absorb(Absorb absorb) {
    StoredJob job = job(absorb.job());
    Reservation held = job.reservation();
    if (held == null) {
      throw new RuleFailed("job " + job.id() + " would add to a reservation it does not hold");
    }
    put(
        job.holding(
            accrued(
                held, held.gpus() + absorb.gpus(), held.accruedTflopSeconds(), held.accruedAt()),
            job.carriedTflopSeconds()));
  }

  private void start(Start start) {
    StoredJob job = job(start.job());
    if (job.state() != JobState.GLOBAL_QUEUE_WAIT) {
      throw new RuleFailed("job " + job.id() + " would start and is " + job.state());
    }
    Token token = new Token(installation, job.id(), job.asks().attempt());
    List<Attempt.Victim> victims = inItsWay(start);
    Instant until = decision.now().plus(leaving.start());
    String because = victims.isEmpty() ? null : waits(victims, until);
    put(job.to(JobState.DISPATCHING, because).holding(null, job.carriedTflopSeconds()));
    changes.begin(
        Attempt.decided(
                job.id(),
                token.attempt(),
                job.asks().account(),
                start.on(),
                decision.now(),
                !Boolean.FALSE.equals(start.allocated()))
            .waiting(victims, until));
    for (Yield yield : decision.yields()) {
      if (yield.job().equals(start.job())) {
        changes.write(Order.yield(token, yield.node(), yield.tier(), yield.gpus(), decision.now()));
      }
    }
    changes.write(Order.submit(token, decision.now()));
  }

  private void preempt(Preempt preempt) {
    Attempt attempt = attempts.get(preempt.job());
    if (attempt == null) {
      throw new RuleFailed("job " + preempt.job() + " would be preempted and does not run");
    }
    if (attempt.leaving()) {
      return;
    }
    Token token = new Token(installation, attempt.job(), attempt.attempt());
    boolean runs = attempt.startedAt() != null;
    Instant by = runs ? decision.now().plus(leaving.grace()) : decision.now();
    StoredJob job = job(preempt.job());
    Attempt told = attempt.toPreempt(preempt.forJob(), by);
    preempted.add(told);
    put(job.to(job.state(), goes(preempt, by)));
    changes.put(job(preempt.job()), told);
    if (runs) {
      changes.write(Order.signal(token, decision.now()));
    }
    changes.write(Order.cancelAfter(token, decision.now(), by));
  }

  /** What its owner is told: why, for whom, until when. */
  private String goes(Preempt preempt, Instant by) {
    return (preempt.forJob() == null
            ? "leaves its node, which is draining"
            : "makes room for " + taker(preempt.forJob(), jobs.get(preempt.forJob())))
        + "; it is ended at "
        + by
        + " if it has not left before";
  }

  /** A job that others make room for, and whose it is. */
  static String taker(String id, StoredJob taker) {
    return "job " + id + (taker == null ? "" : " of account " + taker.asks().account());
  }

  /**
   * Those told to leave by this decision that hold GPUs where the job starts. What was idle there
   * before nobody has to leave for, but which GPUs a job gets is the cluster's choice.
   */
  private List<Attempt.Victim> inItsWay(Start start) {
    List<Attempt.Victim> victims = new ArrayList<>();
    for (Attempt attempt : preempted) {
      for (Share share : attempt.on()) {
        if (start.on().stream()
            .anyMatch(
                s ->
                    s.node().equals(share.node()) && s.tier().name().equals(share.tier().name()))) {
          victims.add(attempt.asVictim());
          break;
        }
      }
    }
    return victims;
  }

  /** Why a job that was given GPUs does not run yet. */
  static String waits(List<Attempt.Victim> victims, Instant until) {
    String ids =
        victims.stream()
            .limit(MOST_NAMED)
            .map(v -> Long.toString(v.job()))
            .collect(Collectors.joining(", "));
    return "it starts when job"
        + (victims.size() == 1 ? " " : "s ")
        + ids
        + (victims.size() > MOST_NAMED ? " and " + (victims.size() - MOST_NAMED) + " more" : "")
        + (victims.size() == 1 ? " has" : " have")
        + " left; should that not be so by "
        + until
        + ", its start is undone";
  }
}
