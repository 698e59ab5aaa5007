package evenhand.cli;

import evenhand.cycle.AccountSetup;
import evenhand.simulator.AccountPlan;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code accounts apply}: makes the service's tree the one of a file, after showing what changes.
 */
@picocli.CommandLine.Command(
    name = "apply",
    description = {
      "Make the tree of accounts the one of FILE.yaml. What changes is shown first; it is done with"
          + " --yes, or when you confirm it on a terminal.",
      "The file is a tree as simulate reads it: NAME: {weight: 1, owners: [kim], users: [lee],"
          + " children: {...}}. An account that is not in it is retired, never deleted."
    },
    footer = {"", "Exit status: 0 done or nothing to do, 1 not applied, 2 wrong use or bad input."})
final class AccountsApplyCommand extends Command {
  @Parameters(paramLabel = "FILE.yaml", description = "The tree; - for standard input.")
  private String file;

  @Option(names = "--yes", description = "Apply without asking.")
  private boolean yes;

  @Option(names = "--dry-run", description = "Show what would change, and change nothing.")
  private boolean dryRun;

  @Option(
      names = "--by",
      paramLabel = "NAME",
      description = "Who asks (default: that of the token, or your name on this machine).")
  private String by;

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      description = "Why, for later readers (default: the name of the file).")
  private String reason;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  AccountsApplyCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    if (yes && dryRun) {
      throw wrongUse("--yes and --dry-run do not go together.");
    }
    AccountPlan tree = AccountPlan.read(Console.called(file), console().read(file));
    if (!tree.changes().isEmpty()) {
      throw new Failed(
          Exit.WRONG_USE,
          Console.called(file)
              + ": weight_changes is for simulations; take it out to apply the tree.");
    }
    ObjectNode body = body(tree);
    JsonNode plan = post("/v1/accounts/plan", body);
    boolean nothing = plan.path("changes").isEmpty();
    boolean json = output.isJson();
    if (!json) {
      show(plan);
    }
    if (nothing || dryRun) {
      return told(plan, Exit.DONE);
    }
    if (!yes && !confirmed()) {
      say("Nothing was applied." + (isTerminal() ? "" : " Give --yes to apply it."));
      return told(plan, Exit.NO);
    }
    body.put("version", plan.path("version").asLong());
    JsonNode done = post("/v1/accounts/apply", body);
    if (!json) {
      print("Applied; effective from the next cycle on.");
    }
    return told(done, Exit.DONE);
  }

  private int told(JsonNode plan, int status) {
    if (output.isJson()) {
      print(plan.toString());
    }
    return status;
  }

  private JsonNode post(String path, ObjectNode body) {
    return service.post(console(), path, body.toString(), Map.of()).body();
  }

  private ObjectNode body(AccountPlan tree) {
    Map<String, List<String>> users = new TreeMap<>();
    tree.userAccounts()
        .forEach((user, id) -> users.computeIfAbsent(id, a -> new ArrayList<>()).add(user));
    ObjectNode body = new JsonMapper().createObjectNode();
    ArrayNode accounts = body.putArray("accounts");
    for (AccountSetup setup : tree.accounts()) {
      ObjectNode account = accounts.addObject();
      account.put("id", setup.id());
      account.put("parent", setup.parent());
      account.put("weight", setup.weight());
      ArrayNode owners = account.putArray("owners");
      tree.owners().getOrDefault(setup.id(), List.of()).forEach(owners::add);
      ArrayNode own = account.putArray("users");
      users.getOrDefault(setup.id(), List.of()).forEach(own::add);
    }
    body.put("by", service.who(console(), by));
    body.put("reason", reason == null ? "applied from " + Console.called(file) : reason);
    return body;
  }

  private void show(JsonNode plan) {
    if (plan.path("changes").isEmpty()) {
      print("Nothing to change: the tree is as the file has it.");
      return;
    }
    for (JsonNode c : plan.path("changes")) {
      print(Table.clean(line(c)));
    }
    if (!plan.path("shares").isEmpty()) {
      print("");
      Table table = Table.of("ACCOUNT", ">SHARE NOW", ">THEN");
      for (JsonNode share : plan.path("shares")) {
        table.row(
            Show.text(share, "account"),
            Show.percent(share, "was"),
            Show.percent(share, "becomes"));
      }
      console().out().print(table.text());
    }
    for (JsonNode note : plan.path("notes")) {
      print("");
      print("Note: " + Table.clean(note.asString()));
    }
  }

  /** A change in few words, with the sign that such plans have. */
  static String line(JsonNode c) {
    String account = Show.text(c, "account");
    String was = Show.number(c, "was");
    String became = Show.number(c, "became");
    String parent = Show.text(c, "parent");
    String top = "the top";
    return switch (Show.text(c, "kind")) {
      case "added" ->
          "+ "
              + account
              + ": added below "
              + (parent == null ? top : parent)
              + ", weight "
              + became;
      case "restored" -> "+ " + account + ": back in the tree, weight " + became;
      case "retired" -> "- " + account + ": retired (weight " + was + ", kept with its history)";
      case "moved" ->
          "~ "
              + account
              + ": moved from below "
              + (was == null ? top : was)
              + " to below "
              + (became == null ? top : became);
      case "weight" -> "~ " + account + ": weight " + was + " -> " + became;
      default ->
          "~ "
              + account
              + ": "
              + Show.text(c, "kind")
              + " "
              + (was == null ? "none" : was)
              + " -> "
              + (became == null ? "none" : became);
    };
  }

  /** Whether a person can be asked: the tree itself must not come from where the answer would. */
  private boolean isTerminal() {
    return !file.equals("-") && System.console() != null;
  }

  private boolean confirmed() {
    if (!isTerminal()) {
      return false;
    }
    console().out().print("Apply this? [y/N] ");
    console().out().flush();
    try {
      String answer =
          new BufferedReader(new InputStreamReader(console().in(), StandardCharsets.UTF_8))
              .readLine();
      return answer != null
          && List.of("y", "yes").contains(answer.strip().toLowerCase(java.util.Locale.ROOT));
    } catch (IOException e) {
      return false;
    }
  }
}
