package evenhand.cli;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code queue}: who is next. */
@picocli.CommandLine.Command(
    name = "queue",
    description = "Show the queue in the order of the active policy, with what orders it.")
final class QueueCommand extends Command {
  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "100",
      description = "How many at most (default: ${DEFAULT-VALUE}).")
  private int limit;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  QueueCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    if (limit < 1) {
      throw wrongUse("--limit must be 1 or more.");
    }
    ServiceAddress.Found found = service.list(console(), "/v1/queue", limit);
    console()
        .out()
        .print(output.isJson() ? Output.items(found.items()) + "\n" : table(found.items()).text());
    if (found.more()) {
      say("There are more; --limit tells how many to list.");
    }
    return Exit.DONE;
  }

  static Table table(Iterable<JsonNode> lines) {
    Table table =
        Table.of(
            ">#",
            "ID",
            "NAME",
            "ACCOUNT",
            "USER",
            ">GPUS",
            "QUEUED",
            "ORDERED BY",
            "RESERVED",
            "WAITS",
            "WHY");
    for (JsonNode line : lines) {
      table.row(
          Show.text(line, "position"),
          Show.text(line, "id"),
          Show.text(line, "name"),
          Show.text(line, "account"),
          Show.text(line, "user"),
          Show.asked(line),
          Show.text(line, "queued_at"),
          Show.figures(line.path("figures")),
          Show.gpus(line.path("reservation")),
          Show.text(line, "code"),
          Show.text(line, "message"));
    }
    return table;
  }
}
