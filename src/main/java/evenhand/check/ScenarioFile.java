package evenhand.check;

import evenhand.check.Scenario.Expected;
import evenhand.check.Scenario.Step;
import evenhand.check.Scenario.Submit;
import evenhand.facts.Account;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import evenhand.hostlist.HostList;
import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.InputFault;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.input.Value;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads a scenario from its YAML (FORMATS 3). */
public final class ScenarioFile {
  private ScenarioFile() {}

  private static final Field<Integer> SORT_ORDER =
      Field.whole("sort_order", -1_000_000, 1_000_000).or(0);
  private static final Field<Double> TFLOPS = Field.number("tflops", 0, 1e9).or(1.0);
  private static final Field<Integer> MAX_GPUS = Field.whole("max_gpus", 0, 1_000_000).or(8);
  private static final Field<Boolean> AUTO_ASSIGN = Field.flag("auto_assign").or(true);
  private static final Shape TIER = Shape.of("a tier", SORT_ORDER, TFLOPS, MAX_GPUS, AUTO_ASSIGN);

  private static final Field<Double> USAGE = Field.number("usage", 0, 1e300).or(0.0);
  private static final Field<Double> WEIGHT = Field.number("weight", 0, 1e300).or(1.0);
  private static final Field<String> PARENT = Field.text("parent").or(null);
  private static final Shape ACCOUNT = Shape.of("an account", USAGE, WEIGHT, PARENT);

  private static final Field<String> JOB = Field.text("job");
  private static final Field<String> OF_ACCOUNT = Field.text("account").or(null);
  private static final Field<String> USER = Field.text("user").or("someone");
  private static final Field<Integer> JOB_NODES = Field.whole("nodes", 1, 1_000_000).or(1);
  private static final Field<Integer> NUM_GPUS =
      Field.whole("num_gpus", -1_000_000, 1_000_000_000).or(1);
  private static final Field<String> JOB_TIER = Field.text("tier").or(null);
  private static final Field<String> MINIMUM_TIER = Field.text("minimum_tier").or(null);
  private static final Field<Duration> MIN_RUNTIME =
      Field.duration("min_runtime").or(Duration.ZERO);
  private static final Field<Duration> MIN_RUNTIME_S =
      Field.duration("min_runtime_s").or(Duration.ZERO);
  private static final Field<Boolean> RESUMABLE = Field.flag("resumable").or(false);
  private static final Field<Integer> PRIORITY =
      Field.whole("priority", -1_000_000, 1_000_000).or(0);
  private static final Field<String> ROLE = Field.text("role").or(null);
  private static final Field<String> CODE = Field.text("code").or(null);
  private static final Shape SUBMIT =
      Shape.of(
          "a submission",
          JOB,
          OF_ACCOUNT,
          USER,
          JOB_NODES,
          NUM_GPUS,
          JOB_TIER,
          MINIMUM_TIER,
          MIN_RUNTIME,
          MIN_RUNTIME_S,
          RESUMABLE,
          PRIORITY,
          ROLE,
          CODE);

  private static final String GPUS_RIGHT = "GPUs by node and tier, e.g. {n1: {4090: 1}}";
  private static final Field<Duration> AT = Field.duration("at");
  private static final Field<Value> SUBMITTED = Field.any("submit", "submissions").or(null);
  private static final Field<Value> REFUSED =
      Field.any("refuse", "submissions with a code").or(null);
  private static final Field<Value> HOLD = Field.any("hold", GPUS_RIGHT).or(null);
  private static final Field<Value> FREE = Field.any("free", GPUS_RIGHT).or(null);
  private static final Field<Value> IDLE = Field.any("idle", GPUS_RIGHT).or(null);
  private static final Field<Value> CHARGE =
      Field.any("charge", "TFLOP-seconds by account").or(null);
  private static final Field<Value> FINISH =
      Field.any("finish", "a job or a list of jobs").or(null);
  private static final Field<Value> CANCEL =
      Field.any("cancel", "a job or a list of jobs").or(null);
  private static final Field<Value> FAIL = Field.any("fail", "oom, node or error by job").or(null);
  private static final Field<Value> NODE = Field.any("node", "down, drain or up by node").or(null);
  private static final Field<Value> CYCLE = Field.any("cycle", "true").or(null);
  private static final Field<Value> EXPECT = Field.any("expect", "a list of outcomes").or(null);
  private static final Field<Value> WAITS = Field.any("waits", "wait codes by job").or(null);
  private static final Field<Value> USAGES = Field.any("accounts", "usage by account").or(null);
  private static final Field<Value> STATES = Field.any("states", "states by job").or(null);
  private static final Shape STEP =
      Shape.of(
          "a step", AT, SUBMITTED, REFUSED, HOLD, FREE, CHARGE, FINISH, FAIL, CANCEL, NODE, CYCLE,
          EXPECT, WAITS, USAGES, STATES, IDLE);

