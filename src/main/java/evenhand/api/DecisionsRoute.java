package evenhand.api;

import evenhand.cycle.DecisionFilter;
import evenhand.cycle.Desk;
import evenhand.cycle.Receipts;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Recorded decisions, and making one now. */
@RestController
@Tag(name = "decisions")
@RequestMapping(path = "/v1", produces = MediaType.APPLICATION_JSON_VALUE)
class DecisionsRoute {
  private final Desk desk;
  private final Receipts receipts;
  private final CycleNow cycle;

  DecisionsRoute(Desk desk, Receipts receipts, CycleNow cycle) {
    this.desk = desk;
    this.receipts = receipts;
    this.cycle = cycle;
  }

  @GetMapping("/decisions")
  @Operation(
      summary = "Recorded decisions, newest first",
      description =
          "Each with the clauses by which it said something new. A clause together with a job or an"
              + " account means what that clause said of them.")
  @Parameter(in = ParameterIn.QUERY, name = "job", description = "only those about this job")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "account",
      description = "only those about a job of this account")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "clause",
      description = "only those in which this clause said something new")
  @Parameter(in = ParameterIn.QUERY, name = "since", description = "then or later, ISO 8601")
  @Parameter(in = ParameterIn.QUERY, name = "until", description = "before, ISO 8601")
  Listing<Views.DecisionLine> decisions(HttpServletRequest request) {
    Query query = Query.of(request, "job", "account", "clause", "since", "until");
    Long job = query.text("job") == null ? null : Long.valueOf(desk.job(query.text("job")).id());
    return Listing.of(
        desk.findDecisions(
            new DecisionFilter(
                job,
                query.text("account"),
                query.text("clause"),
                query.time("since"),
                query.time("until")),
            query.limit(),
            query.cursor()),
        Views.DecisionLine::of);
  }

  @GetMapping("/decisions/{id}/snapshot")
  @Operation(summary = "The facts that a decision was made on, as they were recorded")
  @ApiResponse(
      responseCode = "200",
      description = "A snapshot, as decide takes it",
      content =
          @Content(mediaType = MediaType.APPLICATION_JSON_VALUE, schema = @Schema(type = "object")))
  ResponseEntity<String> facts(@PathVariable String id, HttpServletRequest request) {
    Query.ofNothing(request);
    return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(receipts.facts(id));
  }

  @GetMapping("/decisions/{id}")
  @Operation(summary = "One recorded decision, as it was made")
  Views.RecordedDecision decision(@PathVariable String id, HttpServletRequest request) {
    Query.ofNothing(request);
    return Views.RecordedDecision.of(desk.decision(id));
  }

  @GetMapping("/decisions/{id}/verify")
  @Operation(
      operationId = "verifyDecision",
      summary = "Make a decision again from what is stored with it, and compare",
      description =
          "With the snapshot and the rule texts of its time, byte for byte. part says what is not"
              + " as it was recorded: decision, snapshot, policy or record.")
  Views.Verdict verify(@PathVariable String id, HttpServletRequest request) {
    Query.ofNothing(request);
    return Views.Verdict.of(receipts.verify(id));
  }

  @PostMapping("/cycle")
  @Operation(summary = "Run one cycle now and tell what came of it")
  CycleNow.Report cycle(HttpServletRequest request) {
    Query.ofNothing(request);
    return cycle.run();
  }
}
