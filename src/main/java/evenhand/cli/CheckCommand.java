package evenhand.cli;

import evenhand.check.Check;
import evenhand.check.MutantCheck;
import evenhand.policy.PolicyFault;
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

  @Option(
      names = "--watch",
      description = "Check again whenever a file changes, and print what has changed by it.")
  private boolean watch;

  @Option(
      names = "--runs",
      paramLabel = "N",
      description = "With --watch: end after so many checks (default: when interrupted).")
  private Integer runs;

  @Option(
      names = "--mutants",
      description =
          "Edit the rules wrongly in every small way, and list the edits that no scenario notices.")
  private boolean mutants;

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      description = "With --mutants: only the rules of this policy.")
  private String policy;

  @Option(
      names = "--at-most",
      paramLabel = "N",
      description = "With --mutants: so many edits at most (default: ${DEFAULT-VALUE}).",
      defaultValue = "3000")
  private int atMost;

  @Mixin private Output output;

  CheckCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() throws PolicyFault {
    if (watch && mutants) {
      throw wrongUse("--watch and --mutants are two things; give one of them.");
    }
    if (watch && output.isJson()) {
      throw wrongUse("--watch prints lines as they come; leave -o json out.");
    }
    if (runs != null && (!watch || runs < 1)) {
      throw wrongUse("--runs is a number of 1 or more, beside --watch.");
    }
    if (!mutants && policy != null || atMost < 1) {
      throw wrongUse("--policy and --at-most stand beside --mutants; --at-most is 1 or more.");
    }
    RuleFiles files = RuleFiles.of(Optional.ofNullable(rules));
    if (watch) {
      return new WatchedCheck(console(), files, Optional.ofNullable(scenarios), runs).run();
    }
    if (mutants) {
      return mutants(files);
    }
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

  private int mutants(RuleFiles files) throws PolicyFault {
    List<MutantCheck.Finding> unnoticed = new ArrayList<>();
    int[] done = {0};
    int all =
        new MutantCheck(files, Optional.ofNullable(scenarios))
            .run(
                Optional.ofNullable(policy),
                atMost,
                found -> {
                  done[0] = found.done();
                  if (found.noticedBy() == null) {
                    unnoticed.add(found);
                    if (!output.isJson()) {
                      print(Table.clean(found.file()) + ": " + Table.clean(found.edit()));
                      console().out().flush();
                    }
                  }
                  if (found.done() % 50 == 0) {
                    say(found.done() + " of " + found.of() + " edits made");
                  }
                });
    if (output.isJson()) {
      List<JsonNode> items = new ArrayList<>();
      unnoticed.forEach(
          u ->
              items.add(
                  new JsonMapper().createObjectNode().put("file", u.file()).put("edit", u.edit())));
      print(Output.items(items));
      return Exit.DONE;
    }
    print("");
    print(
        unnoticed.isEmpty()
            ? "All " + done[0] + " wrong edits are noticed by some scenario, or do not load."
            : unnoticed.size()
                + " of "
                + done[0]
                + " wrong edits go unnoticed: where one of them matters, write a scenario in which"
                + " it does.");
    if (done[0] < all) {
      print((all - done[0]) + " more edits were left out (--at-most).");
    }
    return Exit.DONE;
  }

  private void tell(Check.Result result) {
    tell(console(), result);
  }

  /** One result, as people read it. */
  static void tell(Console console, Check.Result result) {
    console
        .out()
        .println(
            word(result.state()) + Table.clean(result.name()) + "  " + Table.clean(result.title()));
    for (String difference : result.differences()) {
      console.out().println("      " + Table.clean(difference));
    }
    console.out().flush();
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
