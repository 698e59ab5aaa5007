package evenhand.cycle;

import evenhand.cycle.Desk.Bound;
import evenhand.cycle.Desk.Comparison;
import evenhand.cycle.Desk.DecisionView;
import evenhand.cycle.Desk.Details;
import evenhand.cycle.Desk.Estimate;
import evenhand.cycle.Desk.Explanation;
import evenhand.cycle.Desk.QueueLine;
import evenhand.cycle.Desk.Refused;
import evenhand.cycle.Desk.WhyAsked;
import evenhand.explain.Forecast;
import evenhand.explain.Miss;
import evenhand.explain.SmallestChanges;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.Request;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.policy.Ordering;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** Why a job is where it is: now, at an earlier time, and compared with another. */
final class Why {
  private static final int MOST_AHEAD = 10;

  /** Most simulations for one estimate, and how long they may take together. */
  private static final int MOST_RUNS = 40;

  private static final Duration LONGEST = Duration.ofSeconds(3);

  /**
   * A scene seen longer ago is looked at anew, whatever has happened since. Longer than cycles are
   * apart, so that the look before serves until the one after a cycle is taken.
   */
  private static final Duration FRESH = Duration.ofSeconds(10);

  private final Store store;
  private final Supplier<Policy> policy;
  private final Supplier<Cycle.Latest> latest;
  private final WorldNow stands;
  private final Verdicts verdicts;
  private final Recorder recorder;
  private final Story story;
  private final StartEstimates estimates;
  private final Object simulating = new Object();
  private final PastPolicies past;
  private final Clock clock;
  private final Object looking = new Object();
  private volatile Seen seen;
  private volatile boolean lookedAt;
  private final AtomicLong changesHere = new AtomicLong();

  /**
   * A scene, and what it was made on.
   *
   * @param changes how much had been submitted and cancelled here before
   */
  private record Seen(Scene scene, Cycle.Latest latest, long changes, Instant at) {
    Duration age(Instant now) {
      return Duration.between(at, now).abs();
    }
  }

