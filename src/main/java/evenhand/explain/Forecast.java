package evenhand.explain;

import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.Placement;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
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
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * When a waiting job may start: the queue as it is, played forward some times by the policy itself,
 * with run times drawn at random. Nobody else submits anything, no node fails, nothing leaves the
 * window: an estimate, not a promise. The same seed gives the same answer.
 */
public final class Forecast {
  /** Most decisions of one run: reaching it, the job has not started in that run. */
  private static final int MOST_DECISIONS = 300;

  private static final Duration CYCLE = Duration.ofSeconds(5);
  private static final Duration FARTHEST = Duration.ofDays(14);

  private final Policy policy;
  private final Snapshot snapshot;
  private final RunTimes runTimes;

  /** How long jobs run. */
  @FunctionalInterface
  public interface RunTimes {
    /**
     * Seconds that a job runs in all.
     *
     * @param job its id, {@code account} who pays for it
     * @param atLeast seconds that it has run already; 0 for one that waits
     * @return more than {@code atLeast}
     */
    double draw(String job, String account, double atLeast, SplittableRandom random);
  }

  public Forecast(Policy policy, Snapshot snapshot, RunTimes runTimes) {
    this.policy = policy;
    this.snapshot = snapshot;
    this.runTimes = runTimes;
  }

  /**
   * When the job starts, in each run.
   *
   * @param runs how many at most
   * @param nanos no run is begun when so much time has passed since the first
   * @return instants in order, those of runs in which it had not started left out: {@code made}
   *     says how many runs there were
   */
  public Starts of(String job, int runs, long nanos, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Instant> starts = new ArrayList<>();
    long begun = System.nanoTime();
    int made = 0;
    try (Policy.Acting acting = policy.acting()) {
      while (made < runs && (made == 0 || System.nanoTime() - begun < nanos)) {
        Instant start = new Run(acting, random.split()).startOf(job, begun + 2 * nanos);
        if (start != null) {
          starts.add(start);
        }
        made++;
      }
    }
    starts.sort(null);
    return new Starts(starts, made);
  }

  /** Starts of runs, in order, and how many runs there were. */
  public record Starts(List<Instant> at, int made) {
    /** By then it had started in so many of a hundred runs; null when it had not. */
    public Instant percentile(int percent) {
      int needed = Math.max(1, (int) Math.ceil(made * percent / 100.0));
      return needed <= at.size() ? at.get(needed - 1) : null;
    }
  }

  private record End(Instant at, String job) {}

  /** One way in which it may come. */
  private final class Run {
    private final Policy.Acting acting;
    private final SplittableRandom random;
    private final Map<String, Placement> placements = new LinkedHashMap<>();
    private final Map<String, Job> queue = new LinkedHashMap<>();
    private final Map<String, Job> began = new HashMap<>();
    private final Map<String, Running> running = new LinkedHashMap<>();
    private final Map<String, Reservation> reservations = new LinkedHashMap<>();
    private final Map<String, double[]> used = new HashMap<>();
    private final PriorityQueue<End> ends =
        new PriorityQueue<>(Comparator.comparing(End::at).thenComparing(End::job));
    private Claim claim;
    private Instant now = snapshot.now();

    Run(Policy.Acting acting, SplittableRandom random) {
      this.acting = acting;
      this.random = random;
      snapshot.placements().forEach(p -> placements.put(place(p.node(), p.tier()), p));
      snapshot.jobs().forEach(j -> queue.put(j.id(), j));
      snapshot.reservations().forEach(r -> reservations.put(r.job(), r));
      snapshot.accounts().forEach(a -> used.put(a.id(), new double[2]));
      claim = snapshot.claims().isEmpty() ? null : snapshot.claims().get(0);
      for (Running r : snapshot.running()) {
        running.put(r.job(), r);
        ends(r.job(), r.account(), r.startedAt());
      }
    }

    private static String place(String node, Tier tier) {
      return node + "\n" + tier.name();
    }

    private void ends(String job, String account, Instant startedAt) {
      double already = Math.max(0, Duration.between(startedAt, now).toMillis() / 1000.0);
      double seconds = Math.max(already + 1, runTimes.draw(job, account, already, random));
      ends.add(new End(startedAt.plusMillis(Math.round(seconds * 1000)), job));
    }

    Instant startOf(String job, long until) {
      for (int i = 0; i < MOST_DECISIONS && System.nanoTime() < until; i++) {
        if (starts(acting.decide(world()), job)) {
          return now;
        }
        Instant next = next();
        if (next == null || Duration.between(snapshot.now(), next).compareTo(FARTHEST) > 0) {
          return null;
        }
        pass(next);
      }
      return null;
    }

