package evenhand.check;

import evenhand.check.Scenario.Expected;
import evenhand.check.Scenario.Step;
import evenhand.check.Scenario.Submit;
import evenhand.cycle.JobState;
import evenhand.facts.Account;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.hostlist.HostList;
import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.InputFault;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.input.Spelling;
import evenhand.input.Value;
import evenhand.json.SnapshotJson;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads a scenario from its YAML. Where the format leaves open how something is written, every
 * spelling that can only mean one thing is read: one thing or a list of them, a job by its name or
 * as an object, GPUs with or without a tier where a node has but one. Names that stand for nothing
 * (a node, tier, account or job that is not there at that step) are faults, each at its line.
 */
public final class ScenarioFile {
  /** A step that does not say when is one cycle of the service after the step above it. */
  private static final Duration INTERVAL = Duration.ofSeconds(5);

  private static final Field<Integer> SORT_ORDER =
      Field.whole("sort_order", -1_000_000, 1_000_000).or(0);
  private static final Field<Double> TFLOPS = Field.number("tflops", 0, 1e9).or(1.0);
  private static final Field<Integer> MAX_GPUS = Field.whole("max_gpus", 0, 1_000_000).or(8);
  private static final Field<Boolean> AUTO_ASSIGN = Field.flag("auto_assign").or(true);
  private static final Field<String> PARTITION = Field.text("partition").or(null);
  private static final Field<String> GRES = Field.text("gres").or(null);
  private static final Shape TIER =
      Shape.of("a tier", SORT_ORDER, TFLOPS, MAX_GPUS, AUTO_ASSIGN, PARTITION, GRES);

  private static final Field<Double> USAGE = Field.number("usage", 0, 1e300).or(0.0);
  private static final Field<Double> CUMULATIVE_USAGE =
      Field.number("cumulative_usage", 0, 1e300).or(0.0);
  private static final Field<Double> WINDOW_USAGE = Field.number("window_usage", 0, 1e300).or(0.0);
  private static final Field<Double> WEIGHT = Field.number("weight", 0, 1e300).or(1.0);
  private static final Field<String> PARENT = Field.text("parent").or(null);
  private static final Field<Value> CHILDREN =
      Field.any("children", "the accounts below it").or(null);
  private static final Shape ACCOUNT =
      Shape.of("an account", USAGE, CUMULATIVE_USAGE, WINDOW_USAGE, WEIGHT, PARENT, CHILDREN);

  private static final Field<String> JOB = Field.text("job");
  private static final Field<String> OF_ACCOUNT = Field.text("account").or(null);
  private static final Field<String> USER = Field.text("user").or("someone");
  private static final Field<Integer> JOB_NODES = Field.whole("nodes", 1, 1_000_000).or(1);
  private static final Field<Integer> NUM_GPUS =
      Field.whole("num_gpus", -1_000_000, 1_000_000_000).or(1);
  private static final Field<String> JOB_TIER = Field.text("tier").or(null);
  private static final Field<String> MINIMUM_TIER = Field.text("minimum_tier").or(null);
  private static final Field<Integer> MINIMUM_SORT_ORDER =
      Field.whole("minimum_tier_sort_order", -1_000_000, 1_000_000).or(0);
  private static final Field<Duration> MIN_RUNTIME =
      Field.duration("min_runtime").or(Duration.ZERO);
  private static final Field<Duration> MIN_RUNTIME_S =
      Field.duration("min_runtime_s").or(Duration.ZERO);
  private static final Field<Boolean> RESUMABLE = Field.flag("resumable").or(false);
  private static final Field<Boolean> PREEMPTIBLE = Field.flag("preemptible").or(true);
  private static final Field<Integer> PRIORITY =
      Field.whole("priority", -1_000_000, 1_000_000).or(0);
  private static final Field<Duration> TIME_LIMIT = Field.duration("time_limit").or(null);
  private static final Field<Duration> TIME_LIMIT_S = Field.duration("time_limit_s").or(null);
  private static final Field<Duration> LEAVES_AFTER =
      Field.duration("leaves_after").or(Duration.ZERO);
  private static final Field<String> ROLE = Field.text("role").or(null);
  private static final Field<String> CODE = Field.text("code").or(null);
  private static final Field<String> BY = Field.text("by").or(null);
  private static final Field<String> FIELD = Field.text("field").or(null);
  private static final Field<String> SAYS =
      Field.text(
              "says",
              "part of the answer, \"= \" and the whole of it, or \"\" for none",
              t -> t.length() <= 400)
          .or(null);
  private static final List<Field<?>> ASKED =
      List.of(
          JOB,
          OF_ACCOUNT,
          USER,
          JOB_NODES,
          NUM_GPUS,
          JOB_TIER,
          MINIMUM_TIER,
          MINIMUM_SORT_ORDER,
          MIN_RUNTIME,
          MIN_RUNTIME_S,
          RESUMABLE,
          PREEMPTIBLE,
          PRIORITY,
          TIME_LIMIT,
          TIME_LIMIT_S,
          LEAVES_AFTER,
          ROLE,
          SAYS);
  private static final Shape SUBMIT = Shape.of("a submission", ASKED.toArray(Field<?>[]::new));
  private static final Shape REFUSE =
      Shape.of(
          "a submission that is refused",
          Stream.concat(ASKED.stream(), Stream.of(CODE, FIELD, BY)).toArray(Field<?>[]::new));