  Why(
      Store store,
      Supplier<Policy> policy,
      Supplier<Cycle.Latest> latest,
      WorldNow stands,
      Verdicts verdicts,
      Recorder recorder,
      PastPolicies past,
      StartEstimates estimates,
      Clock clock) {
    this.store = store;
    this.policy = policy;
    this.latest = latest;
    this.stands = stands;
    this.verdicts = verdicts;
    this.recorder = recorder;
    this.past = past;
    this.story = new Story(store, recorder);
    this.estimates = estimates;
    this.clock = clock;
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  /** Something was submitted or cancelled here: the next question is answered from a new look. */
  void changed() {
    changesHere.incrementAndGet();
  }

  /**
   * A cycle came to its end, and the look at what stands since is taken by somebody else, who is
   * about to call {@link #look}: until that is done, questions are answered from the look before.
   */
  void isLookedAt() {
    lookedAt = true;
  }

  /** Looks at what stands, for those who ask next. */
  void look() {
    try {
      newest();
    } finally {
      lookedAt = false;
    }
  }

  /** What stands since the last cycle: looked at once for all who ask before the next. */
  private Seen seen() {
    Seen before = seen;
    if (before != null
        && before.scene().policy() == policy.get()
        && before.changes() == changesHere.get()
        && (before.latest() == latest.get() || lookedAt)
        && before.age(now()).compareTo(FRESH) <= 0) {
      return before;
    }
    return newest();
  }

  private Seen newest() {
    synchronized (looking) {
      Cycle.Latest found = latest.get();
      Policy deciding = policy.get();
      long changed = changesHere.get();
      Seen before = seen;
      if (before == null
          || before.latest() != found
          || before.changes() != changed
          || before.scene().policy() != deciding
          || before.age(now()).compareTo(FRESH) > 0) {
        before = new Seen(stands.scene(deciding), found, changed, now());
        before.scene().prepare();
        seen = before;
      }
      return before;
    }
  }

  Explanation of(String id, WhyAsked asked) {
    Store.JobRecord record = record(id);
    if (asked.at() != null) {
      return at(record.job(), asked);
    }
    return record.job().state() == JobState.GLOBAL_QUEUE_WAIT
        ? waiting(record.job(), asked)
        : told(record, sentence(record));
  }

  private Store.JobRecord record(String id) {
    return store.job(FrontDesk.number("job", id)).orElseThrow(() -> FrontDesk.notFound("job", id));
  }

  Comparison against(String id, String other) {
    if (id.equals(other)) {
      throw Submissions.invalid("against", "name another job than " + id + " to compare it with");
    }
    Snapshot snapshot = stands.snapshot(stands.world());
    Ordering.Parting parting =
        policy.get().ordering(snapshot).parting(waiting(id, snapshot), waiting(other, snapshot));
    return new Comparison(
        parting.first().id(),
        parting.second().id(),
        parting.key(),
        parting.ofFirst(),
        parting.ofSecond(),
        parting.fork(),
        OrderWords.sentence(parting));
  }

  private Job waiting(String id, Snapshot snapshot) {
    for (Job job : snapshot.jobs()) {
      if (job.id().equals(id)) {
        return job;
      }
    }
    throw new Refused(
        "NOT_WAITING",
        null,
        null,
        "job "
            + id
            + " is "
            + record(id).job().state()
            + "; only jobs that wait in the queue come before or after one another");
  }

  private Explanation told(Store.JobRecord record, String message) {
    StoredJob job = record.job();
    boolean waits = waitsForVictims(record);
    // One that never ran was ended by somebody, not by what was decided about it before.
    DecisionView decided =
        record.attempt() == null
            ? null
            : store.decisions(job.id(), 1, Long.MAX_VALUE).stream().findFirst().orElse(null);
    return new Explanation(
        job.asks().id(),
        job.state(),
        waits ? WorldNow.WAITS_FOR_VICTIMS : job.state().name(),
        waits ? "K4" : null,
        waits ? policy.get().ruleName("K4") : null,
        message,
        null,
        null,
        null,
        null,
        List.of(),
        0,
        decided == null ? null : decided.id(),
        decided != null ? decided.at() : job.endedAt() != null ? job.endedAt() : job.startedAt(),
        Details.NONE.with(story.of(job)));
  }

  private static boolean waitsForVictims(Store.JobRecord record) {
    Attempt attempt = record.attempt();
    return attempt != null && attempt.endedAt() == null && attempt.waitsUntil() != null;
  }

  private Explanation waiting(StoredJob job, WhyAsked asked) {
    String id = job.asks().id();
    Seen found = seen();
    if (found.scene().place(id) == null) {
      changed();
      found = newest();
    }
    Scene scene = found.scene();
    if (scene.place(id) == null) {
      // It left the queue between two looks at it.
      Store.JobRecord now = record(id);
      return told(now, sentence(now));
    }
    int position = scene.place(id);
    Verdicts.Verdict last = verdicts.on(found.latest(), List.of(id)).get(id);
    Verdicts.Said said = Verdicts.said(job, last, scene::place);
    StringBuilder message = new StringBuilder(Words.sentence(said.message()));
    CycleReport report = found.latest().report();
    if (report != null
        && report.result() != CycleReport.Result.DECIDED
        && report.result() != CycleReport.Result.STANDBY
        && (last == null || last.failed() == null)) {
      message.append(" The last cycle decided nothing: ").append(report.because()).append('.');
    }
    List<Miss> eliminated = List.of();
    SmallestChanges changes = null;
    Estimate estimate = null;
    String best = null;
    try {
      eliminated = scene.eliminated(scene.ordering().jobs().get(position));
      best = best(eliminated);
      needs(message, job.asks(), best, scene);
      changes = asked.changes() ? scene.changes(id) : null;
      estimate = asked.estimate() ? estimate(job, scene) : null;
    } catch (RuleFailed e) {
      if (last == null || last.failed() == null) {
        message
            .append(" What keeps it from where cannot be told, as a rule fails: ")
            .append(Words.sentence(e.getMessage()));
      }
    }
    ahead(message, position, "is");
    String before = new Remarks(scene.policy(), store::inventory).on(job);
    if (before != null) {
      message
          .append(Remarks.areAllThatIsSaid(job) ? " " : " Before: ")
          .append(Words.sentence(before));
    }
    Details details =
        new Details(
            scene.snapshot().now(),
            eliminated,
            changes,
            bound(job, position, scene),
            job.asks().attempt() > 1 ? story.of(job) : List.of(),
            estimate);
    return new Explanation(
        id,
        job.state(),
        said.code(),
        said.rule(),
        ruleName(said.rule(), last == null ? null : last.ruleName(), scene.policy()),
        message.toString(),
        said.behind(),
        Request.of(job.asks()).asked(),
        best,
        position + 1,
        stands.lines(scene, found.latest(), 0, Math.min(position, MOST_AHEAD)),
        position,
        last == null ? null : last.decision(),
        last == null ? null : last.at(),
        details);
  }

  private static String ruleName(String rule, String known, Policy deciding) {
    return rule == null ? null : known != null ? known : deciding.ruleName(rule);
  }

  private static void needs(StringBuilder message, Job asks, String best, Scene scene) {
    String asked = Request.of(asks).asked();
    if (message.indexOf(asked) < 0) {
      message.append(" It needs ").append(asked).append('.');
    }
    for (Tier tier : scene.snapshot().tiers()) {
      if (tier.name().equals(asks.tier()) && tier.sortOrder() < asks.minimumTierSortOrder()) {
        message
            .append(" Tier ")
            .append(tier.name())
            .append(" has sort_order ")
            .append(tier.sortOrder())
            .append(", below the least that it takes, ")
            .append(asks.minimumTierSortOrder())
            .append(": no GPU can be both, so it cannot start until it is submitted otherwise.");
        return;
      }
    }
    if (best != null && message.indexOf("the most free now") < 0) {
      message.append(" The most free now is ").append(best).append('.');
    } else if (best == null && asks.nodes() == 1) {
      message.append(" No placement that is up could run it.");
    }
  }

  private static void ahead(StringBuilder message, int position, String be) {
    if (position > 0) {
      message
          .append(' ')
          .append(
              position == 1
                  ? "One job " + be
                  : position + " jobs " + (be.equals("is") ? "are" : "were"))
          .append(" ahead of it in the queue.");
    } else {
      message.append(be.equals("is") ? " It is" : " It was").append(" the first of the queue.");
    }
  }

  /**
   * Until when it starts at the latest, where anything promises that: a claim by the contracts of
   * those that run (G2), or the time limits of those that hold what its reservation lacks.
   */
  private static Bound bound(StoredJob job, int position, Scene scene) {
    if (position > 0) {
      return new Bound(null, "others are ahead of it; only the first of the queue has a bound");
    }
    for (Claim claim : scene.snapshot().claims()) {
      if (claim.job().equals(job.asks().id())) {
        return new Bound(
            claim.readyAt(),
            "all that it claims is free or unprotected by then, as long as it stays first");
      }
    }
    Reservation held = scene.reservation(job.asks().id());
    if (held == null) {
      return new Bound(
          null,
          "nothing is held for it, and policy "
              + scene.policy().name()
              + " lets others start before it; where it gathers GPUs, there is a bound");
    }
    int lacking = job.asks().numGpus() - held.gpus();
    Map<String, StoredJob> jobs = scene.jobs();
    List<Instant> ends = new ArrayList<>();
    for (Attempt attempt : scene.world().attempts()) {
      StoredJob running = jobs.get(Long.toString(attempt.job()));
      for (Share share : attempt.on()) {
        if (share.node().equals(held.node()) && share.tier().name().equals(held.tier().name())) {
          Long limit = running == null ? null : running.timeLimitSeconds();
          for (int i = 0; i < share.gpus() && limit != null && attempt.startedAt() != null; i++) {
            ends.add(attempt.startedAt().plusSeconds(limit));
          }
        }
      }
    }
    ends.sort(null);
    return lacking <= ends.size()
        ? new Bound(
            ends.get(Math.max(0, lacking - 1)),
            "by their time limits enough of those that run on "
                + held.node()
                + " have ended by then, as long as it stays first and the node stays up")
        : new Bound(
            null,
            "of those that run on "
                + held.node()
                + " some have no time limit, so nobody knows when what it lacks comes free");
  }

  /** One question at a time: it takes a processor for as long as it is allowed to. */
  private Estimate estimate(StoredJob job, Scene scene) {
    synchronized (simulating) {
      PastRunTimes runTimes = new PastRunTimes(store, scene.jobs());
      Forecast.Starts starts =
          new Forecast(scene.policy(), scene.snapshot(), runTimes)
              .of(job.asks().id(), MOST_RUNS, LONGEST.toNanos(), job.id());
      Instant p50 = starts.percentile(50);
      Instant p90 = starts.percentile(90);
      StartEstimates.Kept kept = estimates.kept(now());
      estimates.made(job.id(), now(), p50, p90);
      return new Estimate(
          p50,
          p90,
          starts.made(),
          kept.checked(),
          kept.held(),
          "From "
              + starts.made()
              + " simulations of the queue as it is, with run times drawn from "
              + (runTimes.known() == 0
                  ? "nothing but time limits, since no run is recorded yet"
                  : runTimes.known() + " past runs")
              + "; new submissions are not foreseen. "
              + (kept.checked() == 0
                  ? "No earlier estimate could be held against what came yet."
                  : "Of the last "
                      + kept.checked()
                      + " estimates p90 held in "
                      + Math.round(100.0 * kept.held() / kept.checked())
                      + " %."));
    }
  }

  /** What was said of it at that time, and on what grounds. */
  private Explanation at(StoredJob job, WhyAsked asked) {
    String id = job.asks().id();
    if (asked.at().isBefore(job.submittedAt())) {
      throw new Refused(
          "NOT_FOUND",
          "at",
          null,
          "job " + id + " was submitted at " + job.submittedAt() + ", after " + asked.at());
    }
    DecisionView view = decisionAt(job, asked.at());
    Store.Receipt receipt =
        store
            .receipt(Long.parseLong(view.id()))
            .orElseThrow(() -> FrontDesk.notFound("decision", view.id()));
    Decision decision =
        recorder
            .readDecision(receipt.decisionJson())
            .orElseThrow(() -> FrontDesk.notFound("decision", view.id()));
    Snapshot snapshot = recorder.readSnapshot(receipt.snapshotJson());
    Policy then = policyOf(receipt);
    Scene scene = new Scene(then, null, snapshot);
    Decided said = null;
    for (Decided decided : decision.outcomes()) {
      // Of several the last is where it ended: a swap releases, and starts.
      said = id.equals(decided.outcome().job()) ? decided : said;
    }
    Integer position = scene.place(id);
    StringBuilder message = new StringBuilder();
    message
        .append("At ")
        .append(Words.second(view.at()))
        .append(", by decision ")
        .append(view.id())
        .append(": ");
    message.append(
        said == null ? "nothing was decided about it." : Words.sentence(then(said.outcome())));
    String code = said == null ? "NOT_DECIDED" : code(said.outcome());
    Wait wait = said != null && said.outcome() instanceof Wait w ? w : null;
    Job asks = position == null ? null : scene.ordering().jobs().get(position);
    String best = null;
    List<Miss> eliminated = List.of();
    if (asks != null) {
      eliminated = scene.eliminated(asks);
      best = best(eliminated);
      if (wait != null) {
        needs(message, asks, best, scene);
      }
      ahead(message, position, "was");
    }
    boolean over = job.endedAt() != null && !job.endedAt().isAfter(asked.at());
    if (over) {
      message.append(" It was over at ").append(Words.second(job.endedAt())).append(": ");
      message.append(job.state()).append('.');
    }
    Details details =
        new Details(
            snapshot.now(),
            wait == null ? List.of() : eliminated,
            asks != null && wait != null && asked.changes() ? scene.changes(id) : null,
            null,
            List.of(),
            null);
    return new Explanation(
        id,
        over ? job.state() : stateAfter(asks != null, said),
        code,
        said == null ? null : said.rule(),
        said == null ? null : ruleName(said.rule(), said.ruleName(), then),
        message.toString(),
        wait == null ? null : wait.behind(),
        asks == null ? null : Request.of(asks).asked(),
        best,
        position == null ? null : position + 1,
        position == null ? List.of() : aheadThen(scene, decision, Math.min(position, MOST_AHEAD)),
        position == null ? 0 : position,
        view.id(),
        view.at(),
        details);
  }

  /**
   * Where a job was after a decision about it: a snapshot has those that wait, and those that run.
   */
  private static JobState stateAfter(boolean waited, Decided said) {
    if (!waited) {
      return JobState.RUNNING;
    }
    return said != null && said.outcome() instanceof Start
        ? JobState.DISPATCHING
        : JobState.GLOBAL_QUEUE_WAIT;
  }

  private List<QueueLine> aheadThen(Scene scene, Decision decision, int to) {
    Map<String, Decided> said = Cycle.verdicts(decision);
    List<QueueLine> lines = new ArrayList<>();
    Ordering ordering = scene.ordering();
    for (int i = 0; i < to; i++) {
      Job job = ordering.jobs().get(i);
      Decided verdict = said.get(job.id());
      lines.add(
          WorldNow.line(
              i,
              job,
              store.job(Long.parseLong(job.id())).map(r -> r.job().name()).orElse(null),
              ordering,
              scene.reservation(job.id()),
              verdict == null ? "NOT_DECIDED" : code(verdict.outcome()),
              verdict == null ? null : then(verdict.outcome())));
    }
    return lines;
  }

  private static String code(Outcome outcome) {
    return outcome instanceof Wait wait
        ? wait.code()
        : outcome instanceof Start
            ? "STARTED"
            : outcome instanceof Preempt ? "PREEMPTED" : "GATHERING";
  }

  private static String then(Outcome outcome) {
    if (outcome instanceof Wait w) {
      return w.message();
    }
    if (outcome instanceof Start s) {
      return "it was given " + Words.gpus(s.on());
    }
    if (outcome instanceof Reserve r) {
      return "it reserved " + Words.gpus(List.of(new Share(r.node(), r.tier(), r.gpus())));
    }
    if (outcome instanceof Absorb a) {
      return "it reserved "
          + Words.gpus(List.of(new Share(a.node(), a.tier(), a.gpus())))
          + " more";
    }
    if (outcome instanceof Claimed c) {
      return Verdicts.claims(c);
    }
    if (outcome instanceof Preempt p) {
      return p.forJob() == null
          ? "it was told to leave its node"
          : "it was told to make room for job " + p.forJob();
    }
    return "a reservation of it ended, or it was charged";
  }

  /** The last decision at or before this time that had something new to say about it. */
  private DecisionView decisionAt(StoredJob job, Instant at) {
    long before = Long.MAX_VALUE;
    while (true) {
      List<DecisionView> some = store.decisions(job.id(), 200, before);
      for (DecisionView view : some) {
        if (!view.at().isAfter(at)) {
          return view;
        }
        before = Long.parseLong(view.id());
      }
      if (some.isEmpty()) {
        throw new Refused(
            "NOT_FOUND",
            "at",
            null,
            "nothing is recorded that was decided about job "
                + job.id()
                + " at or before "
                + at
                + (before == Long.MAX_VALUE
                    ? "; no decision about it is kept"
                    : "; the first decision about it is decision " + before));
      }
    }
  }

  private Policy policyOf(Store.Receipt receipt) {
    Policy active = policy.get();
    if (active.hash().equals(receipt.policyHash())) {
      return active;
    }
    try {
      return past.of(receipt.policyHash(), receipt.policyTexts());
    } catch (PolicyFault e) {
      throw new Refused(
          "NOT_FOUND",
          "at",
          null,
          "the rules of that time, "
              + receipt.policyHash()
              + ", cannot be loaded: "
              + e.getMessage());
    }
  }

  /** The most that is free together where it could run; null where there is no such place. */
  private static String best(List<Miss> eliminated) {
    Miss best = null;
    for (Miss miss : eliminated) {
      if (miss.fitsAndIsUp()
          && (best == null
              || miss.free() > best.free()
              || miss.free() == best.free() && miss.node().compareTo(best.node()) < 0)) {
        best = miss;
      }
    }
    return best == null ? null : best.free() + " on " + best.node() + " (" + best.tier() + ")";
  }

  /** What became of a job that is no longer in the queue, in one true sentence or two. */
  private String sentence(Store.JobRecord record) {
    StoredJob job = record.job();
    Attempt attempt = record.attempt();
    if (waitsForVictims(record)) {
      return Words.sentence(WorldNow.waitsFor(attempt));
    }
    StringBuilder text = new StringBuilder();
    String gpus = attempt == null ? "" : Words.gpus(attempt.on());
    String number =
        attempt == null || attempt.clusterJob() == null
            ? ""
            : " as Slurm job " + attempt.clusterJob();
    switch (job.state()) {
      case GLOBAL_QUEUE_WAIT -> text.append("It is back in the queue.");
      case DISPATCHING ->
          text.append("It was given ")
              .append(gpus)
              .append(" at ")
              .append(Words.second(attempt.decidedAt()))
              .append(
                  number.isEmpty()
                      ? " and is being handed to Slurm."
                      : " and waits" + number + " for Slurm to start it.");
      case RUNNING -> {
        Duration run = Duration.between(attempt.startedAt(), now());
        text.append("It runs on ")
            .append(gpus)
            .append(number)
            .append(" since ")
            .append(Words.second(attempt.startedAt()))
            .append(", for ")
            .append(Math.max(0, run.toSeconds()))
            .append(" s; ")
            .append(
                attempt.allocated()
                    ? job.asks().account() + " is charged when it ends."
                    : "this run is unallocated, and nobody is charged for it.");
      }
      default -> {
        boolean ran = attempt != null && attempt.startedAt() != null && attempt.endedAt() != null;
        text.append("It is ").append(job.state());
        if (job.stateReason() != null) {
          text.append(": ").append(job.stateReason());
        }
        text.append(
            ran
                ? ". It ran on "
                : job.startedAt() == null ? ". It never ran" : ". Its last attempt never ran");
        if (ran) {
          text.append(gpus)
              .append(number)
              .append(" from ")
              .append(Words.second(attempt.startedAt()))
              .append(" to ")
              .append(Words.second(attempt.endedAt()))
              .append(" (")
              .append(Duration.between(attempt.startedAt(), attempt.endedAt()).toSeconds())
              .append(" s)");
        }
        text.append("; ")
            .append(job.asks().account())
            .append(" was charged ")
            .append(String.format(Locale.ROOT, "%,.1f", record.chargedTflopSeconds()))
            .append(" TFLOP-s for it in all.");
      }
    }
    if (!job.state().ended() && job.stateReason() != null) {
      text.append(' ').append(Words.sentence(job.stateReason()));
    }
    return text.toString();
  }
}
