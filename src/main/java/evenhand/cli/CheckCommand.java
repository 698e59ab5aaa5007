package evenhand.cli;

import evenhand.check.Check;
import evenhand.policy.RuleFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
      "A line for each: ok, FAIL with what differs, ---- for a scenario whose policy cannot be loaded,",
      "and note for what is not wrong but should be known."
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
    int[] notRun = {0};
    int failed =
        new Check(files)
            .run(
                Optional.ofNullable(scenarios),
                result -> {
                  count[0] += result.state() == Check.State.NOTE ? 0 : 1;
                  notRun[0] += result.state() == Check.State.NOT_RUN ? 1 : 0;
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
      if (notRun[0] > 0) {
        print(
            notRun[0]
                + (notRun[0] == 1 ? " scenario" : " scenarios")
                + " could not run, since the policy asked for cannot be loaded: see above.");
      }
      print(
          failed == 0
              ? "All " + count[0] + " are right: rules of " + files.where() + "."
              : failed + " of " + count[0] + " are not right: rules of " + files.where() + ".");
    }
    return failed == 0 ? Exit.DONE : Exit.NO;
  }

  private void tell(Check.Result result) {
    print(word(result.state()) + Table.clean(result.name()) + "  " + Table.clean(result.title()));
    for (String difference : result.differences()) {
      print("      " + Table.clean(difference));
    }
    console().out().flush();
  }

  private static String word(Check.State state) {
    return switch (state) {
      case OK -> "ok    ";
      case FAIL -> "FAIL  ";
      case NOT_RUN -> "----  ";
      case NOTE -> "note  ";
    };
  }

  private static JsonNode json(Check.Result result) {
    ObjectNode node = new JsonMapper().createObjectNode();
    node.put("name", result.name())
        .put("title", result.title())
        .put("passed", result.passed())
        .put("state", result.state().name().toLowerCase(Locale.ROOT));
    ArrayNode differences = node.putArray("differences");
    result.differences().forEach(differences::add);
    return node;
  }
}
