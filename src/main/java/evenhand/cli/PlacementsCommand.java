package evenhand.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** {@code placements}: the cluster's GPUs. */
@picocli.CommandLine.Command(
    name = "placements",
    description = "Show all GPUs of each tier on each node as they stand.")
final class PlacementsCommand extends Command {
  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  PlacementsCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    List<JsonNode> placements =
        service.list(console(), "/v1/placements", Integer.MAX_VALUE).items();
    if (output.isJson()) {
      print(Output.items(placements));
      return Exit.DONE;
    }
    Table table =
        Table.of(
            "NODE", "TIER", ">GPUS", ">IDLE", ">RESERVED", "FOR JOB", "STATE", "JOBS", "REASON");
    for (JsonNode p : placements) {
      List<String> jobs = new ArrayList<>();
      p.path("jobs").forEach(job -> jobs.add(job.asString()));
      table.row(
          Show.text(p, "node"),
          Show.text(p, "tier"),
          Show.text(p, "capacity"),
          Show.text(p, "idle"),
          Show.text(p, "reserved"),
          Show.text(p, "reserved_for"),
          Show.text(p, "state"),
          String.join(",", jobs),
          Show.text(p, "reason"));
    }
    console().out().print(table.text());
    return Exit.DONE;
  }
}
