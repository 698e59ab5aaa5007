package evenhand.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import evenhand.cycle.Books;
import evenhand.cycle.Desk;
import evenhand.cycle.Ledger;
import evenhand.cycle.LedgerCheck;
import evenhand.cycle.Store;
import evenhand.input.Field;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.input.Spelling;
import evenhand.outcomes.HoldingCost;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The ledger: who held what, what it cost, whether it adds up; and corrections. */
@RestController
@Tag(name = "ledger")
@RequestMapping(path = "/v1/ledger", produces = MediaType.APPLICATION_JSON_VALUE)
class LedgerRoute {
  private static final String[] FILTERS = {
    "by", "account", "job", "node", "tier", "kind", "from", "to"
  };
  private static final List<String> ROW_KINDS =
      List.of(HoldingCost.RUN, HoldingCost.UNALLOCATED, HoldingCost.RESERVED);
  static final List<String> KINDS =
      Arrays.stream(Ledger.Owner.values()).map(Ledger.Owner::word).toList();
  private static final double MOST = 1e18;
  private static final Pattern JOB = Pattern.compile("[1-9][0-9]{0,17}");

  private static final Field<String> ACCOUNT =
      Field.text("account").means("the account whose usage moves");
  private static final Field<Double> TFLOP_SECONDS =
      Field.number("tflop_s", -MOST, MOST)
          .means("by how much it moves, TFLOP-seconds; below 0 takes off");
  private static final Field<String> REASON = Field.text("reason").means("why, for later readers");
  private static final Field<String> USER =
      Field.text("user")
          .or(null, "the token's user")
          .means("who corrects; with a token its own user, else taken at its word");

  static final Shape CORRECTION = Shape.of("a correction", ACCOUNT, TFLOP_SECONDS, REASON, USER);

  private final Ledger ledger;
  private final Desk desk;
  private final Body body;

  LedgerRoute(Ledger ledger, Desk desk, Body body) {
    this.ledger = ledger;
    this.desk = desk;
    this.body = body;
  }

