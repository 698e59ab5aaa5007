package evenhand.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code policy status|plans|apply|rollback|history|shadow}: which policy decides. */
final class RolloutCommands {
  private RolloutCommands() {}

  /** Each fault on a line, with file, line and rule. */
  static List<String> faults(JsonNode faults) {
    List<String> lines = new ArrayList<>();
    for (JsonNode f : faults) {
      int line = f.path("line").asInt(0);
      String rule = Show.text(f, "rule");
      lines.add(
          Table.clean(
              Show.text(f, "file")
                  + (line > 0 ? ":" + line : "")
                  + (rule == null ? "" : ": rule \"" + rule + "\"")
                  + ": "
                  + Show.text(f, "message")));
    }
    return lines;
  }

  private abstract static class OfService extends Command {
    @Mixin protected ServiceAddress service;
    @Mixin protected Output output;

    OfService(Console console) {
      super(console);
    }

    void told(JsonNode answer, String sentence) {
      print(output.isJson() ? answer.toString() : Table.clean(sentence));
    }
  }

  /** {@code policy status}. */
  @picocli.CommandLine.Command(
      name = "status",
      description =
          "Show which policy decides, since when and why, and how the rules in the service's folder"
              + " stand.",
      footer = {"", "Exit status: 0 all is well, 1 the rules are faulty or a rule has failed."})
  static final class StatusCommand extends OfService {
    StatusCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      JsonNode policy = service.get(console(), "/v1/policy");
      JsonNode faults = policy.path("fault");
      String alarm = Show.text(policy, "alarm");
      if (output.isJson()) {
        ObjectNode status = (ObjectNode) policy;
        status.remove("clauses");
        print(status.toString());
      } else {
        print(
            "Policy " + Show.text(policy, "name") + " " + Show.text(policy, "hash") + " decides,");
        print(
            Table.clean(
                "since "
                    + Show.text(policy, "since")
                    + " by "
                    + Show.text(policy, "by")
                    + ": "
                    + Show.text(policy, "reason")));
        if (alarm != null) {
          print(Table.clean("ALARM: " + alarm));
        }
        JsonNode candidate = policy.path("candidate");
        if (!faults.isEmpty()) {
          print("The rules in the service's folder do not pass their check; those in force go on:");
          faults(faults).forEach(line -> print("  " + line));
        } else if (candidate.isObject()) {
          print(
              "The rules in the service's folder are others, "
                  + Show.text(candidate, "hash")
                  + ", and pass their check; \"evenhand policy plan\" says what they would do.");
        } else {
          print("The rules in the service's folder are those in force.");
        }
      }
      return faults.isEmpty() && alarm == null ? Exit.DONE : Exit.NO;
    }
  }

  /** {@code policy plans}. */
  @picocli.CommandLine.Command(
      name = "plans",
      description = "List plans, newest first; or show one again.")
  static final class PlansCommand extends OfService {
    @Parameters(paramLabel = "ID", arity = "0..1", description = "The plan to show.")
    private String id;

    @Mixin private Limit limit = new Limit(20);

    PlansCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      if (id != null) {
        JsonNode plan = service.get(console(), "/v1/policy/plans/" + ServiceAddress.id("plan", id));
        if (output.isJson()) {
          print(plan.toString());
        } else if (plan.path("report").isObject()) {
          new PlanText(console().out()::println, true).tell(plan.path("report"));
        } else {
          print("Plan " + id + " is " + Show.text(plan, "state") + ".");
        }
        return Exit.DONE;
      }
      ServiceAddress.Found found = service.list(console(), "/v1/policy/plans", limit.most());
      List<JsonNode> plans = found.items();
      if (output.isJson()) {
        print(Output.items(plans));
        return Exit.DONE;
      }
      Table table = Table.of("ID", "AT", "BY", "POLICY", "HASH", "VERDICT");
      for (JsonNode p : plans) {
        table.row(
            Show.text(p, "id"),
            Show.text(p, "at"),
            Show.text(p, "by"),
            Show.text(p, "policy"),
            Show.text(p, "hash"),
            Show.text(p, "verdict"));
      }
      console().out().print(table.text());
      limit.saidOf(found, console());
      return Exit.DONE;
    }
  }

  private abstract static class Changing extends OfService {
    @Option(
        names = "--by",
        paramLabel = "NAME",
        description = "Who asks (default: your name on this machine).")
    private String by;

    @Option(
        names = "--reason",
        paramLabel = "TEXT",
        required = true,
        description = "Why, for later readers.")
    private String reason;

    Changing(Console console) {
      super(console);
    }

    int post(String what, ObjectNode body) {
      body.put("by", service.who(console(), by)).put("reason", reason);
      JsonNode now =
          service.post(console(), "/v1/policy/" + what, body.toString(), Map.of()).body();
      told(
          now,
          "Policy "
              + Show.text(now, "policy")
              + " "
              + Show.text(now, "hash")
              + " decides from the next cycle on.");
      return Exit.DONE;
    }
  }

  /** {@code policy apply HASH}. */
  @picocli.CommandLine.Command(
      name = "apply",
      description = "Put a planned policy in force, between two cycles, in every process.",
      footer = {"", "Exit status: 0 done, 1 it is not planned, or must not be applied as it is."})
  static final class ApplyCommand extends Changing {
    @Parameters(
        paramLabel = "HASH",
        description = "Of the plan, as policy plan told it; or its first 8 digits, or more.")
    private String hash;

    @Option(
        names = "--despite-guardrails",
        description = "Apply it although it breaks guard rails.")
    private boolean despite;

    ApplyCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      return post(
          "apply",
          new JsonMapper().createObjectNode().put("hash", hash).put("despite_guardrails", despite));
    }
  }

  /** {@code policy rollback}. */
  @picocli.CommandLine.Command(
      name = "rollback",
      description = {
        "Put the policy before in force again.",
        "Going back twice goes back two steps. The rules in the folder stay as they are."
      })
  static final class RollbackCommand extends Changing {
    RollbackCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      return post("rollback", new JsonMapper().createObjectNode());
    }
  }

  /** {@code policy history}. */
  @picocli.CommandLine.Command(
      name = "history",
      description = "Show which policy was in force when, by whom and why, newest first.")
  static final class HistoryCommand extends OfService {
    @Mixin private Limit limit = new Limit(100);

    HistoryCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      ServiceAddress.Found found = service.list(console(), "/v1/policy/history", limit.most());
      List<JsonNode> entries = found.items();
      if (output.isJson()) {
        print(Output.items(entries));
        return Exit.DONE;
      }
      Table table = Table.of("AT", "WHAT", "POLICY", "HASH", "BY", "REASON");
      for (JsonNode e : entries) {
        table.row(
            Show.text(e, "at"),
            Show.text(e, "kind").replace('_', ' '),
            Show.text(e, "policy"),
            Show.text(e, "hash").substring(0, "sha256:".length() + 12),
            Show.text(e, "by"),
            Show.text(e, "reason"));
      }
      console().out().print(table.text());
      limit.saidOf(found, console());
      return Exit.DONE;
    }
  }

  /** {@code policy shadow}. */
  @picocli.CommandLine.Command(
      name = "shadow",
      description = {
        "Show what decides beside the policy in force, and in what it differs; or let another do so.",
        "What it decides is compared and never carried out."
      })
  static final class ShadowCommand extends OfService {
    @Parameters(
        paramLabel = "HASH|NAME|off",
        arity = "0..1",
        description = "A planned policy, one of the rules in the service's folder, or off.")
    private String which;

    @Option(
        names = "--by",
        paramLabel = "NAME",
        description = "Who asks (default: your name on this machine).")
    private String by;

    @Mixin private Limit limit = new Limit(20);

    ShadowCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      if (which != null) {
        ObjectNode body = new JsonMapper().createObjectNode();
        body.put("policy", which).put("by", service.who(console(), by));
        service.post(console(), "/v1/policy/shadow", body.toString(), Map.of());
      }
      JsonNode shadow = service.get(console(), "/v1/policy/shadow");
      if (output.isJson()) {
        print(shadow.toString());
        return Exit.DONE;
      }
      if (Show.text(shadow, "hash") == null) {
        print("Nothing decides beside the policy in force.");
      } else {
        print(
            "Policy "
                + Show.text(shadow, "policy")
                + " "
                + Show.text(shadow, "hash")
                + " decides beside the one in force, since "
                + Show.text(shadow, "since")
                + ".");
        print(
            "Of "
                + Show.text(shadow, "decided")
                + " decisions "
                + Show.text(shadow, "differed")
                + " differ; "
                + Show.text(shadow, "dropped")
                + " were passed over.");
      }
      for (JsonNode c : shadow.path("clauses")) {
        print(
            "  "
                + Show.text(c, "jobs")
                + " times "
                + Show.text(c, "becomes")
                + " instead of "
                + Show.text(c, "was"));
      }
      if (which == null) {
        differences();
      }
      return Exit.DONE;
    }

    private void differences() {
      ServiceAddress.Found found =
          service.list(console(), "/v1/policy/shadow/differences", limit.most());
      List<JsonNode> items = found.items();
      if (items.isEmpty()) {
        return;
      }
      Table table = Table.of("DECISION", "AT", ">JOBS", "FIRST", "IN FORCE", "BESIDE");
      for (JsonNode item : items) {
        JsonNode difference = item.path("difference");
        JsonNode first = difference.path("first");
        table.row(
            Show.text(item, "decision"),
            Show.text(item, "at"),
            Show.text(difference, "jobs"),
            Show.text(first, "job"),
            outcome(first.path("was")),
            difference.has("failure")
                ? Show.text(difference, "failure")
                : outcome(first.path("becomes")));
      }
      console().out().print(table.text());
      limit.saidOf(found, console());
    }

    private static String outcome(JsonNode outcomes) {
      JsonNode last = outcomes.path(outcomes.size() - 1);
      return last.isObject()
          ? (Show.text(last, "type") + " " + DecisionCommand.what(last)).strip()
              + " ["
              + Show.text(last, "rule")
              + "]"
          : null;
    }
  }
}