  private static final String GPUS_RIGHT = "GPUs by node and tier, e.g. {n1: {4090: 1}}";
  private static final Field<Duration> AT = Field.duration("at").or(null);
  private static final Field<Value> SUBMITTED = Field.any("submit", "submissions").or(null);
  private static final Field<Value> REFUSED =
      Field.any("refuse", "submissions with a code").or(null);
  private static final Field<Value> INVENTORY = Field.any("nodes", GPUS_RIGHT).or(null);
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
  private static final Field<Value> CYCLE = Field.any("cycle", "true, or how many").or(null);
  private static final Field<Value> EXPECT = Field.any("expect", "a list of outcomes").or(null);
  private static final Field<Value> WAITS = Field.any("waits", "wait codes by job").or(null);
  private static final Field<Value> YIELDS =
      Field.any("yields", "what the LLM router is told").or(null);
  private static final Field<Value> USAGES = Field.any("accounts", "usage by account").or(null);
  private static final Field<Value> STATES = Field.any("states", "states by job").or(null);

  /** What a step claims: one left empty would claim nothing, and pass. */
  private static final List<Field<Value>> CLAIMS =
      List.of(EXPECT, WAITS, YIELDS, USAGES, STATES, IDLE);

  private static final Shape STEP =
      Shape.of(
          "a step", AT, SUBMITTED, REFUSED, INVENTORY, HOLD, FREE, CHARGE, FINISH, FAIL, CANCEL,
          NODE, CYCLE, EXPECT, WAITS, YIELDS, USAGES, STATES, IDLE);

  private static final Field<String> TITLE = Field.text("title").or(null);
  private static final Field<Value> CLAUSES = Field.any("clauses", "clause ids").or(null);
  private static final Field<String> POLICY = Field.text("policy").or("reservation");
  private static final Field<Value> SET = Field.any("set", "parameters and choices").or(null);
  private static final Field<Value> TIERS = Field.any("tiers", "tiers by name").or(null);
  private static final Field<Value> NODES = Field.any("nodes", GPUS_RIGHT).or(null);
  private static final Field<Value> ACCOUNTS = Field.any("accounts", "accounts by name").or(null);
  private static final Field<List<Section>> STEPS = Field.list("steps", STEP).or(null);
  private static final Field<Value> SITUATION =
      Field.any("situation", "a snapshot, as decide takes it").or(null);
  private static final Shape SCENARIO =
      Shape.of(
          "a scenario",
          TITLE,
          CLAUSES,
          POLICY,
          SET,
          TIERS,
          NODES,
          ACCOUNTS,
          STEPS,
          SITUATION,
          EXPECT,
          WAITS);

  private static final Set<String> TYPES =
      new TreeSet<>(
          Set.of("start", "reserve", "absorb", "claim", "release", "preempt", "charge", "wait"));
  private static final Set<String> PARTS =
      new TreeSet<>(
          Set.of(
              "job", "node", "tier", "gpus", "on", "for", "account", "tflop_s", "code", "behind",
              "says"));
  private static final Set<String> CLAUSE_WORDS = Set.of("by", "rule");

  private static final Map<String, String> NODE_WORDS =
      Map.of(
          "up", "up",
          "down", "down",
          "drain", "drain",
          "draining", "drain",
          "drained", "drain",
          "closed", "closed",
          "retired", "retired");
  private static final Set<String> DEATHS = Set.of("oom", "node", "error", "timeout");

  private final String file;
  private final Document document;
  private final Map<String, Tier> tiers = new LinkedHashMap<>();
  private final Map<String, Account> accounts = new LinkedHashMap<>();
  private final Map<String, Set<String>> tiersOf = new LinkedHashMap<>();
  private final Set<String> jobs = new LinkedHashSet<>();

  private ScenarioFile(String file, Document document) {
    this.file = file;
    this.document = document;
  }

