package evenhand.api;

import evenhand.cycle.Desk;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** How things stand: queue, placements, policy. */
@RestController
@Tag(name = "standing")
@RequestMapping(path = "/v1", produces = MediaType.APPLICATION_JSON_VALUE)
class StandingRoute {
  private final Desk desk;
  private final ActivePolicy policy;

  StandingRoute(Desk desk, ActivePolicy policy) {
    this.desk = desk;
    this.policy = policy;
  }

  @GetMapping("/queue")
  @Operation(
      summary = "The queue in the order of the active policy, with the figures that order it")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "search",
      description = "only jobs whose id, name, account, user or wait code has these letters in it")
  Listing<Views.QueueLine> queue(HttpServletRequest request) {
    Query query = Query.of(request, "search");
    return Listing.of(
        desk.queue(query.text("search"), query.limit(), query.cursor()), Views.QueueLine::of);
  }

  @GetMapping("/placements")
  @Operation(summary = "All GPUs of one tier on one node, as they stand")
  @Parameter(in = ParameterIn.QUERY, name = "node", description = "only on this node")
  @Parameter(in = ParameterIn.QUERY, name = "tier", description = "only of this tier")
  Listing<Views.Placement> placements(HttpServletRequest request) {
    Query query = Query.of(request, "node", "tier");
    return query.part(
        desk.placements().stream()
            .map(Views.Placement::of)
            .filter(p -> query.admits("node", p.node()) && query.admits("tier", p.tier()))
            .toList());
  }

  @GetMapping("/policy")
  @Operation(summary = "The active policy, clause by clause")
  ActivePolicy.View policy(HttpServletRequest request) {
    Query.ofNothing(request);
    return policy.view();
  }
}
