package evenhand.cli;

import java.util.List;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** {@code accounts}: who was charged what. */
@picocli.CommandLine.Command(
    name = "accounts",
    description = "Show the accounts with their weights and what they were charged.")
final class AccountsCommand extends Command {
  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  AccountsCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    List<JsonNode> accounts = service.list(console(), "/v1/accounts", Integer.MAX_VALUE).items();
    if (output.isJson()) {
      print(Output.items(accounts));
      return Exit.DONE;
    }
    Table table = Table.of("ID", "PARENT", ">WEIGHT", ">USAGE (TFLOP-s)");
    for (JsonNode account : accounts) {
      table.row(
          Show.text(account, "id"),
          Show.text(account, "parent"),
          Show.number(account, "weight"),
          Show.number(account, "cumulative_usage"));
    }
    console().out().print(table.text());
    return Exit.DONE;
  }
}