  /**
   * Reads one scenario.
   *
   * @throws InputFault naming every fault with its line
   */
  public static Scenario read(String file, String text) {
    return new ScenarioFile(file, Document.yaml(file, text)).scenario();
  }

  private Scenario scenario() {
    Section s = document.read(SCENARIO);
    if (s.has(SITUATION)) {
      return situation(s);
    }
    for (Field<?> needed : List.of(TIERS, NODES, STEPS)) {
      if (!s.has(needed)) {
        s.fault(
            needed.name() + " is missing; a scenario has tiers, nodes and steps, or a situation");
      }
    }
    for (Field<?> wrong : List.of(EXPECT, WAITS)) {
      if (s.has(wrong)) {
        s.fault(wrong, "stands in a step where there is no situation");
      }
    }
    document.check();
    members(s.get(TIERS)).forEach(this::tier);
    accounts(s.get(ACCOUNTS), null);
    document.check(); // all that follows refers to these
    if (!accounts.isEmpty()) {
      parents(s.get(ACCOUNTS));
    }
    Map<String, Map<String, Integer>> nodes = inventory(s.get(NODES));
    document.check();
    List<Step> steps = new ArrayList<>();
    Duration last = null;
    for (Section step : s.get(STEPS)) {
      steps.add(step(step, last));
      last = steps.get(steps.size() - 1).at();
    }
    document.check();
    return new Scenario(
        file,
        s.get(TITLE) == null ? file : s.get(TITLE),
        names(s.get(CLAUSES)),
        s.get(POLICY),
        settings(s.get(SET)),
        List.copyOf(tiers.values()),
        nodes,
        parentsFirst(),
        steps,
        null);
  }

  /** One decision, on all that a cycle knew. */
  private Scenario situation(Section s) {
    for (Field<?> wrong : List.of(TIERS, NODES, ACCOUNTS, STEPS)) {
      if (s.has(wrong)) {
        s.fault(wrong, "cannot stand beside a situation, which has its own");
      }
    }
    Snapshot read = SnapshotJson.readWithin(s.get(SITUATION));
    document.check();
    read.tiers().forEach(t -> tiers.put(t.name(), t));
    read.accounts().forEach(a -> accounts.put(a.id(), a));
    read.placements().forEach(p -> exists(p.node(), p.tier().name()));
    read.reservations().forEach(r -> exists(r.node(), r.tier().name()));
    read.running().forEach(r -> r.on().forEach(o -> exists(o.node(), o.tier().name())));
    read.claims().forEach(c -> c.on().forEach(o -> exists(o.node(), o.tier().name())));
    read.jobs().forEach(j -> jobs.add(j.id()));
    read.running().forEach(r -> jobs.add(r.job()));
    read.reservations().forEach(r -> jobs.add(r.job()));
    read.claims().forEach(c -> jobs.add(c.job()));
    List<Expected> expect = blank(s.get(EXPECT)) ? null : expected(s.get(EXPECT));
    List<Expected> waits = blank(s.get(WAITS)) ? null : waits(s.get(WAITS));
    if (expect == null && waits == null) {
      s.fault("claims nothing; write expect (`[]` for nothing), or waits");
    }
    document.check();
    String policy = s.get(POLICY);
    return new Scenario(
        file,
        s.get(TITLE) == null ? file : s.get(TITLE),
        names(s.get(CLAUSES)),
        policy,
        settings(s.get(SET)),
        read.tiers(),
        Map.of(),
        read.accounts(),
        List.of(decides(s.value().line(), expect, waits)),
        new Snapshot(
            policy,
            read.now(),
            read.cluster(),
            read.tiers(),
            read.placements(),
            read.accounts(),
            read.jobs(),
            read.reservations(),
            read.running(),
            read.claims(),
            read.workStays()));
  }

  private void exists(String node, String tier) {
    tiersOf.computeIfAbsent(node, n -> new LinkedHashSet<>()).add(tier);
  }

  /** A step in which nothing happens but a decision. */
  private static Step decides(int line, List<Expected> expect, List<Expected> waits) {
    return new Step(
        line,
        Duration.ZERO,
        Map.of(),
        Map.of(),
        Map.of(),
        Map.of(),
        Map.of(),
        List.of(),
        List.of(),
        Map.of(),
        List.of(),
        List.of(),
        1,
        expect,
        waits,
        null,
        null,
        null,
        null);
  }

  private void tier(String name, Value v) {
    if (blank(v)) {
      tiers.put(name, new Tier(name, 0, 1, 8, true, null, "gpu:" + name));
      return;
    }
    Section t = v.section(TIER);
    if (t != null) {
      tiers.put(
          name,
          new Tier(
              name,
              t.get(SORT_ORDER),
              t.get(TFLOPS),
              t.get(MAX_GPUS),
              t.get(AUTO_ASSIGN),
              t.get(PARTITION),
              t.get(GRES) == null ? "gpu:" + name : t.get(GRES)));
    }
  }

