package evenhand.cli;

import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** {@code queue}: who is next. */
@picocli.CommandLine.Command(
    name = "queue",
    description = "Show the queue in the order of the active policy, with what orders it.")
final class QueueCommand extends Command {
  @Mixin private Limit limit = new Limit(100);

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  QueueCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    ServiceAddress.Found found = service.list(console(), "/v1/queue", limit.most());
    console()
        .out()
        .print(output.isJson() ? Output.items(found.items()) + "\n" : table(found.items()).text());
    limit.saidOf(found, console());
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
