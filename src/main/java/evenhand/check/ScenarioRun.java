package evenhand.check;

import evenhand.check.Scenario.Expected;
import evenhand.check.Scenario.Step;
import evenhand.check.Scenario.Submit;
import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleReport;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.cycle.Recorder;
import evenhand.cycle.SeenJob;
import evenhand.cycle.Token;
import evenhand.facts.Account;
import evenhand.facts.NodeState;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.input.Durations;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.outcomes.Yield;
import evenhand.policy.Policy;
import evenhand.policy.RuleFailed;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Runs one scenario and tells where the world differs from what it expects. */
final class ScenarioRun {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  /** Stands before the text where an answer is given whole, not in part. */
  private static final String WHOLE = "= ";

  private final Scenario scenario;
  private final Policy policy;
  private final List<Decided> settled = new ArrayList<>();
  private final ManualClock clock = new ManualClock(START);
  private final MemoryStore store = new MemoryStore();
  private final SimulatedCluster cluster = new SimulatedCluster(clock);
  private final Map<String, String> idOf = new HashMap<>();
  private final Map<String, String> nameOf = new HashMap<>();
  private final Map<String, Duration> leaves = new HashMap<>();
  private final Map<String, Map<String, Integer>> held = new HashMap<>();
  private final Map<String, Map<String, Integer>> capacity = new HashMap<>();
  private final Set<String> retired = new HashSet<>();
  private final List<Yield> told = new ArrayList<>();
  private final List<String> differences = new ArrayList<>();
  private final Cycle cycle;
  private final Desk desk;

  ScenarioRun(Scenario scenario, Policy policy) {
    this.scenario = scenario;
    this.policy = new Witnessed(policy, settled);
    List<Account> there = scenario.situation() == null ? scenario.accounts() : List.of();
    List<AccountSetup> accounts =
        there.stream().map(a -> new AccountSetup(a.id(), a.parent(), a.weight())).toList();
    store.setUp(scenario.tiers(), accounts, START);
    for (Account account : there) {
      store.charge(account.id(), account.cumulativeUsage());
      store.usedBefore(account.id(), account.windowUsage(), START);
    }
    scenario.nodes().forEach((node, gpus) -> gpus.forEach((t, n) -> exists(node, t, n)));
    cluster.leaveTimes(order -> leaves.get(order.jobName()));
    this.cycle =
        new Cycle(
            store,
            cluster,
            told::add,
            () -> this.policy,
            Recorder.NOTHING,
            clock,
            CycleSettings.DEFAULT);
    this.desk =
        new FrontDesk(store, () -> this.policy, cycle::latest, CycleSettings.DEFAULT, clock);
  }

  private Tier tier(String name) {
    return scenario.tiers().stream().filter(t -> t.name().equals(name)).findFirst().orElseThrow();
  }

  /** Runs it all; an empty list means that it went as written. */
  List<String> differences() {
    if (scenario.situation() != null) {
      return ofSituation();
    }
    // The store learns the inventory from a cycle: without one, nothing would fit a first
    // submission.
    cycle.run();
    for (Step step : scenario.steps()) {
      clock.set(START.plus(step.at()));
      settled.clear();
      told.clear();
      try {
        act(step);
        List<Line> decided = new ArrayList<>();
        for (int i = 0; i < step.cycles(); i++) {
          CycleReport report = cycle.run();
          if (report.decision() == null) {
            differ(step, "the cycle decided nothing: " + report.because());
            break;
          }
          report.decision().outcomes().forEach(d -> decided.add(line(d, false)));
        }
        if (differences.isEmpty()) {
          compare(step, decided);
        }
      } catch (Desk.Refused | RuleFailed | IllegalArgumentException e) {
        differ(step, e.getMessage());
      }
      if (!differences.isEmpty()) {
        break; // what follows a difference differs because of it
      }
    }
    return differences;
  }

  /** What is decided of a situation; nothing happens before it or after it. */
  private List<String> ofSituation() {
    Step step = scenario.steps().get(0);
    try {
      compare(
          step,
          policy.decide(scenario.situation()).outcomes().stream()
              .map(d -> line(d, false))
              .toList());
    } catch (RuleFailed e) {
      differ(step, e.getMessage());
    }
    return differences;
  }

  private void differ(Step step, String what) {
    differences.add(
        scenario.file()
            + ":"
            + step.line()
            + ": step at "
            + Durations.text(step.at().toSeconds())
            + ": "
            + what);
  }