  /**
   * {@code window_usage}: GPU-seconds it was charged at the very start, for the window of A3.
   * {@code {BCG: {usage: 24000}}}, {@code {BCG: 24000}}, {@code [BCG]}, or a tree by children.
   */
  private void accounts(Value v, String parent) {
    if (v != null && v.kind() == Value.Kind.LIST) {
      v.items().forEach(item -> account(scalar(item), parent, 1, 0, 0, item));
      return;
    }
    members(v)
        .forEach(
            (name, value) -> {
              if (blank(value)) {
                account(name, parent, 1, 0, 0, value);
              } else if (value.kind() != Value.Kind.OBJECT) {
                account(name, parent, 1, number(value), 0, value);
              } else {
                Section a = value.section(ACCOUNT);
                if (a != null) {
                  double usage = a.has(USAGE) ? a.get(USAGE) : a.get(CUMULATIVE_USAGE);
                  String above = a.get(PARENT) == null ? parent : a.get(PARENT);
                  account(name, above, a.get(WEIGHT), usage, a.get(WINDOW_USAGE), value);
                  accounts(a.get(CHILDREN), name);
                }
              }
            });
  }

  private void account(
      String name, String parent, double weight, double usage, double window, Value at) {
    if (accounts.put(name, new Account(name, parent, weight, usage, window)) != null) {
      at.fault("account " + name + " stands here twice");
    }
  }

  private void parents(Value at) {
    for (Account account : accounts.values()) {
      Set<String> above = new LinkedHashSet<>();
      String next = account.id();
      while (next != null && above.add(next)) {
        Account known = accounts.get(next);
        if (known == null) {
          at.fault(
              "account "
                  + account.id()
                  + ": there is no account "
                  + next
                  + "; "
                  + Spelling.hint(next, accounts.keySet()));
          return;
        }
        next = known.parent();
      }
      if (next != null) {
        at.fault("account " + account.id() + " is its own ancestor");
        return;
      }
    }
  }

  private List<Account> parentsFirst() {
    Map<String, Account> ordered = new LinkedHashMap<>();
    while (ordered.size() < accounts.size()) {
      accounts.values().stream()
          .filter(a -> a.parent() == null || ordered.containsKey(a.parent()))
          .forEach(a -> ordered.putIfAbsent(a.id(), a));
    }
    return List.copyOf(ordered.values());
  }

  /** A choice may be written as a list of its keys. */
  private static Map<String, String> settings(Value v) {
    Map<String, String> settings = new LinkedHashMap<>();
    members(v)
        .forEach(
            (name, value) ->
                settings.put(
                    name,
                    items(value).stream()
                        .map(ScenarioFile::scalar)
                        .collect(Collectors.joining(","))));
    return settings;
  }

  private Step step(Section s, Duration last) {
    Duration at = s.get(AT);
    if (at == null) {
      at = last == null ? Duration.ZERO : last.plus(INTERVAL);
    } else if (last != null && at.compareTo(last) < 0) {
      s.fault(AT, "is before the step above it, which is at " + last.toSeconds() + "s");
    }
    for (Field<Value> claim : CLAIMS) {
      Value written = s.value().members().get(claim.name());
      if (written != null && blank(written)) {
        written.fault(
            claim == EXPECT || claim == YIELDS
                ? "says nothing; write `" + claim.name() + ": []` for nothing, or leave it out"
                : "says nothing; leave it out where nothing is claimed");
      }
    }
    // What is there comes first: the parts after it refer to it.
    Map<String, Map<String, Integer>> inventory = inventory(s.get(INVENTORY));
    List<Submit> submit = submissions(s.get(SUBMITTED), SUBMIT);
    return new Step(
        s.value().line(),
        at,
        inventory,
        nodeStates(s.get(NODE)),
        freed(s.get(FREE)),
        gpus(s.get(HOLD)),
        usages(s.get(CHARGE)),
        submit,
        jobs(s.get(FINISH)),
        deaths(s.get(FAIL)),
        jobs(s.get(CANCEL)),
        submissions(s.get(REFUSED), REFUSE),
        cycles(s.get(CYCLE)),
        blank(s.get(EXPECT)) ? null : expected(s.get(EXPECT)),
        blank(s.get(WAITS)) ? null : waits(s.get(WAITS)),
        blank(s.get(YIELDS)) ? null : yields(s.get(YIELDS)),
        blank(s.get(USAGES)) ? null : usages(s.get(USAGES)),
        blank(s.get(STATES)) ? null : jobStates(s.get(STATES)),
        blank(s.get(IDLE)) ? null : gpus(s.get(IDLE)));
  }