    private Snapshot world() {
      return new Snapshot(
          snapshot.policy(),
          now,
          snapshot.cluster(),
          snapshot.tiers(),
          List.copyOf(placements.values()),
          snapshot.accounts().stream().map(this::account).toList(),
          List.copyOf(queue.values()),
          List.copyOf(reservations.values()),
          List.copyOf(running.values()),
          claim == null ? List.of() : List.of(claim),
          snapshot.workStays());
    }

    private Account account(Account a) {
      double[] more = used.get(a.id());
      return new Account(
          a.id(), a.parent(), a.weight(), a.cumulativeUsage() + more[0], a.windowUsage() + more[1]);
    }

    private void idle(List<Share> on, int sign) {
      for (Share s : on) {
        placements.computeIfPresent(
            place(s.node(), s.tier()),
            (k, p) -> p.withIdle(Math.max(0, Math.min(p.capacity(), p.idle() + sign * s.gpus()))));
      }
    }

    /** Carries a decision out; whether it starts this job. */
    private boolean starts(Decision decision, String job) {
      boolean started = false;
      for (Decided d : decision.outcomes()) {
        Outcome o = d.outcome();
        if (o instanceof Release r) {
          if (reservations.remove(r.job()) == null
              && claim != null
              && claim.job().equals(r.job())) {
            claim = null;
          }
        } else if (o instanceof Reserve r) {
          reserve(r.job(), r.node(), r.tier(), r.gpus());
        } else if (o instanceof Absorb a) {
          reserve(a.job(), a.node(), a.tier(), a.gpus());
        } else if (o instanceof Claimed c) {
          claim = new Claim(c.job(), c.on(), now, c.readyAt(), c.yields());
        } else if (o instanceof Preempt p) {
          leaves(p.job());
        } else if (o instanceof Start s) {
          begins(s);
          started |= s.job().equals(job);
        }
      }
      return started;
    }

    private void reserve(String job, String node, Tier tier, int gpus) {
      Reservation had = reservations.get(job);
      Job of = queue.get(job);
      reservations.put(
          job,
          new Reservation(
              job,
              of == null ? null : of.account(),
              node,
              tier,
              gpus + (had == null ? 0 : had.gpus()),
              had == null ? now : had.since(),
              had == null ? 0 : had.accruedTflopSeconds(),
              had == null ? now : had.accruedAt()));
    }

    private void begins(Start s) {
      Job job = queue.remove(s.job());
      reservations.remove(s.job());
      if (claim != null && claim.job().equals(s.job())) {
        claim = null;
      }
      if (job == null) {
        return;
      }
      began.put(job.id(), job);
      idle(s.on(), -1);
      boolean allocated = s.allocated() == null || s.allocated();
      running.put(
          job.id(),
          new Running(
              job.id(),
              job.account(),
              s.on(),
              now,
              now.plusSeconds(job.minRuntimeSeconds()),
              allocated,
              job.resumable(),
              job.minRuntimeSeconds(),
              null,
              false,
              job.priority(),
              job.preemptible()));
      ends(job.id(), job.account(), now);
    }

    private void leaves(String job) {
      Running r = running.remove(job);
      if (r == null) {
        return;
      }
      idle(r.on(), 1);
      ends.removeIf(e -> e.job().equals(job));
      Job again = began.remove(job);
      if (again != null && again.resumable()) {
        queue.put(job, again);
      }
    }

    /** The next moment at which anything can change by itself. */
    private Instant next() {
      Instant next = ends.isEmpty() ? null : ends.peek().at();
      for (Running r : running.values()) {
        if (r.protectedUntil().isAfter(now)
            && (next == null || r.protectedUntil().isBefore(next))) {
          next = r.protectedUntil();
        }
      }
      Instant soonest = now.plus(CYCLE);
      return next == null ? null : next.isBefore(soonest) ? soonest : next;
    }

    private void pass(Instant to) {
      double seconds = Duration.between(now, to).toMillis() / 1000.0;
      boolean tflops = policy.chargeUnit() == ChargeUnit.TFLOP_S;
      for (Running r : running.values()) {
        if (r.allocated() && used.containsKey(r.account())) {
          for (Share s : r.on()) {
            used.get(r.account())[1] += s.gpus() * seconds * (tflops ? s.tier().tflops() : 1);
          }
        }
      }
      now = to;
      while (!ends.isEmpty() && !ends.peek().at().isAfter(now)) {
        End end = ends.poll();
        Running over = running.remove(end.job());
        if (over != null) {
          idle(over.on(), 1);
          began.remove(end.job());
          double ran = Duration.between(over.startedAt(), end.at()).toMillis() / 1000.0;
          for (Share s : over.on()) {
            if (used.containsKey(over.account())) {
              used.get(over.account())[0] += s.gpus() * ran * s.tier().tflops();
            }
          }
        }
      }
    }
  }
}
