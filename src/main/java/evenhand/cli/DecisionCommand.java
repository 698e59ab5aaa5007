package evenhand.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code decision ID}: one decision, outcome by outcome. */
@picocli.CommandLine.Command(
    name = "decision",
    description = "Show one recorded decision, outcome by outcome, as it was made.")
final class DecisionCommand extends Command {
  @Parameters(paramLabel = "ID", description = "The decision's id.")
  private String id;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  DecisionCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    JsonNode found = service.get(console(), "/v1/decisions/" + ServiceAddress.id("decision", id));
    if (output.isJson()) {
      print(found.toString());
      return Exit.DONE;
    }
    print("Decision " + id + " of " + Show.text(found, "at"));
    print("Policy " + Show.text(found, "policy") + " " + Show.text(found, "policy_hash"));
    print("Snapshot " + Show.text(found.path("decision"), "snapshot_hash"));
    print("");
    Table table = Table.of(">#", "OUTCOME", "JOB", "CLAUSE", "WHAT");
    int number = 0;
    for (JsonNode outcome : found.path("decision").path("outcomes")) {
      table.row(
          ++number,
          Show.text(outcome, "type"),
          Show.text(outcome, "job"),
          Show.text(outcome, "rule"),
          what(outcome));
    }
    console().out().print(table.text());
    return Exit.DONE;
  }

  /** An outcome in few words, besides its type, job and clause. */
  static String what(JsonNode outcome) {
    List<String> parts = new ArrayList<>();
    if (outcome.has("on")) {
      parts.add("on " + Show.gpus(outcome.path("on")));
    }
    if (outcome.has("node")) {
      parts.add(Show.gpus(outcome));
    }
    if (outcome.has("tflop_s")) {
      String account = Show.text(outcome, "account");
      parts.add(Show.number(outcome, "tflop_s") + " TFLOP-s to " + account);
    }
    if (outcome.has("for")) {
      parts.add("for " + Show.text(outcome, "for"));
    }
    if (outcome.has("code")) {
      parts.add(Show.text(outcome, "code"));
      String behind = Show.text(outcome, "behind");
      parts.add((behind == null ? "" : "behind " + behind + ": ") + Show.text(outcome, "message"));
    }
    return String.join(" ", parts);
  }
}
