package evenhand.api;

import com.fasterxml.jackson.annotation.JsonProperty;
import evenhand.access.Role;
import evenhand.cycle.accounts.AccountChange;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.cycle.accounts.TreePlan;
import evenhand.input.Document;
import evenhand.input.Durations;
import evenhand.input.Field;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.input.Value;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.tags.Tag;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The account tree: how it stands, how it came to that, and changing it. */
@RestController
@Tag(name = "accounts")
@RequestMapping(path = "/v1/accounts", produces = MediaType.APPLICATION_JSON_VALUE)
class AccountsRoute {
  private static final int MOST_ACCOUNTS = 10_000;

  private static final Field<String> BY =
      Field.text("by", SubmissionForm.ID_RIGHT, SubmissionForm::isId)
          .or(null, "the token's user")
          .means("who asks; with a token its own user, else taken at its word");
  private static final Field<String> REASON = Field.text("reason").means("why, for later readers");

  private static final Field<Value> WEIGHTS =
      Field.any("weights", "an object of accounts and their weights, e.g. {\"lab\": 2}")
          .means("weights of accounts right below this one; others keep theirs");
  static final Shape NEW_WEIGHTS = Shape.of("new weights", WEIGHTS, BY, REASON);

  private static final Field<String> ID =
      Field.text("id", SubmissionForm.ID_RIGHT, SubmissionForm::isId).means("the account");
  private static final Field<String> PARENT =
      Field.text("parent").or(null, "null").means("the account above it; null at the top");
  private static final Field<Double> WEIGHT =
      Field.number("weight", 0, 1e12).or(1.0).means("its budget among its siblings");
  private static final Field<List<String>> OWNERS =
      Field.texts("owners", 1000, SubmissionForm.ID_RIGHT, SubmissionForm::isId)
          .or(List.of(), "none")
          .means("who may set the weights below it");
  private static final Field<List<String>> USERS =
      Field.texts("users", 100_000, SubmissionForm.ID_RIGHT, SubmissionForm::isId)
          .or(List.of(), "none")
          .means("whose jobs are charged to it where they name no account");
  private static final Shape ACCOUNT = Shape.of("an account", ID, PARENT, WEIGHT, OWNERS, USERS);
  private static final Field<List<TreePlan.Wanted>> ACCOUNTS =
      Field.list(
              "accounts",
              ACCOUNT,
              s ->
                  new TreePlan.Wanted(
                      s.get(ID), s.get(PARENT), s.get(WEIGHT), s.get(OWNERS), s.get(USERS)))
          .means("the whole tree, each account after the one above it");
  private static final Field<Long> VERSION =
      Field.wholeLong("version", 0, Long.MAX_VALUE)
          .or(null, "null")
          .means("of the plan that was seen; null applies to whatever the tree is now");
  static final Shape NEW_TREE = Shape.of("a tree of accounts", ACCOUNTS, BY, REASON, VERSION);

  private final AccountDesk desk;
  private final Body body;

  AccountsRoute(AccountDesk desk, Body body) {
    this.desk = desk;
    this.body = body;
  }