  private static final Field<String> TITLE = Field.text("title");
  private static final Field<List<String>> CLAUSES =
      Field.texts("clauses", 50, "a clause id", t -> !t.isBlank()).or(List.of());
  private static final Field<String> POLICY = Field.text("policy").or("reservation");
  private static final Field<Map<String, String>> SET =
      Field.textMap("set", 50, "a parameter", k -> true, "its value", v -> true).or(Map.of());
  private static final Field<Map<String, Section>> TIERS = Field.map("tiers", TIER);
  private static final Field<Value> NODES = Field.any("nodes", GPUS_RIGHT);
  private static final Field<Map<String, Section>> ACCOUNTS =
      Field.map("accounts", ACCOUNT).or(Map.of());
  private static final Field<List<Section>> STEPS = Field.list("steps", STEP);
  private static final Shape SCENARIO =
      Shape.of("a scenario", TITLE, CLAUSES, POLICY, SET, TIERS, NODES, ACCOUNTS, STEPS);

  private static final Set<String> TYPES =
      Set.of("start", "reserve", "absorb", "release", "preempt", "charge", "wait");
  private static final Set<String> PARTS =
      Set.of("job", "node", "tier", "gpus", "on", "for", "account", "tflop_s", "code", "behind");

  /**
   * Reads one scenario.
   *
   * @throws InputFault naming every fault with its line
   */
  public static Scenario read(String file, String text) {
    Document document = Document.yaml(file, text);
    Section s = document.read(SCENARIO);
    if (s == null) {
      document.check();
      throw new InputFault(file, 0, "", "is no scenario");
    }
    List<Tier> tiers = new ArrayList<>();
    s.get(TIERS)
        .forEach(
            (name, t) ->
                tiers.add(
                    new Tier(
                        name,
                        t.get(SORT_ORDER),
                        t.get(TFLOPS),
                        t.get(MAX_GPUS),
                        t.get(AUTO_ASSIGN),
                        null,
                        "gpu:" + name)));
    List<Account> accounts = new ArrayList<>();
    s.get(ACCOUNTS)
        .forEach(
            (id, a) ->
                accounts.add(new Account(id, a.get(PARENT), a.get(WEIGHT), a.get(USAGE), 0)));
    Map<String, Map<String, Integer>> nodes = gpus(s.get(NODES));
    List<Step> steps = s.get(STEPS).stream().map(ScenarioFile::step).toList();
    document.check();
    Scenario scenario =
        new Scenario(
            file,
            s.get(TITLE),
            s.get(CLAUSES),
            s.get(POLICY),
            s.get(SET),
            tiers,
            nodes,
            accounts,
            steps);
    refer(scenario);
    return scenario;
  }

  /** Names used must be names given. */
  private static void refer(Scenario s) {
    Set<String> tiers = new java.util.HashSet<>();
    s.tiers().forEach(t -> tiers.add(t.name()));
    s.nodes()
        .forEach(
            (node, gpus) ->
                gpus.keySet()
                    .forEach(
                        tier -> {
                          if (!tiers.contains(tier)) {
                            throw new InputFault(
                                s.file(),
                                0,
                                "nodes." + node,
                                "tier " + tier + " is not among tiers");
                          }
                        }));
    Duration last = Duration.ZERO;
    for (Step step : s.steps()) {
      if (step.at().compareTo(last) < 0) {
        throw new InputFault(s.file(), step.line(), "steps.at", "is before the step above it");
      }
      last = step.at();
    }
  }