  @GetMapping
  @Operation(
      summary = "Rows of the ledger, newest first, or with by= their sums",
      description =
          "Sums count what is held at this moment up to now; rows are there for what has ended or"
              + " was accrued. Every GPU-second of a placement is run, unallocated, reserved,"
              + " outside (jobs that are not the service's, as sampled), idle, draining or down;"
              + " beyond is what a job holds of GPUs that its placement has lost, to be taken off.")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "by",
      description = "sum by account, job, kind, placement, tier, hour, day; several with commas")
  @Parameter(in = ParameterIn.QUERY, name = "account", description = "only of this account")
  @Parameter(in = ParameterIn.QUERY, name = "job", description = "only of this job")
  @Parameter(in = ParameterIn.QUERY, name = "node", description = "only on this node")
  @Parameter(in = ParameterIn.QUERY, name = "tier", description = "only of this tier")
  @Parameter(in = ParameterIn.QUERY, name = "kind", description = "only of this kind")
  @Parameter(in = ParameterIn.QUERY, name = "from", description = "time after this, ISO 8601")
  @Parameter(in = ParameterIn.QUERY, name = "to", description = "time before this, ISO 8601")
  Listing<?> rows(HttpServletRequest request) {
    Query query = Query.of(request, FILTERS);
    Set<Ledger.By> by = by(query.text("by"));
    String account = query.text("account");
    Long job = job(query.text("job"));
    Caller.mustReadLedger(
        request,
        () -> account != null || job == null ? account : desk.job(job.toString()).account());
    Store.LedgerFilter filter =
        new Store.LedgerFilter(
            account,
            job,
            query.text("node"),
            query.text("tier"),
            query.word("kind", "kind here", by == null ? ROW_KINDS : KINDS),
            query.time("from"),
            query.time("to"));
    return by == null
        ? Listing.of(ledger.rows(filter, query.limit(), query.cursor()), Row::of)
        : query.part(ledger.sums(filter, by).stream().map(LedgerRoute::line).toList());
  }

  private static Set<Ledger.By> by(String text) {
    if (text == null) {
      return null;
    }
    Set<Ledger.By> by = EnumSet.noneOf(Ledger.By.class);
    for (String word : text.split(",", -1)) {
      by.add(
          Arrays.stream(Ledger.By.values())
              .filter(b -> b.word().equals(word.strip()))
              .findFirst()
              .orElseThrow(
                  () ->
                      Query.fault(
                          "by",
                          "\""
                              + word
                              + "\" is nothing to sum by; "
                              + Spelling.hint(word, Ledger.By.words()))));
    }
    return by;
  }

  private static Long job(String text) {
    if (text != null && !JOB.matcher(text).matches()) {
      throw Query.fault("job", "is no id of a job: a whole number is, as it was given");
    }
    return text == null ? null : Long.valueOf(text);
  }

  /** A line of sums: what it is summed by under its own names, then the sums. */
  private static Map<String, Object> line(Ledger.Line line) {
    Map<String, Object> fields = new LinkedHashMap<>();
    line.group().forEach((by, value) -> fields.put(by.word(), value));
    fields.put("gpu_s", line.gpuSeconds());
    fields.put("tflop_s", line.tflopSeconds());
    fields.put("charged_tflop_s", line.chargedTflopSeconds());
    return fields;
  }

  @GetMapping("/verify")
  @Operation(
      operationId = "verifyLedger",
      summary = "Whether the ledger adds up; the first difference where it does not")
  Check verify(HttpServletRequest request) {
    Query.ofNothing(request);
    return Check.of(ledger.verify());
  }

  @PostMapping(path = "/corrections", consumes = MediaType.APPLICATION_JSON_VALUE)
  @Operation(
      summary = "Move an account's usage by a new row, with a reason",
      description = "Nothing that was written changes. An Idempotency-Key makes trying again safe.")
  @Parameter(
      in = ParameterIn.HEADER,
      name = JobsRoute.KEY,
      description = "1 to 200 printable characters")
  ResponseEntity<Correction> correct(HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    String key = JobsRoute.key(request);
    Section s = body.json(request).read(CORRECTION);
    String by = Caller.by(request, "user", s.get(USER));
    return ResponseEntity.status(HttpStatus.CREATED)
        .body(
            Correction.of(
                ledger.correct(s.get(ACCOUNT), s.get(TFLOP_SECONDS), s.get(REASON), by, key)));
  }

  /**
   * @param tflops the price used, TFLOPS of the tier; null in rows from before it was kept
   * @param charge the charge that covers it, null while there is none
   */
  @Schema(name = "LedgerRow")
  record Row(
      String id,
      String kind,
      String job,
      int attempt,
      String account,
      String node,
      String tier,
      int gpus,
      Instant from,
      Instant to,
      Double tflops,
      @JsonProperty("tflop_s") double tflopSeconds,
      String charge,
      @JsonProperty("charged_at") Instant chargedAt) {

    static Row of(Store.LedgerRow r) {
      return new Row(
          Long.toString(r.id()),
          r.kind(),
          Long.toString(r.job()),
          r.attempt(),
          r.account(),
          r.node(),
          r.tier(),
          r.gpus(),
          r.from(),
          r.to(),
          r.tflops(),
          r.tflopSeconds(),
          r.charge() == null ? null : Long.toString(r.charge()),
          r.chargedAt());
    }
  }

  /** A difference, see {@link LedgerCheck.Difference}. */
  @Schema(name = "LedgerDifference")
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Difference(
      String what, String where, String expected, String found, BigDecimal by, String message) {}

  /**
   * @param clean whether everything adds up
   * @param difference the first there is, else null
   */
  @Schema(name = "LedgerCheck")
  record Check(
      boolean clean,
      Difference difference,
      Instant at,
      int accounts,
      long jobs,
      long rows,
      long charges,
      int placements,
      List<String> notes) {

    static Check of(LedgerCheck.Result r) {
      LedgerCheck.Difference d = r.difference();
      return new Check(
          d == null,
          d == null
              ? null
              : new Difference(d.what(), d.where(), d.expected(), d.found(), d.by(), d.sentence()),
          r.at(),
          r.accounts(),
          r.jobs(),
          r.rows(),
          r.charges(),
          r.placements(),
          r.notes());
    }
  }

  @Schema(name = "Correction")
  record Correction(
      String id,
      Instant at,
      String account,
      @JsonProperty("tflop_s") double tflopSeconds,
      String reason,
      String by) {

    static Correction of(Books.Correction c) {
      return new Correction(
          Long.toString(c.id()), c.at(), c.account(), c.tflopSeconds(), c.reason(), c.by());
    }
  }
}
