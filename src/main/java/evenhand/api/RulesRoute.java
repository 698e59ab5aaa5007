package evenhand.api;

import evenhand.explain.PolicyDoc;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The rules as a document, and decisions as scenarios. */
@RestController
@Tag(name = "rules")
@RequestMapping("/v1")
class RulesRoute {
  private static final MediaType MARKDOWN =
      new MediaType("text", "markdown", StandardCharsets.UTF_8);

  private final ObjectProvider<RuleBook> book;

  RulesRoute(ObjectProvider<RuleBook> book) {
    this.book = book;
  }

  private RuleBook book() {
    RuleBook here = book.getIfAvailable();
    if (here == null) {
      throw new evenhand.cycle.Desk.Refused(
          "NOT_FOUND", null, null, "this service keeps no book of its rules");
    }
    return here;
  }

  @GetMapping(
      path = "/policy/doc",
      produces = {"text/markdown", MediaType.APPLICATION_JSON_VALUE})
  @Operation(
      summary =
          "A policy as a document: clauses, rules, parameters, scenarios, how often it decided",
      description =
          "Markdown, or with Accept: application/json a tree of the same. The document of a past"
              + " hash is that of its day; the scenarios are those at hand.")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "hash",
      description = "of a policy that has decided, or its beginning; the active one by default")
  ResponseEntity<Object> doc(HttpServletRequest request) {
    PolicyDoc doc = book().doc(Query.only(request, "hash").text("hash"));
    List<MediaType> wanted =
        MediaType.parseMediaTypes(
            java.util.Collections.list(request.getHeaders(HttpHeaders.ACCEPT)));
    boolean json =
        wanted.stream()
            .anyMatch(m -> !m.isWildcardType() && m.includes(MediaType.APPLICATION_JSON));
    return json
        ? ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(doc.tree())
        : ResponseEntity.ok()
            .contentType(MARKDOWN)
            .body(doc.markdown().getBytes(StandardCharsets.UTF_8));
  }

  @GetMapping(path = "/decisions/{id}/scenario", produces = MediaType.APPLICATION_JSON_VALUE)
  @Operation(summary = "A recorded decision as a scenario's file, names replaced")
  RuleBook.Recorded ofDecision(@PathVariable String id, HttpServletRequest request) {
    Query.ofNothing(request);
    return book().scenarioOfDecision(id);
  }

  @GetMapping(path = "/jobs/{id}/scenario", produces = MediaType.APPLICATION_JSON_VALUE)
  @Operation(summary = "The last decision that said something new about a job, as a scenario")
  RuleBook.Recorded ofJob(@PathVariable String id, HttpServletRequest request) {
    Query.ofNothing(request);
    return book().scenarioOfJob(id);
  }
}
