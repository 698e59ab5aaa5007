package evenhand.rollout;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Recorder;
import evenhand.cycle.Store;
import evenhand.facts.Snapshot;
import evenhand.input.InputFault;
import evenhand.outcomes.Decision;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;
import evenhand.policy.RuleFiles;
import evenhand.rollout.PlanReport.Guardrail;
import evenhand.simulator.AccountPlan;
import evenhand.simulator.ClusterPlan;
import evenhand.simulator.Figures;
import evenhand.simulator.Generator;
import evenhand.simulator.JobCourse;
import evenhand.simulator.JobSet;
import evenhand.simulator.Simulation;
import evenhand.simulator.Trace;
import evenhand.simulator.TraceJob;
import evenhand.simulator.Workload;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Works out what a change of the policy would do, one plan at a time, on a thread of low priority:
 * the cycle is not held up. What it does is bounded in number and time, and it says how far it
 * came.
 */
public final class Planner implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand.rules");
  private static final int MOST_DECISIONS = 2000;
  private static final int MOST_JOBS = 20_000;
  private static final Duration DECIDING = Duration.ofSeconds(20);
  private static final Duration PLAYING = Duration.ofSeconds(15);
  private static final Set<String> READ_WITH_THE_SNAPSHOT = Set.of("lookback", "charge_unit");
  private static final Duration EVERY = Duration.ofMinutes(10);

  private final Rollout rollout;
  private final Store store;
  private final Recorder recorder;
  private final Clock clock;
  private final Limits limits;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "plan");
            thread.setDaemon(true);
            thread.setPriority(Thread.MIN_PRIORITY);
            return thread;
          });
  private volatile Running last;

  /**
   * How much one plan may do.
   *
   * @param playing time of one simulation
   */
  record Limits(int decisions, int jobs, Duration deciding, Duration playing) {
    static final Limits USUAL = new Limits(MOST_DECISIONS, MOST_JOBS, DECIDING, PLAYING);
  }

  public Planner(Rollout rollout, Store store, Recorder recorder, Clock clock) {
    this(rollout, store, recorder, clock, Limits.USUAL);
  }

  Planner(Rollout rollout, Store store, Recorder recorder, Clock clock, Limits limits) {
    this.rollout = rollout;
    this.store = store;
    this.recorder = recorder;
    this.clock = clock;
    this.limits = limits;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }

  /**
   * What is to be planned.
   *
   * @param policy its name; null for that of the policy in force
   * @param texts of the rules, by path below the rules folder; null for those in the service's
   *     folder
   * @param set what is set for once besides what is set already; an empty value takes it back
   * @param days how far back recorded decisions and jobs are looked at
   * @param workload YAML from which jobs are generated; null for recorded ones
   */
  public record Asked(
      String policy,
      Map<String, String> texts,
      Map<String, String> set,
      int days,
      String workload,
      long seed,
      String by) {}

  /** How far a plan has come. */
  public enum State {
    RUNNING,
    DONE,
    /** The rules do not pass their check: nothing was planned. */
    FAULTY,
    /** It failed, and not because of the rules. */
    FAILED
  }

  /**
   * A plan under way or done.
   *
   * @param doing what it is at, for people
   * @param done of {@code of} parts of that
   * @param faults of the rules; empty unless {@code FAULTY}
   * @param failure why it {@code FAILED}, or null
   * @param report {@link PlanReport} as JSON; null before it is done
   */
  public record Standing(
      long id,
      State state,
      String doing,
      long done,
      long of,
      List<PolicyFault.Fault> faults,
      String failure,
      String report) {}

  private static final class Running {
    private final long id;
    private volatile Standing standing;

    Running(long id) {
      this.id = id;
      this.standing = new Standing(id, State.RUNNING, "check", 0, 0, List.of(), null, null);
    }

    void at(String doing, long done, long of) {
      standing = new Standing(id, State.RUNNING, doing, done, of, List.of(), null, null);
    }

    void ended(State state, List<PolicyFault.Fault> faults, String failure, String report) {
      standing = new Standing(id, state, null, 0, 0, faults, failure, report);
    }
  }

  /**
   * Begins a plan.
   *
   * @return its id
   * @throws evenhand.cycle.Desk.Refused {@code BUSY} while another is being made here
   */
  public synchronized long begin(Asked asked) {
    Running before = last;
    if (before != null && before.standing.state() == State.RUNNING) {
      throw Rollout.refused(
          "BUSY", "Plan " + before.id + " is being made just now; try again then.");
    }
    Running running = new Running(rollout.book().nextPlan());
    last = running;
    thread.execute(() -> make(asked, running));
    return running.id;
  }

  /** A plan under way here, or one that is kept; empty when it is neither. */
  public Optional<Standing> plan(long id) {
    Running running = last;
    if (running != null && running.id == id) {
      return Optional.of(running.standing);
    }
    return rollout
        .book()
        .plan(id)
        .map(p -> new Standing(id, State.DONE, null, 0, 0, List.of(), null, p.report()));
  }

  /** Plans that are kept, newest first. */
  public List<RolloutBook.Plan> plans(int limit, long before) {
    return rollout.book().plans(limit, before);
  }

  private void make(Asked asked, Running running) {
    try {
      PlanReport report = new Making(asked, running).report();
      running.ended(State.DONE, List.of(), null, report.json());
    } catch (PolicyFault e) {
      running.ended(State.FAULTY, e.faults(), null, null);
    } catch (InputFault e) {
      running.ended(
          State.FAULTY,
          e.faults().stream()
              .map(
                  f ->
                      new PolicyFault.Fault(
                          f.file(),
                          f.line(),
                          null,
                          (f.path().isEmpty() ? "" : f.path() + ": ") + f.message()))
              .toList(),
          null,
          null);
    } catch (RuntimeException | LinkageError | StackOverflowError | OutOfMemoryError e) {
      LOG.error("Plan {} failed", running.id, e);
      running.ended(
          State.FAILED, List.of(), "it failed: " + e + "; the service's log has it", null);
    }
  }

  /** One plan. */
  private final class Making {
    private final long begun = System.nanoTime();
    private final Instant at = clock.instant().truncatedTo(ChronoUnit.MICROS);
    private final Asked asked;
    private final Running running;
    private final List<String> notes = new ArrayList<>();
    private final List<Guardrail> rails = new ArrayList<>();
    private final Policy was = rollout.inForce().get();
    private final Policy becomes;

    Making(Asked asked, Running running) throws PolicyFault {
      this.asked = asked;
      this.running = running;
      RuleFiles files =
          asked.texts() == null
              ? rollout.folder().copy()
              : new RuleFiles.Stored(asked.texts(), Map.of(), "the texts that were sent");
      this.becomes =
          rollout
              .folder()
              .passed(
                  files,
                  asked.policy() == null ? was.name() : asked.policy(),
                  RulesFolder.set(Policies.set(was.texts()), asked.set()));
    }

    PlanReport report() throws PolicyFault {
      if (becomes.hash().equals(was.hash())) {
        return made(
            PlanReport.Verdict.SAME,
            new PlanReport.Changes(List.of(), List.of()),
            null,
            null,
            "nothing: it is in force");
      }
      Optional<Guardrails> guardrails =
          rollout.folder().read(Guardrails.FILE).map(Guardrails::read);
      JobSet jobs = jobs();
      PlanReport.Changes changes = ClauseChanges.between(was, becomes);
      ClauseChanges.settings(was, becomes).stream()
          .filter(READ_WITH_THE_SNAPSHOT::contains)
          .forEach(
              setting ->
                  notes.add(
                      setting
                          + " is read when a snapshot is made: recorded decisions do not show what"
                          + " it changes, the simulation does."));
      rollout
          .book()
          .failure(becomes.hash())
          .ifPresent(
              f ->
                  notes.add(
                      "This policy was in force before, and failed at "
                          + f.at()
                          + ": "
                          + f.message()));
      PlanReport.Decisions decisions = decisions();
      PlanReport.Played played = played(jobs);
      rails.add(
          0,
          decisions.failed() > 0 || stopped != null
              ? new Guardrail(
                  "no_rule_fails",
                  "broken",
                  List.of(decisions.failed() > 0 ? decisions.failure() : stopped))
              : new Guardrail(
                  "no_rule_fails", "kept", List.of("no rule failed in what was decided here")));
      if (guardrails.isPresent()) {
        rails.addAll(guardrails.get().held(played));
      } else {
        notes.add("There is no guardrails.yaml in " + rollout.folder().where() + ".");
      }
      boolean passes = rails.stream().noneMatch(r -> r.state().equals("broken"));
      PlanReport report =
          made(
              passes ? PlanReport.Verdict.PASSES : PlanReport.Verdict.BREAKS_GUARDRAILS,
              changes,
              decisions,
              played,
              "evenhand policy apply "
                  + becomes.hash()
                  + " --reason WHY"
                  + (passes ? "" : " --despite-guardrails"));
      rollout
          .book()
          .keep(
              new RolloutBook.Plan(
                  running.id,
                  at,
                  asked.by(),
                  becomes.name(),
                  becomes.hash(),
                  was.hash(),
                  passes,
                  report.json()),
              becomes.texts());
      rollout.know(becomes);
      return report;
    }

    private PlanReport made(
        PlanReport.Verdict verdict,
        PlanReport.Changes changes,
        PlanReport.Decisions decisions,
        PlanReport.Played played,
        String apply) {
      return new PlanReport(
          running.id,
          at,
          asked.by(),
          becomes.name(),
          becomes.hash(),
          was.name(),
          was.hash(),
          verdict,
          apply,
          changes,
          decisions,
          played,
          List.copyOf(rails),
          List.copyOf(notes),
          Math.round((System.nanoTime() - begun) / 1e7) / 100.0);
    }

    // ---- recorded decisions ---------------------------------------------------------------------

    private PlanReport.Decisions decisions() {
      RolloutBook.Sample sample =
          rollout.book().decisions(at.minus(Duration.ofDays(asked.days())), limits.decisions());
      List<Long> ids = spread(sample.ids());
      long until = System.nanoTime() + limits.deciding().toNanos();
      int compared = 0;
      int differ = 0;
      int acts = 0;
      int failed = 0;
      int unread = 0;
      String failure = null;
      Map<String, Long> clauses = new HashMap<>();
      long firstId = Long.MAX_VALUE;
      PlanReport.First first = null;
      for (long id : ids) {
        running.at("decisions", compared, ids.size());
        if (System.nanoTime() > until || Thread.interrupted()) {
          notes.add(
              "After "
                  + limits.deciding().toSeconds()
                  + " s "
                  + compared
                  + " of "
                  + ids.size()
                  + " decisions were compared, spread over all.");
          break;
        }
        Snapshot snapshot;
        try {
          Optional<String> text = store.snapshot(id);
          if (text.isEmpty()) {
            continue; // forgotten meanwhile
          }
          snapshot = recorder.readSnapshot(text.get());
        } catch (RuntimeException e) {
          unread++;
          continue;
        }
        Decision one;
        Decision other;
        try {
          one = was.decide(named(snapshot, was));
        } catch (RuleFailed e) {
          unread++; // recorded by another policy, of a state that this one cannot be in
          continue;
        }
        compared++;
        try {
          other = becomes.decide(named(snapshot, becomes));
        } catch (RuleFailed e) {
          failed++;
          differ++;
          acts++;
          failure = failure == null ? "decision " + id + ": " + e.getMessage() : failure;
          continue;
        }
        Comparison comparison = Comparison.of(one, other);
        if (!comparison.differs()) {
          continue;
        }
        differ++;
        acts += comparison.acts() ? 1 : 0;
        comparison.differences().forEach(d -> PlanReport.count(clauses, d));
        if (id < firstId) {
          firstId = id;
          first = PlanReport.First.of(id, comparison, was, one, becomes, other, recorder);
        }
      }
      if (unread > 0) {
        notes.add(unread + " recorded decisions could not be made again by the policy in force.");
      }
      if (compared == 0) {
        notes.add("There is no recorded decision to make again.");
      }
      return new PlanReport.Decisions(
          asked.days(),
          sample.all(),
          compared,
          differ,
          acts,
          failed,
          failure,
          PlanReport.instead(clauses),
          first);
    }

    // ---- the simulator --------------------------------------------------------------------------

    private JobSet jobs() {
      if (asked.workload() == null) {
        return RecordedJobs.since(store, at.minus(Duration.ofDays(asked.days())), limits.jobs());
      }
      Workload workload = Workload.read("the workload", asked.workload());
      Generator generator = new Generator(workload, asked.seed());
      List<TraceJob> made;
      try {
        made = generator.jobs();
      } catch (IllegalArgumentException e) {
        throw new InputFault("the workload", 0, "", e.getMessage());
      }
      if (made.size() > limits.jobs()) {
        throw new InputFault(
            "the workload",
            0,
            "",
            "makes "
                + made.size()
                + " jobs; a plan takes at most "
                + limits.jobs()
                + ": make it shorter");
      }
      AccountPlan accounts = AccountPlan.read("the workload", generator.accounts());
      return new JobSet(
          ClusterPlan.read("the workload", generator.cluster()),
          accounts,
          accounts.known(new Trace(made, List.of(), made.size())),
          asked.seed());
    }

    /** Why the candidate's simulation came to no end, or null. */
    private String stopped;

    private PlanReport.Played played(JobSet jobs) {
      int many = jobs.trace().jobs().size();
      if (many == 0) {
        notes.add(
            "No job of the last "
                + asked.days()
                + " days has run to its end, so nothing was simulated; --workload gives one.");
        return null;
      }
      if (asked.workload() == null && many + jobs.trace().unreadable().size() >= limits.jobs()) {
        notes.add("Of the recorded jobs the newest " + limits.jobs() + " were simulated.");
      }
      PlanReport.Figures before;
      PlanReport.Figures after;
      try {
        before = figures(was, jobs, "simulation of the policy in force");
        try {
          after = figures(becomes, jobs, "simulation of the planned policy");
        } catch (Simulation.Restless | RuleFailed e) {
          stopped = "in the simulation: " + e.getMessage();
          return null;
        }
      } catch (TooLong e) {
        notes.add(
            "The simulation of "
                + many
                + " jobs took longer than "
                + limits.playing().toSeconds()
                + " s and was left out; take fewer days, or a smaller workload.");
        return null;
      } catch (Simulation.Restless | RuleFailed e) {
        notes.add("The policy in force could not be simulated: " + e.getMessage());
        return null;
      }
      return new PlanReport.Played(
          asked.workload() == null
              ? "jobs of the last " + (asked.days() == 1 ? "day" : asked.days() + " days")
              : "a workload, seed " + asked.seed(),
          many,
          jobs.trace().unreadable().size(),
          before,
          after);
    }

    private PlanReport.Figures figures(Policy policy, JobSet jobs, String doing) {
      long until = System.nanoTime() + limits.playing().toNanos();
      Simulation.Witness witness =
          new Simulation.Witness() {
            @Override
            public void decided(Snapshot snapshot, Decision decision) {
              if (System.nanoTime() > until || Thread.currentThread().isInterrupted()) {
                throw new TooLong();
              }
            }

            @Override
            public void moment(long atMicros, int done, int all) {
              running.at(doing, done, all);
            }
          };
      Simulation.Result result =
          new Simulation(
                  policy,
                  jobs.cluster(),
                  jobs.accounts(),
                  jobs.trace().jobs(),
                  null,
                  EVERY,
                  witness)
              .run();
      return told(result, jobs.trace());
    }
  }

  private static final class TooLong extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** An order in which any first part is spread over all of them. */
  static List<Long> spread(List<Long> ids) {
    int n = ids.size();
    if (n < 3) {
      return ids;
    }
    int step = Math.max(1, (int) Math.round(n * 0.6180339887));
    while (gcd(step, n) != 1) {
      step++;
    }
    List<Long> order = new ArrayList<>(n);
    for (long i = 0; i < n; i++) {
      order.add(ids.get((int) (i * step % n)));
    }
    return order;
  }

  private static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  /** The same snapshot for another policy to decide. */
  static Snapshot named(Snapshot s, Policy policy) {
    return s.policy().equals(policy.name())
        ? s
        : new Snapshot(
            policy.name(),
            s.now(),
            s.cluster(),
            s.tiers(),
            s.placements(),
            s.accounts(),
            s.jobs(),
            s.reservations(),
            s.running(),
            s.claims(),
            s.workStays());
  }

  private static PlanReport.Figures told(Simulation.Result result, Trace trace) {
    Map<String, Object> summary = new Figures(result, trace, 0).summary();
    Map<String, List<JobCourse>> accounts = new TreeMap<>();
    Map<String, List<JobCourse>> classes = new LinkedHashMap<>();
    List<JobCourse> taken = new ArrayList<>();
    int refused = 0;
    for (JobCourse course : result.courses()) {
      if (course.state() == JobCourse.State.REFUSED) {
        refused++;
        continue;
      }
      taken.add(course);
      accounts.computeIfAbsent(course.account(), a -> new ArrayList<>()).add(course);
      String size =
          course.job().gpus() == 1 ? "jobs of 1 GPU" : "jobs of " + course.job().gpus() + " GPUs";
      classes.computeIfAbsent(size, c -> new ArrayList<>()).add(course);
      String kind =
          course.job().minRuntimeSeconds() > 0 ? "protected jobs" : "jobs without protection";
      classes.computeIfAbsent(kind, c -> new ArrayList<>()).add(course);
    }
    long[] waits = taken.stream().mapToLong(c -> wait(c, result)).sorted().toArray();
    Map<String, PlanReport.Group> byAccount = new TreeMap<>();
    for (AccountSetup account : result.accounts()) {
      List<JobCourse> of = accounts.get(account.id());
      if (of != null) {
        byAccount.put(account.id(), group(of, result, delivered(summary, account.id())));
      }
    }
    Map<String, PlanReport.Group> byClass = new LinkedHashMap<>();
    classes.forEach((name, of) -> byClass.put(name, group(of, result, null)));
    return new PlanReport.Figures(
        result.courses().size(),
        (int) taken.stream().filter(c -> c.firstStartMicros() < 0).count(),
        refused,
        rounded(Arrays.stream(waits).average().orElse(0) / 1e6),
        rank(waits, 50),
        rank(waits, 90),
        rank(waits, 100),
        result.courses().stream().mapToInt(JobCourse::preemptions).sum(),
        rounded(result.courses().stream().mapToLong(JobCourse::lostGpuMicros).sum() / 1e6),
        number(summary.get("utilization"), 0.0),
        number(summary.get("delivered_over_entitled"), null),
        byAccount,
        byClass);
  }

  /** Microseconds. */
  private static long wait(JobCourse c, Simulation.Result result) {
    long until =
        c.firstStartMicros() >= 0
            ? c.firstStartMicros()
            : Math.max(result.endMicros(), c.job().submitMicros());
    return until - c.job().submitMicros();
  }

  private static PlanReport.Group group(
      List<JobCourse> of, Simulation.Result result, Double delivered) {
    double gpuSeconds = 0;
    for (JobCourse c : of) {
      for (JobCourse.Run run : c.runs()) {
        gpuSeconds += (run.toMicros() - run.fromMicros()) * run.gpus() / 1e6;
      }
    }
    return new PlanReport.Group(
        of.size(),
        (int) of.stream().filter(c -> c.firstStartMicros() < 0).count(),
        rounded(of.stream().mapToLong(c -> wait(c, result)).average().orElse(0) / 1e6),
        rounded(gpuSeconds),
        delivered);
  }

  private static Double delivered(Map<String, Object> summary, String account) {
    return summary.get("accounts") instanceof Map<?, ?> all
            && all.get(account) instanceof Map<?, ?> one
        ? number(one.get("delivered_over_entitled"), null)
        : null;
  }

  private static Double number(Object value, Double otherwise) {
    return value instanceof Number n ? (Double) n.doubleValue() : otherwise;
  }

  /** Seconds. */
  private static double rank(long[] sorted, int percent) {
    return sorted.length == 0 ? 0 : rounded(Figures.rank(sorted, percent) / 1e6);
  }

  private static double rounded(double value) {
    return Math.round(value * 1000) / 1000.0;
  }
}