  /** {@code cycle: true}, {@code cycle: {}}, or how many. */
  private static int cycles(Value v) {
    if (blank(v)
        || v.kind() == Value.Kind.FLAG && Boolean.parseBoolean(v.text())
        || v.kind() == Value.Kind.OBJECT && v.members().isEmpty()
        || v.kind() == Value.Kind.LIST && v.items().isEmpty()) {
      return 1;
    }
    if (v.kind() == Value.Kind.NUMBER) {
      double n = number(v);
      if (n >= 1 && n <= 1000 && n == Math.rint(n)) {
        return (int) n;
      }
    }
    v.fault("must be true, or how many cycles run at this moment, 1 to 1000");
    return 1;
  }

  // ---------------------------------------------------------------- names that must be there

  private static void known(Value at, String what, String name, Collection<String> names) {
    if (!names.contains(name)) {
      at.fault("there is no " + what + " " + name + "; " + Spelling.hint(name, names));
    }
  }

  private String job(Value v) {
    String job = v.kind() == Value.Kind.OBJECT ? onlyJob(v) : scalar(v);
    known(v, "job", job, jobs);
    return job;
  }

  private static String onlyJob(Value v) {
    Value job = v.members().get("job");
    if (job == null || v.members().size() > 1) {
      v.fault("must be a job's name, or {job: name}");
      return "";
    }
    return scalar(job);
  }

  private List<String> jobs(Value v) {
    return items(v).stream().map(this::job).toList();
  }

  // ---------------------------------------------------------------- GPUs by node and tier

  private static List<String> hosts(String name, Value at) {
    try {
      return HostList.expand(name);
    } catch (IllegalArgumentException e) {
      at.fault(e.getMessage());
      return List.of();
    }
  }

  private static int count(Value v) {
    double n = number(v);
    if (n != Math.rint(n) || n < 0 || n > 1_000_000) {
      v.fault("must be a whole number of GPUs");
      return 0;
    }
    return (int) n;
  }

  /** GPUs that exist; nodes and placements that are new are known from here on. */
  private Map<String, Map<String, Integer>> inventory(Value v) {
    Map<String, Map<String, Integer>> inventory = new LinkedHashMap<>();
    for (Map.Entry<String, Value> node : members(v).entrySet()) {
      for (String name : hosts(node.getKey(), node.getValue())) {
        for (Map.Entry<String, Value> gpus : members(node.getValue()).entrySet()) {
          known(gpus.getValue(), "tier", gpus.getKey(), tiers.keySet());
          Integer before =
              inventory
                  .computeIfAbsent(name, n -> new LinkedHashMap<>())
                  .put(gpus.getKey(), count(gpus.getValue()));
          if (before != null) {
            gpus.getValue().fault("node " + name + " has its " + gpus.getKey() + " given twice");
          }
          tiersOf.computeIfAbsent(name, n -> new LinkedHashSet<>()).add(gpus.getKey());
        }
      }
    }
    return inventory;
  }

  /** GPUs of placements there are; a node with one tier needs no tier: {@code {n1: 1}}. */
  private Map<String, Map<String, Integer>> gpus(Value v) {
    Map<String, Map<String, Integer>> gpus = new LinkedHashMap<>();
    for (Map.Entry<String, Value> node : members(v).entrySet()) {
      Value value = node.getValue();
      for (String name : hosts(node.getKey(), value)) {
        known(value, "node", name, tiersOf.keySet());
        Map<String, Integer> byTier = gpus.computeIfAbsent(name, n -> new LinkedHashMap<>());
        Set<String> tiersHere = tiersOf.getOrDefault(name, Set.of());
        if (value.kind() == Value.Kind.OBJECT) {
          for (Map.Entry<String, Value> tier : value.members().entrySet()) {
            if (tiersOf.containsKey(name)) {
              known(tier.getValue(), "tier on node " + name, tier.getKey(), tiersHere);
            }
            byTier.put(tier.getKey(), count(tier.getValue()));
          }
        } else if (tiersHere.size() == 1) {
          byTier.put(tiersHere.iterator().next(), count(value));
        } else if (tiersHere.size() > 1) {
          value.fault("node " + name + " has several tiers; say of which: " + GPUS_RIGHT);
        }
      }
    }
    return gpus;
  }

