package evenhand.cycle;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.policy.Policy;
import evenhand.policy.RuleFailed;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * One dispatch cycle, again and again: reads the cluster, follows our jobs, lets the policy decide,
 * writes decision, effects and orders down in one transaction, then carries the orders out. The
 * service, scenarios and the simulator run this one class; only what lies behind the ports differs.
 *
 * <p>Run by one thread at a time. What went wrong with the cluster or a rule is in the report; what
 * went wrong with the store is thrown, and nothing was decided.
 */
public final class Cycle {
  private static final int REPLANS = 5;
  private static final int MOST_STRAYS = 20;

  private final Store store;
  private final Cluster cluster;
  private final Supplier<Policy> policy;
  private final Recorder recorder;
  private final Clock clock;
  private final CycleSettings settings;
  private final Steps steps;
  private final Following following;
  private final Errands errands;
  private final Set<String> toldModels = new HashSet<>();
  private Map<String, Waiting> lastWaits = new HashMap<>();
  private volatile Latest latest = new Latest(null, null, null, null, Map.of());

  /**
   * The newest there is to tell.
   *
   * @param reading the last good reading, null before the first
   * @param decision the last decision, null before the first
   * @param decisionId of the last recorded one, null before the first
   * @param verdicts the last decision's verdict on each job it had in the queue, by job
   */
  public record Latest(
      CycleReport report,
      Reading reading,
      Decision decision,
      String decisionId,
      Map<String, Decided> verdicts) {}

  /**
   * @param policy the policy of the moment: it may be exchanged between cycles
   */
  public Cycle(
      Store store,
      Cluster cluster,
      Router router,
      Supplier<Policy> policy,
      Recorder recorder,
      Clock clock,
      CycleSettings settings) {
    this(store, cluster, router, policy, recorder, clock, settings, Steps.UNWATCHED);
  }

  /**
   * @param policy the policy of the moment: it may be exchanged between cycles
   * @param steps told how far a cycle has come
   */
  public Cycle(
      Store store,
      Cluster cluster,
      Router router,
      Supplier<Policy> policy,
      Recorder recorder,
      Clock clock,
      CycleSettings settings,
      Steps steps) {
    this.store = store;
    this.cluster = cluster;
    this.policy = policy;
    this.recorder = recorder;
    this.clock = clock;
    this.settings = settings;
    this.steps = steps;
    this.following = new Following(store.installation(), settings);
    this.errands = new Errands(store, cluster, router, policy, clock, settings, steps);
  }

  public CycleSettings settings() {
    return settings;
  }

  /** What the last cycles found, for questions. */
  public Latest latest() {
    return latest;
  }

  /** Runs one cycle. */
  public CycleReport run() {
    Pass pass = new Pass();
    CycleReport report = pass.run();
    Latest old = latest;
    boolean decided = report.decision() != null;
    latest =
        new Latest(
            report,
            pass.reading == null ? old.reading() : pass.reading,
            decided ? report.decision() : old.decision(),
            report.decisionId(),
            decided ? verdicts(report.decision()) : old.verdicts());
    return report;
  }

  /** The verdict on each job that a decision had in its queue. */
  static Map<String, Decided> verdicts(Decision decision) {
    Map<String, Decided> verdicts = new HashMap<>();
    for (Decided decided : decision.outcomes()) {
      Outcome outcome = decided.outcome();
      if (outcome instanceof Wait
          || outcome instanceof Start
          || outcome instanceof Reserve
          || outcome instanceof Claimed
          || outcome instanceof Absorb) {
        verdicts.put(outcome.job(), decided);
      }
    }
    return verdicts;
  }

  /** One run, and what it gathers on its way. */
  private final class Pass {
    private final long begun = System.nanoTime();
    private final Instant at = clock.instant().truncatedTo(ChronoUnit.MICROS);
    private final List<String> notes = new ArrayList<>();
    private final List<CycleReport.Ending> endings = new ArrayList<>();
    private CycleReport.Failure failure;
    private Reading reading;
    private long readNanos;
    private long decideNanos;
    private int orders;
    private final Map<Order.Kind, Integer> tried = new EnumMap<>(Order.Kind.class);
    private Snapshot snapshot;
    private Decision decision;
    private String decisionId = latest.decisionId();

