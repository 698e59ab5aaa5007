package evenhand.cli;

import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code cycle --once}: have the running service run one cycle now. */
@picocli.CommandLine.Command(
    name = "cycle",
    description = "Have the running service run one dispatch cycle now, and say what came of it.",
    footer = {
      "",
      "Exit status: 0 decided, 1 another process decides, 3 nothing could be decided or the service"
          + " does not answer."
    })
final class CycleCommand extends Command {
  @Option(names = "--once", required = true, description = "Run one cycle.")
  private boolean once;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  CycleCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    JsonNode report = service.post(console(), "/v1/cycle", null, Map.of()).body();
    String result = Show.text(report, "result");
    if (output.isJson()) {
      print(report.toString());
    } else {
      String because = Show.text(report, "because");
      print(
          result
              + (because == null ? "" : ": " + Table.clean(because))
              + ", "
              + Show.text(report, "orders")
              + " orders carried out, "
              + Show.text(report, "whole_ms")
              + " ms");
      if (Show.text(report, "decision") != null) {
        print("Decision: " + Show.text(report, "decision"));
      }
      report.path("notes").forEach(note -> print("Note: " + Table.clean(note.asString())));
    }
    return switch (String.valueOf(result)) {
      case "DECIDED" -> Exit.DONE;
      case "STANDBY" -> Exit.NO;
      default -> Exit.OUTSIDE;
    };
  }
}
