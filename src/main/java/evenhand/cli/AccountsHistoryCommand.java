package evenhand.cli;

import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code accounts history}: an account over time, or its changes. */
@picocli.CommandLine.Command(
    name = "history",
    description = {
      "Show an account over time: its share, what it had used of the window, and what it was entitled"
          + " to and got (GPU-hours); or with --changes what was changed of it.",
      "The window before a point counts in whole hours."
    })
final class AccountsHistoryCommand extends Command {
  @Parameters(paramLabel = "ID", description = "The account.")
  private String id;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      description = "From this time on, e.g. 2026-04-10T09:00:00Z (default: one window ago).")
  private String since;

  @Option(
      names = "--step",
      paramLabel = "TIME",
      defaultValue = "1d",
      description = "Time between points, whole hours (default: ${DEFAULT-VALUE}).")
  private String step;

  @Option(names = "--changes", description = "What was changed of it, newest first.")
  private boolean changes;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  AccountsHistoryCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    String path = "/v1/accounts/" + ServiceAddress.id("account", id);
    List<JsonNode> items =
        service
            .list(
                console(),
                changes
                    ? path + "/changes"
                    : ServiceAddress.path(path + "/history", "step", step, "since", since),
                Integer.MAX_VALUE)
            .items();
    if (output.isJson()) {
      print(Output.items(items));
    } else {
      console()
          .out()
          .print((changes ? AccountsWeightsCommand.changes(items) : points(items)).text());
    }
    return Exit.DONE;
  }

  private static Table points(List<JsonNode> items) {
    Table table =
        Table.of(
            "FROM",
            "TO",
            ">SHARE",
            ">WINDOW (h)",
            ">RATIO",
            ">DEMAND",
            ">ENTITLED",
            ">DELIVERED",
            ">DEL/ENT");
    for (JsonNode p : items) {
      table.row(
          Show.text(p, "from"),
          Show.text(p, "to"),
          Show.percent(p, "share"),
          Show.hours(p, "window_usage"),
          Show.number(p, "ratio"),
          Show.hours(p, "demand_gpu_s"),
          Show.hours(p, "entitled_gpu_s"),
          Show.hours(p, "delivered_gpu_s"),
          Show.percent(p, "delivered_over_entitled"));
    }
    return table;
  }
}
