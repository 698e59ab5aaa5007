package evenhand.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import evenhand.cycle.Contract;
import evenhand.cycle.Desk;
import evenhand.cycle.NodeDrain;
import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.Section;
import evenhand.input.Shape;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The contract: checkpoints, and nodes that are drained. */
@RestController
@Tag(name = "contract")
@RequestMapping(path = "/v1", produces = MediaType.APPLICATION_JSON_VALUE)
class ContractRoute {
  private static final Field<String> REASON = Field.text("reason").means("why, for all to read");
  private static final Field<String> USER =
      Field.text("user")
          .or(SubmissionForm.nobody())
          .means("who asks; with a token its own user, else taken at its word");
  private static final Field<Instant> AT =
      Field.time("at").or(null, "now").means("the moment of the checkpoint");

  static final Shape DRAIN = Shape.of("a drain", REASON, USER);
  static final Shape RESUME = Shape.of("the end of a drain", USER);
  static final Shape CHECKPOINT = Shape.of("a checkpoint", AT);

  static final List<String> SOURCES = Query.words(NodeDrain.Source.values());
  static final List<String> STATES = List.of("up", "draining", "drained", "closed", "down");

  private final Contract contract;
  private final Desk desk;
  private final Body body;

  ContractRoute(Contract contract, Desk desk, Body body) {
    this.contract = contract;
    this.desk = desk;
    this.body = body;
  }

  @PostMapping("/jobs/{id}/checkpoint")
  @Operation(
      summary = "Report that a running job has saved its work",
      description =
          "What it did before is not lost when it makes room (K4). The body may be left out: the"
              + " moment is now. A report older than one before changes nothing.")
  Checkpoint checkpoint(@PathVariable String id, HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    Instant at = null;
    if (!Body.isAbsent(request)) {
      Document document = body.json(request);
      Section section = document.read(CHECKPOINT);
      document.check();
      at = section.get(AT);
    }
    Caller.mustOwn(request, () -> desk.job(id));
    return new Checkpoint(id, contract.checkpoint(id, at));
  }

  @GetMapping("/nodes")
  @Operation(summary = "Nodes: state, GPUs by use, why one is drained and what it still waits for")
  @Parameter(in = ParameterIn.QUERY, name = "node", description = "only this node")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "state",
      description = "only nodes that are up, draining, drained, closed or down")
  Listing<Node> nodes(HttpServletRequest request) {
    Query query = Query.of(request, "node", "state");
    query.word("state", "state of a node", STATES);
    return query.part(
        contract.nodes().stream()
            .map(Node::of)
            .filter(n -> query.admits("node", n.node()) && query.admits("state", n.state()))
            .toList());
  }

  @GetMapping("/nodes/{node}/drains")
  @Operation(summary = "When and why a node was drained, newest first; the last 1,000 at most")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "source",
      description = "only drains of evenhand or of slurm")
  Listing<Drain> drains(@PathVariable String node, HttpServletRequest request) {
    Query query = Query.of(request, "source");
    query.word("source", "source of a drain", SOURCES);
    return query.part(
        contract.history(node, Query.MOST).stream()
            .map(Drain::of)
            .filter(d -> query.admits("source", d.source()))
            .toList());
  }

  @PostMapping("/nodes/{node}/drain")
  @Operation(
      summary = "Drain a node",
      description =
          "It gets no new work; what runs there leaves when its minimum run time is over (X2).")
  Node drain(@PathVariable String node, HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    Document document = body.json(request);
    Section section = document.read(DRAIN);
    document.check();
    return Node.of(
        contract.drain(node, section.get(REASON), Caller.by(request, "user", section.get(USER))));
  }

  @PostMapping("/nodes/{node}/resume")
  @Operation(summary = "Use a drained node again", description = "The body may be left out.")
  Node resume(@PathVariable String node, HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    String by = SubmissionForm.nobody();
    if (!Body.isAbsent(request)) {
      Document document = body.json(request);
      Section section = document.read(RESUME);
      document.check();
      by = section.get(USER);
    }
    return Node.of(contract.resume(node, Caller.by(request, "user", by)));
  }

  /** The checkpoint that counts for a job. */
  @Schema(name = "Checkpoint")
  record Checkpoint(String id, @JsonProperty("checkpoint_at") Instant at) {}

  @Schema(name = "Node")
  record Node(
      String node,
      String state,
      String reason,
      @JsonProperty("drained_by") String by,
      @JsonProperty("drained_at") Instant since,
      @JsonProperty("empty_since") Instant emptySince,
      List<NodeGpus> gpus,
      @JsonProperty("waits_for") List<NodeWaitsFor> waitsFor) {
    static Node of(Contract.NodeView v) {
      return new Node(
          v.node(),
          v.state(),
          v.reason(),
          v.by(),
          v.since(),
          v.emptySince(),
          v.gpus().stream()
              .map(
                  g ->
                      new NodeGpus(
                          g.tier(),
                          g.capacity(),
                          g.allocated(),
                          g.unallocated(),
                          g.reserved(),
                          g.outside(),
                          g.unused()))
              .toList(),
          v.waitsFor().stream()
              .map(w -> new NodeWaitsFor(w.job(), w.account(), w.gpus(), w.until(), w.why()))
              .toList());
    }
  }

  @Schema(name = "NodeGpus")
  record NodeGpus(
      String tier,
      int capacity,
      int allocated,
      int unallocated,
      int reserved,
      int outside,
      int unused) {}

  @Schema(name = "NodeWaitsFor")
  record NodeWaitsFor(String job, String account, int gpus, Instant until, String why) {}

  @Schema(name = "NodeDrain")
  record Drain(
      String node,
      String source,
      String reason,
      @JsonProperty("drained_by") String by,
      @JsonProperty("drained_at") Instant since,
      @JsonProperty("empty_since") Instant emptySince,
      @JsonProperty("ended_at") Instant endedAt,
      @JsonProperty("ended_by") String endedBy) {
    static Drain of(NodeDrain d) {
      return new Drain(
          d.node(),
          Query.wordOf(d.source()),
          d.reason(),
          d.by(),
          d.since(),
          d.emptySince(),
          d.endedAt(),
          d.endedBy());
    }
  }
}
