package evenhand.api;

import evenhand.cycle.Desk;
import evenhand.cycle.Receipts;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.MediaType;
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
  @Operation(summary = "Recorded decisions, newest first")
  @Parameter(in = ParameterIn.QUERY, name = "job", description = "only those about this job")
  Listing<Views.DecisionLine> decisions(HttpServletRequest request) {
    Query query = Query.of(request, "job");
    return Listing.of(
        desk.decisions(query.text("job"), query.limit(), query.cursor()), Views.DecisionLine::of);
  }

  @GetMapping("/decisions/{id}")
  @Operation(summary = "One recorded decision, as it was made")
  Views.RecordedDecision decision(@PathVariable String id, HttpServletRequest request) {
    Query.ofNothing(request);
    return Views.RecordedDecision.of(desk.decision(id));
  }

  @GetMapping("/decisions/{id}/verify")
  @Operation(
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
