package evenhand.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code accounts weights}: the weights right below an account, and setting them. */
@picocli.CommandLine.Command(
    name = "weights",
    description = {
      "Show the weights of the accounts right below one and how they came to be so; or set some,"
          + " which only an owner of that account or of one above it may.",
      "Effective from the next cycle on."
    },
    customSynopsis = {
      "evenhand accounts weights ID [OPTIONS]",
      "       evenhand accounts weights ID CHILD=WEIGHT... --reason=TEXT [OPTIONS]"
    })
final class AccountsWeightsCommand extends Command {
  @Parameters(index = "0", paramLabel = "ID", description = "The account above them.")
  private String id;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "CHILD=WEIGHT",
      description = "New weights; accounts that are not named keep theirs.")
  private Map<String, Double> weights = new LinkedHashMap<>();

  @Option(
      names = "--by",
      paramLabel = "NAME",
      description = "Who asks (default: that of the token, or your name on this machine).")
  private String by;

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for later readers.")
  private String reason;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  AccountsWeightsCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    String path = "/v1/accounts/" + ServiceAddress.id("account", id) + "/weights";
    JsonNode answer = weights.isEmpty() ? service.get(console(), path) : set(path);
    if (output.isJson()) {
      print(answer.toString());
      return Exit.DONE;
    }
    if (!weights.isEmpty()) {
      if (answer.path("changes").isEmpty()) {
        print("Nothing to change: they have these weights.");
      }
      answer.path("changes").forEach(c -> print(Table.clean(AccountsApplyCommand.line(c))));
      return Exit.DONE;
    }
    Table table = Table.of("ACCOUNT", ">WEIGHT");
    answer
        .path("weights")
        .properties()
        .forEach(e -> table.row(e.getKey(), Show.number(answer.path("weights"), e.getKey())));
    console().out().print(table.text());
    if (!answer.path("changes").isEmpty()) {
      print("");
      console().out().print(changes(answer.path("changes")).text());
    }
    return Exit.DONE;
  }

  static Table changes(Iterable<JsonNode> changes) {
    Table table = Table.of("AT", "BY", "CHANGE", "REASON");
    for (JsonNode c : changes) {
      table.row(
          Show.text(c, "at"),
          Show.text(c, "by"),
          AccountsApplyCommand.line(c),
          Show.text(c, "reason"));
    }
    return table;
  }

  private JsonNode set(String path) {
    if (reason == null) {
      throw wrongUse("Say why: --reason.");
    }
    ObjectNode body = new JsonMapper().createObjectNode();
    ObjectNode set = body.putObject("weights");
    weights.forEach(set::put);
    body.put("by", service.who(console(), by));
    body.put("reason", reason);
    return service.put(console(), path, body.toString()).body();
  }
}