  private void act(Step step) {
    step.inventory().forEach((node, gpus) -> gpus.forEach((t, n) -> exists(node, t, n)));
    step.node().forEach(this::state);
    step.free().forEach((node, gpus) -> gpus.forEach((t, n) -> hold(node, t, n, false)));
    step.hold().forEach((node, gpus) -> gpus.forEach((t, n) -> hold(node, t, n, true)));
    step.charge().forEach(store::charge);
    for (Submit submit : step.submit()) {
      submit(step, submit);
    }
    step.finish().forEach(job -> end(job, SeenJob.State.COMPLETED, 0));
    step.fail()
        .forEach(
            (job, how) -> {
              switch (how) {
                case "oom" -> end(job, SeenJob.State.OUT_OF_MEMORY, 125);
                case "node" -> end(job, SeenJob.State.NODE_FAIL, null);
                case "timeout" -> end(job, SeenJob.State.TIMEOUT, null);
                default -> end(job, SeenJob.State.FAILED, 1);
              }
            });
    step.cancel().forEach(this::cancel);
    for (Submit submit : step.refuse()) {
      refused(step, submit);
    }
  }

  private void exists(String node, String tier, int gpus) {
    capacity.computeIfAbsent(node, n -> new HashMap<>()).put(tier, gpus);
    if (!retired.contains(node)) {
      cluster.node(node, tier(tier), gpus);
    }
  }

  private void state(String node, String word) {
    if (word.equals("retired")) {
      cluster.remove(node);
      retired.add(node);
      return;
    }
    if (retired.remove(node)) {
      capacity.get(node).forEach((tier, gpus) -> cluster.node(node, tier(tier), gpus));
    }
    if (word.equals("closed")) {
      cluster.close(node);
      return;
    }
    cluster.state(
        node,
        switch (word) {
          case "up" -> NodeState.UP;
          case "drain" -> NodeState.DRAINING;
          default -> NodeState.DOWN;
        });
  }

  private void hold(String node, String tier, int gpus, boolean takes) {
    Map<String, Integer> here = held.computeIfAbsent(node, n -> new HashMap<>());
    int before = here.getOrDefault(tier, 0);
    int now = takes ? before + gpus : gpus == Scenario.ALL_HELD ? 0 : before - gpus;
    if (now < 0) {
      throw new IllegalArgumentException(
          "frees " + gpus + " of tier " + tier + " on " + node + ", where " + before + " are held");
    }
    int there = capacity.get(node).getOrDefault(tier, 0);
    if (takes && now > there) {
      throw new IllegalArgumentException(
          "holds " + now + " of tier " + tier + " on " + node + ", which has " + there);
    }
    here.put(tier, now);
    cluster.hold(node, tier(tier), now);
  }

  private String id(String job) {
    String id = idOf.get(job);
    if (id == null) {
      throw new IllegalArgumentException("there is no job " + job);
    }
    return id;
  }

  private void end(String job, SeenJob.State how, Integer exitCode) {
    Desk.JobView view = desk.job(id(job));
    if (view.state() != JobState.RUNNING && view.state() != JobState.DISPATCHING) {
      throw new IllegalArgumentException(
          "job " + job + " is " + view.state() + "; only a running job can end so");
    }
    cluster.end(token(view), how, exitCode, how.name());
  }

  private Token token(Desk.JobView view) {
    return new Token(store.installation(), Long.parseLong(view.id()), view.attempt());
  }

  /**
   * The cluster does at once what it is told of a running job: the GPUs are free in this step's
   * cycle, not only in the one after it.
   */
  private void cancel(String job) {
    Desk.JobView before = desk.job(id(job));
    if (before.state().ended()) {
      throw new IllegalArgumentException("job " + job + " is " + before.state() + " already");
    }
    desk.cancel(before.id(), "its user");
    if (!desk.job(before.id()).state().ended()) {
      cluster.end(token(before), SeenJob.State.CANCELLED, null, null);
    }
  }

  private static NewJob newJob(Submit s) {
    return new NewJob(
        s.job(),
        s.account(),
        s.user(),
        s.role(),
        s.nodes(),
        s.numGpus(),
        s.tier(),
        s.minimumTier(),
        s.minRuntimeSeconds(),
        s.resumable(),
        s.priority(),
        s.timeLimitSeconds(),
        "#!/bin/sh\n",
        List.of(),
        Map.of(),
        null,
        s.preemptible());
  }

