package evenhand.cli;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code accounts}: the tree, who has used what of it, and what it was entitled to. */
@picocli.CommandLine.Command(
    name = "accounts",
    description = {
      "Show the tree of accounts: its shares, what was used of the window, and what each account was"
          + " entitled to and got (GPU-hours).",
      "An account's figures are its own and those of all below it, but for USAGE, which is all that"
          + " it was ever charged itself."
    })
final class AccountsCommand extends Command {
  @Option(names = "--retired", description = "Those that were taken out of the tree as well.")
  private boolean retired;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  AccountsCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    List<JsonNode> accounts =
        service
            .list(console(), "/v1/accounts" + (retired ? "?retired=true" : ""), Integer.MAX_VALUE)
            .items();
    if (output.isJson()) {
      print(Output.items(accounts));
      return Exit.DONE;
    }
    boolean window = accounts.stream().anyMatch(a -> a.path("window_usage").isNumber());
    console().out().print((window ? withWindow(accounts) : plain(accounts)).text());
    if (window) {
      headline(accounts);
    }
    return Exit.DONE;
  }

  private static String indented(JsonNode account) {
    return "  ".repeat(account.path("depth").asInt()) + Show.text(account, "id");
  }

  /** A table's cells are cleaned, not trimmed: the indentation stays. */
  private static Table plain(List<JsonNode> accounts) {
    Table table =
        Table.of("ACCOUNT", ">WEIGHT", ">SHARE", ">USAGE (TFLOP-s)", "OWNERS", "USERS", "RETIRED");
    for (JsonNode account : accounts) {
      table.row(
          indented(account),
          Show.number(account, "weight"),
          Show.percent(account, "share"),
          Show.number(account, "cumulative_usage"),
          Show.names(account, "owners"),
          Show.names(account, "users"),
          Show.text(account, "retired_at"));
    }
    return table;
  }

  private static Table withWindow(List<JsonNode> accounts) {
    String unit =
        accounts.stream()
            .map(a -> Show.text(a, "window_unit"))
            .filter("tflop_s"::equals)
            .findFirst()
            .map(u -> "TFLOP-h")
            .orElse("GPU-h");
    Table table =
        Table.of(
            "ACCOUNT",
            ">WEIGHT",
            ">SHARE",
            ">WINDOW (" + unit + ")",
            ">RATIO",
            ">ENTITLED",
            ">DELIVERED",
            ">DEL/ENT",
            ">USAGE (TFLOP-s)",
            "OWNERS",
            "USERS",
            "RETIRED");
    for (JsonNode account : accounts) {
      table.row(
          indented(account),
          Show.number(account, "weight"),
          Show.percent(account, "share"),
          Show.hours(account, "window_usage"),
          Show.number(account, "ratio"),
          Show.hours(account, "entitled_gpu_s"),
          Show.hours(account, "delivered_gpu_s"),
          Show.percent(account, "delivered_over_entitled"),
          Show.number(account, "cumulative_usage"),
          Show.names(account, "owners"),
          Show.names(account, "users"),
          Show.text(account, "retired_at"));
    }
    return table;
  }

  /** What accounts got of what they were entitled to, nothing beyond it counted (A5). */
  private void headline(List<JsonNode> accounts) {
    Set<String> above = new HashSet<>();
    accounts.forEach(a -> above.add(Show.text(a, "parent")));
    double entitled = 0;
    double delivered = 0;
    List<JsonNode> leaves = new ArrayList<>(accounts);
    leaves.removeIf(a -> above.contains(Show.text(a, "id")));
    for (JsonNode account : leaves) {
      double right = account.path("entitled_gpu_s").asDouble(0);
      entitled += right;
      delivered += Math.min(right, account.path("delivered_gpu_s").asDouble(0));
    }
    if (entitled > 0) {
      print("");
      print("Delivered of what was entitled: " + Show.percent(delivered / entitled));
    }
  }
}
