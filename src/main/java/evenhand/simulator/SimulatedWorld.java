package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Attempt;
import evenhand.cycle.Changes;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Effects;
import evenhand.cycle.JobState;
import evenhand.cycle.StoredJob;
import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Ended;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Reservation;
import evenhand.facts.Run;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.policy.ChargeUnit;
import evenhand.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Cluster and memory of a simulation: what a cycle would read from Slurm and the store, kept ready
 * as facts and changed in place, so that the next snapshot costs no more than copying lists.
 *
 * <p>What a decision does is worked out by {@link Effects}, as in the service; here it takes hold
 * at once: a started job runs from the same moment, a preempted one is gone or goes on for part of
 * its grace time, and one that waits for it starts then. That this gives the same decisions as the
 * service's own cycle over a store and a cluster is tested.
 */
final class SimulatedWorld {
  private static final String INSTALLATION = "sim";

  private static final String NEVER = "it waits, and nothing that can still change lets it start";

  private final Policy policy;
  private final ClusterPlan cluster;
  private final CycleSettings settings = CycleSettings.DEFAULT;
  private final Consumer<Happening> happened;
  private final List<JobCourse> courses;

  private final Map<String, Place> places = new LinkedHashMap<>();
  private final List<Placement> placementFacts = new ArrayList<>();
  private final Map<PlacementGroup, PlacementGroup> groups = new HashMap<>();
  private List<Placement> placementsTold;
  private List<Job> queueTold;
  private List<Running> runningTold;
  private final Map<String, Purse> purses = new LinkedHashMap<>();
  private final List<Purse> purseList = new ArrayList<>();
  private final Map<String, StoredJob> jobs = new HashMap<>();
  private final Map<String, Attempt> attempts = new HashMap<>();
  private final Map<String, Job> queue = new LinkedHashMap<>();
  private final Map<String, Reservation> reservations = new TreeMap<>();
  private final Map<String, Running> running = new LinkedHashMap<>();
  private final Map<String, WaitingStart> waiting = new LinkedHashMap<>();
  private final List<String> recalled = new ArrayList<>();
  private final List<String> begun = new ArrayList<>();
  private final CycleSettings.Leaving leaving;
  private final long goesOn;
  private Claim claim;
  private long claimedUntil;
  private final Map<String, Long> leavesAt = new HashMap<>();
  private final Map<String, List<JobCourse.Held>> held = new HashMap<>();

  private final boolean minimumProtects;
  private final Policy.Admitting admitting;
  private double heldTflopSeconds;
  private double chargedTflopSeconds;
  private long runGpuMicros;
  private long reservedGpuMicros;

  /** A start that was decided and waits for others to leave. */
  private record WaitingStart(Start start, String rule, Attempt attempt) {}

  /** One placement: its GPUs by number, and the fact that tells of it. */
  private final class Place {
    final ClusterPlan.Gpus gpus;
    final int index;
    final BitSet busy = new BitSet();
    NodeState state = NodeState.UP;
    PlacementGroup group;
    int promised;

    Place(ClusterPlan.Gpus gpus) {
      this.gpus = gpus;
      this.index = placementFacts.size();
      placementFacts.add(null);
      tell();
    }

    void tell() {
      if (group == null || group.state() != state) {
        group =
            groups.computeIfAbsent(new PlacementGroup(gpus.tier(), gpus.count(), state), g -> g);
      }
      placementFacts.set(
          index,
          new Placement(
              gpus.node(),
              group,
              Math.max(0, gpus.count() - busy.cardinality() - promised),
              0,
              null));
      placementsTold = null;
    }

    /** Gives the free GPUs of the lowest numbers. */
    JobCourse.Held take(int count) {
      List<Integer> indices = new ArrayList<>(count);
      for (int i = busy.nextClearBit(0); indices.size() < count; i = busy.nextClearBit(i + 1)) {
        if (i >= gpus.count()) {
          throw new IllegalStateException(
              "more GPUs of " + gpus.node() + " were given than are free");
        }
        indices.add(i);
      }
      indices.forEach(busy::set);
      tell();
      return new JobCourse.Held(gpus.node(), gpus.tier().name(), indices);
    }