  private void submit(Step step, Submit submit) {
    try {
      leaves.put(submit.job(), submit.leavesAfter());
      Desk.JobView job = desk.submit(newJob(submit), null);
      idOf.put(submit.job(), job.id());
      nameOf.put(job.id(), submit.job());
      says(step, submit, job.stateReason());
    } catch (Desk.Refused e) {
      differ(step, "job " + submit.job() + " was refused (" + e.code() + "): " + e.getMessage());
    }
  }

  private void says(Step step, Submit submit, String answer) {
    if (submit.says() == null) {
      return;
    }
    String wanted = submit.says();
    boolean right =
        wanted.isEmpty()
            ? answer == null
            : answer != null
                && (wanted.startsWith(WHOLE)
                    ? answer.equals(wanted.substring(WHOLE.length()))
                    : answer.contains(wanted));
    if (!right) {
      differ(
          step,
          "the answer to job "
              + submit.job()
              + (submit.says().isEmpty()
                  ? " must say nothing"
                  : " must say \"" + submit.says() + "\"")
              + (answer == null ? ", and says nothing" : "; it says \"" + answer + "\""));
    }
  }

  private void refused(Step step, Submit submit) {
    int before = store.jobs(null, null, null, Integer.MAX_VALUE, Long.MAX_VALUE).size();
    String of = "job " + submit.job();
    try {
      desk.submit(newJob(submit), null);
      differ(
          step,
          of
              + " must be refused"
              + (submit.code() == null ? "" : " with " + submit.code())
              + ", and was accepted");
    } catch (Desk.Refused e) {
      if (submit.code() != null && !submit.code().equals(e.code())) {
        differ(step, of + " must be refused with " + submit.code() + ", not " + e.code());
      }
      if (submit.field() != null && !submit.field().equals(e.field())) {
        differ(step, of + " must be refused for " + submit.field() + ", not " + e.field());
      }
      if (submit.by() != null && !submit.by().equals(e.rule())) {
        differ(step, of + " must be refused by " + submit.by() + ", not " + e.rule());
      }
      says(step, submit, e.getMessage());
      if (store.jobs(null, null, null, Integer.MAX_VALUE, Long.MAX_VALUE).size() != before) {
        differ(step, of + " was refused, and is there all the same");
      }
    }
  }

  private void compare(Step step, List<Line> decided) {
    List<Line> lines = new ArrayList<>();
    settled.forEach(d -> lines.add(line(d, true)));
    lines.addAll(decided);
    if (step.expect() != null) {
      for (Line line : unexpected(step, step.expect(), lines)) {
        if (!line.type.equals("wait") && !line.type.equals("charge") && !line.atEnd) {
          differ(step, "decided, and not expected: " + line);
        }
      }
    }
    if (step.waits() != null) {
      unexpected(step, step.waits(), lines);
    }
    if (step.yields() != null) {
      List<Line> yields = told.stream().map(this::line).toList();
      unexpected(step, step.yields(), yields)
          .forEach(line -> differ(step, "told the router, and not expected: " + line));
    }
    after(step);
  }

  /** Tells of each expected line that is not there; gives those that nobody expected. */
  private List<Line> unexpected(Step step, List<Expected> expected, List<Line> lines) {
    List<Line> left = new ArrayList<>(lines);
    // What says most goes first, so that a vague entry does not take the line of a precise one.
    for (Expected e :
        expected.stream().sorted(Comparator.comparingInt((Expected x) -> -weight(x))).toList()) {
      Line match = left.stream().filter(l -> l.matches(e)).findFirst().orElse(null);
      if (match == null) {
        differ(step, "expected " + e + "; there were " + all(lines));
      } else {
        left.remove(match);
      }
    }
    return left;
  }

  private static int weight(Expected e) {
    return e.parts().size() + (e.by() == null ? 0 : 1);
  }

