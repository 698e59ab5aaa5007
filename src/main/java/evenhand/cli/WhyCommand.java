package evenhand.cli;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code why ID}: why a job is where it is. */
@picocli.CommandLine.Command(
    name = "why",
    description = "Say why a job waits, or why it is where it is.")
final class WhyCommand extends Command {
  @Parameters(paramLabel = "ID", description = "The job's id.")
  private String id;

  @Option(
      names = "--against",
      paramLabel = "ID",
      description = "Say which of the two jobs comes first in the queue, and why.")
  private String against;

  @Option(
      names = "--at",
      paramLabel = "TIME",
      description = "As it was at this time in UTC, by what was recorded then.")
  private String at;

  @Option(
      names = "--changes",
      description = "Ask the policy for the smallest changes that would start it now.")
  private boolean changes;

  @Option(
      names = "--estimate",
      description = "Simulate the queue some times: when it will probably start.")
  private boolean estimate;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  WhyCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    JsonNode why =
        service.get(
            console(),
            ServiceAddress.path(
                "/v1/jobs/" + ServiceAddress.id("job", id) + "/why",
                "against",
                against,
                "at",
                at,
                "changes",
                changes ? "true" : null,
                "estimate",
                estimate ? "true" : null));
    if (output.isJson()) {
      print(why.toString());
      return Exit.DONE;
    }
    if (against != null) {
      JsonNode compared = why.path("against");
      line("", Show.text(compared, "message"));
      if (!compared.path("first_branch").isMissingNode()
          && !compared.path("first_branch").isNull()) {
        Table table = Table.of("ACCOUNT", ">USED", ">USAGE SHARE", ">WEIGHT SHARE", ">RATIO");
        for (String branch : new String[] {"first_branch", "second_branch"}) {
          JsonNode step = compared.path(branch);
          table.row(
              Show.text(step, "account"),
              Show.number(step, "usage"),
              Show.percent(step, "usage_share"),
              Show.percent(step, "weight_share"),
              Show.number(step, "ratio"));
        }
        console().out().print(table.text());
      }
      return Exit.DONE;
    }
    String code = Show.text(why, "code");
    String state = Show.text(why, "state");
    print("Job " + id + " is " + state + (code == null || code.equals(state) ? "" : ": " + code));
    line("", Show.text(why, "message"));
    String rule = Show.text(why, "rule_name");
    line("Clause: ", rule == null ? Show.text(why, "rule") : rule);
    line("Needs: ", Show.text(why, "needs"));
    line("Nearest there is: ", Show.text(why, "best"));
    line("Waits for job: ", Show.text(why, "behind"));
    line("Decision: ", Show.text(why, "decision"));
    line("Decided at: ", Show.text(why, "at"));
    line("Not later than: ", Show.text(why.path("bound"), "not_later_than"));
    estimated(why.path("estimate"));
    changes(why.path("changes"));
    eliminated(why.path("eliminated"));
    story(why.path("story"));
    JsonNode ahead = why.path("ahead");
    if (ahead.size() > 0) {
      int count = why.path("ahead_count").asInt();
      print("");
      print(
          "Ahead of it: "
              + count
              + (count == 1 ? " job" : " jobs")
              + (count > ahead.size() ? ", the first " + ahead.size() + " of them:" : ":"));
      console().out().print(QueueCommand.table(ahead).text());
    }
    return Exit.DONE;
  }

  private void estimated(JsonNode found) {
    if (!found.isObject()) {
      return;
    }
    String half = Show.text(found, "p50");
    String most = Show.text(found, "p90");
    line(
        "Probably: ",
        (half == null ? "later than was simulated" : half)
            + " (p50), "
            + (most == null ? "later than was simulated" : most)
            + " (p90)");
    line("", Show.text(found, "message"));
  }

  private void changes(JsonNode found) {
    if (!found.isObject()) {
      return;
    }
    print("");
    if (found.path("as_is").isArray()) {
      print("As it is it starts in the next cycle, on " + Show.gpus(found.path("as_is")) + ".");
      return;
    }
    print(
        found.path("items").isEmpty()
            ? "No single change of what it asks would start it now."
            : "The smallest changes that would start it, each by itself:");
    for (JsonNode change : found.path("items")) {
      line("  - ", Show.text(change, "message"));
    }
    if (!found.path("complete").asBoolean()) {
      print("  Not everything was tried: there is too much of it.");
    }
  }

  private void eliminated(JsonNode rows) {
    if (rows.isEmpty()) {
      return;
    }
    print("");
    Table table =
        Table.of("TIER", ">GPUS", "STATE", ">PLACEMENTS", "FAIL AT", ">IDLE", ">NEEDED", "NEAREST");
    for (JsonNode row : rows) {
      table.row(
          Show.text(row, "tier"),
          Show.text(row, "capacity"),
          Show.text(row, "state"),
          Show.text(row, "placements"),
          Show.text(row, "condition"),
          Show.text(row, "idle"),
          Show.text(row, "needed"),
          Show.text(row, "message"));
    }
    console().out().print(table.text());
  }

  private void story(JsonNode told) {
    if (told.isEmpty()) {
      return;
    }
    print("");
    Table table = Table.of("AT", "WHAT", "CLAUSE", "DECISION", "");
    for (JsonNode event : told) {
      table.row(
          Show.text(event, "at"),
          Show.text(event, "what"),
          Show.text(event, "rule"),
          Show.text(event, "decision"),
          Show.text(event, "message"));
    }
    console().out().print(table.text());
  }

  private void line(String before, String text) {
    if (text != null && !text.isEmpty()) {
      print(before + Table.clean(text));
    }
  }
}
