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
import evenhand.cycle.NewJob;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.SeenJob;
import evenhand.cycle.Token;
import evenhand.facts.Account;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.policy.Policy;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Runs one scenario and tells where the world differs from what it expects. */
final class ScenarioRun {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final Scenario scenario;
  private final Policy policy;
  private final List<Decided> settled = new ArrayList<>();
  private final ManualClock clock = new ManualClock(START);
  private final MemoryStore store = new MemoryStore();
  private final SimulatedCluster cluster = new SimulatedCluster(clock);
  private final Map<String, String> idOf = new HashMap<>();
  private final Map<String, String> nameOf = new HashMap<>();
  private final Map<String, Map<String, Integer>> held = new HashMap<>();
  private final List<String> differences = new ArrayList<>();
  private final Cycle cycle;
  private final Desk desk;

  ScenarioRun(Scenario scenario, Policy policy) {
    this.scenario = scenario;
    this.policy = new Witnessed(policy, settled);
    List<AccountSetup> accounts =
        scenario.accounts().stream()
            .map(a -> new AccountSetup(a.id(), a.parent(), a.weight()))
            .toList();
    store.setUp(scenario.tiers(), accounts, START);
    for (Account account : scenario.accounts()) {
      store.charge(account.id(), account.cumulativeUsage());
    }
    scenario
        .nodes()
        .forEach((node, gpus) -> gpus.forEach((tier, n) -> cluster.node(node, tier(tier), n)));
    this.cycle =
        new Cycle(
            store,
            cluster,
            Router.NONE,
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
    // The store learns the inventory from a cycle: without one, nothing would fit a first
    // submission.
    cycle.run();
    for (Step step : scenario.steps()) {
      clock.set(START.plus(step.at()));
      settled.clear();
      try {
        act(step);
        CycleReport report = cycle.run();
        if (report.decision() == null) {
          differ(step, "the cycle decided nothing: " + report.because());
        } else {
          compare(step, report);
        }
      } catch (Desk.Refused | IllegalArgumentException e) {
        differ(step, e.getMessage());
      }
      if (!differences.isEmpty()) {
        break; // what follows a difference differs because of it
      }
    }
    return differences;
  }

  private void differ(Step step, String what) {
    differences.add("step at " + step.at().toSeconds() + "s (line " + step.line() + "): " + what);
  }

  private void act(Step step) {
    step.node().forEach(cluster::state);
    step.free().forEach((node, gpus) -> gpus.forEach((t, n) -> hold(node, t, -n)));
    step.hold().forEach((node, gpus) -> gpus.forEach((t, n) -> hold(node, t, n)));
    step.charge().forEach(store::charge);
    step.finish().forEach(job -> end(job, SeenJob.State.COMPLETED, 0));
    step.fail()
        .forEach(
            (job, how) -> {
              switch (how) {
                case "oom" -> end(job, SeenJob.State.OUT_OF_MEMORY, 125);
                case "node" -> end(job, SeenJob.State.NODE_FAIL, null);
                default -> end(job, SeenJob.State.FAILED, 1);
              }
            });
    step.cancel().forEach(job -> desk.cancel(id(job), "scenario"));
    for (Submit submit : step.submit()) {
      submit(step, submit);
    }
    for (Submit submit : step.refuse()) {
      refused(step, submit);
    }
  }

  private void hold(String node, String tier, int more) {
    int now = held.computeIfAbsent(node, n -> new HashMap<>()).merge(tier, more, Integer::sum);
    if (now < 0) {
      throw new IllegalArgumentException("frees more GPUs on " + node + " than were held");
    }
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
    cluster.end(
        new Token(store.installation(), Long.parseLong(view.id()), view.attempt()),
        how,
        exitCode,
        how.name());
  }

  private NewJob newJob(Submit s) {
    String account =
        s.account() != null
            ? s.account()
            : scenario.accounts().size() == 1 ? scenario.accounts().get(0).id() : null;
    if (account == null) {
      throw new IllegalArgumentException("job " + s.job() + " names no account");
    }
    return new NewJob(
        s.job(),
        account,
        s.user(),
        s.role(),
        s.nodes(),
        s.numGpus(),
        s.tier(),
        s.minimumTier(),
        s.minRuntimeSeconds(),
        s.resumable(),
        s.priority(),
        null,
        "#!/bin/sh\n",
        List.of(),
        Map.of(),
        null);
  }

  private void submit(Step step, Submit submit) {
    if (idOf.containsKey(submit.job())) {
      throw new IllegalArgumentException("job " + submit.job() + " is submitted twice");
    }
    try {
      String id = desk.submit(newJob(submit), null).id();
      idOf.put(submit.job(), id);
      nameOf.put(id, submit.job());
    } catch (Desk.Refused e) {
      differ(step, "job " + submit.job() + " was refused (" + e.code() + "): " + e.getMessage());
    }
  }

  private void refused(Step step, Submit submit) {
    int before = store.jobs(null, null, 1_000_000, Long.MAX_VALUE).size();
    try {
      desk.submit(newJob(submit), null);
      differ(
          step,
          "job " + submit.job() + " must be refused with " + submit.code() + ", and was accepted");
    } catch (Desk.Refused e) {
      if (!Objects.equals(e.code(), submit.code())) {
        differ(
            step,
            "job " + submit.job() + " must be refused with " + submit.code() + ", not " + e.code());
      }
      if (store.jobs(null, null, 1_000_000, Long.MAX_VALUE).size() != before) {
        differ(step, "job " + submit.job() + " was refused, and is there all the same");
      }
    }
  }

  private void compare(Step step, CycleReport report) {
    List<Line> lines = new ArrayList<>();
    settled.forEach(d -> lines.add(line(d)));
    report.decision().outcomes().forEach(d -> lines.add(line(d)));
    if (step.expect() != null) {
      List<Line> left = new ArrayList<>(lines);
      for (Expected expected : step.expect()) {
        Line match = left.stream().filter(l -> l.matches(expected)).findFirst().orElse(null);
        if (match == null) {
          differ(
              step,
              "expected " + expected + ", which was not decided; decided were " + told(lines));
        } else {
          left.remove(match);
        }
      }
      for (Line line : left) {
        if (!line.type.equals("wait") && !line.type.equals("charge")) {
          differ(step, "decided, and not expected: " + line);
        }
      }
    }
    if (step.waits() != null) {
      for (Expected expected : step.waits()) {
        if (lines.stream().noneMatch(l -> l.matches(expected))) {
          differ(step, "expected " + expected + "; decided were " + told(lines));
        }
      }
    }
    after(step);
  }

  private void after(Step step) {
    if (step.accounts() != null) {
      Map<String, Double> usage = new HashMap<>();
      desk.accounts().forEach(a -> usage.put(a.id(), a.cumulativeUsage()));
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

  private static String told(List<Line> lines) {
    return lines.isEmpty()
        ? "none"
        : String.join("; ", lines.stream().map(Line::toString).toList());
  }

  /** An outcome in the scenario's own names. */
  private record Line(String type, Map<String, String> parts, String by) {
    boolean matches(Expected e) {
      return type.equals(e.type())
          && (e.by() == null || e.by().equals(by))
          && e.parts().entrySet().stream().allMatch(p -> same(p.getValue(), parts.get(p.getKey())));
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
      return type + " " + parts + " by " + by;
    }
  }

  private Line line(Decided decided) {
    Outcome o = decided.outcome();
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("job", nameOf.getOrDefault(o.job(), o.job()));
    String type;
    if (o instanceof Start start) {
      type = "start";
      parts.put("node", String.join(",", start.on().stream().map(Share::node).sorted().toList()));
      parts.put("tier", start.on().get(0).tier().name());
      parts.put("gpus", Integer.toString(start.on().get(0).gpus()));
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
      if (w.behind() != null) {
        parts.put("behind", nameOf.getOrDefault(w.behind(), w.behind()));
      }
    }
    return new Line(type, parts, decided.rule());
  }

  private static void on(Map<String, String> parts, String node, Tier tier, int gpus) {
    parts.put("node", node);
    parts.put("tier", tier.name());
    parts.put("gpus", Integer.toString(gpus));
  }
}