  private static Step step(Section s) {
    return new Step(
        s.value().line(),
        s.get(AT),
        states(s.get(NODE)),
        gpus(s.get(FREE)),
        gpus(s.get(HOLD)),
        numbers(s.get(CHARGE)),
        names(s.get(FINISH)),
        words(s.get(FAIL), Set.of("oom", "node", "error")),
        names(s.get(CANCEL)),
        submissions(s.get(SUBMITTED)),
        submissions(s.get(REFUSED)),
        s.has(EXPECT) ? expected(s.get(EXPECT)) : null,
        s.has(WAITS) ? waits(s.get(WAITS)) : null,
        s.has(USAGES) ? numbers(s.get(USAGES)) : null,
        s.has(STATES) ? words(s.get(STATES), null) : null,
        s.has(IDLE) ? gpus(s.get(IDLE)) : null);
  }

  private static Map<String, NodeState> states(Value v) {
    Map<String, NodeState> states = new LinkedHashMap<>();
    words(v, Set.of("up", "down", "drain", "draining"))
        .forEach(
            (node, word) ->
                states.put(
                    node,
                    word.startsWith("drain")
                        ? NodeState.DRAINING
                        : word.equals("up") ? NodeState.UP : NodeState.DOWN));
    return states;
  }

  private static Map<String, Map<String, Integer>> gpus(Value v) {
    Map<String, Map<String, Integer>> gpus = new LinkedHashMap<>();
    for (Map.Entry<String, Value> node : members(v).entrySet()) {
      Map<String, Integer> byTier = new LinkedHashMap<>();
      numbers(node.getValue())
          .forEach(
              (tier, count) -> {
                if (count != Math.rint(count) || count < 0 || count > 1_000_000) {
                  node.getValue().fault("must be " + GPUS_RIGHT);
                }
                byTier.put(tier, count.intValue());
              });
      try {
        HostList.expand(node.getKey()).forEach(name -> gpus.put(name, byTier));
      } catch (IllegalArgumentException e) {
        node.getValue().fault(e.getMessage());
      }
    }
    return gpus;
  }

  private static Map<String, Value> members(Value v) {
    if (v == null) {
      return Map.of();
    }
    if (v.kind() != Value.Kind.OBJECT) {
      v.fault("must be an object");
      return Map.of();
    }
    return v.members();
  }

  private static Map<String, Double> numbers(Value v) {
    Map<String, Double> numbers = new LinkedHashMap<>();
    members(v)
        .forEach(
            (name, value) -> {
              try {
                numbers.put(name, Double.parseDouble(value.text().replace("_", "")));
              } catch (RuntimeException e) {
                value.fault("must be a number");
              }
            });
    return numbers;
  }

  private static Map<String, String> words(Value v, Set<String> known) {
    Map<String, String> words = new LinkedHashMap<>();
    members(v)
        .forEach(
            (name, value) -> {
              String word = scalar(value);
              if (known != null && !known.contains(word)) {
                value.fault("must be one of " + known.stream().sorted().toList());
              }
              words.put(name, word);
            });
    return words;
  }

  private static String scalar(Value v) {
    if (v.kind() == Value.Kind.LIST
        || v.kind() == Value.Kind.OBJECT
        || v.kind() == Value.Kind.NULL) {
      v.fault("must be a word or a number");
      return "";
    }
    return v.text();
  }

  private static List<Value> items(Value v) {
    if (v == null) {
      return List.of();
    }
    return v.kind() == Value.Kind.LIST ? v.items() : List.of(v);
  }

  private static List<String> names(Value v) {
    return items(v).stream().map(ScenarioFile::scalar).toList();
  }