    int free() {
      return gpus.count() - busy.cardinality();
    }

    /** Gives so many more to a start that waits, or takes them back. */
    void promise(int more) {
      promised += more;
      tell();
    }

    void free(List<Integer> indices) {
      indices.forEach(busy::clear);
      tell();
    }
  }

  /** An account and what it has used. */
  private static final class Purse {
    final AccountSetup setup;
    final WindowUsage window;
    double weight;
    double cumulative;

    Purse(AccountSetup setup, Duration lookback, ChargeUnit unit) {
      this.setup = setup;
      this.weight = setup.weight();
      this.window = lookback == null ? null : new WindowUsage(Micros.of(lookback), unit);
    }

    Account fact(long now) {
      return new Account(
          setup.id(), setup.parent(), weight, cumulative, window == null ? 0 : window.within(now));
    }
  }

  /**
   * @param courses one for each job, in the order of their numbers: the first is job 1
   * @param leaveAfter how long a preempted job goes on, at most its grace time
   */
  SimulatedWorld(
      Policy policy,
      ClusterPlan cluster,
      List<AccountSetup> accounts,
      List<JobCourse> courses,
      Duration leaveAfter,
      Consumer<Happening> happened) {
    this.policy = policy;
    this.cluster = cluster;
    this.happened = happened;
    this.courses = courses;
    this.leaving = settings.leaving(policy);
    this.goesOn =
        Micros.of(leaveAfter.compareTo(leaving.grace()) < 0 ? leaveAfter : leaving.grace());
    this.minimumProtects = policy.minimumProtects();
    this.admitting = policy.admitting();
    for (ClusterPlan.Gpus gpus : cluster.placements()) {
      places.put(key(gpus.node(), gpus.tier().name()), new Place(gpus));
    }
    Duration window = settings.window(policy).orElse(null);
    for (AccountSetup setup : accounts) {
      Purse purse = new Purse(setup, window, policy.chargeUnit());
      purses.put(setup.id(), purse);
      purseList.add(purse);
    }
  }

  private static String key(String node, String tier) {
    return node + "\n" + tier;
  }

  JobCourse course(String job) {
    return courses.get(Integer.parseInt(job) - 1);
  }

  /** All that a cycle at this moment knows. */
  Snapshot snapshot(long now) {
    return new Snapshot(
        policy.name(),
        Micros.instant(now),
        settings.cluster(),
        cluster.tiers(),
        placements(),
        accounts(now),
        queued(),
        new ArrayList<>(reservations.values()),
        holding(now),
        claim == null ? List.of() : List.of(claim),
        java.util.Set.of());
  }

  /** The placements as they stand; the same list while they do. */
  private List<Placement> placements() {
    if (placementsTold == null) {
      placementsTold = List.copyOf(placementFacts);
    }
    return placementsTold;
  }

  /** The queue; the same list while nobody comes or goes. */
  private List<Job> queued() {
    if (queueTold == null) {
      queueTold = List.copyOf(queue.values());
    }
    return queueTold;
  }

  private void enqueue(Job job) {
    queue.put(job.id(), job);
    queueTold = null;
  }

  private void leaveQueue(String job) {
    queue.remove(job);
    queueTold = null;
  }

  private void runs(Running r) {
    running.put(r.job(), r);
    runningTold = null;
  }

  /** Jobs that run, and those that were given GPUs and wait for others to leave. */
  private List<Running> holding(long now) {
    if (waiting.isEmpty()) {
      if (runningTold == null) {
        runningTold = List.copyOf(running.values());
      }
      return runningTold;
    }
    List<Running> all = new ArrayList<>(running.values());
    waiting.forEach(
        (id, w) ->
            all.add(running(w.start(), w.attempt(), now, Micros.of(w.attempt().decidedAt()))));
    return all;
  }