    CycleReport run() {
      if (!store.lead()) {
        // Read all the same: its answers are as good as those of the process that decides, and it
        // has what it needs when it takes over.
        String blind = read();
        return report(
            CycleReport.Result.STANDBY,
            "another process decides" + (blind == null ? "" : "; and here " + blind));
      }
      steps.reached(Steps.Step.BEGUN);
      String unfit = read();
      steps.reached(Steps.Step.READ);
      if (unfit != null) {
        return report(CycleReport.Result.NO_READING, unfit);
      }
      Instant now = clock.instant().truncatedTo(ChronoUnit.MICROS);
      try {
        World world = world(now);
        Survey survey = survey(world);
        boolean changed = store.see(survey.stock(), survey.outside(world), reading.at());
        steps.reached(Steps.Step.SEEN);
        changed |= follow(changed ? world(now) : world, now);
        withdrawStrays();
        steps.reached(Steps.Step.AFTER_FOLLOWING);
        int carriedOut = errands.run(notes, tried);
        orders += carriedOut;
        World latest = changed || carriedOut > 0 ? world(now) : world;
        Changes drains = new Drains(latest, reading, now, notes).follow();
        if (!drains.isEmpty()) {
          store.commit(drains);
          latest = world(now);
        }
        decide(latest, now);
      } catch (Overtaken e) {
        return report(CycleReport.Result.OVERTAKEN, e.getMessage());
      } catch (RuleFailed e) {
        failure = CycleReport.Failure.of(e);
        return report(CycleReport.Result.RULE_FAILED, e.getMessage());
      }
      orders += errands.run(notes, tried);
      steps.reached(Steps.Step.ENDED);
      return report(CycleReport.Result.DECIDED, null);
    }

    /** Gives why nothing may be decided on the reading, or null. */
    private String read() {
      long from = System.nanoTime();
      try {
        Reading read = cluster.read();
        if (read.placements().isEmpty()) {
          return "the cluster showed no GPUs at all";
        }
        Duration age = Duration.between(read.at(), clock.instant());
        if (age.compareTo(settings.staleAfter()) > 0) {
          return "the reading is " + age.toSeconds() + " s old";
        }
        reading = read;
        return null;
      } catch (Cluster.ReadingFailed e) {
        return e.getMessage();
      } finally {
        readNanos = System.nanoTime() - from;
      }
    }

    private Survey survey(World world) {
      Survey survey = new Survey(reading, world.tiers(), store.installation(), world.drains());
      for (String model : survey.unknownModels()) {
        if (toldModels.add(model)) {
          notes.add("the cluster has " + model + ", which no tier names: shown, not used");
        }
      }
      return survey;
    }

    private World world(Instant now) {
      return store.load(settings.window(policy.get()).map(now::minus).orElse(null));
    }

    /** Gives whether anything has changed by it. */
    private boolean follow(World first, Instant now) {
      World world = first;
      for (int i = 0; ; i++) {
        Changes changes = following.follow(world, reading, cluster, policy.get(), now, notes);
        if (changes.isEmpty()) {
          return i > 0;
        }
        steps.reached(Steps.Step.BEFORE_FOLLOWING);
        try {
          store.commit(changes);
          endings.addAll(endings(changes));
          return true;
        } catch (Overtaken e) {
          if (i == REPLANS) {
            throw e;
          }
          world = world(now);
        }
      }
    }

    private void withdrawStrays() {
      int left = MOST_STRAYS;
      for (Map.Entry<String, Token> stray : following.strays().entrySet()) {
        if (left-- == 0) {
          return;
        }
        Cancellation answer = cluster.withdraw(stray.getKey(), stray.getValue());
        notes.add(
            "Slurm job "
                + stray.getKey()
                + " carries the name "
                + stray.getValue().text()
                + " and was never released; "
                + (answer instanceof Cancellation.Failed failed
                    ? "it could not be withdrawn: " + failed.because()
                    : "it is withdrawn"));
      }
    }