  private void after(Step step) {
    if (step.accounts() != null) {
      Map<String, Double> usage = new HashMap<>();
      store.load(null).accounts().forEach(a -> usage.put(a.id(), a.cumulativeUsage()));
      step.accounts()
          .forEach(
              (account, expected) -> {
                Double is = usage.get(account);
                if (is == null || Math.abs(is - expected) > 1e-6 * Math.max(1, expected)) {
                  differ(
                      step, "account " + account + " must have used " + expected + ", has " + is);
                }
              });
    }
    if (step.states() != null) {
      step.states()
          .forEach(
              (job, expected) -> {
                String is = desk.job(id(job)).state().name();
                if (!is.equals(expected)) {
                  differ(step, "job " + job + " must be " + expected + ", is " + is);
                }
              });
    }
    if (step.idle() != null) {
      Map<String, Integer> idle = new HashMap<>();
      desk.placements().forEach(p -> idle.put(p.node() + " " + p.tier(), p.idle()));
      step.idle()
          .forEach(
              (node, gpus) ->
                  gpus.forEach(
                      (tier, n) -> {
                        Integer is = idle.get(node + " " + tier);
                        if (!Objects.equals(is, n)) {
                          differ(
                              step,
                              "idle on " + node + " of " + tier + " must be " + n + ", is " + is);
                        }
                      }));
    }
  }

  private static String all(List<Line> lines) {
    return lines.isEmpty()
        ? "none"
        : String.join("; ", lines.stream().map(Line::toString).toList());
  }

  /**
   * An outcome in the scenario's own names.
   *
   * @param atEnd whether the end of a job brought it, and no cycle decided it
   */
  private record Line(
      String type, Map<String, String> parts, String by, String message, boolean atEnd) {
    boolean matches(Expected e) {
      return type.equals(e.type())
          && (e.by() == null || e.by().equals(by))
          && e.parts().entrySet().stream().allMatch(p -> has(p.getKey(), p.getValue()));
    }

    private boolean has(String part, String expected) {
      return part.equals("says")
          ? message != null && message.contains(expected)
          : same(expected, parts.get(part));
    }

    private static boolean same(String expected, String is) {
      if (Objects.equals(expected, is)) {
        return true;
      }
      try {
        double e = Double.parseDouble(expected);
        return is != null
            && Math.abs(Double.parseDouble(is) - e) <= 1e-6 * Math.max(1, Math.abs(e));
      } catch (NumberFormatException notNumbers) {
        return false;
      }
    }

    @Override
    public String toString() {
      return Scenario.told(type, parts, by) + (message == null ? "" : " (" + message + ")");
    }
  }

  private Line line(Yield y) {
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("job", nameOf.getOrDefault(y.job(), y.job()));
    parts.put("node", y.node());
    parts.put("tier", y.tier());
    parts.put("gpus", Integer.toString(y.gpus()));
    return new Line("yield", parts, null, null, false);
  }

  private Line line(Decided decided, boolean atEnd) {
    Outcome o = decided.outcome();
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("job", nameOf.getOrDefault(o.job(), o.job()));
    String type;
    String message = null;
    if (o instanceof Start start) {
      type = "start";
      parts.put("node", String.join(",", start.on().stream().map(Share::node).sorted().toList()));
      parts.put("tier", start.on().get(0).tier().name());
      parts.put("gpus", Integer.toString(start.on().get(0).gpus()));
    } else if (o instanceof Claimed c) {
      type = "claim";
      parts.put("node", String.join(",", c.on().stream().map(Share::node).sorted().toList()));
      parts.put("tier", c.on().get(0).tier().name());
      parts.put("gpus", Integer.toString(c.on().get(0).gpus()));
      message = "not later than " + c.readyAt();
    } else if (o instanceof Reserve r) {
      type = "reserve";
      on(parts, r.node(), r.tier(), r.gpus());
    } else if (o instanceof Absorb a) {
      type = "absorb";
      on(parts, a.node(), a.tier(), a.gpus());
    } else if (o instanceof Release r) {
      type = "release";
      on(parts, r.node(), r.tier(), r.gpus());
    } else if (o instanceof Preempt p) {
      type = "preempt";
      parts.put("for", nameOf.getOrDefault(p.forJob(), p.forJob()));
    } else if (o instanceof Charge c) {
      type = "charge";
      parts.put("account", c.account());
      parts.put("tflop_s", Double.toString(c.tflopSeconds()));
    } else {
      Wait w = (Wait) o;
      type = "wait";
      parts.put("code", w.code());
      message = w.message();
      if (w.behind() != null) {
        parts.put("behind", nameOf.getOrDefault(w.behind(), w.behind()));
      }
    }
    return new Line(type, parts, decided.rule(), message, atEnd);
  }

  private static void on(Map<String, String> parts, String node, Tier tier, int gpus) {
    parts.put("node", node);
    parts.put("tier", tier.name());
    parts.put("gpus", Integer.toString(gpus));
  }
}