  /** A job as one that holds GPUs, protected as if it started now (K2). */
  private Running running(Start start, Attempt attempt, long now, long since) {
    Job asks = jobs.get(start.job()).asks();
    boolean allocated = !Boolean.FALSE.equals(start.allocated());
    long minimum = asks.minRuntimeSeconds();
    return new Running(
        start.job(),
        asks.account(),
        start.on(),
        Micros.instant(since),
        protectedUntil(course(start.job()), now, since, allocated),
        allocated,
        asks.resumable(),
        minimum,
        null,
        attempt.leaving(),
        asks.priority(),
        asks.preemptible());
  }

  private List<Account> accounts(long now) {
    List<Account> facts = new ArrayList<>(purseList.size());
    for (Purse purse : purseList) {
      facts.add(purse.fact(now));
    }
    return facts;
  }

  /** Time goes on to this moment: what a claim held idle is counted. */
  void advance(long now) {
    if (claim != null) {
      for (Share share : claim.on()) {
        int free = places.get(key(share.node(), share.tier().name())).free();
        int idle = Math.min(free, share.gpus());
        if (idle > 0) {
          reserved(claim.job(), share.node(), share.tier().name(), idle, claimedUntil, now);
        }
      }
    }
    claimedUntil = now;
  }

  /** Submits a job; it is refused or waits from now on. */
  void submit(int number, long now) {
    JobCourse course = courses.get(number - 1);
    TraceJob job = course.job();
    Request request =
        new Request(
            job.nodes(),
            job.numGpus(),
            job.tier(),
            0,
            null,
            course.account(),
            job.user(),
            null,
            job.priority(),
            job.minRuntimeSeconds(),
            job.resumable(),
            1,
            null,
            job.preemptible());
    Admission admission = admitting.admit(request, accounts(now), cluster.tiers(), placementFacts);
    tell(now, "submit", course, null, job.gpus(), null, null);
    if (!admission.accepted()) {
      course.state = JobCourse.State.REFUSED;
      course.reason = admission.refusal().message();
      tell(now, "refuse", course, null, job.gpus(), admission.rule(), course.reason);
      return;
    }
    course.admitted = true;
    course.state = JobCourse.State.WAITING;
    String id = Integer.toString(number);
    Instant at = Micros.instant(now);
    Job asks =
        new Job(
            id,
            course.account(),
            job.user() == null ? "" : job.user(),
            job.nodes(),
            job.numGpus(),
            job.tier(),
            0,
            job.priority(),
            at,
            job.minRuntimeSeconds(),
            job.resumable(),
            1,
            job.preemptible());
    jobs.put(
        id,
        new StoredJob(
            number,
            asks,
            job.id(),
            JobState.GLOBAL_QUEUE_WAIT,
            null,
            at,
            null,
            null,
            null,
            null,
            null,
            0,
            0,
            0));
    enqueue(asks);
  }

  /** The weight of an account among its siblings from now on (A2). */
  void weight(String account, double weight, long now) {
    purses.get(account).weight = weight;
    happened.accept(
        new Happening(now, "weight", null, account, null, 0, "A2", Double.toString(weight)));
  }

  /** A node's state from now on; what runs on one that goes down dies of it. */
  void state(String node, NodeState state, long now) {
    happened.accept(new Happening(now, "node", null, null, node, 0, null, state.word()));
    for (Place place : places.values()) {
      if (place.gpus.node().equals(node)) {
        place.state = state;
        place.tell();
      }
    }
    if (state != NodeState.UP) {
      waiting.forEach(
          (id, w) -> {
            boolean there = w.start().on().stream().anyMatch(s -> s.node().equals(node));
            if (there && !recalled.contains(id)) {
              recalled.add(id);
              waiting.put(
                  id,
                  new WaitingStart(w.start(), w.rule(), w.attempt().toRecall("its node is gone")));
            }
          });
    }
    if (state == NodeState.DOWN) {
      for (Running r : new ArrayList<>(running.values())) {
        if (r.on().stream().anyMatch(s -> s.node().equals(node))) {
          if (r.leaving()) {
            left(r, now);
          } else {
            nodeFailed(r, now);
          }
        }
      }
    }
  }

