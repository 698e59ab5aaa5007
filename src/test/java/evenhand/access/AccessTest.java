package evenhand.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import evenhand.api.Access;
import evenhand.cli.AccessCommands;
import evenhand.cli.Commands;
import evenhand.cli.Console;
import evenhand.cli.Parts;
import evenhand.service.OneNode;
import evenhand.service.Service;
import evenhand.service.SiteAtHand;
import evenhand.store.Database;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The whole service with security on: who gets in, who may do what, and what is written down. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AccessTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String EVERYBODY = "everybody";
  private static final String JOB =
      "{\"account\":\"KDG\",\"num_gpus\":1,\"script\":\"#!/bin/sh\\nsleep 9\\n\"}";

  /**
   * Who may use which route, by the first letters of the roles: submitter, owner, operator,
   * auditor, metrics; admin may use all. A route of the API that is not here fails the test.
   */
  private static final Map<String, String> MAY = new LinkedHashMap<>();

  static {
    String people = "submitter owner operator auditor";
    for (String read :
        List.of(
            "/v1/queue",
            "/v1/placements",
            "/v1/nodes",
            "/v1/nodes/{node}/drains",
            "/v1/now",
            "/v1/events",
            "/v1/policy",
            "/v1/policy/doc",
            "/v1/policy/history",
            "/v1/policy/plans",
            "/v1/policy/plans/{id}",
            "/v1/policy/shadow",
            "/v1/policy/shadow/differences",
            "/v1/jobs",
            "/v1/jobs/{id}",
            "/v1/jobs/{id}/why",
            "/v1/jobs/{id}/scenario",
            "/v1/decisions/{id}/scenario",
            "/v1/decisions/{id}/snapshot",
            "/v1/accounts",
            "/v1/accounts/{id}/history",
            "/v1/accounts/{id}/changes",
            "/v1/accounts/{id}/weights",
            "/v1/decisions",
            "/v1/decisions/{id}")) {
      MAY.put("GET " + read, people);
    }
    MAY.put("GET /v1/access", EVERYBODY);
    MAY.put("GET /v1/me", people + " metrics");
    MAY.put("GET /v1/decisions/{id}/verify", "operator auditor");
    MAY.put("GET /v1/ledger", "owner operator auditor");
    MAY.put("GET /v1/ledger/verify", "operator auditor");
    MAY.put("GET /v1/jobs/{id}/output", people);
    MAY.put("GET /v1/audit", "auditor");
    MAY.put("GET /v1/tokens", "");
    MAY.put("POST /v1/tokens", "");
    MAY.put("POST /v1/tokens/{name}/revoke", "");
    MAY.put("POST /v1/jobs", "submitter");
    MAY.put("POST /v1/jobs/{id}/cancel", "submitter operator");
    MAY.put("POST /v1/jobs/{id}/checkpoint", "submitter operator");
    MAY.put("PUT /v1/accounts/{id}/weights", "owner");
    MAY.put("POST /v1/accounts/plan", "owner operator auditor");
    MAY.put("POST /v1/accounts/apply", "operator");
    MAY.put("POST /v1/nodes/{node}/drain", "operator");
    MAY.put("POST /v1/nodes/{node}/resume", "operator");
    MAY.put("POST /v1/cycle", "operator");
    MAY.put("POST /v1/policy/plan", "operator");
    MAY.put("POST /v1/policy/apply", "operator");
    MAY.put("POST /v1/policy/rollback", "operator");
    MAY.put("POST /v1/policy/shadow", "operator");
    MAY.put("POST /v1/ledger/corrections", "operator");
    // What the service does not map itself.
    MAY.put("GET /actuator/metrics", "operator auditor metrics");
    MAY.put("GET /actuator/prometheus", "operator auditor metrics");
    MAY.put("GET /actuator/info", "operator auditor metrics");
    MAY.put("GET /v1/nothing-yet", "operator auditor");
    MAY.put("POST /v1/nothing-yet", "operator");
    MAY.put("DELETE /v1/jobs/{id}", "operator");
  }

  @TempDir private static Path folder;
  private final HttpClient client = HttpClient.newHttpClient();
  private final Map<Role, String> tokens = new EnumMap<>(Role.class);
  private ConfigurableApplicationContext context;
  private HttpServer login;
  private RSAKey key;
  private String url;
  private String database;
  private JdbcClient sql;

  record Answer(int status, JsonNode body, HttpResponse<String> whole) {
    String code() {
      return body.path("code").asString("");
    }

    String detail() {
      return body.path("detail").asString("");
    }
  }

  record Ran(int status, String out, String err) {}

  @BeforeAll
  void start() throws Exception {
    PGSimpleDataSource source = Database.ofAService();
    database = source.getUrl();
    sql = JdbcClient.create(source);
    key = new RSAKeyGenerator(2048).keyID("site").generate();
    byte[] keys = new JWKSet(key.toPublicJWK()).toString().getBytes(StandardCharsets.UTF_8);
    login = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    login.createContext(
        "/keys",
        exchange -> {
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, keys.length);
          exchange.getResponseBody().write(keys);
          exchange.close();
        });
    login.start();
    context =
        Service.start(
            OneNode.settings(
                    4,
                    source,
                    "--server.port=0",
                    "--evenhand.security=on",
                    "--spring.security.oauth2.resourceserver.jwt.jwk-set-uri=http://127.0.0.1:"
                        + login.getAddress().getPort()
                        + "/keys",
                    "--evenhand.check-scenarios=false",
                    "--evenhand.cycle.enabled=false",
                    "--evenhand.api.requests-per-minute=5000",
                    "--evenhand.api.jobs-per-user=20",
                    "--evenhand.accounts[0].id=lab",
                    "--evenhand.accounts[1].id=KDG",
                    "--evenhand.accounts[1].parent=lab",
                    "--evenhand.accounts[2].id=BCG",
                    "--evenhand.accounts[2].parent=lab")
                .toArray(String[]::new));
    url = "http://127.0.0.1:" + ((WebServerApplicationContext) context).getWebServer().getPort();
    // The first one, as whoever holds the database's settings makes it.
    Ran made =
        run(
            Map.of(),
            "token",
            "create",
            "root",
            "--admin",
            "--spring.datasource.url=" + database,
            "--spring.datasource.username=postgres",
            "--spring.datasource.password=postgres");
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(made.err()).doesNotContain(made.out().strip());
    tokens.put(Role.ADMIN, made.out().strip());
    for (Role role : Role.values()) {
      if (role != Role.ADMIN) {
        Ran next =
            run(
                Map.of("EVENHAND_TOKEN", tokens.get(Role.ADMIN)),
                "token",
                "create",
                "t-" + role.word(),
                "--role",
                role.word(),
                "--user",
                "u-" + role.word(),
                "--account",
                "KDG");
        assertThat(next.status()).as(next.err()).isZero();
        tokens.put(role, next.out().strip());
      }
    }
    // The cluster is read once, so that jobs can be judged.
    assertThat(ask(Role.OPERATOR, "POST", "/v1/cycle", null).status()).isEqualTo(200);
  }

  @AfterAll
  void stop() {
    context.close();
    login.stop(0);
  }

  private Ran run(Map<String, String> variables, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int status = run(variables, out, err, arguments);
    return new Ran(
        status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  private int run(
      Map<String, String> variables, OutputStream out, OutputStream err, String... arguments) {
    Map<String, String> all = new TreeMap<>(variables);
    all.put("EVENHAND_SERVER", String.valueOf(url));
    Console console =
        new Console(
            new ByteArrayInputStream(new byte[0]),
            new PrintStream(out, false, StandardCharsets.UTF_8),
            new PrintStream(err, false, StandardCharsets.UTF_8),
            all);
    Commands commands = new Commands(console, new Parts(null, null, null, Map.of()));
    AccessCommands.addTo(commands, console, new SiteAtHand(Clock.systemUTC()));
    return commands.run(arguments);
  }

  private Ran run(Role role, String... arguments) {
    return run(Map.of("EVENHAND_TOKEN", tokens.get(role)), arguments);
  }

  private Answer ask(Role role, String method, String path, String json, String... headers)
      throws Exception {
    return send(role == null ? null : "Bearer " + tokens.get(role), method, path, json, headers);
  }

  private Answer send(
      String authorization, String method, String path, String json, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .method(
                method,
                json == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(json));
    if (json != null) {
      request.header("Content-Type", "application/json");
    }
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    if (headers.length > 0) {
      request.headers(headers);
    }
    HttpResponse<String> answer =
        client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    String type = answer.headers().firstValue("Content-Type").orElse("");
    return new Answer(
        answer.statusCode(),
        type.contains("json") ? JSON.readTree(answer.body()) : JSON.createObjectNode(),
        answer);
  }

  private Set<String> routes() {
    Set<String> routes = new TreeSet<>();
    for (RequestMappingHandlerMapping mapping :
        context.getBeansOfType(RequestMappingHandlerMapping.class).values()) {
      for (Map.Entry<RequestMappingInfo, HandlerMethod> e :
          mapping.getHandlerMethods().entrySet()) {
        for (String path : e.getKey().getPatternValues()) {
          e.getKey()
              .getMethodsCondition()
              .getMethods()
              .forEach(method -> routes.add(method + " " + path));
        }
      }
    }
    routes.removeIf(route -> !route.contains(" /v1/"));
    return routes;
  }

  @Test
  void eachRouteIsForTheRolesThatTheTableSaysAndForNobodyElse() throws Exception {
    assertThat(MAY.keySet()).as("routes of the table").containsAll(routes());
    List<String> wrong = new ArrayList<>();
    for (Map.Entry<String, String> row : MAY.entrySet()) {
      String method = row.getKey().split(" ")[0];
      String path = row.getKey().split(" ")[1].replaceAll("\\{\\w+\\}", "4711");
      String body =
          method.equals("GET") || path.endsWith("/cycle") || path.endsWith("/revoke") ? null : "{}";
      List<String> may = Arrays.asList(row.getValue().split(" "));
      Answer stranger = send(null, method, path, body);
      if (row.getValue().equals(EVERYBODY)) {
        if (stranger.status() != 200) {
          wrong.add(row.getKey() + " answers a stranger " + stranger.status());
        }
        continue;
      }
      if (stranger.status() != 401
          || !stranger.code().equals("UNAUTHENTICATED")
          || stranger.whole().headers().firstValue("WWW-Authenticate").isEmpty()) {
        wrong.add(row.getKey() + " answers a stranger " + stranger.status());
      }
      for (Role role : Role.values()) {
        Answer answer = ask(role, method, path, body);
        boolean let = answer.status() != 401 && answer.status() != 403;
        if (let != (role == Role.ADMIN || may.contains(role.word()))) {
          wrong.add(row.getKey() + " answers " + role.word() + " " + answer.status());
        }
        if (!let && !(answer.code().equals("FORBIDDEN") && answer.detail().contains("role "))) {
          wrong.add(row.getKey() + " does not say which role it needs: " + answer.body());
        }
        if (answer.status() >= 500) {
          wrong.add(row.getKey() + " fails for " + role.word() + ": " + answer.body());
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void healthAndDescriptionAreForEverybodyAndTellStrangersNoDetails() throws Exception {
    Answer stranger = send(null, "GET", "/actuator/health", null);
    assertThat(stranger.body().path("status").asString()).isIn("UP", "DOWN");
    assertThat(stranger.body().has("components")).isFalse();
    assertThat(ask(Role.METRICS, "GET", "/actuator/health", null).body().has("components"))
        .isTrue();
    assertThat(ask(Role.SUBMITTER, "GET", "/actuator/health", null).body().has("components"))
        .isFalse();
    assertThat(send(null, "GET", "/v3/api-docs", null).status()).isEqualTo(200);
    assertThat(send(null, "GET", "/nothing.css", null).status()).isEqualTo(404);
  }

  @Test
  void aTokenLetsNobodyInThatIsUnknownForeignExpiredOrRevoked() throws Exception {
    String good = tokens.get(Role.AUDITOR);
    for (String bad :
        List.of(
            "Bearer evh_0123456789_" + good.substring(good.length() - 43),
            "Bearer " + good.substring(0, good.length() - 1) + (good.endsWith("A") ? "B" : "A"),
            "Bearer " + good + "x",
            "Bearer evh_",
            "Bearer ",
            "Basic cm9vdDpyb290",
            "Bearer ' or 1=1 --",
            "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290IiwiZXZlbmhhbmRfcm9sZXMiOiJhZG1pbiJ9.")) {
      Answer answer = send(bad, "GET", "/v1/queue", null);
      assertThat(answer.status()).as(bad).isEqualTo(401);
      assertThat(answer.code()).isEqualTo("UNAUTHENTICATED");
      assertThat(answer.whole().body()).doesNotContain(good.substring(15));
    }
    assertThat(send("bearer " + good, "GET", "/v1/queue", null).status()).isEqualTo(200);
    Answer made =
        ask(
            Role.ADMIN,
            "POST",
            "/v1/tokens",
            "{\"name\":\"short\",\"roles\":[\"auditor\"],\"expires_in_s\":1}");
    assertThat(made.status()).isEqualTo(201);
    String text = made.body().path("token").asString();
    Instant end = Instant.parse(made.body().path("expires_at").asString());
    while (Instant.now().isBefore(end)) {
      Thread.sleep(50);
    }
    Answer expired = send("Bearer " + text, "GET", "/v1/queue", null);
    assertThat(expired.status()).isEqualTo(401);
    assertThat(expired.detail()).contains("short expired at");
    assertThat(run(Role.ADMIN, "token", "create", "lent", "--role", "operator").status()).isZero();
    String lent =
        sql.sql("select prefix from access_tokens where name = 'lent'")
            .query(String.class)
            .single();
    assertThat(run(Role.ADMIN, "token", "create", "lent", "--role", "operator").err())
        .contains("NAME_TAKEN");
    Ran listed = run(Role.ADMIN, "token", "list");
    assertThat(listed.out()).contains("lent", "t-auditor").doesNotContain("short", lent + "_");
    assertThat(run(Role.ADMIN, "token", "revoke", "lent").out()).contains("lent is revoked");
    assertThat(run(Role.ADMIN, "token", "revoke", "lent").status()).isEqualTo(1);
    assertThat(run(Role.ADMIN, "token", "list", "--all").out()).contains("revoked", "expired");
  }

  @Test
  void aRevokedTokenIsRefusedAtOnceAndTextsAreKeptAsDigestsOnly() throws Exception {
    String text = run(Role.ADMIN, "token", "create", "gone", "--role", "auditor").out().strip();
    assertThat(send("Bearer " + text, "GET", "/v1/queue", null).status()).isEqualTo(200);
    assertThat(run(Role.ADMIN, "token", "revoke", "gone").status()).isZero();
    Answer answer = send("Bearer " + text, "GET", "/v1/queue", null);
    assertThat(answer.status()).isEqualTo(401);
    assertThat(answer.detail()).contains("gone was revoked at");
    JsonNode found = ask(Role.ADMIN, "GET", "/v1/tokens?user=gone", null).body().path("items");
    assertThat(found.size()).isEqualTo(1);
    assertThat(found.path(0).path("state").asString()).isEqualTo("revoked");
    String secret = text.substring(15);
    for (String table : List.of("access_tokens", "audit")) {
      assertThat(
              sql.sql("select string_agg(t::text, ' ') from " + table + " t")
                  .query(String.class)
                  .single())
          .doesNotContain(secret);
    }
    assertThat(
            sql.sql("select count(*) from access_tokens where last_used_at is not null")
                .query(Integer.class)
                .single())
        .isPositive();
  }

  @Test
  void aSubmitterActsAsTheUserOfTheTokenAndOnItsAccountsOnly() throws Exception {
    Answer job = ask(Role.SUBMITTER, "POST", "/v1/jobs", JOB);
    assertThat(job.status()).as(job.whole().body()).isEqualTo(201);
    assertThat(job.body().path("user").asString()).isEqualTo("u-submitter");
    String id = job.body().path("id").asString();
    Answer unsaid =
        ask(Role.SUBMITTER, "POST", "/v1/jobs", JOB.replace("\"account\":\"KDG\",", ""));
    assertThat(unsaid.body().path("account").asString()).isEqualTo("KDG");
    Answer elsewhere = ask(Role.SUBMITTER, "POST", "/v1/jobs", JOB.replace("KDG", "BCG"));
    assertThat(elsewhere.status()).isEqualTo(403);
    assertThat(elsewhere.detail()).contains("BCG is not one of", "it has KDG");
    Answer other =
        ask(Role.SUBMITTER, "POST", "/v1/jobs", JOB.replace("{\"acc", "{\"user\":\"kim\",\"acc"));
    assertThat(other.status()).isEqualTo(403);
    assertThat(other.detail()).contains("user is kim, but the token is of u-submitter");
    String second =
        run(Role.ADMIN, "token", "create", "kim", "--role", "submitter", "--account", "KDG")
            .out()
            .strip();
    Answer cancel = send("Bearer " + second, "POST", "/v1/jobs/" + id + "/cancel", null);
    assertThat(cancel.status()).isEqualTo(403);
    assertThat(cancel.detail()).contains("is of u-submitter");
    assertThat(send("Bearer " + second, "POST", "/v1/jobs/" + id + "/checkpoint", "{}").status())
        .isEqualTo(403);
    assertThat(ask(Role.SUBMITTER, "POST", "/v1/jobs/" + id + "/cancel", null).status())
        .isEqualTo(200);
    String unsaidId = unsaid.body().path("id").asString();
    Ran byOperator = run(Role.OPERATOR, "cancel", unsaidId);
    assertThat(byOperator.status()).as(byOperator.err()).isZero();
    Path script = Files.writeString(folder.resolve("train.sh"), "#!/bin/sh\n");
    Path file = Files.writeString(folder.resolve("token"), tokens.get(Role.SUBMITTER) + "\n");
    Ran cli =
        run(Map.of(), "submit", "--token-file", file.toString(), "--gpus", "1", script.toString());
    assertThat(cli.status()).as(cli.err()).isZero();
    assertThat(run(Map.of(), "submit", "--gpus", "1", script.toString()).err())
        .contains("UNAUTHENTICATED", "--token-file");
    assertThat(run(Role.SUBMITTER, "whoami").out())
        .contains("t-submitter stands for u-submitter", "submitter", "KDG");
  }

  @Test
  void eventsAreFollowedByWhomTheTokenLetsIn() throws Exception {
    Answer job = ask(Role.SUBMITTER, "POST", "/v1/jobs", JOB);
    assertThat(job.status()).as(job.detail()).isEqualTo(201);
    String id = job.body().path("id").asString();
    String[] follow = {"events", "--follow", "--since", "0", "--job", id};
    Ran without = run(Map.of(), follow);
    assertThat(without.status()).isEqualTo(1);
    assertThat(without.err()).contains("UNAUTHENTICATED", "--token-file").doesNotContain("\tat ");
    assertThat(run(Map.of("EVENHAND_TOKEN", "evh_none"), follow).err()).contains("UNAUTHENTICATED");
    ReaderOfOne out = new ReaderOfOne();
    Map<String, String> token = Map.of("EVENHAND_TOKEN", tokens.get(Role.AUDITOR));
    Thread following =
        new Thread(() -> run(token, out, OutputStream.nullOutputStream(), follow), "following");
    following.setDaemon(true);
    following.start();
    Instant end = Instant.now().plusSeconds(60);
    while (out.text().isEmpty() && following.isAlive() && Instant.now().isBefore(end)) {
      Thread.sleep(20);
    }
    JsonNode kept =
        JSON.readTree(run(Role.AUDITOR, "events", "-o", "json", "--since", "0", "--job", id).out())
            .path("items");
    assertThat(out.text()).startsWith(kept.path(0).path("id").asString() + "  ");
    assertThat(ask(Role.SUBMITTER, "POST", "/v1/jobs/" + id + "/cancel", null).status())
        .isEqualTo(200);
    following.join(60_000);
    assertThat(following.isAlive()).as("it ends when nobody reads on").isFalse();
  }

  @Test
  void whoListensIsHungUpOnWhenTheTokenIsRevoked() throws Exception {
    String text = run(Role.ADMIN, "token", "create", "ear", "--role", "auditor").out().strip();
    HttpResponse<Stream<String>> stream =
        client.send(
            HttpRequest.newBuilder(URI.create(url + "/v1/events"))
                .header("Accept", "text/event-stream")
                .header("Authorization", "Bearer " + text)
                .build(),
            HttpResponse.BodyHandlers.ofLines());
    assertThat(stream.statusCode()).isEqualTo(200);
    Iterator<String> lines = stream.body().iterator();
    assertThat(lines.next()).startsWith("retry:");
    assertThat(run(Role.ADMIN, "token", "revoke", "ear").status()).isZero();
    int left = 1000;
    while (lines.hasNext() && left-- > 0) {
      lines.next();
    }
    assertThat(left).as("it ends").isPositive();
  }

  @Test
  void aSubmitterReadsTheLedgerOfTheOwnAccounts() throws Exception {
    String id = ask(Role.SUBMITTER, "POST", "/v1/jobs", JOB).body().path("id").asString();
    String foreign =
        ask(Role.ADMIN, "POST", "/v1/jobs", JOB.replace("KDG", "BCG")).body().path("id").asString();
    for (String own : List.of("account=KDG", "job=" + id, "by=kind&job=" + id)) {
      assertThat(ask(Role.SUBMITTER, "GET", "/v1/ledger?" + own, null).status())
          .as(own)
          .isEqualTo(200);
    }
    for (String other : List.of("account=BCG", "job=" + foreign, "by=account", "node=n1")) {
      Answer answer = ask(Role.SUBMITTER, "GET", "/v1/ledger?" + other, null);
      assertThat(answer.status()).as(other).isEqualTo(403);
      assertThat(answer.detail()).contains("t-submitter may ask for account= one of the own: KDG");
    }
    for (String job : List.of(id, foreign)) {
      ask(Role.OPERATOR, "POST", "/v1/jobs/" + job + "/cancel", null);
    }
  }

  @Test
  void whoAsksTooOftenIsToldWhenToAskAgain() throws Exception {
    String text =
        run(Role.ADMIN, "token", "create", "busy", "--role", "submitter", "--account", "KDG")
            .out()
            .strip();
    Allowance allowance = context.getBean(Access.class).allowance();
    String prefix = text.substring(0, text.indexOf('_', Tokens.MARK.length()));
    int sent = 0;
    while (allowance.take(prefix) == 0) {
      assertThat(++sent).as("requests in a row").isLessThan(3 * allowance.perMinute());
    }
    int jobs = sql.sql("select count(*) from jobs").query(Integer.class).single();
    List<String[]> asked =
        List.of(
            new String[] {"GET", "/v1/queue", null},
            new String[] {"GET", "/v1/me", null},
            new String[] {"POST", "/v1/jobs", JOB});
    for (String[] request : asked) {
      Answer answer = null;
      // It refills while this runs: some are still answered.
      for (int i = 0; i < 3 * allowance.perMinute(); i++) {
        while (allowance.take(prefix) == 0) {
          // none is left
        }
        answer = send("Bearer " + text, request[0], request[1], request[2]);
        if (answer.status() == 429) {
          break;
        }
        jobs += request[0].equals("POST") ? 1 : 0;
      }
      assertThat(answer.status()).isEqualTo(429);
      assertThat(answer.code()).isEqualTo("TOO_MANY_REQUESTS");
      assertThat(answer.detail()).contains("busy may send 5000 requests a minute");
      assertThat(answer.whole().headers().firstValue("Content-Type").orElse(""))
          .startsWith("application/problem+json");
      assertThat(answer.whole().headers().firstValueAsLong("Retry-After").orElse(0))
          .isBetween(1L, 60L);
    }
    assertThat(sql.sql("select count(*) from jobs").query(Integer.class).single()).isEqualTo(jobs);
    assertThat(ask(Role.AUDITOR, "GET", "/v1/queue", null).status()).as("others").isEqualTo(200);
  }

  /** Reads one line and goes, as {@code head -1} does. */
  private static final class ReaderOfOne extends OutputStream {
    private final StringBuffer read = new StringBuffer();

    String text() {
      return read.toString();
    }

    @Override
    public void write(int b) throws IOException {
      if (read.indexOf("\n") >= 0) {
        throw new IOException("Broken pipe");
      }
      read.append((char) b);
    }
  }

  @Test
  void nobodyFillsTheQueueAlone() throws Exception {
    String many =
        run(Role.ADMIN, "token", "create", "many", "--role", "submitter", "--account", "BCG")
            .out()
            .strip();
    String job = JOB.replace("KDG", "BCG");
    Answer last = null;
    for (int i = 0; i <= 20; i++) {
      last = send("Bearer " + many, "POST", "/v1/jobs", job, "Idempotency-Key", "m" + i);
    }
    assertThat(last.status()).isEqualTo(422);
    assertThat(last.code()).isEqualTo("TOO_MANY_JOBS");
    assertThat(last.detail()).contains("20 jobs of many wait");
    assertThat(send("Bearer " + many, "POST", "/v1/jobs", job, "Idempotency-Key", "m3").status())
        .as("what was taken before is answered as before")
        .isEqualTo(200);
  }

  @Test
  void anOwnerSetsWeightsWhereTheTreeSaysSoAndAnAdminAnywhere() throws Exception {
    String tree =
        """
        {"accounts": [{"id": "lab", "owners": ["u-owner"]},
                      {"id": "KDG", "parent": "lab", "users": ["lee"]}, {"id": "BCG", "parent": "lab"},
                      {"id": "other"}, {"id": "o1", "parent": "other"}, {"id": "o2", "parent": "other"}],
         "reason": "a test"}
        """;
    Answer plan = ask(Role.AUDITOR, "POST", "/v1/accounts/plan", tree);
    assertThat(plan.status()).as(plan.whole().body()).isEqualTo(200);
    assertThat(ask(Role.OPERATOR, "POST", "/v1/accounts/apply", tree).status()).isEqualTo(200);
    String weights = "{\"weights\":{\"%s\":3},\"reason\":\"why not\"}";
    Answer own = ask(Role.OWNER, "PUT", "/v1/accounts/lab/weights", weights.formatted("KDG"));
    assertThat(own.status()).as(own.whole().body()).isEqualTo(200);
    assertThat(own.body().path("changes").path(0).path("by").asString()).isEqualTo("u-owner");
    Answer foreign = ask(Role.OWNER, "PUT", "/v1/accounts/other/weights", weights.formatted("o1"));
    assertThat(foreign.status()).isEqualTo(403);
    assertThat(foreign.body().path("rule").asString()).isEqualTo("A2");
    Answer posing =
        ask(
            Role.OWNER,
            "PUT",
            "/v1/accounts/lab/weights",
            "{\"weights\":{\"KDG\":9},\"reason\":\"x\",\"by\":\"ada\"}");
    assertThat(posing.status()).isEqualTo(403);
    assertThat(
            ask(Role.ADMIN, "PUT", "/v1/accounts/other/weights", weights.formatted("o1")).status())
        .isEqualTo(200);
    // Somebody whose token names no account submits on the one that the tree attaches them to.
    String lee = run(Role.ADMIN, "token", "create", "lee", "--role", "submitter").out().strip();
    Answer job = send("Bearer " + lee, "POST", "/v1/jobs", JOB.replace("\"account\":\"KDG\",", ""));
    assertThat(job.body().path("account").asString()).as(job.whole().body()).isEqualTo("KDG");
  }

  @Test
  void everyChangeIsWrittenDownWithWhoFromWhereAndHowItCameOut() throws Exception {
    Ran drained = run(Role.OPERATOR, "node", "drain", "n1", "--reason", "fan $(reboot) <b>");
    assertThat(drained.status()).as(drained.err()).isZero();
    assertThat(run(Role.AUDITOR, "node", "drain", "n1", "--reason", "no").err())
        .contains("FORBIDDEN", "operator or admin");
    assertThat(run(Role.OPERATOR, "node", "resume", "n1").status()).isZero();
    send(null, "POST", "/v1/nodes/n1/drain", "{}");
    ask(Role.SUBMITTER, "POST", "/v1/jobs", JOB.replace("sleep 9", "echo my-secret-data"));
    JsonNode entries =
        ask(Role.AUDITOR, "GET", "/v1/audit?path=/v1/nodes/n1&limit=50", null).body().path("items");
    assertThat(entries.size()).isEqualTo(4);
    assertThat(entries.toString()).contains("127.0.0.1", "fan $(reboot) <b>");
    List<String> short_ = new ArrayList<>();
    entries.forEach(
        e ->
            short_.add(
                e.path("who").asString()
                    + " "
                    + e.path("path").asString().substring("/v1/nodes/n1/".length())
                    + " "
                    + e.path("outcome").asString()
                    + " "
                    + e.path("status").asInt()));
    assertThat(short_)
        .containsExactly(
            "nobody drain refused 401",
            "t-operator resume done 200",
            "t-auditor drain refused 403",
            "t-operator drain done 200");
    Ran audit = run(Role.AUDITOR, "audit", "--user", "u-submitter", "--path", "/v1/jobs");
    assertThat(audit.out()).contains("t-submitter", "POST /v1/jobs", "done (201)", "(not kept)");
    assertThat(sql.sql("select string_agg(body, ' ') from audit").query(String.class).single())
        .doesNotContain("my-secret-data");
    JsonNode part = ask(Role.AUDITOR, "GET", "/v1/audit?limit=2", null).body();
    assertThat(part.path("items").size()).isEqualTo(2);
    String next = part.path("next_cursor").asString();
    JsonNode second = ask(Role.AUDITOR, "GET", "/v1/audit?limit=2&cursor=" + next, null).body();
    assertThat(second.path("items").path(0).path("id").asLong())
        .isLessThan(part.path("items").path(1).path("id").asLong());
    for (String statement :
        List.of(
            "update audit set who = 'somebody'",
            "update audit set status = 200",
            "delete from audit",
            "truncate audit")) {
      assertThatThrownBy(() -> sql.sql(statement).update())
          .as(statement)
          .hasMessageContaining("append-only");
    }
  }

  @Test
  void bodiesOfStrangersAndOversizedOnesAreNotKept() throws Exception {
    String large = "{\"x\":\"" + "y".repeat(3 << 20) + "\"}";
    assertThat(send(null, "POST", "/v1/jobs", large).status()).isEqualTo(401);
    Answer known = ask(Role.SUBMITTER, "POST", "/v1/jobs", large);
    assertThat(known.status()).isEqualTo(413);
    assertThat(known.code()).isEqualTo("BODY_TOO_LARGE");
    // Far more than all bodies together may hold, by people whom nobody knows.
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < 40; i++) {
        Socket socket = new Socket("127.0.0.1", URI.create(url).getPort());
        sockets.add(socket);
        socket
            .getOutputStream()
            .write(
                ("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "Content-Length: 2000001\r\n\r\n"
                        + "y".repeat(2_000_000))
                    .getBytes(StandardCharsets.ISO_8859_1));
      }
      assertThat(ask(Role.SUBMITTER, "POST", "/v1/jobs", JOB).status()).isEqualTo(201);
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'; drop table jobs; --",
        "<script>alert(1)</script>",
        "$(touch /tmp/owned)",
        "`id`",
        "a\\u0000b",
        "../../etc/passwd",
        "%0d%0aSet-Cookie: a=b"
      })
  void textsOfUsersAreTextsAndNothingElse(String text) throws Exception {
    String job = JOB.replace("{\"acc", "{\"name\":\"" + text + "\",\"acc");
    Answer answer = ask(Role.SUBMITTER, "POST", "/v1/jobs", job);
    assertThat(answer.status()).isIn(201, 422);
    if (answer.status() == 201) {
      String id = answer.body().path("id").asString();
      Answer again = ask(Role.AUDITOR, "GET", "/v1/jobs/" + id, null);
      assertThat(again.body().path("name").asString()).isEqualTo(text);
      assertThat(again.whole().headers().firstValue("Content-Type").orElse(""))
          .startsWith("application/json");
      ask(Role.SUBMITTER, "POST", "/v1/jobs/" + id + "/cancel", null);
    }
    String query = java.net.URLEncoder.encode(text, StandardCharsets.UTF_8);
    assertThat(ask(Role.AUDITOR, "GET", "/v1/audit?user=" + query, null).status()).isIn(200, 422);
    assertThat(ask(Role.AUDITOR, "GET", "/v1/jobs?account=" + query, null).status()).isIn(200, 422);
    assertThat(
            ask(
                    Role.ADMIN,
                    "POST",
                    "/v1/tokens",
                    "{\"name\":\"" + text + "\",\"roles\":[\"admin\"]}")
                .status())
        .isEqualTo(422);
    assertThat(sql.sql("select count(*) from jobs").query(Integer.class).single()).isPositive();
  }

  @Test
  void answersCarryTheHeadersThatKeepBrowsersSafe() throws Exception {
    for (Answer answer :
        List.of(
            send(null, "GET", "/v1/queue", null),
            ask(Role.AUDITOR, "GET", "/v1/queue", null),
            send(null, "GET", "/v3/api-docs", null))) {
      var headers = answer.whole().headers();
      assertThat(headers.firstValue("X-Content-Type-Options")).contains("nosniff");
      assertThat(headers.firstValue("X-Frame-Options")).contains("DENY");
      assertThat(headers.firstValue("Referrer-Policy")).contains("no-referrer");
      assertThat(headers.firstValue("Content-Security-Policy").orElse(""))
          .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'");
      assertThat(headers.firstValue("Set-Cookie")).isEmpty();
      assertThat(headers.firstValue("Access-Control-Allow-Origin")).isEmpty();
    }
    // A cookie or a page of another site gets nowhere: only the header counts.
    assertThat(
            send(null, "POST", "/v1/cycle", null, "Cookie", "token=" + tokens.get(Role.ADMIN))
                .status())
        .isEqualTo(401);
    assertThat(send(null, "GET", "/v1/queue?access_token=" + tokens.get(Role.ADMIN), null).status())
        .isEqualTo(401);
  }

  private String jwt(RSAKey by, Map<String, Object> claims, Instant until) throws JOSEException {
    JWTClaimsSet.Builder set = new JWTClaimsSet.Builder().expirationTime(Date.from(until));
    claims.forEach(set::claim);
    SignedJWT signed =
        new SignedJWT(new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("site").build(), set.build());
    signed.sign(new RSASSASigner(by));
    return "Bearer " + signed.serialize();
  }

  @Test
  void theSitesOwnLoginLetsItsPeopleIn() throws Exception {
    Map<String, Object> park =
        Map.of(
            "sub", "4711",
            "preferred_username", "park",
            "evenhand_roles", List.of("submitter", "wizard"),
            "evenhand_accounts", "KDG BCG");
    Instant soon = Instant.now().plusSeconds(600);
    Answer me = send(jwt(key, park, soon), "GET", "/v1/me", null);
    assertThat(me.status()).as(me.whole().body()).isEqualTo(200);
    assertThat(me.body().path("user").asString()).isEqualTo("park");
    assertThat(me.body().path("roles").toString()).isEqualTo("[\"submitter\"]");
    Answer job = send(jwt(key, park, soon), "POST", "/v1/jobs", JOB);
    assertThat(job.body().path("user").asString()).isEqualTo("park");
    assertThat(send(jwt(key, park, soon), "POST", "/v1/cycle", null).status()).isEqualTo(403);
    Answer old = send(jwt(key, park, Instant.now().minusSeconds(600)), "GET", "/v1/me", null);
    assertThat(old.status()).isEqualTo(401);
    RSAKey forged = new RSAKeyGenerator(2048).keyID("site").generate();
    assertThat(send(jwt(forged, park, soon), "GET", "/v1/me", null).status()).isEqualTo(401);
  }
}
