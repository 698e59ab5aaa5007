package evenhand.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonRawValue;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.policy.PolicyFault;
import evenhand.rollout.Event;
import evenhand.rollout.InForce;
import evenhand.rollout.PlanReport;
import evenhand.rollout.Planner;
import evenhand.rollout.Rollout;
import evenhand.rollout.RolloutBook;
import evenhand.rollout.Shadow;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The life of the policy: planned, applied, taken back, and what decides beside it. */
@RestController
@Tag(name = "policy")
@RequestMapping(path = "/v1/policy", produces = MediaType.APPLICATION_JSON_VALUE)
class PolicyRoute {
  private static final int MOST_TEXTS = 2000;
  private static final int LONGEST_TEXT = 1 << 20;
  private static final int MOST_DAYS = 3650;
  static final List<String> KINDS = Query.words(Event.Kind.values());
  static final List<String> VERDICTS =
      Arrays.stream(PlanReport.Verdict.values()).map(Enum::name).toList();
  private static final String PATH = "a path below the rules folder, e.g. fit/F1.drl";

  private static final Field<String> BY =
      Field.text("by", SubmissionForm.ID_RIGHT, SubmissionForm::isId)
          .or(null, "the token's user")
          .means("who asks; with a token its own user, else taken at its word");
  private static final Field<String> REASON = Field.text("reason").means("why, for later readers");
  private static final Field<String> HASH =
      Field.text("hash").means("of a plan; or the first 8 digits of it, or more");
  private static final Field<Boolean> DESPITE =
      Field.flag("despite_guardrails").or(false).means("whether broken guard rails are accepted");
  static final Shape APPLY = Shape.of("the application of a plan", HASH, BY, REASON, DESPITE);
  static final Shape ROLLBACK = Shape.of("a way back", BY, REASON);

  private static final Field<String> POLICY =
      Field.text("policy").or(null, "that of the policy in force").means("the policy's name");
  private static final Field<Map<String, String>> TEXTS =
      Field.textMap(
              "texts",
              MOST_TEXTS,
              PATH,
              PolicyRoute::isPath,
              "the text of a file of at most 1 MiB",
              text -> text.length() <= LONGEST_TEXT)
          .or(null, "those in the service's rules folder")
          .means("the rules, by path");
  private static final Field<Map<String, String>> SET =
      Field.textMap(
              "set",
              100,
              "the name of a parameter or choice",
              name -> name.matches("[A-Za-z][A-Za-z0-9_]{0,63}"),
              "its value; empty takes back what is set",
              value -> value.length() <= 1000)
          .or(Map.of(), "nothing")
          .means("parameters and choices set for once, besides those that are set already");
  private static final Field<Integer> DAYS =
      Field.whole("days", 1, MOST_DAYS)
          .or(7)
          .means("how far back recorded decisions and jobs are looked at");
  private static final Field<String> WORKLOAD =
      Field.text("workload", "YAML of a workload", text -> text.length() <= LONGEST_TEXT)
          .or(null, "recorded jobs")
          .means("from which jobs are generated");
  private static final Field<Long> SEED =
      Field.wholeLong("seed", 0, Long.MAX_VALUE).or(1L).means("which job set of the workload");
  private static final Field<String> ANYBODY =
      Field.text("by", SubmissionForm.ID_RIGHT, SubmissionForm::isId)
          .or("anonymous")
          .means("who asks");
  static final Shape PLAN = Shape.of("a plan", POLICY, TEXTS, SET, DAYS, WORKLOAD, SEED, ANYBODY);

  private static final Field<String> WHICH =
      Field.text("policy")
          .means(
              "off; a policy's name, from the rules at hand; or the hash of one that was planned");
  static final Shape SHADOW = Shape.of("what decides beside the policy in force", WHICH, ANYBODY);

  private final Rollout rollout;
  private final Planner planner;
  private final Shadow shadow;
  private final Body body;

  PolicyRoute(Rollout rollout, Planner planner, Shadow shadow, Body body) {
    this.rollout = rollout;
    this.planner = planner;
    this.shadow = shadow;
    this.body = body;
  }

  private static boolean isPath(String path) {
    return path.matches("[A-Za-z0-9][A-Za-z0-9._/-]{0,255}") && !path.contains("..");
  }