  /** As {@link #gpus}; a node's name alone frees all that is held there. */
  private Map<String, Map<String, Integer>> freed(Value v) {
    if (!blank(v) && v.kind() == Value.Kind.OBJECT) {
      return gpus(v);
    }
    Map<String, Map<String, Integer>> freed = new LinkedHashMap<>();
    for (Value item : items(v)) {
      if (item.kind() == Value.Kind.OBJECT) {
        freed.putAll(gpus(item));
        continue;
      }
      for (String node : hosts(scalar(item), item)) {
        known(item, "node", node, tiersOf.keySet());
        Map<String, Integer> all = new LinkedHashMap<>();
        tiersOf.getOrDefault(node, Set.of()).forEach(t -> all.put(t, Scenario.ALL_HELD));
        freed.put(node, all);
      }
    }
    return freed;
  }

  private Map<String, String> nodeStates(Value v) {
    Map<String, String> states = new LinkedHashMap<>();
    for (Value part : items(v)) {
      members(part)
          .forEach(
              (nodes, value) -> {
                String word = word(value, "state", NODE_WORDS.keySet());
                for (String node : hosts(nodes, value)) {
                  known(value, "node", node, tiersOf.keySet());
                  states.put(node, NODE_WORDS.getOrDefault(word, word));
                }
              });
    }
    return states;
  }

  // ---------------------------------------------------------------- figures and words by name

  /** {@code {BCG: 8000}}, {@code {BCG: {usage: 8000}}}, or a list of such. */
  private Map<String, Double> usages(Value v) {
    Map<String, Double> usages = new LinkedHashMap<>();
    for (Value part : items(v)) {
      members(part)
          .forEach(
              (account, value) -> {
                known(value, "account", account, accounts.keySet());
                Value figure = value;
                if (value.kind() == Value.Kind.OBJECT && value.members().size() == 1) {
                  Map.Entry<String, Value> only = value.members().entrySet().iterator().next();
                  if (Set.of("usage", "cumulative_usage", "tflop_s").contains(only.getKey())) {
                    figure = only.getValue();
                  }
                }
                usages.put(account, number(figure));
              });
    }
    return usages;
  }

  private Map<String, String> deaths(Value v) {
    Map<String, String> deaths = new LinkedHashMap<>();
    for (Value part : items(v)) {
      members(part)
          .forEach(
              (job, value) -> {
                known(value, "job", job, jobs);
                deaths.put(job, word(value, "of", DEATHS));
              });
    }
    return deaths;
  }

  private Map<String, String> jobStates(Value v) {
    List<String> known = Arrays.stream(JobState.values()).map(JobState::name).toList();
    Map<String, String> states = new LinkedHashMap<>();
    members(v)
        .forEach(
            (job, value) -> {
              known(value, "job", job, jobs);
              String state = scalar(value).toUpperCase(Locale.ROOT);
              known(value, "state", state, known);
              states.put(job, state);
            });
    return states;
  }

  /** A word, alone or as the one part of an object. */
  private static String word(Value v, String part, Set<String> words) {
    Value inner =
        v.kind() == Value.Kind.OBJECT && v.members().size() == 1 && v.members().get(part) != null
            ? v.members().get(part)
            : v;
    String word = scalar(inner);
    if (!words.contains(word)) {
      v.fault("must be one of " + words.stream().sorted().toList() + ", not \"" + word + "\"");
    }
    return word;
  }

  /** Whether nothing is written: YAML shows a key without a value as an empty text. */
  private static boolean blank(Value v) {
    return v == null
        || v.kind() == Value.Kind.NULL
        || v.kind() == Value.Kind.TEXT && v.text().isEmpty();
  }

  private static Map<String, Value> members(Value v) {
    if (blank(v)) {
      return Map.of();
    }
    if (v.kind() != Value.Kind.OBJECT) {
      v.fault("must be an object");
      return Map.of();
    }
    return v.members();
  }

  /** 0 or more; {@code 24_000} is read as people mean it. */
  private static double number(Value v) {
    if (v.kind() == Value.Kind.NUMBER || v.kind() == Value.Kind.TEXT) {
      try {
        double n = new BigDecimal(v.text().replace("_", "")).doubleValue();
        if (n >= 0 && n <= 1e300) {
          return n;
        }
      } catch (NumberFormatException e) {
        // told below
      }
    }
    v.fault("must be a number, 0 or more");
    return 0;
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
    if (blank(v)) {
      return List.of();
    }
    return v.kind() == Value.Kind.LIST ? v.items() : List.of(v);
  }

  private static List<String> names(Value v) {
    return items(v).stream().map(ScenarioFile::scalar).toList();
  }

  // ---------------------------------------------------------------- submissions

