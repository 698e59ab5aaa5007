package evenhand.cli;

import evenhand.check.ScenarioTables;
import evenhand.explain.PolicyDoc;
import evenhand.explain.ShownCase;
import evenhand.input.InputFault;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code policy doc}: a policy as a document. */
@picocli.CommandLine.Command(
    name = "doc",
    description = {
      "Print a policy as a document in Markdown: each clause with its text, rules, parameters and"
          + " scenarios.",
      "With a NAME, of the rules at hand, without a service. Without one, of the policy that decides"
          + " in the service, or of one that did (--hash), with how often each rule decided."
    })
final class PolicyDocCommand extends Command {
  @Parameters(
      paramLabel = "NAME",
      arity = "0..1",
      description = "Name of the policy, e.g. reservation; asks no service.")
  private String name;

  @Option(
      names = "--hash",
      paramLabel = "HASH",
      description = "A policy that has decided in the service, by its hash or the beginning of it.")
  private String hash;

  @Option(
      names = "--rules",
      paramLabel = "DIR",
      description = "With a NAME: the rules folder; the rules at hand by default.")
  private Path rules;

  @Option(
      names = "--scenarios",
      paramLabel = "DIR",
      description = "With a NAME: the folder of scenarios; those at hand by default.")
  private Path scenarios;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  PolicyDocCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() throws PolicyFault {
    if (name != null && hash != null) {
      throw wrongUse("A NAME is of the rules at hand, --hash of the service; give one of them.");
    }
    if (name == null && (rules != null || scenarios != null)) {
      throw wrongUse("--rules and --scenarios stand beside a NAME.");
    }
    JsonNode doc = name == null ? ofService() : new JsonMapper().valueToTree(atHand().tree());
    print(output.isJson() ? doc.toString() : doc.path("markdown").asString().stripTrailing());
    return Exit.DONE;
  }

  private JsonNode ofService() {
    return service.get(console(), ServiceAddress.path("/v1/policy/doc", "hash", hash));
  }

  private PolicyDoc atHand() throws PolicyFault {
    Policy policy = Policies.load(Optional.ofNullable(rules), name, Map.of());
    List<ShownCase> cases;
    try {
      cases = ScenarioTables.all(Optional.ofNullable(scenarios));
    } catch (InputFault e) {
      if (scenarios != null) {
        throw e;
      }
      cases = List.of();
    }
    return PolicyDoc.of(
        policy,
        cases,
        PolicyDoc.Counts.none(
            "How often rules decided is left out: only a service has recorded that."),
        Instant.EPOCH,
        Instant.EPOCH);
  }
}
