package evenhand.check;

import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.Placement;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.json.SnapshotJson;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.policy.Natural;
import evenhand.policy.Policy;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A recorded decision as a scenario: all that the cycle knew, and what it made of it. Names are
 * replaced, in their order, so that nothing that a name decides comes out otherwise; what the
 * policy makes of it is compared before it is given out.
 */
public final class RecordedScenario {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z][A-Za-z0-9_.-]*");
  private static final Set<String> WORDS_OF_YAML =
      Set.of("true", "false", "null", "yes", "no", "on", "off", "y", "n");

  private final Map<String, String> jobs;
  private final Map<String, String> nodes;
  private final Map<String, String> accounts;
  private final Map<String, String> users;

  private RecordedScenario(Snapshot s) {
    Set<String> ids = new TreeSet<>(Natural.IDS);
    s.jobs().forEach(j -> ids.add(j.id()));
    s.running().forEach(r -> ids.add(r.job()));
    s.reservations().forEach(r -> ids.add(r.job()));
    s.claims()
        .forEach(
            c -> {
              ids.add(c.job());
              ids.addAll(c.yields());
            });
    Set<String> hosts = new TreeSet<>();
    s.placements().forEach(p -> hosts.add(p.node()));
    s.reservations().forEach(r -> hosts.add(r.node()));
    s.running().forEach(r -> r.on().forEach(o -> hosts.add(o.node())));
    s.claims().forEach(c -> c.on().forEach(o -> hosts.add(o.node())));
    hosts.addAll(s.workStays());
    Set<String> payers = new TreeSet<>();
    s.accounts().forEach(a -> payers.add(a.id()));
    Set<String> people = new TreeSet<>();
    s.jobs().stream().map(Job::user).filter(u -> u != null).forEach(people::add);
    this.jobs = named("j", ids);
    this.nodes = named("n", hosts);
    this.accounts = named("A", payers);
    this.users = named("u", people);
  }

  /** Numbers of one width: whoever compares them as text finds the same order. */
  private static Map<String, String> named(String letter, Set<String> names) {
    Map<String, String> named = new TreeMap<>();
    int width = Integer.toString(names.size()).length();
    int i = 0;
    for (String name : names) {
      named.put(name, letter + String.format("%0" + width + "d", ++i));
    }
    return named;
  }

  /** What a decision cannot be written down for. */
  public static final class NotSayable extends Exception {
    private static final long serialVersionUID = 1L;

    NotSayable(String message) {
      super(message);
    }
  }

  /**
   * The scenario's file.
   *
   * @param title of it, one line
   * @param settings what the policy was run with besides its files ({@code --set})
   * @param policy that decided
   * @throws NotSayable when the policy makes something else of the renamed situation, with what
   */
  public static String of(
      String title,
      Map<String, String> settings,
      Policy policy,
      Snapshot snapshot,
      Decision decision)
      throws NotSayable {
    RecordedScenario names = new RecordedScenario(snapshot);
    Snapshot renamed = names.renamed(snapshot);
    List<String> was = decision.outcomes().stream().map(names::outcome).toList();
    RecordedScenario kept = new RecordedScenario(renamed);
    List<String> is = policy.decide(renamed).outcomes().stream().map(kept::outcome).toList();
    if (!was.equals(is)) {
      int at = 0;
      while (at < Math.min(was.size(), is.size()) && was.get(at).equals(is.get(at))) {
        at++;
      }
      throw new NotSayable(
          "with other names the policy decides otherwise, so the names are part of it: "
              + (at < was.size() ? was.get(at) : "nothing")
              + " was decided, and "
              + (at < is.size() ? is.get(at) : "nothing")
              + " is decided now");
    }
    return names.yaml(title, settings, renamed, decision);
  }

  private Snapshot renamed(Snapshot s) {
    UnaryOperator<String> job = jobs::get;
    UnaryOperator<String> node = nodes::get;
    UnaryOperator<String> account = a -> a == null ? null : accounts.getOrDefault(a, a);
    return new Snapshot(
        s.policy(),
        s.now(),
        "main",
        s.tiers(),
        s.placements().stream()
            .map(p -> new Placement(node.apply(p.node()), p.group(), p.idle(), 0, null))
            .sorted(Comparator.comparing(Placement::node).thenComparing(p -> p.tier().name()))
            .toList(),
        s.accounts().stream()
            .map(
                a ->
                    new Account(
                        account.apply(a.id()),
                        account.apply(a.parent()),
                        a.weight(),
                        a.cumulativeUsage(),
                        a.windowUsage()))
            .toList(),
        s.jobs().stream()
            .map(
                j ->
                    new Job(
                        job.apply(j.id()),
                        account.apply(j.account()),
                        j.user() == null ? null : users.get(j.user()),
                        j.nodes(),
                        j.numGpus(),
                        j.tier(),
                        j.minimumTierSortOrder(),
                        j.priority(),
                        j.queuedAt(),
                        j.minRuntimeSeconds(),
                        j.resumable(),
                        j.attempt(),
                        j.preemptible()))
            .sorted(Comparator.comparing(Job::id))
            .toList(),
        s.reservations().stream()
            .map(
                r ->
                    new Reservation(
                        job.apply(r.job()),
                        account.apply(r.account()),
                        node.apply(r.node()),
                        r.tier(),
                        r.gpus(),
                        r.since(),
                        r.accruedTflopSeconds(),
                        r.accruedAt()))
            .toList(),
        s.running().stream()
            .map(
                r ->
                    new Running(
                        job.apply(r.job()),
                        account.apply(r.account()),
                        shares(r.on()),
                        r.startedAt(),
                        r.protectedUntil(),
                        r.allocated(),
                        r.resumable(),
                        r.minRuntimeSeconds(),
                        r.checkpointAt(),
                        r.leaving(),
                        r.priority(),
                        r.preemptible()))
            .sorted(Comparator.comparing(Running::job))
            .toList(),
        s.claims().stream()
            .map(
                c ->
                    new Claim(
                        job.apply(c.job()),
                        shares(c.on()),
                        c.since(),
                        c.readyAt(),
                        c.yields().stream().map(job).toList()))
            .toList(),
        s.workStays().stream().map(node).collect(java.util.stream.Collectors.toUnmodifiableSet()));
  }

  private List<Share> shares(List<Share> on) {
    return on.stream().map(o -> new Share(nodes.get(o.node()), o.tier(), o.gpus())).toList();
  }

  /** An outcome as it stands under {@code expect} or, for a wait, under {@code waits}. */
  private String outcome(Decided d) {
    Outcome o = d.outcome();
    String job = "job: " + text(jobs.getOrDefault(o.job(), o.job()));
    String by = ", by: " + text(d.rule()) + "}";
    if (o instanceof Start s) {
      return "{start: {" + job + ", " + on(s.on()) + "}" + by;
    } else if (o instanceof Claimed c) {
      return "{claim: {"
          + job
          + ", "
          + on(c.on())
          + ", says: "
          + text("not later than " + c.readyAt())
          + "}"
          + by;
    } else if (o instanceof Reserve r) {
      return "{reserve: {" + job + ", " + on(r.node(), r.tier().name(), r.gpus()) + "}" + by;
    } else if (o instanceof Absorb a) {
      return "{absorb: {" + job + ", " + on(a.node(), a.tier().name(), a.gpus()) + "}" + by;
    } else if (o instanceof Release r) {
      return "{release: {" + job + ", " + on(r.node(), r.tier().name(), r.gpus()) + "}" + by;
    } else if (o instanceof Preempt p) {
      return "{preempt: {"
          + job
          + (p.forJob() == null ? "" : ", for: " + text(jobs.getOrDefault(p.forJob(), p.forJob())))
          + "}"
          + by;
    } else if (o instanceof Charge c) {
      return "{charge: {"
          + job
          + ", account: "
          + text(accounts.getOrDefault(c.account(), c.account()))
          + ", tflop_s: "
          + BigDecimal.valueOf(c.tflopSeconds()).toPlainString()
          + "}"
          + by;
    }
    Wait w = (Wait) o;
    return "{"
        + job
        + ", code: "
        + text(w.code())
        + (w.behind() == null ? "" : ", behind: " + text(jobs.getOrDefault(w.behind(), w.behind())))
        + by;
  }

  private String on(List<Share> on) {
    List<String> shares = new ArrayList<>();
    on.forEach(o -> shares.add("{" + on(o.node(), o.tier().name(), o.gpus()) + "}"));
    return "on: [" + String.join(", ", shares) + "]";
  }

  private String on(String node, String tier, int gpus) {
    return "node: "
        + text(nodes.getOrDefault(node, node))
        + ", tier: "
        + text(tier)
        + ", gpus: "
        + gpus;
  }

  private String yaml(
      String title, Map<String, String> settings, Snapshot renamed, Decision decision) {
    StringBuilder yaml = new StringBuilder();
    Set<String> clauses = new LinkedHashSet<>();
    decision.outcomes().forEach(d -> clauses.add(d.rule()));
    yaml.append("title: ").append(quoted(title)).append('\n');
    yaml.append("clauses: [")
        .append(String.join(", ", clauses.stream().map(RecordedScenario::text).toList()))
        .append("]\n");
    yaml.append("policy: ").append(text(decision.policy())).append('\n');
    if (!settings.isEmpty()) {
      yaml.append("set:\n");
      settings.forEach(
          (name, value) ->
              yaml.append("  ").append(name).append(": ").append(quoted(value)).append('\n'));
    }
    yaml.append("# All that the cycle knew, as `decide --snapshot` takes it.\n");
    yaml.append("situation:\n");
    for (Map.Entry<String, JsonNode> part :
        JSON.readTree(SnapshotJson.write(renamed)).properties()) {
      if (part.getKey().equals("policy") || part.getKey().equals("cluster")) {
        continue;
      }
      yaml.append("  ").append(part.getKey()).append(':');
      if (!part.getValue().isArray()) {
        yaml.append(' ').append(flow(part.getValue())).append('\n');
      } else if (part.getValue().isEmpty()) {
        yaml.append(" []\n");
      } else {
        yaml.append('\n');
        part.getValue().forEach(item -> yaml.append("    - ").append(flow(item)).append('\n'));
      }
    }
    List<String> waits = new ArrayList<>();
    List<String> others = new ArrayList<>();
    for (Decided d : decision.outcomes()) {
      (d.outcome() instanceof Wait ? waits : others).add(outcome(d));
    }
    list(yaml, "expect", others);
    if (!waits.isEmpty()) {
      list(yaml, "waits", waits);
    }
    return yaml.toString();
  }

  private static void list(StringBuilder yaml, String name, List<String> items) {
    yaml.append(name).append(items.isEmpty() ? ": []\n" : ":\n");
    items.forEach(item -> yaml.append("  - ").append(item).append('\n'));
  }

  private static String flow(JsonNode node) {
    List<String> parts = new ArrayList<>();
    if (node.isObject()) {
      node.properties().forEach(e -> parts.add(e.getKey() + ": " + flow(e.getValue())));
      return "{" + String.join(", ", parts) + "}";
    }
    if (node.isArray()) {
      node.forEach(item -> parts.add(flow(item)));
      return "[" + String.join(", ", parts) + "]";
    }
    return node.isString() ? text(node.asString()) : node.toString();
  }

  /** A word as it is, anything else in quotes. */
  private static String text(String value) {
    boolean plain =
        PLAIN.matcher(value).matches()
            && !WORDS_OF_YAML.contains(value.toLowerCase(java.util.Locale.ROOT));
    return plain ? value : quoted(value);
  }

  private static String quoted(String value) {
    return JSON.writeValueAsString(value);
  }
}