  /** One, a list of them, or an object of them by name. */
  private List<Submit> submissions(Value v, Shape shape) {
    List<Submit> submissions = new ArrayList<>();
    for (Value item : items(v)) {
      if (item.kind() == Value.Kind.OBJECT
          && !item.members().isEmpty()
          && !item.members().containsKey("job")
          && item.members().values().stream().allMatch(m -> m.kind() == Value.Kind.OBJECT)) {
        item.members().forEach((job, asked) -> add(submissions, job, asked, shape));
      } else {
        add(submissions, null, item, shape);
      }
    }
    return submissions;
  }

  private void add(List<Submit> submissions, String named, Value item, Shape shape) {
    Shape unnamed = named == null ? shape : without(shape);
    Section s = item.section(unnamed);
    if (s == null) {
      return;
    }
    String job = named == null ? s.get(JOB) : named;
    String account = s.get(OF_ACCOUNT);
    if (account != null) {
      known(item, "account", account, accounts.keySet());
    } else if (accounts.size() == 1) {
      account = accounts.keySet().iterator().next();
    } else {
      item.fault("job " + job + " names no account; " + Spelling.hint("", accounts.keySet()));
    }
    for (Field<String> tier : List.of(JOB_TIER, MINIMUM_TIER)) {
      if (s.get(tier) != null) {
        known(item, "tier", s.get(tier), tiers.keySet());
      }
    }
    if (shape == SUBMIT && !jobs.add(job)) {
      item.fault("job " + job + " is submitted twice; give it another name");
    }
    Duration protectedFor = s.has(MIN_RUNTIME) ? s.get(MIN_RUNTIME) : s.get(MIN_RUNTIME_S);
    Duration limit = s.has(TIME_LIMIT) ? s.get(TIME_LIMIT) : s.get(TIME_LIMIT_S);
    submissions.add(
        new Submit(
            job,
            account,
            s.get(USER),
            s.get(JOB_NODES),
            s.get(NUM_GPUS),
            s.get(JOB_TIER),
            s.get(MINIMUM_TIER) == null && s.has(MINIMUM_SORT_ORDER)
                ? lowestFrom(s.get(MINIMUM_SORT_ORDER), item)
                : s.get(MINIMUM_TIER),
            protectedFor.toSeconds(),
            s.get(RESUMABLE),
            s.get(PRIORITY),
            limit == null ? null : limit.toSeconds(),
            s.get(LEAVES_AFTER),
            s.get(ROLE),
            shape == REFUSE ? s.get(CODE) : null,
            shape == REFUSE ? s.get(FIELD) : null,
            shape == REFUSE ? s.get(BY) : null,
            s.get(SAYS),
            s.get(PREEMPTIBLE)));
  }

  private static Shape without(Shape shape) {
    return Shape.of(
        shape.title(), shape.fields().stream().filter(f -> f != JOB).toArray(Field<?>[]::new));
  }

  /** The tier whose sort order means the same: at or above it are the same tiers. */
  private String lowestFrom(int sortOrder, Value at) {
    if (sortOrder <= 0 && tiers.values().stream().noneMatch(t -> t.sortOrder() < sortOrder)) {
      return null;
    }
    return tiers.values().stream()
        .filter(t -> t.sortOrder() >= sortOrder)
        .min(Comparator.comparingInt(Tier::sortOrder))
        .map(Tier::name)
        .orElseGet(
            () -> {
              at.fault("no tier has a sort_order of " + sortOrder + " or more");
              return null;
            });
  }

  // ---------------------------------------------------------------- outcomes

  private List<Expected> expected(Value v) {
    List<Expected> all = new ArrayList<>();
    for (Value item : items(v)) {
      Expected one = outcome(item);
      if (one != null) {
        all.add(one);
      }
    }
    return all;
  }

  /** {@code {start: {job: jobA, on: n1}, by: D1}}, or as a decision writes it, with a type. */
  private Expected outcome(Value item) {
    Map<String, Value> members = members(item);
    if (members.containsKey("type")) {
      String type = scalar(members.get("type"));
      if (!TYPES.contains(type)) {
        item.fault("type " + type + " is no outcome; " + Spelling.hint(type, TYPES));
      }
      return parts(type, null, item, Set.of("type", "message"));
    }
    Expected found = null;
    String by = null;
    for (Map.Entry<String, Value> member : members.entrySet()) {
      String key = member.getKey();
      if (CLAUSE_WORDS.contains(key)) {
        by = scalar(member.getValue());
      } else if (TYPES.contains(key) && found == null) {
        found = parts(key, null, member.getValue(), Set.of());
      } else {
        member
            .getValue()
            .fault(
                TYPES.contains(key)
                    ? "is a second outcome; give it an entry of its own"
                    : "is no outcome; " + Spelling.hint(key, TYPES) + " (and by)");
        return null;
      }
    }
    if (found == null) {
      item.fault("names no outcome: one of " + TYPES);
      return null;
    }
    return by == null ? found : new Expected(found.type(), found.parts(), by);
  }

