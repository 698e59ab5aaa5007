package evenhand.cli;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code job ID}: one job. */
@picocli.CommandLine.Command(name = "job", description = "Show one job.")
final class JobCommand extends Command {
  @Parameters(paramLabel = "ID", description = "The job's id.")
  private String id;

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  JobCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    JsonNode job = service.get(console(), "/v1/jobs/" + ServiceAddress.id("job", id));
    console().out().print(output.isJson() ? job + "\n" : table(job));
    return Exit.DONE;
  }

  static String table(JsonNode job) {
    return Table.of("FIELD", "VALUE")
        .row("id", Show.text(job, "id"))
        .row("name", Show.text(job, "name"))
        .row("account", Show.text(job, "account"))
        .row("user", Show.text(job, "user"))
        .row("state", Show.text(job, "state"))
        .row("reason", Show.text(job, "state_reason"))
        .row("nodes", Show.text(job, "nodes"))
        .row("GPUs on each node", Show.text(job, "num_gpus"))
        .row("tier", Show.text(job, "tier"))
        .row("minimum sort_order", Show.text(job, "minimum_tier_sort_order"))
        .row("priority", Show.text(job, "priority"))
        .row("protected run time", Show.duration(job, "min_runtime_s"))
        .row("resumable", Show.text(job, "resumable"))
        .row("preemptible", Show.text(job, "preemptible"))
        .row("time limit", Show.duration(job, "time_limit_s"))
        .row("attempt", Show.text(job, "attempt"))
        .row("submitted", Show.text(job, "submitted_at"))
        .row("queued", Show.text(job, "queued_at"))
        .row("started", Show.text(job, "started_at"))
        .row("ended", Show.text(job, "ended_at"))
        .row("exit code", Show.text(job, "exit_code"))
        .row("Slurm job", Show.text(job, "cluster_job"))
        .row("runs on", Show.gpus(job.path("on")))
        .row("reserved", Show.gpus(job.path("reservation")))
        .row("reservation cost, TFLOP-s", Show.number(job, "reservation_tflop_s"))
        .row("charged, TFLOP-s", Show.number(job, "charged_tflop_s"))
        .text();
  }
}
