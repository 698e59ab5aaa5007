package evenhand.cli;

import java.util.ArrayList;
import java.util.List;
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
      names = "--account",
      paramLabel = "ID",
      description = "Only those about a job of this account.")
  private String account;

  @Option(
      names = "--clause",
      paramLabel = "ID",
      description = "Only those in which this clause said something new, e.g. R3.")
  private String clause;

  @Option(names = "--since", paramLabel = "TIME", description = "Then or later, ISO 8601.")
  private String since;

  @Option(names = "--until", paramLabel = "TIME", description = "Before, ISO 8601.")
  private String until;

  @Mixin private Limit limit = new Limit(100);

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  DecisionsCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    String asked =
        ServiceAddress.path(
            "/v1/decisions",
            "job",
            job,
            "account",
            account,
            "clause",
            clause,
            "since",
            since,
            "until",
            until);
    ServiceAddress.Found found = service.list(console(), asked, limit.most());
    if (output.isJson()) {
      print(Output.items(found.items()));
    } else {
      Table table = Table.of("ID", "AT", "POLICY", "SAID", "POLICY HASH");
      for (JsonNode decision : found.items()) {
        table.row(
            Show.text(decision, "id"),
            Show.text(decision, "at"),
            Show.text(decision, "policy"),
            said(decision.path("said")),
            Show.text(decision, "policy_hash"));
      }
      console().out().print(table.text());
    }
    limit.saidOf(found, console());
    return Exit.DONE;
  }

  /** {@code R2:3 D1:1}: about how many jobs each clause said something new. */
  private static String said(JsonNode said) {
    List<String> clauses = new ArrayList<>();
    said.forEach(s -> clauses.add(Show.text(s, "clause") + ":" + Show.text(s, "jobs")));
    return clauses.isEmpty() ? null : String.join(" ", clauses);
  }
}
