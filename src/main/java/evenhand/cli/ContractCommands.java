package evenhand.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code nodes}, {@code node drain}, {@code node resume}, {@code checkpoint}. */
final class ContractCommands {
  private ContractCommands() {}

  /** {@code nodes}: how each node stands. */
  @picocli.CommandLine.Command(
      name = "nodes",
      description =
          "Show nodes: state, GPUs by use, why one is drained, what it still waits for and until"
              + " when.")
  static final class NodesCommand extends Command {
    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    NodesCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      List<JsonNode> nodes = service.list(console(), "/v1/nodes", Integer.MAX_VALUE).items();
      console().out().print(output.isJson() ? Output.items(nodes) + "\n" : table(nodes).text());
      return Exit.DONE;
    }
  }

  static Table table(List<JsonNode> nodes) {
    Table table =
        Table.of(
            "NODE",
            "STATE",
            "TIER",
            ">GPUS",
            ">ALLOCATED",
            ">UNALLOCATED",
            ">RESERVED",
            ">OUTSIDE",
            ">UNUSED",
            "WAITS FOR",
            "REASON");
    for (JsonNode node : nodes) {
      boolean first = true;
      for (JsonNode gpus : node.path("gpus")) {
        table.row(
            first ? Show.text(node, "node") : "",
            first ? Show.text(node, "state") : "",
            Show.text(gpus, "tier"),
            Show.text(gpus, "capacity"),
            Show.text(gpus, "allocated"),
            Show.text(gpus, "unallocated"),
            Show.text(gpus, "reserved"),
            Show.text(gpus, "outside"),
            Show.text(gpus, "unused"),
            first ? waitsFor(node.path("waits_for")) : "",
            first ? reason(node) : "");
        first = false;
      }
    }
    return table;
  }

  private static String waitsFor(JsonNode jobs) {
    List<String> texts = new ArrayList<>();
    for (JsonNode job : jobs) {
      String until = Show.text(job, "until");
      texts.add(
          "job "
              + Show.text(job, "job")
              + " ("
              + Show.text(job, "why")
              + (until == null ? "" : " until " + until)
              + ")");
    }
    return String.join(", ", texts);
  }

  private static String reason(JsonNode node) {
    String reason = Show.text(node, "reason");
    return reason == null
        ? null
        : reason
            + (node.path("drained_by").isString()
                ? " (by "
                    + Show.text(node, "drained_by")
                    + ", "
                    + Show.text(node, "drained_at")
                    + ")"
                : "");
  }

  /** {@code node}: groups what is done to one node. */
  @picocli.CommandLine.Command(
      name = "node",
      description = "Drain a node for repair, or use it again.",
      synopsisSubcommandLabel = "COMMAND")
  static final class NodeGroup extends Commands.Group {
    NodeGroup(Console console) {
      super(console);
    }
  }

  private abstract static class OneNode extends Command {
    @Parameters(paramLabel = "NODE", description = "The node's name.")
    private String node;

    @Option(
        names = "--user",
        paramLabel = "NAME",
        description = "Who asks for it (default: that of the token, or your name on this machine).")
    private String user;

    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    OneNode(Console console) {
      super(console);
    }

    Integer ask(String what, ObjectNode body) {
      body.put("user", service.who(console(), user));
      String path = "/v1/nodes/" + ServiceAddress.encode(node) + "/" + what;
      JsonNode answer = service.post(console(), path, body.toString(), Map.of()).body();
      if (output.isJson()) {
        print(answer.toString());
        return Exit.DONE;
      }
      String waits = waitsFor(answer.path("waits_for"));
      print(
          "Node "
              + Show.text(answer, "node")
              + " is "
              + Show.text(answer, "state")
              + (waits.isEmpty() ? "." : "; it waits for " + waits + "."));
      return Exit.DONE;
    }
  }

  /** {@code node drain NODE --reason WHY}. */
  @picocli.CommandLine.Command(
      name = "drain",
      description =
          "Give a node no new work, and let what runs there leave when its minimum run time is"
              + " over.")
  static final class DrainCommand extends OneNode {
    @Option(
        names = "--reason",
        paramLabel = "WHY",
        required = true,
        description = "Why, for all to read.")
    private String reason;

    DrainCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      return ask("drain", new JsonMapper().createObjectNode().put("reason", reason));
    }
  }

  /** {@code node resume NODE}. */
  @picocli.CommandLine.Command(name = "resume", description = "Use a drained node again.")
  static final class ResumeCommand extends OneNode {
    ResumeCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      return ask("resume", new JsonMapper().createObjectNode());
    }
  }

  /** {@code checkpoint JOB}: a job has saved its work. */
  @picocli.CommandLine.Command(
      name = "checkpoint",
      description = {
        "Report that a running job has saved its work: what it did before is not lost when it has"
            + " to make room.",
        "Inside a job: evenhand checkpoint $EVENHAND_JOB_ID"
      })
  static final class CheckpointCommand extends Command {
    @Parameters(paramLabel = "ID", description = "The job's id.")
    private String id;

    @Option(
        names = "--at",
        paramLabel = "TIME",
        description = "The moment of the checkpoint, e.g. 2026-04-10T09:00:00Z (default: now).")
    private String at;

    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    CheckpointCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      ObjectNode body = new JsonMapper().createObjectNode();
      if (at != null) {
        body.put("at", at);
      }
      String path = "/v1/jobs/" + ServiceAddress.encode(id) + "/checkpoint";
      JsonNode answer = service.post(console(), path, body.toString(), Map.of()).body();
      print(
          output.isJson()
              ? answer.toString()
              : "The checkpoint of job "
                  + id
                  + " is of "
                  + Show.text(answer, "checkpoint_at")
                  + ".");
      return Exit.DONE;
    }
  }
}