  private void nodeFailed(Running r, long now) {
    JobCourse course = course(r.job());
    boolean resumable = course.job().resumable();
    long lost = endRun(r, "NODE_FAIL", now, resumable);
    tell(now, "end", course, null, r.gpus(), null, "NODE_FAIL");
    if (++course.nodeFailures > settings.maxNodeFailures()) {
      over(r.job(), JobCourse.State.FAILED, "its nodes failed too often", now);
    } else {
      again(r.job(), now, lostText(lost));
    }
    beginWaiting(now);
  }

  /** A job that has run as long as it runs is over; one that was told to leave is gone. */
  void end(String job, long now) {
    Running r = running.get(job);
    if (now - Micros.of(r.startedAt()) >= course(job).remaining) {
      complete(job, now);
    } else {
      left(r, now);
    }
  }

  private void complete(String job, long now) {
    Running r = running.get(job);
    endRun(r, "COMPLETED", now, true);
    JobCourse course = course(job);
    course.remaining = 0;
    tell(now, "end", course, null, r.gpus(), null, "COMPLETED");
    over(job, JobCourse.State.COMPLETED, null, now);
    beginWaiting(now);
  }

  /** Does what a decision says, in its order; gives whether it says anything but to wait. */
  boolean apply(Decision decision, long now) {
    boolean any = !decision.accruals().isEmpty();
    boolean acts = false;
    for (Decided d : decision.outcomes()) {
      if (!(d.outcome() instanceof evenhand.outcomes.Wait)) {
        acts = true;
        break;
      }
    }
    if (!acts && !any) {
      return undo(now);
    }
    Changes changes = Effects.of(decision, INSTALLATION, jobs, attempts, claim, leaving);
    book(changes);
    Map<String, Attempt> started = new HashMap<>();
    changes.begun().forEach(a -> started.put(Long.toString(a.job()), a));
    changes.attempts().forEach(a -> attempts.put(Long.toString(a.job()), a));
    for (StoredJob job : changes.jobs()) {
      keepReservation(job);
    }
    if (changes.claimEnd() != null) {
      claim = null;
    }
    for (Decided decided : decision.outcomes()) {
      Outcome outcome = decided.outcome();
      if (outcome instanceof Start start) {
        start(start, decided.rule(), started.get(start.job()), now);
      } else if (outcome instanceof Preempt preempt) {
        preempted(preempt, decided.rule(), now);
      } else if (outcome instanceof Reserve r) {
        reservation("reserve", r.job(), r.node(), r.gpus(), decided.rule(), now);
      } else if (outcome instanceof Absorb a) {
        reservation("absorb", a.job(), a.node(), a.gpus(), decided.rule(), now);
      } else if (outcome instanceof Claimed c) {
        claim = changes.claim();
        for (Share share : c.on()) {
          reservation("claim", c.job(), share.node(), share.gpus(), decided.rule(), now);
        }
      } else if (outcome instanceof Release r) {
        reservation("release", r.job(), r.node(), r.gpus(), decided.rule(), now);
      }
    }
    return acts | undo(now);
  }

  /** Starts that cannot be kept go back to the queue; gives whether there were any. */
  private boolean undo(long now) {
    boolean any = !recalled.isEmpty();
    for (String id : recalled) {
      WaitingStart w = waiting.remove(id);
      promise(w.start(), -1);
      attempts.remove(id);
      again(id, now, "its start was undone");
    }
    recalled.clear();
    if (any) {
      beginWaiting(now);
    }
    return any;
  }

