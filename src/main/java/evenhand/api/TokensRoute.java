package evenhand.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import evenhand.access.AccessToken;
import evenhand.access.AuditBook;
import evenhand.access.AuditEntry;
import evenhand.access.Person;
import evenhand.access.Role;
import evenhand.access.Tokens;
import evenhand.cycle.Desk;
import evenhand.cycle.FrontDesk;
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
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Who one is, tokens, and the audit. */
@RestController
@Tag(name = "access")
@RequestMapping(path = "/v1", produces = MediaType.APPLICATION_JSON_VALUE)
class TokensRoute {
  private static final long QUARTER = Duration.ofDays(90).toSeconds();
  private static final long LONGEST = Duration.ofDays(3653).toSeconds();

  private static final Field<String> NAME =
      Field.text("name", SubmissionForm.ID_RIGHT, SubmissionForm::isId)
          .means("what people call the token");
  private static final Field<String> USER =
      Field.text("user", SubmissionForm.ID_RIGHT, SubmissionForm::isId)
          .or(null, "its name")
          .means("whom it stands for: whose jobs, drains and weights they are");
  private static final Field<List<String>> ROLES =
      Field.texts(
              "roles",
              Role.values().length,
              "any of " + String.join(", ", Role.words()),
              word -> Role.of(word).isPresent())
          .means("what it may do");
  private static final Field<List<String>> ACCOUNTS =
      Field.texts("accounts", 1000, SubmissionForm.ID_RIGHT, SubmissionForm::isId)
          .or(List.of(), "the one that the tree attaches its user to")
          .means("whose jobs it may submit");
  private static final Field<Long> EXPIRES =
      Field.wholeLong("expires_in_s", 1, LONGEST)
          .or(QUARTER, "90 days")
          .means("how long it lets anybody in, seconds");

  static final Shape NEW_TOKEN = Shape.of("a new token", NAME, USER, ROLES, ACCOUNTS, EXPIRES);

  private final Access access;
  private final Body body;

  TokensRoute(Access access, Body body) {
    this.access = access;
    this.body = body;
  }

  @GetMapping("/access")
  @Operation(summary = "Whether a token is asked for; told to everybody")
  AccessView access(HttpServletRequest request) {
    Query.ofNothing(request);
    return new AccessView(access.on() ? "on" : "off");
  }

  @GetMapping("/me")
  @Operation(summary = "Who the token is of, and what it may do")
  Me me(HttpServletRequest request) {
    Query.ofNothing(request);
    Person p = Caller.of(request);
    return new Me(
        p.name(),
        p.user(),
        p.roles().stream().sorted().map(Role::word).toList(),
        p.accounts().isEmpty() ? null : p.accounts().get(0),
        p.accounts(),
        access.on() ? "on" : "off");
  }

  @GetMapping("/tokens")
  @Operation(summary = "Tokens, newest first, expired and revoked ones too; never their text")
  @Parameter(in = ParameterIn.QUERY, name = "user", description = "only those of this user")
  Listing<Token> tokens(HttpServletRequest request) {
    Query query = Query.of(request, "user");
    Tokens tokens = tokens();
    return Listing.of(
        FrontDesk.part(
            tokens.all(query.text("user"), query.limit() + 1, FrontDesk.before(query.cursor())),
            query.limit(),
            token -> Long.toString(token.id())),
        token -> Token.of(token, access, null));
  }

  @PostMapping(path = "/tokens", consumes = MediaType.APPLICATION_JSON_VALUE)
  @Operation(
      summary = "Make a token",
      description = "Its text is in this answer and nowhere else: it is kept as a digest only.")
  ResponseEntity<Token> create(HttpServletRequest request) throws IOException {
    Query.ofNothing(request);
    Document document = body.json(request);
    Section s = document.read(NEW_TOKEN);
    document.check();
    if (s.get(ROLES).isEmpty()) {
      throw Query.fault("roles", "must name at least one of " + String.join(", ", Role.words()));
    }
    Set<Role> roles = EnumSet.noneOf(Role.class);
    s.get(ROLES).forEach(word -> roles.add(Role.of(word).orElseThrow()));
    String name = s.get(NAME);
    Person by = Caller.of(request);
    Tokens.Made made =
        tokens()
            .create(
                name,
                s.get(USER) == null ? name : s.get(USER),
                roles,
                s.get(ACCOUNTS),
                access.clock().instant().plusSeconds(s.get(EXPIRES)).truncatedTo(ChronoUnit.MICROS),
                by.user() == null ? by.name() : by.user())
            .orElseThrow(
                () ->
                    new Refusal(
                        Problem.of(
                            409,
                            "NAME_TAKEN",
                            "The name is taken",
                            "there is a token "
                                + name
                                + " that is not revoked; revoke it first, or take another name")));
    return ResponseEntity.status(HttpStatus.CREATED)
        .body(Token.of(made.token(), access, made.text()));
  }

