package evenhand.cli;

import evenhand.check.Check;
import evenhand.policy.RuleFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code check}: whether rules can go live. */
@picocli.CommandLine.Command(
    name = "check",
    description = {
      "Check a set of rules: read, lint and compile every policy, then run every scenario.",
      "A line for each; where one fails, what differs."
    },
    footer = {"", "Exit status: 0 all is right, 1 something is not, 2 wrong use."})
final class CheckCommand extends Command {
  @Option(
      names = "--rules",
      paramLabel = "DIR",
      description = "The rules folder; the rules at hand by default.")
  private Path rules;

  @Option(
      names = "--scenarios",
      paramLabel = "DIR",
      description = "The folder of scenarios; fixtures/scenarios, or those in the jar, by default.")
  private Path scenarios;

  @Mixin private Output output;

  CheckCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    RuleFiles files = RuleFiles.of(Optional.ofNullable(rules));
    List<JsonNode> items = new ArrayList<>();
    int[] count = {0};
    int failed =
        new Check(files)
            .run(
                Optional.ofNullable(scenarios),
                result -> {
                  count[0]++;
                  if (output.isJson()) {
                    items.add(json(result));
                  } else {
                    tell(result);
                  }
                });
    if (output.isJson()) {
      print(Output.items(items));
    } else {
      print("");
      print(
          failed == 0
              ? "All " + count[0] + " are right: rules of " + files.where() + "."
              : failed + " of " + count[0] + " are not right: rules of " + files.where() + ".");
    }
    return failed == 0 ? Exit.DONE : Exit.NO;
  }

  private void tell(Check.Result result) {
    print(
        (result.passed() ? "ok    " : "FAIL  ")
            + Table.clean(result.name())
            + "  "
            + Table.clean(result.title()));
    for (String difference : result.differences()) {
      print("      " + Table.clean(difference));
    }
    console().out().flush();
  }

  private static JsonNode json(Check.Result result) {
    ObjectNode node = new JsonMapper().createObjectNode();
    node.put("name", result.name()).put("title", result.title()).put("passed", result.passed());
    ArrayNode differences = node.putArray("differences");
    result.differences().forEach(differences::add);
    return node;
  }
}
