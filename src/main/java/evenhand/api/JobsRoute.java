package evenhand.api;

import evenhand.cycle.Desk;
import evenhand.cycle.JobOutputs;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Jobs: submit, look at, cancel, ask why. */
@RestController
@Tag(name = "jobs")
@RequestMapping(path = "/v1/jobs", produces = MediaType.APPLICATION_JSON_VALUE)
class JobsRoute {
  static final String KEY = "Idempotency-Key";
  private static final int LONGEST_KEY = 200;
  static final List<String> STATES = Arrays.stream(JobState.values()).map(Enum::name).toList();

  private final Desk desk;
  private final JobOutputs outputs;
  private final Body body;

  JobsRoute(Desk desk, JobOutputs outputs, Body body) {
    this.desk = desk;
    this.outputs = outputs;
    this.body = body;
  }

  @PostMapping(consumes = MediaType.APPLICATION_JSON_VALUE)
  @Operation(
      summary = "Submit a job",
      description =
          "201 with Location when the job is new; 200 with the first answer when the"
              + " Idempotency-Key was used for the same job before. While it waits, terms says what"
              + " it can rely on.")
  @Parameter(
      in = ParameterIn.HEADER,
      name = KEY,
      description = "1 to 200 printable characters; makes trying again safe")
  ResponseEntity<Views.Job> submit(HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    String key = key(request);
    NewJob job = Caller.submits(request, SubmissionForm.read(body.json(request)));
    Desk.Receipt receipt = desk.receive(job, key);
    Views.Job view = Views.Job.of(receipt.job(), receipt.terms());
    return receipt.created()
        ? ResponseEntity.created(URI.create("/v1/jobs/" + view.id())).body(view)
        : ResponseEntity.ok(view);
  }

  static String key(HttpServletRequest request) {
    List<String> keys = Collections.list(request.getHeaders(KEY));
    if (keys.isEmpty()) {
      return null;
    }
    String key = keys.get(0);
    boolean printable = key.chars().allMatch(c -> c > ' ' - 1 && c < 127);
    if (keys.size() > 1 || key.isBlank() || key.length() > LONGEST_KEY || !printable) {
      throw Query.fault(
          KEY, "must be one text of 1 to " + LONGEST_KEY + " printable ASCII characters");
    }
    return key;
  }

  @GetMapping
  @Operation(summary = "Jobs, newest first")
  @Parameter(in = ParameterIn.QUERY, name = "state", description = "only jobs in this state")
  @Parameter(in = ParameterIn.QUERY, name = "account", description = "only jobs of this account")
  @Parameter(in = ParameterIn.QUERY, name = "user", description = "only jobs of this user")
  Listing<Views.Job> jobs(HttpServletRequest request) {
    Query query = Query.of(request, "state", "account", "user");
    String state = query.word("state", "state of a job", STATES);
    return Listing.of(
        desk.jobs(state, query.text("account"), query.text("user"), query.limit(), query.cursor()),
        Views.Job::of);
  }

  @GetMapping("/{id}")
  @Operation(summary = "One job")
  Views.Job job(@PathVariable String id, HttpServletRequest request) {
    Query.ofNothing(request);
    return Views.Job.of(desk.job(id));
  }

  @PostMapping("/{id}/cancel")
  @Operation(
      summary = "Cancel a job",
      description =
          "A queued job ends at once; a running one as soon as the cluster has ended it. Cancelling"
              + " an ended job changes nothing. The body may be left out.")
  Views.Job cancel(@PathVariable String id, HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    String by = SubmissionForm.nobody();
    if (!Body.isAbsent(request)) {
      by = SubmissionForm.canceller(body.json(request));
    }
    Caller.mustOwn(request, () -> desk.job(id));
    return Views.Job.of(desk.cancel(id, Caller.by(request, "user", by)));
  }

  @GetMapping("/{id}/output")
  @Operation(
      summary = "The files that a job's attempts write their output to",
      description = "None for a job that was not started, or whose script names its own file.")
  Output output(@PathVariable String id, HttpServletRequest request) {
    Query.ofNothing(request);
    Caller.mustBelong(request, () -> desk.job(id));
    return new Output(
        id, outputs.of(id).stream().map(o -> new OutputFile(o.attempt(), o.path())).toList());
  }

  @Schema(name = "JobOutput")
  record Output(String id, List<OutputFile> paths) {}

  @Schema(name = "OutputFile")
  record OutputFile(int attempt, String path) {}

  @GetMapping("/{id}/why")
  @Operation(
      summary = "Why a job is where it is",
      description =
          "eliminated has every placement in one row, by what it fails at, the nearest miss first."
              + " story tells what became of a job that does not only wait. What takes longer is"
              + " asked for: changes, estimate.")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "against",
      description = "another waiting job: which of the two comes first, and why")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "at",
      description = "as it was at this time in UTC, by what was recorded")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "changes",
      description = "true: the smallest changes that would start it now; the policy is asked")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "estimate",
      description = "true: when it will probably start, by short simulations")
  Views.Explanation why(@PathVariable String id, HttpServletRequest request) {
    Query query = Query.only(request, "against", "at", "changes", "estimate");
    String other = query.text("against");
    Desk.WhyAsked asked =
        new Desk.WhyAsked(query.time("at"), query.flag("changes"), query.flag("estimate"));
    if (asked.at() != null && (other != null || asked.estimate())) {
      throw Query.fault("at", "cannot stand beside against or estimate, which are about now");
    }
    return Views.Explanation.of(
        desk.why(id, asked), other == null ? null : desk.against(id, other));
  }
}