  @PostMapping("/plan")
  @ResponseStatus(HttpStatus.ACCEPTED)
  @Operation(
      operationId = "planPolicy",
      summary = "Work out what a change of the policy would do",
      description =
          "The rules are checked, recorded decisions are made again by both policies, and jobs are"
              + " simulated by both. That takes a while: ask for the plan by its id until its state"
              + " is no longer running. The body may be left out: the rules in the service's folder"
              + " are planned.")
  Plan plan(HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    String nobody = Caller.by(request, "by", SubmissionForm.nobody());
    Planner.Asked asked = new Planner.Asked(null, null, Map.of(), 7, null, 1, nobody);
    if (!Body.isAbsent(request)) {
      Section s = read(request, PLAN);
      asked =
          new Planner.Asked(
              s.get(POLICY),
              s.get(TEXTS),
              s.get(SET),
              s.get(DAYS),
              s.get(WORKLOAD),
              s.get(SEED),
              Caller.by(request, "by", s.get(ANYBODY)));
    }
    return Plan.of(planner.plan(planner.begin(asked)).orElseThrow());
  }

  @GetMapping("/plans")
  @Operation(operationId = "policyPlans", summary = "Plans that are kept, newest first")
  @Parameter(in = ParameterIn.QUERY, name = "policy", description = "only of this policy")
  @Parameter(in = ParameterIn.QUERY, name = "by", description = "only those this user asked for")
  @Parameter(in = ParameterIn.QUERY, name = "verdict", description = "only with this verdict")
  Listing<PlanLine> plans(HttpServletRequest request) {
    Query query = Query.of(request, "policy", "by", "verdict");
    query.word("verdict", "verdict on a plan", VERDICTS);
    return listing(
        query,
        planner::plans,
        RolloutBook.Plan::id,
        PlanLine::of,
        p ->
            query.admits("policy", p.policy())
                && query.admits("by", p.by())
                && query.admits("verdict", p.verdict()));
  }

  @GetMapping("/plans/{id}")
  @Operation(
      operationId = "policyPlan",
      summary = "One plan: how far it is, or what the change would do")
  Plan plan(@PathVariable String id, HttpServletRequest request) {
    Query.ofNothing(request);
    return (id.matches("[1-9][0-9]{0,17}")
            ? planner.plan(Long.parseLong(id))
            : Optional.<Planner.Standing>empty())
        .map(Plan::of)
        .orElseThrow(
            () -> new Desk.Refused("NOT_FOUND", null, null, "There is no plan " + id + "."));
  }

  @PostMapping("/apply")
  @Operation(
      operationId = "applyPolicy",
      summary = "Put a planned policy in force",
      description = "It decides from the next cycle on, in every process.")
  Decides apply(HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    Section s = read(request, APPLY);
    return Decides.of(
        rollout.apply(
            s.get(HASH), Caller.by(request, "by", s.get(BY)), s.get(REASON), s.get(DESPITE)));
  }

  @PostMapping("/rollback")
  @Operation(operationId = "rollbackPolicy", summary = "Put the policy before in force again")
  Decides rollback(HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    Section s = read(request, ROLLBACK);
    return Decides.of(rollout.rollback(Caller.by(request, "by", s.get(BY)), s.get(REASON)));
  }

  @GetMapping("/history")
  @Operation(
      operationId = "policyHistory",
      summary = "Which policy was in force when, by whom and why, newest first")
  @Parameter(in = ParameterIn.QUERY, name = "kind", description = "only changes of this kind")
  @Parameter(in = ParameterIn.QUERY, name = "policy", description = "only to this policy")
  @Parameter(in = ParameterIn.QUERY, name = "by", description = "only those that this user made")
  Listing<Entry> history(HttpServletRequest request) {
    Query query = Query.of(request, "kind", "policy", "by");
    query.word("kind", "kind of change", KINDS);
    return listing(
        query,
        rollout::history,
        Event::id,
        Entry::of,
        e ->
            query.admits("kind", e.kind())
                && query.admits("policy", e.policy())
                && query.admits("by", e.by()));
  }

  @GetMapping("/shadow")
  @Operation(summary = "What decides beside the policy in force, and how often otherwise")
  Beside shadow(HttpServletRequest request) {
    Query.ofNothing(request);
    return Beside.of(shadow.standing());
  }

  @PostMapping("/shadow")
  @Operation(
      summary = "Let a policy decide beside the one in force",
      description = "Its decisions are compared with what was decided, and never carried out.")
  Beside newShadow(HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    Section s = read(request, SHADOW);
    try {
      shadow.set(s.get(WHICH), Caller.by(request, "by", s.get(ANYBODY)));
    } catch (PolicyFault e) {
      throw new Refusal(faulty(e.faults()));
    }
    return Beside.of(shadow.standing());
  }

