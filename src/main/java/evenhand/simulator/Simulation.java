package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import evenhand.facts.Running;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Preempt;
import evenhand.policy.Natural;
import evenhand.policy.Policy;
import evenhand.policy.Stage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Plays a job set on a cluster by a policy's own rules, from event to event.
 *
 * <p>It jumps to the next moment at which anything can change. At one moment, in this order: jobs
 * that end free their GPUs; weights of accounts change; nodes change; jobs arrive, by submit time
 * and then by id, numbers as numbers; then cycles decide until one of them changes nothing. So a
 * job that ends and one that takes its place never overlap, and what would take the service some
 * cycles of five seconds takes no time here. A preempted job is gone as soon as it is told, or goes
 * on for a while within its grace time (K6); the job it makes room for starts then.
 *
 * <p>Where a policy preempts, moments are also: the end of each protection, each multiple of a
 * minimum run time where preemption comes in slices (K8), and, while jobs wait, one every {@link
 * #everyMicros}, for the order of accounts moves with the window although nothing else happens.
 *
 * <p>The same inputs give the same course, to the byte; nothing here is random.
 */
public final class Simulation {
  private final Policy policy;
  private final ClusterPlan cluster;
  private final AccountPlan accounts;
  private final List<TraceJob> jobs;
  private final long until;
  private final long everyMicros;
  private final Witness witness;
  private final boolean explained;
  private final Duration leaveAfter;

  /** Looks on, for tests and progress. */
  public interface Witness {
    /** Whether decisions shall say why jobs wait, which takes much longer. */
    default boolean wantsWaits() {
      return false;
    }

    /** A cycle has decided; nothing of it is done yet. */
    default void decided(Snapshot snapshot, Decision decision) {}

    /** All that happens at this moment has happened. */
    default void moment(long atMicros, int done, int all) {}
  }

  /** Nobody looks on. */
  public static final Witness NOBODY = new Witness() {};

  /** Thrown when a policy never comes to rest. */
  public static final class Restless extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Restless(String message) {
      super(message);
    }
  }

  /**
   * @param until when to stop; null: when nothing can change any more
   * @param every how often to decide anew while jobs wait and nothing happens
   */
  public Simulation(
      Policy policy,
      ClusterPlan cluster,
      AccountPlan accounts,
      List<TraceJob> jobs,
      Duration until,
      Duration every,
      Witness witness) {
    this(policy, cluster, accounts, jobs, until, every, Duration.ZERO, witness);
  }

  /**
   * @param until when to stop; null: when nothing can change any more
   * @param every how often to decide anew while jobs wait and nothing happens
   * @param leaveAfter how long a preempted job goes on after its signal; it is ended when the
   *     policy's grace time is over (K6)
   */
  public Simulation(
      Policy policy,
      ClusterPlan cluster,
      AccountPlan accounts,
      List<TraceJob> jobs,
      Duration until,
      Duration every,
      Duration leaveAfter,
      Witness witness) {
    this.leaveAfter = leaveAfter;
    this.policy = policy;
    this.cluster = cluster;
    this.accounts = accounts;
    this.jobs =
        jobs.stream()
            .sorted(
                Comparator.comparingLong(TraceJob::submitMicros)
                    .thenComparing(TraceJob::id, Natural.IDS))
            .toList();
    this.until = until == null ? Long.MAX_VALUE : Micros.of(until);
    this.everyMicros = Micros.of(every);
    this.witness = witness;
    this.explained = witness.wantsWaits();
  }

  /**
   * What came of it.
   *
   * @param courses of the jobs, in the order of arrival
   * @param accounts all that took part, parents first, with the weights they began with
   * @param endMicros when it ended
   * @param decideNanos how long each decision took
   */
  public record Result(
      Policy policy,
      ClusterPlan cluster,
      List<JobCourse> courses,
      List<Happening> happenings,
      List<AccountSetup> accounts,
      boolean accountsGiven,
      long endMicros,
      long[] decideNanos,
      long wallNanos,
      long runGpuMicros,
      long reservedGpuMicros,
      Ledger ledger) {}

  /**
   * The money of it, TFLOP-seconds: what was held, what accounts were charged, and what is held and
   * not yet charged by jobs that had not ended.
   */
  public record Ledger(double held, double charged, double carried) {}

  private record Due(long at, String job, int attempt) {
    static final Comparator<Due> ORDER =
        Comparator.comparingLong(Due::at)
            .thenComparingLong(d -> Long.parseLong(d.job))
            .thenComparingInt(Due::attempt);
  }

  /**
   * Plays it.
   *
   * @throws Restless when the policy does not come to rest at one moment
   */
  public Result run() {
    try (Policy.Acting acting = explained ? policy::decide : policy.acting()) {
      return new Play(acting).run();
    }
  }

  private final class Play {
    private final long begun = System.nanoTime();
    private final List<JobCourse> courses = new ArrayList<>();
    private final List<Happening> happenings = new ArrayList<>();
    private final List<AccountSetup> setups = accounts.with(jobs);
    private final PriorityQueue<Due> ends = new PriorityQueue<>(Due.ORDER);
    private final PriorityQueue<Due> unprotected = new PriorityQueue<>(Due.ORDER);
    private final boolean preempts = policy.has(Stage.PREEMPT);
    private final boolean slices =
        policy.setting("preempt_window").map(s -> !s.text().equals("always")).orElse(false);
    private final SimulatedWorld world;
    private final Policy.Acting acting;
    private long[] decideNanos = new long[1024];
    private int decisions;
    private int arrived;
    private int nodesChanged;
    private int weightsChanged;
    private int done;

    Play(Policy.Acting acting) {
      this.acting = acting;
      for (TraceJob job : jobs) {
        courses.add(new JobCourse(job, accounts.accountOf(job)));
      }
      world = new SimulatedWorld(policy, cluster, setups, courses, leaveAfter, happenings::add);
    }

    Result run() {
      long now = 0;
      long end = 0;
      while (true) {
        long next = next(now);
        if (next == Long.MAX_VALUE || next > until) {
          break;
        }
        now = next;
        end = now;
        world.advance(now);
        happen(now);
        settle(now);
        witness.moment(now, done, courses.size());
      }
      if (until == Long.MAX_VALUE) {
        world.giveUp(end);
      } else {
        end = until;
      }
      world.advance(end);
      world.cut(end);
      return new Result(
          policy,
          cluster,
          List.copyOf(courses),
          List.copyOf(happenings),
          setups,
          accounts.given(),
          end,
          Arrays.copyOf(decideNanos, decisions),
          System.nanoTime() - begun,
          world.runGpuMicros(),
          world.reservedGpuMicros(),
          new Ledger(
              world.heldTflopSeconds(), world.chargedTflopSeconds(), world.carriedTflopSeconds()));
    }

    /** The next moment at which anything can change; {@link Long#MAX_VALUE} when none is. */
    private long next(long now) {
      long next = Long.MAX_VALUE;
      if (arrived < jobs.size()) {
        next = jobs.get(arrived).submitMicros();
      }
      Due end = live(ends);
      if (end != null) {
        next = Math.min(next, end.at());
      }
      boolean anyLeft = next != Long.MAX_VALUE || world.waits();
      if (anyLeft && nodesChanged < cluster.changes().size()) {
        next = Math.min(next, cluster.changes().get(nodesChanged).atMicros());
      }
      if (anyLeft && weightsChanged < accounts.changes().size()) {
        next = Math.min(next, accounts.changes().get(weightsChanged).atMicros());
      }
      if (preempts && world.waits() && world.runs()) {
        Due free = protection(now);
        if (free != null) {
          next = Math.min(next, free.at());
        }
        next = Math.min(next, now + everyMicros);
      }
      return next;
    }

    /** The first that is still about the run it was noted for; those before it are dropped. */
    private Due live(PriorityQueue<Due> queue) {
      while (!queue.isEmpty() && world.attempt(queue.peek().job()) != queue.peek().attempt()) {
        queue.poll();
      }
      return queue.peek();
    }

    /** The next moment after {@code now} at which a running job may first, or again, be ended. */
    private Due protection(long now) {
      while (true) {
        Due due = live(unprotected);
        if (due == null || due.at() > now) {
          return due;
        }
        unprotected.poll();
        Running r = world.running(due.job());
        long slice = r.minRuntimeSeconds() * Micros.SECOND;
        if (slices && slice > 0) {
          long into = (now - Micros.of(r.startedAt())) / slice;
          unprotected.add(
              new Due(Micros.of(r.startedAt()) + (into + 1) * slice, due.job(), due.attempt()));
        }
      }
    }

    private void happen(long now) {
      for (Due due = live(ends); due != null && due.at() <= now; due = live(ends)) {
        ends.poll();
        world.end(due.job(), now);
        done += world.course(due.job()).state().finished() ? 1 : 0;
      }
      for (; weightsChanged < accounts.changes().size(); weightsChanged++) {
        AccountPlan.Change change = accounts.changes().get(weightsChanged);
        if (change.atMicros() > now) {
          break;
        }
        world.weight(change.account(), change.weight(), now);
      }
      for (; nodesChanged < cluster.changes().size(); nodesChanged++) {
        ClusterPlan.Change change = cluster.changes().get(nodesChanged);
        if (change.atMicros() > now) {
          break;
        }
        world.state(change.node(), change.state(), now);
      }
      world.begun().forEach(job -> follow(job, now));
      while (arrived < jobs.size() && jobs.get(arrived).submitMicros() <= now) {
        world.submit(++arrived, now);
        if (courses.get(arrived - 1).state() == JobCourse.State.REFUSED) {
          done++;
        }
      }
    }

    /** Decides until a cycle changes nothing. */
    private void settle(long now) {
      // Every cycle but the last starts, reserves, releases or preempts something; a policy that
      // needs more of them than this at one moment goes round in a circle.
      int most = 4 * world.open() + 100;
      for (int i = 0; world.waits() || i == 0 && world.runs(); i++) {
        if (i == most) {
          throw new Restless(
              "policy "
                  + policy.name()
                  + " does not come to rest "
                  + Micros.text(now)
                  + " s into the job set: "
                  + most
                  + " cycles at one moment each changed something");
        }
        Snapshot snapshot = world.snapshot(now);
        long from = System.nanoTime();
        Decision decision = acting.decide(snapshot);
        took(System.nanoTime() - from);
        witness.decided(snapshot, decision);
        boolean acted = world.apply(decision, now);
        for (Decided decided : decision.outcomes()) {
          if (decided.outcome() instanceof Preempt preempt && world.leavesAt(preempt.job()) >= 0) {
            String job = preempt.job();
            ends.add(new Due(world.leavesAt(job), job, world.attempt(job)));
          }
        }
        world.begun().forEach(job -> follow(job, now));
        if (!acted) {
          return;
        }
      }
    }

    private void follow(String job, long now) {
      Running r = world.running(job);
      int attempt = world.attempt(job);
      ends.add(new Due(Math.addExact(now, world.course(job).remaining), job, attempt));
      if (preempts) {
        unprotected.add(new Due(Micros.of(r.protectedUntil()), job, attempt));
      }
    }

    private void took(long nanos) {
      if (decisions == decideNanos.length) {
        decideNanos = Arrays.copyOf(decideNanos, decisions * 2);
      }
      decideNanos[decisions++] = nanos;
    }
  }
}
