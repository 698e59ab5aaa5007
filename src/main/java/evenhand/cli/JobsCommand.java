package evenhand.cli;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code jobs}: jobs of the service, newest first. */
@picocli.CommandLine.Command(name = "jobs", description = "List jobs, newest first.")
final class JobsCommand extends Command {
  @Option(names = "--state", paramLabel = "STATE", description = "Only jobs in this state.")
  private String state;

  @Option(names = "--account", paramLabel = "ID", description = "Only jobs of this account.")
  private String account;

  @Option(names = "--user", paramLabel = "NAME", description = "Only jobs of this user.")
  private String user;

  @Mixin private Limit limit = new Limit(100);

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  JobsCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    String asked =
        ServiceAddress.path("/v1/jobs", "state", state, "account", account, "user", user);
    ServiceAddress.Found found = service.list(console(), asked, limit.most());
    if (output.isJson()) {
      print(Output.items(found.items()));
    } else {
      Table table =
          Table.of(
              "ID",
              "NAME",
              "ACCOUNT",
              "USER",
              "STATE",
              ">GPUS",
              "QUEUED",
              "STARTED",
              "ENDED",
              "ON",
              "RESERVED",
              ">CHARGED (TFLOP-s)");
      for (JsonNode job : found.items()) {
        table.row(
            Show.text(job, "id"),
            Show.text(job, "name"),
            Show.text(job, "account"),
            Show.text(job, "user"),
            Show.text(job, "state"),
            Show.asked(job),
            Show.text(job, "queued_at"),
            Show.text(job, "started_at"),
            Show.text(job, "ended_at"),
            Show.gpus(job.path("on")),
            Show.gpus(job.path("reservation")),
            Show.number(job, "charged_tflop_s"));
      }
      console().out().print(table.text());
    }
    limit.saidOf(found, console());
    return Exit.DONE;
  }
}