  @GetMapping("/shadow/differences")
  @Operation(
      summary = "Decisions in which the shadow differed, newest first; the last 200 are kept")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "hash",
      description = "only of the shadow with this hash")
  Listing<Differs> differences(HttpServletRequest request) {
    Query query = Query.of(request, "hash");
    return listing(
        query,
        shadow::differences,
        RolloutBook.ShadowDifference::id,
        Differs::of,
        d -> query.admits("hash", d.hash()));
  }

  private Section read(HttpServletRequest request, Shape shape) throws IOException {
    Document document = body.json(request);
    Section section = document.read(shape);
    document.check();
    return section;
  }

  /**
   * @param read so many entries, the newest of those before an id
   * @param wanted what the query's filters admit
   */
  private static <A, B> Listing<B> listing(
      Query query,
      BiFunction<Integer, Long, List<A>> read,
      ToLongFunction<A> id,
      Function<A, B> view,
      Predicate<B> wanted) {
    int limit = query.limit();
    long before = FrontDesk.before(query.cursor());
    List<A> found = new ArrayList<>();
    List<A> part;
    do {
      part = read.apply(limit + 1, before);
      for (A entry : part) {
        before = id.applyAsLong(entry);
        if (wanted.test(view.apply(entry))) {
          found.add(entry);
        }
      }
    } while (part.size() > limit && found.size() <= limit);
    return Listing.of(
        FrontDesk.part(
            found.subList(0, Math.min(found.size(), limit + 1)),
            limit,
            a -> Long.toString(id.applyAsLong(a))),
        view);
  }

  static Problem faulty(List<PolicyFault.Fault> faults) {
    PolicyFault.Fault first = faults.get(0);
    return Problem.of(
            422,
            "RULES_FAULTY",
            "The rules do not pass their check",
            first + (faults.size() == 1 ? "" : " (and " + (faults.size() - 1) + " more)"))
        .with(
            faults.stream()
                .map(
                    f ->
                        new Problem.FieldError(
                            f.file() + (f.line() > 0 ? ":" + f.line() : ""),
                            (f.rule() == null ? "" : "rule \"" + f.rule() + "\": ") + f.sentence()))
                .toList());
  }

  /**
   * @param doing what it is at; null when it is not running
   * @param faults of the rules, where they do not pass their check
   * @param report null before it is done
   */
  @Schema(name = "PolicyPlan")
  record Plan(
      String id,
      String state,
      String doing,
      long done,
      long of,
      List<ActivePolicy.Fault> faults,
      String failure,
      @JsonRawValue String report) {
    static Plan of(Planner.Standing s) {
      return new Plan(
          Long.toString(s.id()),
          Query.wordOf(s.state()),
          s.doing(),
          s.done(),
          s.of(),
          s.faults().stream().map(ActivePolicy.Fault::of).toList(),
          s.failure(),
          s.report());
    }
  }

  @Schema(name = "PolicyPlanLine")
  record PlanLine(
      String id,
      Instant at,
      String by,
      String policy,
      String hash,
      String against,
      String verdict) {
    static PlanLine of(RolloutBook.Plan p) {
      return new PlanLine(
          Long.toString(p.id()),
          p.at(),
          p.by(),
          p.policy(),
          p.hash(),
          p.against(),
          (p.passes() ? PlanReport.Verdict.PASSES : PlanReport.Verdict.BREAKS_GUARDRAILS).name());
    }
  }

  @Schema(name = "PolicyInForce")
  record Decides(String policy, String hash, Instant since, String by, String reason) {
    static Decides of(InForce f) {
      return new Decides(f.policy(), f.hash(), f.since(), f.by(), f.reason());
    }
  }

  @Schema(name = "PolicyEntry")
  record Entry(
      String id,
      Instant at,
      String kind,
      String policy,
      String hash,
      String from,
      String by,
      String reason) {
    static Entry of(Event e) {
      return new Entry(
          Long.toString(e.id()),
          e.at(),
          Query.wordOf(e.kind()),
          e.policy(),
          e.hash(),
          e.from(),
          e.by(),
          e.reason());
    }
  }

  /** Counts are of this process since it started. */
  @Schema(name = "PolicyShadow")
  record Beside(
      String policy,
      String hash,
      Instant since,
      String by,
      long decided,
      long differed,
      long dropped,
      List<PlanReport.Instead> clauses) {
    static Beside of(Shadow.Standing s) {
      RolloutBook.ShadowPolicy p = s.policy();
      return new Beside(
          p == null ? null : p.policy(),
          p == null ? null : p.hash(),
          p == null ? null : p.since(),
          p == null ? null : p.by(),
          s.decided(),
          s.differed(),
          s.dropped(),
          s.clauses());
    }
  }

  @Schema(name = "PolicyShadowDifference")
  record Differs(
      String id,
      Instant at,
      String decision,
      String hash,
      String against,
      @JsonProperty("difference") @JsonRawValue String report) {
    static Differs of(RolloutBook.ShadowDifference d) {
      return new Differs(
          Long.toString(d.id()),
          d.at(),
          Long.toString(d.decision()),
          d.hash(),
          d.against(),
          d.report());
    }
  }
}