  private static List<Submit> submissions(Value v) {
    List<Submit> submissions = new ArrayList<>();
    for (Value item : items(v)) {
      Section s = item.section(SUBMIT);
      if (s != null) {
        Duration protectedFor = s.has(MIN_RUNTIME) ? s.get(MIN_RUNTIME) : s.get(MIN_RUNTIME_S);
        submissions.add(
            new Submit(
                s.get(JOB),
                s.get(OF_ACCOUNT),
                s.get(USER),
                s.get(JOB_NODES),
                s.get(NUM_GPUS),
                s.get(JOB_TIER),
                s.get(MINIMUM_TIER),
                protectedFor.toSeconds(),
                s.get(RESUMABLE),
                s.get(PRIORITY),
                s.get(ROLE),
                s.get(CODE)));
      }
    }
    return submissions;
  }

  private static List<Expected> expected(Value v) {
    List<Expected> all = new ArrayList<>();
    for (Value item : items(v)) {
      String type = null;
      String by = null;
      Map<String, String> parts = new LinkedHashMap<>();
      for (Map.Entry<String, Value> member : members(item).entrySet()) {
        if (member.getKey().equals("by")) {
          by = scalar(member.getValue());
        } else if (TYPES.contains(member.getKey()) && type == null) {
          type = member.getKey();
          parts = parts(member.getValue());
        } else {
          member
              .getValue()
              .fault(
                  "is no outcome; an entry has one of "
                      + TYPES.stream().sorted().toList()
                      + " and by");
        }
      }
      if (type == null) {
        item.fault("names no outcome: one of " + TYPES.stream().sorted().toList());
      }
      all.add(new Expected(type, parts, by));
    }
    return all;
  }

  /** {@code jobA}, or an object of parts; {@code on} is a node, an object, or a list of objects. */
  private static Map<String, String> parts(Value v) {
    Map<String, String> parts = new LinkedHashMap<>();
    if (v.kind() != Value.Kind.OBJECT) {
      parts.put("job", scalar(v));
      return parts;
    }
    for (Map.Entry<String, Value> member : v.members().entrySet()) {
      if (!PARTS.contains(member.getKey())) {
        member
            .getValue()
            .fault("is no part of an outcome; there are " + PARTS.stream().sorted().toList());
      } else if (member.getKey().equals("on")) {
        on(member.getValue(), parts);
      } else {
        parts.put(member.getKey(), scalar(member.getValue()));
      }
    }
    return parts;
  }

  private static void on(Value v, Map<String, String> parts) {
    List<Value> shares = items(v);
    List<String> nodes = new ArrayList<>();
    for (Value share : shares) {
      if (share.kind() != Value.Kind.OBJECT) {
        nodes.add(scalar(share));
      } else {
        for (Map.Entry<String, Value> member : share.members().entrySet()) {
          switch (member.getKey()) {
            case "node" -> nodes.add(scalar(member.getValue()));
            case "tier", "gpus" -> parts.put(member.getKey(), scalar(member.getValue()));
            default -> member.getValue().fault("is no part of a share: node, tier, gpus");
          }
        }
      }
    }
    parts.put("node", String.join(",", nodes.stream().sorted().toList()));
  }

  /**
   * {@code {jobB: NOT_FIRST}}, {@code {jobB: {code: NOT_FIRST, by: R2}}}, or a list of such
   * objects.
   */
  private static List<Expected> waits(Value v) {
    List<Expected> waits = new ArrayList<>();
    if (v.kind() == Value.Kind.LIST) {
      for (Value item : v.items()) {
        waits.add(wait(null, item));
      }
    } else {
      members(v).forEach((job, value) -> waits.add(wait(job, value)));
    }
    return waits;
  }

  private static Expected wait(String job, Value v) {
    Map<String, String> parts = new LinkedHashMap<>();
    String by = null;
    if (job != null) {
      parts.put("job", job);
    }
    if (v.kind() != Value.Kind.OBJECT) {
      parts.put("code", scalar(v));
    } else {
      for (Map.Entry<String, Value> member : v.members().entrySet()) {
        switch (member.getKey()) {
          case "by", "rule" -> by = scalar(member.getValue());
          case "job", "code", "behind" -> parts.put(member.getKey(), scalar(member.getValue()));
          default -> member.getValue().fault("is no part of a wait: job, code, behind, by");
        }
      }
    }
    return new Expected("wait", parts, by);
  }
}
