package evenhand.cli;

import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code cancel ID}: end a job. */
@picocli.CommandLine.Command(
    name = "cancel",
    description =
        "Cancel a job: a queued one at once, a running one as soon as the cluster has ended it.")
final class CancelCommand extends Command {
  @Parameters(paramLabel = "ID", description = "The job's id.")
  private String id;

  @Option(
      names = "--user",
      paramLabel = "NAME",
      description = "Who cancels it (default: that of the token, or your name on this machine).")
  private String user;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  CancelCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    String by = service.who(console(), user);
    String body = new JsonMapper().createObjectNode().put("user", by).toString();
    String path = "/v1/jobs/" + ServiceAddress.id("job", id) + "/cancel";
    JsonNode job = service.post(console(), path, body, Map.of()).body();
    boolean late =
        List.of("COMPLETED", "FAILED", "TIMEOUT", "PREEMPTED").contains(Show.text(job, "state"));
    print(
        output.isJson()
            ? job.toString()
            : "Job "
                + Show.text(job, "id")
                + " is "
                + Show.text(job, "state")
                + (late ? " already; there is nothing to cancel." : "."));
    return late ? Exit.NO : Exit.DONE;
  }
}