    private static List<CycleReport.Ending> endings(Changes changes) {
      Map<String, Double> charged = new HashMap<>();
      for (Changes.Charged c : changes.charges()) {
        charged.merge(c.charge().job(), c.charge().tflopSeconds(), Double::sum);
      }
      return changes.jobs().stream()
          .filter(j -> j.state().ended() || j.state() == JobState.GLOBAL_QUEUE_WAIT)
          .map(
              j ->
                  new CycleReport.Ending(
                      j.asks().id(),
                      j.asks().account(),
                      j.state(),
                      j.stateReason(),
                      charged.getOrDefault(j.asks().id(), 0.0)))
          .toList();
    }

    private void decide(World first, Instant now) {
      World world = first;
      for (int i = 0; ; i++) {
        Policy deciding = policy.get();
        steps.reached(Steps.Step.BEFORE_DECIDING);
        snapshot = survey(world).snapshot(world, deciding, settings, now);
        long from = System.nanoTime();
        Decision made = deciding.decide(snapshot);
        decideNanos = System.nanoTime() - from;
        try {
          Map<String, Waiting> waits = waits(made);
          Changes changes = effects(made, deciding, world, waits);
          steps.reached(Steps.Step.BEFORE_DECISION);
          if (!changes.isEmpty()) {
            String id = store.commit(changes);
            if (id != null) {
              decisionId = id;
            }
          }
          steps.reached(Steps.Step.AFTER_DECISION);
          lastWaits = waits;
          decision = made;
          return;
        } catch (Overtaken e) {
          if (i == REPLANS) {
            throw e;
          }
          world = world(now);
        }
      }
    }

    private CycleReport report(CycleReport.Result result, String because) {
      return new CycleReport(
          at,
          result,
          because,
          failure,
          reading == null ? null : reading.at(),
          decision == null ? null : snapshot,
          decision,
          decisionId,
          endings,
          orders,
          notes,
          readNanos / 1_000_000,
          decideNanos / 1_000_000,
          (System.nanoTime() - begun) / 1_000_000);
    }

    private Changes effects(
        Decision made, Policy deciding, World world, Map<String, Waiting> waits) {
      Map<String, StoredJob> jobs = new HashMap<>();
      world.jobs().forEach(j -> jobs.put(j.asks().id(), j));
      Map<String, Attempt> attempts = new HashMap<>();
      world.attempts().forEach(a -> attempts.put(Long.toString(a.job()), a));
      Changes changes =
          Effects.of(
              made,
              store.installation(),
              jobs,
              attempts,
              world.claim(),
              settings.leaving(deciding));
      Set<Long> said = new java.util.LinkedHashSet<>();
      boolean isNew = false;
      for (Decided decided : made.outcomes()) {
        Outcome outcome = decided.outcome();
        Waiting before = lastWaits.get(outcome.job());
        Waiting now = outcome instanceof Wait ? waits.get(outcome.job()) : null;
        isNew |= now == null || !now.equals(before);
        // When the first of the queue leaves, all others wait behind another: news, but not of
        // them.
        if (now == null || before == null || !now.sameReason(before)) {
          said.add(Long.parseLong(outcome.job()));
        }
      }
      if (isNew) {
        Decision named = made.on(recorder.hash(snapshot));
        changes.decided(
            new Changes.DecisionRecord(
                named,
                recorder.decision(named),
                recorder.snapshot(snapshot),
                List.copyOf(said),
                deciding.texts()));
      }
      return changes;
    }
  }

  /** Why a job waits, as far as a change of it is worth a record. */
  private record Waiting(String code, String rule, String behind) {
    boolean sameReason(Waiting other) {
      return code.equals(other.code) && rule.equals(other.rule);
    }
  }

  private static Map<String, Waiting> waits(Decision decision) {
    Map<String, Waiting> waits = new HashMap<>();
    for (Decided decided : decision.outcomes()) {
      if (decided.outcome() instanceof Wait wait) {
        waits.put(wait.job(), new Waiting(wait.code(), decided.rule(), wait.behind()));
      }
    }
    return waits;
  }
}