  private void promise(Start start, int sign) {
    for (Share share : start.on()) {
      places.get(key(share.node(), share.tier().name())).promise(sign * share.gpus());
    }
  }

  private void keepReservation(StoredJob job) {
    String id = job.asks().id();
    if (job.reservation() == null || job.state() != JobState.GLOBAL_QUEUE_WAIT) {
      reservations.remove(id);
    } else {
      reservations.put(id, job.reservation());
    }
  }

  private void reservation(String what, String job, String node, int gpus, String rule, long now) {
    tell(now, what, course(job), node, gpus, rule, null);
  }

  private void start(Start start, String rule, Attempt attempt, long now) {
    leaveQueue(start.job());
    attempts.put(start.job(), attempt);
    waiting.put(start.job(), new WaitingStart(start, rule, attempt));
    promise(start, 1);
    beginWaiting(now);
  }

  /** Starts whose GPUs are free begin to run, those that were decided first before the others. */
  private void beginWaiting(long now) {
    for (WaitingStart w : new ArrayList<>(waiting.values())) {
      if (!w.attempt().leaving()
          && w.start().on().stream()
              .allMatch(s -> places.get(key(s.node(), s.tier().name())).free() >= s.gpus())) {
        waiting.remove(w.start().job());
        promise(w.start(), -1);
        started(w.start(), w.rule(), w.attempt(), now);
      }
    }
  }

  private void started(Start start, String rule, Attempt attempt, long now) {
    String id = start.job();
    JobCourse course = course(id);
    List<JobCourse.Held> on = new ArrayList<>(start.on().size());
    for (Share share : start.on()) {
      on.add(places.get(key(share.node(), share.tier().name())).take(share.gpus()));
    }
    held.put(id, on);
    Instant at = Micros.instant(now);
    jobs.put(id, jobs.get(id).running(at));
    attempts.put(id, attempt.running(at, at, 0));
    Running r = running(start, attempt, now, now);
    runs(r);
    begun.add(id);
    uses(r, 1, now);
    course.state = JobCourse.State.RUNNING;
    if (course.firstStart < 0) {
      course.firstStart = now;
    }
    tell(now, "start", course, text(on), r.gpus(), rule, null);
  }

  /** Jobs that have begun to run since it was asked last. */
  List<String> begun() {
    List<String> all = List.copyOf(begun);
    begun.clear();
    return all;
  }

  /**
   * Until when nothing may preempt it. Work that nobody's budget pays for is protected by nothing
   * (N5); where minimum run times protect nothing either, it is what the job consented to (PR3).
   */
  private Instant protectedUntil(JobCourse course, long now, long since, boolean allocated) {
    TraceJob job = course.job();
    if (minimumProtects ? !allocated : job.preemptible()) {
      return Micros.instant(since);
    }
    return minimumProtects
        ? Micros.instant(now).plusSeconds(job.minRuntimeSeconds())
        : Micros.instant(now + course.remaining);
  }

  /**
   * @param times 1 when it begins, -1 when it ends
   */
  private void uses(Running r, int times, long now) {
    WindowUsage window = purses.get(r.account()).window;
    if (window != null && r.allocated()) {
      r.on().forEach(s -> window.change(now, s.tier(), times * s.gpus()));
    }
  }

  private void preempted(Preempt preempt, String rule, long now) {
    String id = preempt.job();
    WaitingStart notBegun = waiting.get(id);
    if (notBegun != null && !recalled.contains(id)) {
      // It holds GPUs that it has not used yet: there is nothing to signal or to wait for.
      recalled.add(id);
      waiting.put(id, new WaitingStart(notBegun.start(), notBegun.rule(), attempts.get(id)));
      return;
    }
    Running r = running.get(id);
    if (r == null || r.leaving()) {
      return;
    }
    JobCourse course = course(id);
    course.preemptions++;
    course.why =
        preempt.forJob() == null
            ? "must leave its node"
            : "for " + course(preempt.forJob()).job().id();
    tell(now, "preempt", course, null, r.gpus(), rule, course.why);
    if (goesOn == 0) {
      left(r, now);
    } else {
      runs(r.toLeave());
      leavesAt.put(id, now + goesOn);
    }
  }

