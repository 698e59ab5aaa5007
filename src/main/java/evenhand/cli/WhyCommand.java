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
            "/v1/jobs/"
                + ServiceAddress.id("job", id)
                + "/why"
                + (against == null ? "" : "?against=" + ServiceAddress.encode(against)));
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

  private void line(String before, String text) {
    if (text != null && !text.isEmpty()) {
      print(before + Table.clean(text));
    }
  }
}