  @GetMapping
  @Operation(
      summary = "The account tree: shares, use of the window, what was entitled and delivered",
      description =
          "Each account before those below it. Figures of an account are its own and those of all"
              + " below it, but for cumulative_usage.")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "retired",
      description = "true: accounts that were taken out of the tree as well")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "parent",
      description = "only those right below this account")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "user",
      description = "only those whose owners or users name this user")
  Listing<Account> accounts(HttpServletRequest request) {
    Query query = Query.of(request, "retired", "parent", "user");
    String user = query.text("user");
    return query.part(
        desk.accounts(query.flag("retired")).stream()
            .filter(a -> query.admits("parent", a.parent()))
            .filter(a -> user == null || a.owners().contains(user) || a.users().contains(user))
            .map(Account::of)
            .toList());
  }

  @GetMapping("/{id}/history")
  @Operation(operationId = "accountHistory", summary = "An account over time, oldest first")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "since",
      description = "from this time on, ISO 8601, cut to the hour; one window ago if not given")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "step",
      description = "whole hours between points, e.g. 1h (default) or 1d")
  Listing<Point> history(@PathVariable String id, HttpServletRequest request) {
    Query query = Query.of(request, "since", "step");
    return query.part(
        desk.history(id, query.time("since"), step(query)).stream().map(Point::of).toList());
  }

  private static Duration step(Query query) {
    String text = query.text("step");
    try {
      return text == null ? Duration.ofHours(1) : Durations.parse(text);
    } catch (IllegalArgumentException e) {
      throw Query.fault("step", e.getMessage());
    }
  }

  @GetMapping("/{id}/changes")
  @Operation(operationId = "accountChanges", summary = "Every change of one account, newest first")
  Listing<Change> changes(@PathVariable String id, HttpServletRequest request) {
    Query query = Query.of(request);
    return Listing.of(desk.changes(id, query.limit(), query.cursor()), Change::of);
  }

  @GetMapping("/{id}/weights")
  @Operation(
      summary = "The weights of the accounts right below one, and their changes, newest first")
  Weights weights(@PathVariable String id, HttpServletRequest request) {
    Query query = Query.of(request);
    Listing<Change> changes =
        Listing.of(desk.changesBelow(id, query.limit(), query.cursor()), Change::of);
    return new Weights(id, desk.weights(id), changes.items(), changes.next());
  }

  @PutMapping(path = "/{id}/weights", consumes = MediaType.APPLICATION_JSON_VALUE)
  @Operation(
      summary = "Set weights of accounts right below one",
      description =
          "By an owner of that account or of one above it. Effective from the next cycle on.")
  Weights setWeights(@PathVariable String id, HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    Document document = body.json(request);
    Section s = document.read(NEW_WEIGHTS);
    Map<String, Double> weights = weights(s.get(WEIGHTS));
    document.check();
    List<AccountChange> made =
        desk.setWeights(
            id,
            weights,
            Caller.by(request, "by", s.get(BY)),
            s.get(REASON),
            Caller.of(request).known() && Caller.of(request).is(Role.ADMIN));
    return new Weights(id, desk.weights(id), made.stream().map(Change::of).toList(), null);
  }

  /** Each weight is read by a field of its own, so that a fault names it. */
  private static Map<String, Double> weights(Value written) {
    Map<String, Double> weights = new LinkedHashMap<>();
    if (written.kind() != Value.Kind.OBJECT || written.members().size() > MOST_ACCOUNTS) {
      written.fault("must be an object of accounts and their weights, e.g. {\"lab\": 2}");
      return weights;
    }
    Map<String, Field<Double>> fields = new LinkedHashMap<>();
    written.members().keySet().forEach(id -> fields.put(id, Field.number(id, 0, 1e12)));
    Section s = written.section(Shape.of("weights", fields.values().toArray(Field<?>[]::new)));
    if (s != null) {
      fields.forEach((id, field) -> weights.put(id, s.get(field)));
    }
    return weights;
  }

  @PostMapping(path = "/plan", consumes = MediaType.APPLICATION_JSON_VALUE)
  @Operation(
      operationId = "planAccounts",
      summary = "What would change if the tree became this one; nothing does")
  Plan plan(HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    Section s = body.json(request).read(NEW_TREE);
    return Plan.of(
        desk.plan(s.get(ACCOUNTS), Caller.by(request, "by", s.get(BY)), s.get(REASON)), false);
  }

  @PostMapping(path = "/apply", consumes = MediaType.APPLICATION_JSON_VALUE)
  @Operation(
      operationId = "applyAccounts",
      summary = "Make the tree this one",
      description =
          "Accounts that are not in it are retired: they keep their history, have no budget and"
              + " take no jobs.")
  Plan apply(HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    Section s = body.json(request).read(NEW_TREE);
    return Plan.of(
        desk.apply(
            s.get(ACCOUNTS), s.get(VERSION), Caller.by(request, "by", s.get(BY)), s.get(REASON)),
        true);
  }

  /** See {@link AccountDesk.AccountView}; figures that there are not are null. */
  @Schema(name = "Account")
  record Account(
      String id,
      String parent,
      int depth,
      double weight,
      double share,
      @JsonProperty("cumulative_usage") double cumulativeUsage,
      @JsonProperty("window_usage") Double windowUsage,
      @JsonProperty("window_unit") String windowUnit,
      @JsonProperty("window_s") Double window,
      @JsonProperty("usage_share") Double usageShare,
      @JsonProperty("weight_share") Double weightShare,
      Double ratio,
      @JsonProperty("demand_gpu_s") Double demand,
      @JsonProperty("entitled_gpu_s") Double entitled,
      @JsonProperty("delivered_gpu_s") Double delivered,
      @JsonProperty("delivered_over_entitled") Double deliveredOverEntitled,
      List<String> owners,
      List<String> users,
      @JsonProperty("retired_at") Instant retiredAt) {

    static Account of(AccountDesk.AccountView v) {
      boolean known = v.step() != null;
      return new Account(
          v.id(),
          v.parent(),
          v.depth(),
          v.weight(),
          v.share(),
          v.cumulativeUsage(),
          known ? v.step().usage() : null,
          v.lookback() == null ? null : v.unit(),
          v.lookback() == null ? null : v.lookback().toMillis() / 1000.0,
          known ? v.step().usageShare() : null,
          known ? v.step().weightShare() : null,
          known ? Views.finite(v.step().ratio()) : null,
          v.demand(),
          v.entitled(),
          v.delivered(),
          v.entitled() == null ? null : over(v.delivered(), v.entitled()),
          v.owners(),
          v.users(),
          v.retiredAt());
    }
  }

  private static Double over(double delivered, double entitled) {
    return entitled == 0 ? null : delivered / entitled;
  }

  /** See {@link AccountDesk.Point}. */
  @Schema(name = "AccountPoint")
  record Point(
      Instant from,
      Instant to,
      double share,
      @JsonProperty("window_usage") double windowUsage,
      Double ratio,
      @JsonProperty("demand_gpu_s") double demand,
      @JsonProperty("entitled_gpu_s") double entitled,
      @JsonProperty("delivered_gpu_s") double delivered,
      @JsonProperty("delivered_over_entitled") Double deliveredOverEntitled) {

    static Point of(AccountDesk.Point p) {
      return new Point(
          p.from(),
          p.to(),
          p.share(),
          p.usage(),
          Views.finite(p.ratio()),
          p.demand(),
          p.entitled(),
          p.delivered(),
          over(p.delivered(), p.entitled()));
    }
  }

  /**
   * A change of one account; weights are numbers, all else is text.
   *
   * @param parent the account above it
   */
  @Schema(name = "AccountChange")
  record Change(
      String id,
      Instant at,
      String account,
      String kind,
      Object was,
      Object became,
      String parent,
      String by,
      String reason) {

    static Change of(AccountChange c) {
      return new Change(
          c.id() == 0 ? null : Long.toString(c.id()),
          c.at(),
          c.account(),
          c.kind().word(),
          value(c, c.was()),
          value(c, c.became()),
          c.parent(),
          c.by(),
          c.reason());
    }

    private static Object value(AccountChange c, String text) {
      return c.kind().ofWeight() && text != null ? (Object) Double.valueOf(text) : text;
    }
  }

  /**
   * @param weights of the accounts right below it, as they are now
   * @param changes newest first; after a change, what it changed
   */
  @Schema(name = "Weights")
  record Weights(
      String account,
      Map<String, Double> weights,
      List<Change> changes,
      @JsonProperty("next_cursor") String nextCursor) {}

  /**
   * @param applied whether it was done
   * @param version to be given when the plan is applied
   */
  @Schema(name = "TreePlan")
  record Plan(
      boolean applied, List<Change> changes, List<Share> shares, List<String> notes, long version) {

    static Plan of(TreePlan p, boolean applied) {
      return new Plan(
          applied,
          p.changes().stream().map(Change::of).toList(),
          p.shares().stream().map(s -> new Share(s.account(), s.was(), s.becomes())).toList(),
          p.notes(),
          p.version());
    }
  }

  /** An account's share of the whole cluster before and after. */
  @Schema(name = "ShareChange")
  record Share(String account, double was, double becomes) {}
}