  /** When a job that was told to leave will be gone; -1 for others. */
  long leavesAt(String job) {
    return leavesAt.getOrDefault(job, -1L);
  }

  private void left(Running r, long now) {
    JobCourse course = course(r.job());
    boolean resumable = course.job().resumable();
    long lost = endRun(r, "PREEMPTED", now, resumable);
    if (resumable) {
      again(r.job(), now, lostText(lost));
    } else {
      over(r.job(), JobCourse.State.PREEMPTED, course.why, now);
    }
    beginWaiting(now);
  }

  private static String lostText(long lost) {
    return "lost " + Micros.text(lost) + " GPU-s";
  }

  /**
   * Ends a run: frees its GPUs, settles and books it.
   *
   * @return work of it that is lost, GPU-microseconds; nothing when it has completed
   */
  private long endRun(Running r, String how, long now, boolean resumable) {
    String id = r.job();
    JobCourse course = course(id);
    Attempt attempt = attempts.remove(id);
    StoredJob job = jobs.get(id);
    Instant at = Micros.instant(now);
    Ended ended =
        new Ended(
            id,
            course.account(),
            how,
            job.carriedTflopSeconds(),
            job.reservation(),
            new Run(r.on(), r.startedAt(), at),
            r.allocated());
    Changes changes = Changes.ofCycle(at);
    jobs.put(id, changes.settle(job, attempt.attempt(), policy.settle(ended, at)));
    book(changes);
    uses(r, -1, now);
    running.remove(id);
    runningTold = null;
    leavesAt.remove(id);
    List<JobCourse.Held> on = held.remove(id);
    for (JobCourse.Held h : on) {
      places.get(key(h.node(), h.tier())).free(h.indices());
    }
    long from = Micros.of(r.startedAt());
    long ran = now - from;
    long kept = 0;
    if (how.equals("COMPLETED")) {
      kept = ran;
    } else if (resumable && r.minRuntimeSeconds() > 0) {
      // A minimum run time is by definition the time for meaningful progress (K4).
      long slice = r.minRuntimeSeconds() * Micros.SECOND;
      kept = ran / slice * slice;
    }
    course.remaining = resumable ? course.remaining - kept : course.job().runMicros();
    long lost = (ran - kept) * r.gpus();
    runGpuMicros += ran * r.gpus();
    course.runs.add(
        new JobCourse.Run(
            attempt.attempt(),
            from,
            now,
            on,
            r.allocated(),
            Micros.of(r.protectedUntil()),
            how,
            lost));
    return lost;
  }

  private void over(String id, JobCourse.State state, String because, long now) {
    JobCourse course = course(id);
    course.state = state;
    course.reason = because;
    course.end = now;
    jobs.remove(id);
    leaveQueue(id);
  }

  /** Queued again by the system, at its old place. */
  private void again(String id, long now, String detail) {
    JobCourse course = course(id);
    StoredJob job = jobs.get(id);
    if (job.asks().attempt() >= settings.maxAttempts()) {
      over(
          id,
          JobCourse.State.FAILED,
          "it was started " + job.asks().attempt() + " times and is not started again",
          now);
      tell(now, "end", course, null, 0, null, "FAILED: " + course.reason);
      return;
    }
    StoredJob again = job.queuedAgain(job.asks().minimumTierSortOrder(), 0, null, null);
    jobs.put(id, again);
    enqueue(again.asks());
    course.state = JobCourse.State.WAITING;
    tell(now, "requeue", course, null, 0, null, detail);
  }