  /**
   * {@code jobA}, or an object of parts; {@code on} is a node, an object, or a list of objects.
   *
   * @param job where it is known already, else null
   * @param besides members that are no parts and mean nothing here
   */
  private Expected parts(String type, String job, Value v, Set<String> besides) {
    Map<String, String> parts = new LinkedHashMap<>();
    String by = null;
    if (job != null) {
      parts.put("job", job);
    }
    if (v.kind() != Value.Kind.OBJECT) {
      parts.put("job", job(v));
      return new Expected(type, parts, null);
    }
    for (Map.Entry<String, Value> member : v.members().entrySet()) {
      Value value = member.getValue();
      switch (member.getKey()) {
        case "on" -> on(value, parts);
        case "by", "rule" -> by = scalar(value);
        case "job", "for", "behind" -> {
          if (!blank(value)) {
            parts.put(member.getKey(), job(value));
          }
        }
        case "node" -> {
          known(value, "node", scalar(value), tiersOf.keySet());
          parts.put("node", scalar(value));
        }
        case "tier" -> {
          known(value, "tier", scalar(value), tiers.keySet());
          parts.put("tier", scalar(value));
        }
        case "account" -> {
          known(value, "account", scalar(value), accounts.keySet());
          parts.put("account", scalar(value));
        }
        case "gpus", "tflop_s" -> {
          number(value);
          parts.put(member.getKey(), scalar(value).replace("_", ""));
        }
        case "code", "says" -> parts.put(member.getKey(), scalar(value));
        default -> {
          if (!besides.contains(member.getKey())) {
            value.fault("is no part of an outcome; " + Spelling.hint(member.getKey(), PARTS));
          }
        }
      }
    }
    return new Expected(type, parts, by);
  }

  /** A node, {@code {node: n1, gpus: 2}}, {@code {n1: {4090: 2}}}, {@code {n1: 2}}, or a list. */
  private void on(Value v, Map<String, String> parts) {
    List<String> nodes = new ArrayList<>();
    for (Value share : items(v)) {
      if (share.kind() != Value.Kind.OBJECT) {
        nodes.add(scalar(share));
        known(share, "node", scalar(share), tiersOf.keySet());
      } else if (share.members().containsKey("node")) {
        for (Map.Entry<String, Value> member : share.members().entrySet()) {
          switch (member.getKey()) {
            case "node" -> {
              nodes.add(scalar(member.getValue()));
              known(member.getValue(), "node", scalar(member.getValue()), tiersOf.keySet());
            }
            case "tier", "gpus" -> parts.put(member.getKey(), scalar(member.getValue()));
            default -> member.getValue().fault("is no part of a share: node, tier, gpus");
          }
        }
      } else {
        gpus(share)
            .forEach(
                (node, byTier) -> {
                  nodes.add(node);
                  byTier.forEach(
                      (tier, gpus) -> {
                        parts.put("tier", tier);
                        parts.put("gpus", gpus.toString());
                      });
                });
      }
    }
    parts.put("node", String.join(",", nodes.stream().sorted().toList()));
  }

  /**
   * {@code {jobB: NOT_FIRST}}, {@code {jobB: {code: NOT_FIRST, by: R2}}}, a list of such objects,
   * of objects that name the job, of entries as in {@code expect}, or of jobs that just wait.
   */
  private List<Expected> waits(Value v) {
    List<Expected> waits = new ArrayList<>();
    for (Value item : items(v)) {
      if (item.kind() != Value.Kind.OBJECT) {
        waits.add(new Expected("wait", Map.of("job", job(item)), null));
      } else if (item.members().containsKey("wait") || item.members().containsKey("type")) {
        Expected one = outcome(item);
        if (one != null && !one.type().equals("wait")) {
          item.fault("is no wait; it belongs under expect");
        } else if (one != null) {
          waits.add(one);
        }
      } else if (item.members().containsKey("job")) {
        waits.add(parts("wait", null, item, Set.of("message")));
      } else {
        item.members().forEach((job, value) -> waits.add(wait(job, value)));
      }
    }
    return waits;
  }

  private Expected wait(String job, Value v) {
    known(v, "job", job, jobs);
    if (blank(v)) {
      return new Expected("wait", Map.of("job", job), null);
    }
    if (v.kind() == Value.Kind.OBJECT) {
      return parts("wait", job, v, Set.of("message"));
    }
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("job", job);
    parts.put("code", scalar(v));
    return new Expected("wait", parts, null);
  }

  private List<Expected> yields(Value v) {
    return items(v).stream().map(item -> parts("yield", null, item, Set.of())).toList();
  }
}
