package evenhand.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code scenario record}: recorded decisions as scenarios. */
final class ScenarioCommands {
  private ScenarioCommands() {}

  @picocli.CommandLine.Command(
      name = "scenario",
      description = "Scenarios: what a policy must decide.",
      synopsisSubcommandLabel = "COMMAND")
  static final class ScenarioGroup extends Commands.Group {
    ScenarioGroup(Console console) {
      super(console);
    }
  }

  @picocli.CommandLine.Command(
      name = "record",
      description = {
        "Write what a cycle knew and what was decided on it as a scenario, names replaced, ready to"
            + " be edited and checked.",
        "Of the last decision that said something new about a JOB, or of one --decision."
      },
      footer = {
        "",
        "Exit status: 0 written, 1 there is none or it cannot be said as a scenario, 2 wrong use,",
        "3 the service does not answer or the file cannot be written."
      })
  static final class RecordCommand extends Command {
    @Parameters(paramLabel = "JOB", arity = "0..1", description = "The job's id.")
    private String job;

    @Option(names = "--decision", paramLabel = "ID", description = "The decision's id.")
    private String decision;

    @Option(
        names = "--out",
        paramLabel = "FILE",
        description = "The file to write, which must not be there yet (default: print it).")
    private Path out;

    @Mixin private ServiceAddress service;

    RecordCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      if ((job == null) == (decision == null)) {
        throw wrongUse("Say which: a JOB, or --decision ID.");
      }
      JsonNode found =
          service.get(
              console(),
              job != null
                  ? "/v1/jobs/" + ServiceAddress.id("job", job) + "/scenario"
                  : "/v1/decisions/" + ServiceAddress.id("decision", decision) + "/scenario");
      String text = found.path("scenario").asString();
      if (out == null) {
        console().out().print(text);
        return Exit.DONE;
      }
      try {
        Files.writeString(out, text, StandardCharsets.UTF_8, StandardOpenOption.CREATE_NEW);
      } catch (FileAlreadyExistsException e) {
        throw new Failed(
            Exit.WRONG_USE, out + " is there already; name another file, or take it away.");
      } catch (IOException e) {
        throw new Failed(Exit.OUTSIDE, out + " cannot be written: " + e.getMessage());
      }
      print("Decision " + Show.text(found, "decision") + " is written to " + out + ".");
      return Exit.DONE;
    }
  }
}
