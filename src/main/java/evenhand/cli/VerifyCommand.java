package evenhand.cli;

import evenhand.input.Durations;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code verify}: recorded decisions made again. */
@picocli.CommandLine.Command(
    name = "verify",
    description = {
      "Make recorded decisions again from what is stored with them, with the rule texts of their"
          + " time, and want the same bytes. The service goes on meanwhile.",
      "Newest first; stops at the first that differs unless --all is given."
    },
    footer = {"", "Exit status: 0 all are the same, 1 one is not."})
final class VerifyCommand extends Command {
  @ArgGroup(multiplicity = "1")
  private Which which;

  @Option(names = "--all", description = "Go on after one that differs.")
  private boolean all;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  private static final class Which {
    @Option(names = "--decision", paramLabel = "ID", description = "The decision of this id.")
    private String decision;

    @Option(
        names = "--since",
        paramLabel = "TIME",
        description =
            "All since then: a time such as 2026-04-10T09:00:00Z, or a while ago such as 8h.")
    private String since;
  }

  VerifyCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    List<JsonNode> verdicts = new ArrayList<>();
    int different = 0;
    for (String id : which.decision != null ? List.of(which.decision) : since()) {
      JsonNode verdict =
          service.get(console(), "/v1/decisions/" + ServiceAddress.id("decision", id) + "/verify");
      verdicts.add(verdict);
      if (verdict.path("same").asBoolean(false)) {
        continue;
      }
      different++;
      if (!output.isJson()) {
        print(
            "Decision "
                + Show.text(verdict, "id")
                + " is not as it was ("
                + Show.text(verdict, "part")
                + "): "
                + Table.clean(String.valueOf(Show.text(verdict, "message")))
                + ".");
      }
      if (!all) {
        break;
      }
    }
    if (output.isJson()) {
      print(Output.items(verdicts));
    } else {
      print(
          verdicts.size()
              + (verdicts.size() == 1 ? " decision" : " decisions")
              + " made again: "
              + (different == 0 ? "the same to the byte." : different + " not the same."));
    }
    return different == 0 ? Exit.DONE : Exit.NO;
  }

  private List<String> since() {
    Instant from;
    try {
      from = Instant.parse(which.since);
    } catch (DateTimeParseException e) {
      try {
        from = Instant.now().minus(Durations.parse(which.since));
      } catch (IllegalArgumentException no) {
        throw wrongUse(
            "--since must be a time such as 2026-04-10T09:00:00Z or a while ago such as 8h.");
      }
    }
    Instant first = from;
    List<String> ids = new ArrayList<>();
    service.eachUntil(
        console(),
        "/v1/decisions",
        decision -> {
          if (Instant.parse(decision.path("at").asString()).isBefore(first)) {
            return false;
          }
          ids.add(Show.text(decision, "id"));
          return true;
        });
    return ids;
  }
}
