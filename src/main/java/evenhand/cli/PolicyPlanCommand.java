package evenhand.cli;

import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFiles;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code policy plan}: what changed rules would do, before anybody has to live with them. */
@picocli.CommandLine.Command(
    name = "plan",
    description = {
      "Compare rules with the policy in force: what is written otherwise, how many recorded decisions"
          + " would be others, and what it does to waits and GPU time in a simulation of recorded"
          + " jobs, held against rules/guardrails.yaml.",
      "The rules are those in the service's folder, or of --rules on this machine. Nothing is changed;"
          + " the answer ends with the command that would."
    },
    footer = {"", "Exit status: 0 planned, 1 a guard rail is broken or the rules are faulty."})
final class PolicyPlanCommand extends Command {
  private static final long PAUSE_MILLIS = 300;

  @Option(
      names = "--rules",
      paramLabel = "DIR",
      description = "The rules folder to send (default: the rules in the service's own folder).")
  private Path rules;

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      description = "The policy's name (default: that of the policy in force).")
  private String policy;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "Set a parameter or choice besides the text. What was applied with --set stays set; an empty"
              + " value takes it back.")
  private Map<String, String> settings = new LinkedHashMap<>();

  @Option(
      names = "--days",
      paramLabel = "N",
      defaultValue = "7",
      description = "How far back decisions and jobs are looked at (default: ${DEFAULT-VALUE}).")
  private int days;

  @Option(
      names = "--workload",
      paramLabel = "FILE",
      description = "Simulate jobs generated from this workload instead of recorded ones.")
  private String workload;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "With --workload: which of its job sets (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(
      names = "--by",
      paramLabel = "NAME",
      description = "Who asks (default: your name on this machine).")
  private String by;

  @Option(names = "--no-diff", description = "Leave out the changes of the text.")
  private boolean noDiff;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  PolicyPlanCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() throws PolicyFault {
    JsonNode plan = service.post(console(), "/v1/policy/plan", body().toString(), Map.of()).body();
    boolean told = !output.isJson() && System.console() != null;
    while (Show.text(plan, "state").equals("running")) {
      if (told) {
        console().err().print("\r\u001b[K" + progress(plan));
        console().err().flush();
      }
      try {
        Thread.sleep(PAUSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new Failed(Exit.OUTSIDE, "Interrupted; the service goes on with the plan.");
      }
      plan = service.get(console(), "/v1/policy/plans/" + Show.text(plan, "id"));
    }
    if (told) {
      console().err().print("\r\u001b[K");
      console().err().flush();
    }
    return answer(plan);
  }

  private ObjectNode body() throws PolicyFault {
    ObjectNode body = new JsonMapper().createObjectNode();
    body.put("by", service.who(console(), by));
    body.put("days", days);
    if (policy != null) {
      body.put("policy", policy);
    }
    if (rules != null) {
      RuleFiles.Stored copy = new RuleFiles.Folder(rules).copy();
      for (PolicyFault unreadable : copy.unreadable().values()) {
        throw unreadable;
      }
      ObjectNode texts = body.putObject("texts");
      copy.texts().forEach(texts::put);
    }
    ObjectNode set = body.putObject("set");
    settings.forEach(set::put);
    if (workload != null) {
      body.put("workload", console().read(workload));
      body.put("seed", seed);
    }
    return body;
  }

  private static String progress(JsonNode plan) {
    long of = plan.path("of").asLong(0);
    return Show.text(plan, "doing")
        + (of == 0 ? " " : " " + plan.path("done").asLong(0) + " of " + of + " ");
  }

  private int answer(JsonNode plan) {
    if (output.isJson()) {
      print(plan.toString());
    }
    switch (Show.text(plan, "state")) {
      case "faulty":
        if (!output.isJson()) {
          print("The rules do not pass their check; nothing was planned.");
          RolloutCommands.faults(plan.path("faults")).forEach(this::print);
        }
        return Exit.NO;
      case "failed":
        throw new Failed(Exit.OUTSIDE, "The plan " + Show.text(plan, "failure") + ".");
      default:
        JsonNode report = plan.path("report");
        if (!output.isJson()) {
          new PlanText(console().out()::println, !noDiff).tell(report);
        }
        return Show.text(report, "verdict").equals("BREAKS_GUARDRAILS") ? Exit.NO : Exit.DONE;
    }
  }
}
