package evenhand.cli;

import evenhand.policy.ClauseView;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.Rule;
import evenhand.policy.RuleFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code policy list} and {@code policy show}: policies as people read them. */
final class PolicyCommands {
  private PolicyCommands() {}

  @picocli.CommandLine.Command(
      name = "policy",
      description = "The policies there are, what each says, and which decides.",
      synopsisSubcommandLabel = "COMMAND")
  static final class PolicyGroup extends Commands.Group {
    PolicyGroup(Console console) {
      super(console);
    }
  }

  @picocli.CommandLine.Command(name = "list", description = "List the policies there are.")
  static final class ListCommand extends Command {
    @Option(
        names = "--rules",
        paramLabel = "DIR",
        description = "The rules folder; the rules at hand by default.")
    private Path rules;

    @Mixin private Output output;

    ListCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() throws PolicyFault {
      RuleFiles files = RuleFiles.of(Optional.ofNullable(rules));
      List<JsonNode> items = new ArrayList<>();
      Table table = Table.of("POLICY", "TITLE", ">CLAUSES", ">RULES", "HASH");
      for (String name : files.policies()) {
        Policy policy = Policies.load(files, name, Map.of());
        int rules = policy.clauses().stream().mapToInt(c -> c.rules().size()).sum();
        table.row(name, policy.title(), policy.clauses().size(), rules, policy.hash());
        ObjectNode node = new JsonMapper().createObjectNode();
        node.put("policy", name)
            .put("title", policy.title())
            .put("clauses", policy.clauses().size())
            .put("rules", rules)
            .put("hash", policy.hash())
            .put("where", policy.where());
        items.add(node);
      }
      console().out().print(output.isJson() ? Output.items(items) + "\n" : table.text());
      return Exit.DONE;
    }
  }

  @picocli.CommandLine.Command(
      name = "show",
      description = "Show one policy whole: its clauses, rules, choices and parameters.")
  static final class ShowCommand extends Command {
    @Parameters(paramLabel = "NAME", description = "Name of the policy, e.g. reservation.")
    private String name;

    @Option(
        names = "--rules",
        paramLabel = "DIR",
        description = "The rules folder; the rules at hand by default.")
    private Path rules;

    @Option(names = "--text", description = "Print the text of the rules as well.")
    private boolean text;

    @Mixin private Output output;

    ShowCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() throws PolicyFault {
      Policy policy = Policies.load(Optional.ofNullable(rules), name, Map.of());
      if (output.isJson()) {
        print(json(policy).toPrettyString());
      } else {
        tell(policy);
      }
      return Exit.DONE;
    }

    private void tell(Policy policy) {
      print(policy.name() + ": " + policy.title());
      print("rules of " + policy.where() + ", " + policy.hash());
      for (ClauseView clause : policy.clauses()) {
        print("");
        print(clause.clause());
        if (!clause.text().isEmpty()) {
          clause.text().lines().forEach(line -> print("    " + line));
        }
        for (Rule rule : clause.rules()) {
          print("  rule \"" + rule.name() + "\"");
          print("       " + rule.file() + ":" + rule.line() + ", stage " + rule.stage().word());
          if (text) {
            rule.text().lines().forEach(line -> print("       | " + line));
          }
        }
        for (String sentence : clause.sentences()) {
          print("  " + sentence);
        }
      }
    }

    private static JsonNode json(Policy policy) {
      ObjectNode node = new JsonMapper().createObjectNode();
      node.put("policy", policy.name())
          .put("title", policy.title())
          .put("hash", policy.hash())
          .put("where", policy.where());
      ArrayNode clauses = node.putArray("clauses");
      for (ClauseView clause : policy.clauses()) {
        ObjectNode c =
            clauses.addObject().put("clause", clause.clause()).put("text", clause.text());
        ArrayNode rules = c.putArray("rules");
        for (Rule rule : clause.rules()) {
          rules
              .addObject()
              .put("name", rule.name())
              .put("stage", rule.stage().word())
              .put("file", rule.file())
              .put("line", rule.line())
              .put("text", rule.text());
        }
        ArrayNode figures = c.putArray("figures");
        clause.sentences().forEach(figures::add);
      }
      return node;
    }
  }
}
