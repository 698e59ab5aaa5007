package evenhand.cli;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code decisions}: what was decided, newest first. */
@picocli.CommandLine.Command(
    name = "decisions",
    description = "List recorded decisions, newest first.")
final class DecisionsCommand extends Command {
  @Option(names = "--job", paramLabel = "ID", description = "Only those about this job.")
  private String job;

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "How many at most (default: ${DEFAULT-VALUE}).")
  private int limit;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  DecisionsCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    if (limit < 1) {
      throw wrongUse("--limit must be 1 or more.");
    }
    String path = "/v1/decisions" + (job == null ? "" : "?job=" + ServiceAddress.encode(job));
    ServiceAddress.Found found = service.list(console(), path, limit);
    if (output.isJson()) {
      print(Output.items(found.items()));
    } else {
      Table table = Table.of("ID", "AT", "POLICY", "POLICY HASH");
      for (JsonNode decision : found.items()) {
        table.row(
            Show.text(decision, "id"),
            Show.text(decision, "at"),
            Show.text(decision, "policy"),
            Show.text(decision, "policy_hash"));
      }
      console().out().print(table.text());
    }
    if (found.more()) {
      say("There are more; --limit tells how many to list.");
    }
    return Exit.DONE;
  }
}
