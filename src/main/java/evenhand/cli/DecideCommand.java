package evenhand.cli;

import evenhand.facts.Snapshot;
import evenhand.input.InputFault;
import evenhand.input.Shape;
import evenhand.json.DecisionJson;
import evenhand.json.SnapshotJson;
import evenhand.outcomes.Decision;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/** {@code decide}: one cycle's decision for a snapshot, as the service would make it. */
@picocli.CommandLine.Command(
    name = "decide",
    description = {
      "Decide one cycle for a snapshot and print the decision as JSON.",
      "Nothing else is read: no clock, no database, no cluster. The same snapshot and rules give"
          + " the same bytes."
    },
    footer = {
      "",
      "With --ndjson each line of the input is a snapshot and each line of the output its decision,"
          + " in order. A line that cannot be read or decided prints nothing on standard output; it"
          + " is reported with its number on standard error, the others are still decided, and the"
          + " exit status is 2. Empty lines are skipped.",
      "",
      "Exit status: 0 decided, 2 a snapshot, a setting or a rule is at fault."
    })
final class DecideCommand extends Command {
  private final PolicySource policies;
  private final Map<String, Policy> loaded = new HashMap<>();

  @Option(
      names = "--snapshot",
      paramLabel = "FILE",
      description = "The snapshot, JSON; - for standard input.")
  private String file;

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      description = "The policy that decides; the one that the snapshot names by default.")
  private String policy;

  @Option(
      names = "--rules",
      paramLabel = "DIR",
      description = "The rules folder; the rules at hand by default.")
  private Path rules;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Change a parameter or choice of the policy for this once.")
  private Map<String, String> settings = new LinkedHashMap<>();

  @Option(names = "--ndjson", description = "Many snapshots, one a line.")
  private boolean lines;

  @Option(
      names = "--explain-defaults",
      description = "Print every field of a snapshot with its default and meaning, and stop.")
  private boolean explainDefaults;

  @Mixin private Output output;

  DecideCommand(Console console, PolicySource policies) {
    super(console);
    this.policies = policies;
  }

  @Override
  public Integer call() throws PolicyFault {
    if (explainDefaults) {
      explainDefaults();
      return Exit.DONE;
    }
    if (file == null) {
      throw wrongUse("Name the snapshot: --snapshot FILE, or --snapshot - for standard input.");
    }
    return lines ? decideLines() : decideOne();
  }

  private int decideOne() throws PolicyFault {
    Snapshot snapshot = SnapshotJson.read(Console.called(file), console().read(file));
    print(DecisionJson.writeLines(decide(snapshot)));
    return Exit.DONE;
  }

  private int decideLines() throws PolicyFault {
    int status = Exit.DONE;
    String called = Console.called(file);
    int number = 0;
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(console().open(file), StandardCharsets.UTF_8.newDecoder()),
            1 << 16)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        number++;
        if (line.isBlank()) {
          continue;
        }
        try {
          print(DecisionJson.write(decide(SnapshotJson.read(called, number, line))));
        } catch (InputFault e) {
          say(e.getMessage());
          status = Exit.WRONG_USE;
        } catch (PolicyFault | RuleFailed e) {
          say(called + ":" + number + ": " + e.getMessage());
          status = Exit.WRONG_USE;
        }
        // a program at the other end may be waiting for this answer before it asks on
        console().out().flush();
      }
    } catch (CharacterCodingException e) {
      throw new Failed(
          Exit.WRONG_USE, called + " is not text in UTF-8, at line " + (number + 1) + " or after.");
    } catch (IOException e) {
      throw new Failed(Exit.WRONG_USE, called + " cannot be read: " + e.getMessage() + ".");
    }
    return status;
  }

  private Decision decide(Snapshot given) throws PolicyFault {
    Snapshot snapshot = policy == null ? given : underPolicy(given, policy);
    Policy decider = loaded.get(snapshot.policy());
    if (decider == null) {
      decider = policies.load(Optional.ofNullable(rules), snapshot.policy(), settings);
      loaded.put(snapshot.policy(), decider);
    }
    return decider.decide(snapshot).on(SnapshotJson.hash(snapshot));
  }

  private static Snapshot underPolicy(Snapshot s, String name) {
    return new Snapshot(
        name,
        s.now(),
        s.cluster(),
        s.tiers(),
        s.placements(),
        s.accounts(),
        s.jobs(),
        s.reservations(),
        s.running());
  }

  private void explainDefaults() {
    if (output.isJson()) {
      ArrayNode all = new JsonMapper().createArrayNode();
      for (Shape.Explained field : SnapshotJson.SHAPE.explain()) {
        all.addObject()
            .put("field", field.path())
            .put("default", field.defaultWords())
            .put("must_be", field.right())
            .put("meaning", field.meaning());
      }
      print(all.toString());
      return;
    }
    Table table = Table.of("FIELD", "DEFAULT", "MEANING", "MUST BE");
    for (Shape.Explained field : SnapshotJson.SHAPE.explain()) {
      table.row(field.path(), field.defaultWords(), field.meaning(), field.right());
    }
    console().out().print(table.text());
  }
}