  /**
   * Nothing can change any more: who still waits would wait for ever, e.g. a gang of more nodes
   * than there are, or a job whose node stays down. Such jobs count as refused, late as it is.
   */
  void giveUp(long now) {
    for (String id : new ArrayList<>(queue.keySet())) {
      JobCourse course = course(id);
      tell(now, "refuse", course, null, course.job().gpus(), null, NEVER);
      over(id, JobCourse.State.REFUSED, NEVER, now);
      course.end = -1;
    }
  }

  /** The simulation ends: what runs is cut off and stays {@code RUNNING}. */
  void cut(long now) {
    for (Running r : running.values()) {
      long from = Micros.of(r.startedAt());
      runGpuMicros += (now - from) * r.gpus();
      course(r.job())
          .runs
          .add(
              new JobCourse.Run(
                  attempts.get(r.job()).attempt(),
                  from,
                  now,
                  held.get(r.job()),
                  r.allocated(),
                  Micros.of(r.protectedUntil()),
                  "RUNNING",
                  0));
    }
    for (Reservation r : reservations.values()) {
      reserved(r.job(), r.node(), r.tier().name(), r.gpus(), Micros.of(r.accruedAt()), now);
    }
  }

  private void book(Changes changes) {
    for (Changes.Held row : changes.ledger()) {
      HoldingCost cost = row.cost();
      heldTflopSeconds += cost.tflopSeconds();
      if (cost.kind().equals(HoldingCost.RESERVED)) {
        reserved(
            cost.job(),
            cost.node(),
            cost.tier().name(),
            cost.gpus(),
            Micros.of(cost.from()),
            Micros.of(cost.to()));
      }
    }
    for (Changes.Charged charged : changes.charges()) {
      purses.get(charged.charge().account()).cumulative += charged.charge().tflopSeconds();
      chargedTflopSeconds += charged.charge().tflopSeconds();
    }
  }

  private void reserved(String job, String node, String tier, int gpus, long from, long to) {
    reservedGpuMicros += (to - from) * gpus;
    if (to > from) {
      course(job).holds(new JobCourse.Hold(node, tier, gpus, from, to));
    }
  }

  private static String text(List<JobCourse.Held> on) {
    StringBuilder text = new StringBuilder();
    for (JobCourse.Held h : on) {
      text.append(text.isEmpty() ? "" : " ").append(h.text());
    }
    return text.toString();
  }

  private void tell(
      long now, String what, JobCourse course, String on, int gpus, String rule, String detail) {
    happened.accept(
        new Happening(now, what, course.job().id(), course.account(), on, gpus, rule, detail));
  }

  boolean waits() {
    return !queue.isEmpty();
  }

  boolean runs() {
    return !running.isEmpty() || !waiting.isEmpty();
  }

  /** The job as it runs now, or null. */
  Running running(String job) {
    return running.get(job);
  }

  int attempt(String job) {
    Attempt attempt = attempts.get(job);
    return attempt == null ? 0 : attempt.attempt();
  }

  /** Jobs that wait or run. */
  int open() {
    return jobs.size();
  }

  /** GPU-microseconds of all runs. */
  long runGpuMicros() {
    return runGpuMicros;
  }

  /** GPU-microseconds that reservations have held, and claims have held idle. */
  long reservedGpuMicros() {
    return reservedGpuMicros;
  }

  /** TFLOP-seconds of all rows of the ledger. */
  double heldTflopSeconds() {
    return heldTflopSeconds;
  }

  /** TFLOP-seconds that accounts were charged. */
  double chargedTflopSeconds() {
    return chargedTflopSeconds;
  }

  /** TFLOP-seconds held that nobody was charged yet. */
  double carriedTflopSeconds() {
    return jobs.values().stream().mapToDouble(StoredJob::carriedTflopSeconds).sum();
  }
}