  @PostMapping("/tokens/{name}/revoke")
  @Operation(summary = "Revoke a token; it lets nobody in from now on")
  Token revoke(@PathVariable String name, HttpServletRequest request) {
    Query.ofNothing(request);
    Person by = Caller.of(request);
    return tokens()
        .revoke(name, by.user() == null ? by.name() : by.user())
        .map(token -> Token.of(token, access, null))
        .orElseThrow(
            () ->
                new Desk.Refused(
                    "NOT_FOUND",
                    "name",
                    null,
                    "there is no token " + name + " that is not revoked already"));
  }

  private Tokens tokens() {
    if (access.tokens() == null) {
      throw new Desk.Refused("NOT_FOUND", null, null, "this service keeps no tokens");
    }
    return access.tokens();
  }

  @GetMapping("/audit")
  @Operation(
      summary =
          "Every change that was asked for, newest first: who, from where, what, how it ended")
  @Parameter(in = ParameterIn.QUERY, name = "user", description = "only in this name")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "path",
      description = "only of paths that begin so, e.g. /v1/nodes/n7")
  @Parameter(
      in = ParameterIn.QUERY,
      name = "outcome",
      description = "only those that are done, refused, failed or unknown")
  @Parameter(in = ParameterIn.QUERY, name = "from", description = "from this time on, ISO 8601")
  @Parameter(in = ParameterIn.QUERY, name = "to", description = "before this time, ISO 8601")
  Listing<Audited> audit(HttpServletRequest request) {
    Query query = Query.of(request, "user", "path", "outcome", "from", "to");
    String outcome = query.word("outcome", "outcome of a change", AuditEntry.OUTCOMES);
    AuditBook.Filter filter =
        new AuditBook.Filter(
            query.text("user"), query.text("path"), outcome, query.time("from"), query.time("to"));
    return Listing.of(
        FrontDesk.part(
            access.audit().entries(filter, query.limit() + 1, FrontDesk.before(query.cursor())),
            query.limit(),
            entry -> Long.toString(entry.id())),
        Audited::of);
  }

  /**
   * @param security {@code on} or {@code off}
   */
  @Schema(name = "Access")
  record AccessView(String security) {}

  /**
   * Who asks.
   *
   * @param user in whose name it is done; null where security is off
   * @param account the first of {@code accounts}, or null
   * @param security {@code on} or {@code off}
   */
  @Schema(name = "Me")
  record Me(
      String name,
      String user,
      List<String> roles,
      String account,
      List<String> accounts,
      String security) {}

  /**
   * A token.
   *
   * @param state {@code valid}, {@code expired} or {@code revoked}
   * @param token its text, where it was just made; else left out
   */
  @Schema(name = "Token")
  record Token(
      String id,
      String name,
      String prefix,
      String user,
      List<String> roles,
      List<String> accounts,
      String state,
      @JsonProperty("created_at") Instant createdAt,
      @JsonProperty("created_by") String createdBy,
      @JsonProperty("expires_at") Instant expiresAt,
      @JsonProperty("revoked_at") Instant revokedAt,
      @JsonProperty("revoked_by") String revokedBy,
      @JsonProperty("last_used_at") Instant lastUsedAt,
      @JsonInclude(JsonInclude.Include.NON_NULL) String token) {

    static Token of(AccessToken t, Access access, String text) {
      return new Token(
          Long.toString(t.id()),
          t.name(),
          t.prefix(),
          t.user(),
          t.roles().stream().sorted().map(Role::word).toList(),
          t.accounts(),
          t.revokedAt() != null
              ? "revoked"
              : t.counts(access.clock().instant()) ? "valid" : "expired",
          t.createdAt(),
          t.createdBy(),
          t.expiresAt(),
          t.revokedAt(),
          t.revokedBy(),
          t.lastUsedAt(),
          text);
    }
  }

  /**
   * A change that was asked for.
   *
   * @param who name of the token or login
   * @param body what was sent, without what is private or secret
   * @param outcome {@code done}, {@code refused}, {@code failed}, or {@code unknown}
   */
  @Schema(name = "AuditEntry")
  record Audited(
      String id,
      Instant at,
      String who,
      String user,
      String token,
      String address,
      String method,
      String path,
      String body,
      String outcome,
      Integer status,
      @JsonProperty("ended_at") Instant endedAt) {

    static Audited of(AuditEntry e) {
      return new Audited(
          Long.toString(e.id()),
          e.at(),
          e.who(),
          e.user(),
          e.token(),
          e.address(),
          e.method(),
          e.path(),
          e.body(),
          e.outcome(),
          e.status(),
          e.endedAt());
    }
  }
}
