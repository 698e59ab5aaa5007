package evenhand.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import evenhand.cycle.NewJob;
import evenhand.policy.RuleFailed;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ApiTest {
  private static final ApiServer SERVER = ApiServer.one();
  private static final JsonMapper JSON = new JsonMapper();
  private static final String GOOD =
      "{\"name\":\"train 학습\",\"account\":\"BCG\",\"num_gpus\":2,\"nodes\":1,\"tier\":null,"
          + "\"minimum_tier\":\"3080ti\",\"min_runtime_s\":3600,\"resumable\":true,\"priority\":0,"
          + "\"time_limit_s\":86400,\"script\":\"#!/bin/bash\\necho hi\\n\",\"args\":[\"a b\"],"
          + "\"env\":{\"A_1\":\"x,y\"},\"workdir\":\"/home/kim\"}";

  @BeforeEach
  void clear() {
    SERVER.desk().clear();
  }

  private static JsonNode problem(HttpResponse<String> answer, int status, String code) {
    assertEquals(status, answer.statusCode(), answer.body());
    assertEquals(
        "application/problem+json", answer.headers().firstValue("Content-Type").orElse(""));
    JsonNode problem = JSON.readTree(answer.body());
    assertEquals(code, problem.get("code").asString(), answer.body());
    assertEquals("urn:evenhand:problem:" + code, problem.get("type").asString());
    assertEquals(status, problem.get("status").asInt());
    assertFalse(problem.get("title").asString().isBlank());
    assertFalse(problem.get("detail").asString().isBlank());
    for (String inside : new String[] {"Exception", "java.", "evenhand.api", "\tat ", "secret"}) {
      assertFalse(answer.body().contains(inside), answer.body());
    }
    return problem;
  }

  @Test
  void aSubmissionIsCreatedAndHasAPlace() throws Exception {
    HttpResponse<String> answer = SERVER.post("/v1/jobs", GOOD);
    assertEquals(201, answer.statusCode(), answer.body());
    assertEquals("/v1/jobs/1", answer.headers().firstValue("Location").orElse(""));
    JsonNode job = JSON.readTree(answer.body());
    assertEquals("GLOBAL_QUEUE_WAIT", job.get("state").asString());
    assertEquals("train 학습", job.get("name").asString());
    assertEquals(3600, job.get("min_runtime_s").asInt());
    assertEquals("2026-04-10T09:00:00Z", job.get("queued_at").asString());
    assertEquals(1, job.get("reservation").get("gpus").asInt());
    NewJob received = SERVER.desk().last();
    assertEquals("x,y", received.environment().get("A_1"));
    assertEquals("a b", received.arguments().get(0));
    assertEquals("3080ti", received.minimumTier());
    assertEquals("anonymous", received.user());
    assertEquals("/home/kim", received.workdir());
    assertEquals(answer.body(), SERVER.get("/v1/jobs/1").body());
  }

  @Test
  void whatIsLeftOutTakesItsDefault() throws Exception {
    String least = "{\"account\":\"연구실\",\"num_gpus\":2.0,\"script\":\"#!/bin/sh\"}";
    assertEquals(201, SERVER.post("/v1/jobs", least).statusCode());
    NewJob job = SERVER.desk().last();
    assertEquals(1, job.nodes());
    assertEquals(2, job.numGpus());
    assertEquals("job", job.name());
    assertEquals(null, job.timeLimitSeconds());
    assertFalse(job.resumable());
    assertTrue(job.preemptible());
    String refusing = least.replace("}", ",\"preemptible\":false}");
    assertEquals(201, SERVER.post("/v1/jobs", refusing).statusCode());
    assertFalse(SERVER.desk().last().preemptible());
  }

  @Test
  void aKeyMakesTryingAgainSafe() throws Exception {
    HttpResponse<String> first = SERVER.post("/v1/jobs", GOOD, "Idempotency-Key", "k 1");
    HttpResponse<String> again = SERVER.post("/v1/jobs", GOOD, "Idempotency-Key", "k 1");
    assertEquals(201, first.statusCode());
    assertEquals(200, again.statusCode());
    assertEquals(first.body(), again.body());
    assertEquals(1, SERVER.desk().count());
    String other = GOOD.replace("\"num_gpus\":2", "\"num_gpus\":1");
    problem(SERVER.post("/v1/jobs", other, "Idempotency-Key", "k 1"), 409, "IDEMPOTENCY_CONFLICT");
  }

  @Test
  void aKeyMustBeOneShortText() throws Exception {
    for (String key : new String[] {"x".repeat(201), "", "  ", "a\tb"}) {
      JsonNode p =
          problem(SERVER.post("/v1/jobs", GOOD, "Idempotency-Key", key), 422, "INVALID_REQUEST");
      assertEquals("Idempotency-Key", p.get("errors").get(0).get("path").asString());
    }
    problem(
        SERVER.post("/v1/jobs", GOOD, "Idempotency-Key", "a", "Idempotency-Key", "b"),
        422,
        "INVALID_REQUEST");
    assertEquals(
        201, SERVER.post("/v1/jobs", GOOD, "Idempotency-Key", "x".repeat(200)).statusCode());
  }

  static Stream<Arguments> nonsense() {
    return Stream.of(
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":0", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":-1", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":1e9", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":1e999999999", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":2.5", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":\"2\"", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":null", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":true", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":[2]", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":NaN", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":-Infinity", "num_gpus"),
        Arguments.of("\"num_gpus\":2,", "", "num_gpus"),
        Arguments.of("\"num_gpus\":2", "\"num_gpu\":2,\"num_gpus\":2", "num_gpu"),
        Arguments.of("\"num_gpus\":2", "\"num_gpus\":2,\"num_gpus\":4", "num_gpus"),
        Arguments.of("\"nodes\":1", "\"nodes\":0", "nodes"),
        Arguments.of("\"nodes\":1", "\"nodes\":10000000", "nodes"),
        Arguments.of("train 학습", "", "name"),
        Arguments.of("train 학습", "a\\nb", "name"),
        Arguments.of("train 학습", "x".repeat(201), "name"),
        Arguments.of("\"BCG\"", "\"\"", "account"),
        Arguments.of("\"BCG\"", "\"a b\"", "account"),
        Arguments.of("\"BCG\"", "\"a;b\"", "account"),
        Arguments.of("\"BCG\"", "\"../x\"", "account"),
        Arguments.of("\"BCG\"", "\"" + "x".repeat(101) + "\"", "account"),
        Arguments.of("\"BCG\"", "7", "account"),
        Arguments.of("\"BCG\"", "\"BCG\",\"user\":\"a\\u0000\"", "user"),
        Arguments.of("#!/bin/bash", "echo", "script"),
        Arguments.of("\"#!/bin/bash\\necho hi\\n\"", "\"\"", "script"),
        Arguments.of("echo hi", "\\u0000", "script"),
        Arguments.of("echo hi", "\\ud800", "script"),
        Arguments.of("echo hi", "x".repeat(1 << 20), "script"),
        Arguments.of("[\"a b\"]", "\"a b\"", "args"),
        Arguments.of("[\"a b\"]", "[1]", "args[0]"),
        Arguments.of("[\"a b\"]", "[\"a\\u0000\"]", "args[0]"),
        Arguments.of("[\"a b\"]", "[" + "\"\",".repeat(1000) + "\"\"]", "args"),
        Arguments.of("\"A_1\"", "\"1A\"", "env.1A"),
        Arguments.of("\"A_1\"", "\"A=B\"", "env.A=B"),
        Arguments.of("\"A_1\"", "\"SLURM_JOB_ID\"", "env.SLURM_JOB_ID"),
        Arguments.of("\"A_1\"", "\"EVENHAND_X\"", "env.EVENHAND_X"),
        Arguments.of("\"x,y\"", "5", "env.A_1"),
        Arguments.of("\"x,y\"", "\"\\u0000\"", "env.A_1"),
        Arguments.of("{\"A_1\":\"x,y\"}", "[]", "env"),
        Arguments.of("\"/home/kim\"", "\"home\"", "workdir"),
        Arguments.of("\"/home/kim\"", "\"/home\\nkim\"", "workdir"),
        Arguments.of("86400", "0", "time_limit_s"),
        Arguments.of("86400", "31622401", "time_limit_s"),
        Arguments.of("86400", "\"1h\"", "time_limit_s"),
        Arguments.of("3600", "-1", "min_runtime_s"),
        Arguments.of("\"priority\":0", "\"priority\":1000001", "priority"),
        Arguments.of("\"resumable\":true", "\"resumable\":1", "resumable"),
        Arguments.of("\"3080ti\"", "{}", "minimum_tier"));
  }

  @ParameterizedTest
  @MethodSource
  void nonsense(String part, String instead, String path) throws Exception {
    assertTrue(GOOD.contains(part), part);
    HttpResponse<String> answer = SERVER.post("/v1/jobs", GOOD.replace(part, instead));
    JsonNode p = problem(answer, 422, "INVALID_REQUEST");
    assertEquals(path, p.get("errors").get(0).get("path").asString(), answer.body());
    assertEquals(0, SERVER.desk().count());
  }

  @Test
  void anUnknownFieldIsNamedWithTheNearestKnownOne() throws Exception {
    JsonNode p =
        problem(
            SERVER.post("/v1/jobs", GOOD.replace("\"num_gpus\"", "\"num_gpu\"")),
            422,
            "INVALID_REQUEST");
    assertEquals(2, p.get("errors").size());
    assertEquals(
        "is no field of a submission; did you mean num_gpus?",
        p.get("errors").get(0).get("message").asString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "{\"a\":1} x",
        "{'a':1}",
        "{\"a\":1,}",
        "nul",
        "{\"a\":01}",
        "{} {}",
        "\u0000"
      })
  void whatIsNoJsonIsMalformed(String body) throws Exception {
    problem(SERVER.post("/v1/jobs", body), 400, "MALFORMED_REQUEST");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "null", "\"x\"", "1", "{}", "[[[[]]]]"})
  void jsonOfAnotherKindIsInvalid(String body) throws Exception {
    problem(SERVER.post("/v1/jobs", body), 422, "INVALID_REQUEST");
  }

  @Test
  void nestingWithoutEndIsMalformed() throws Exception {
    problem(SERVER.post("/v1/jobs", "[".repeat(500_000)), 400, "MALFORMED_REQUEST");
  }

  @Test
  void textThatIsNotUtf8IsMalformed() throws Exception {
    byte[] latin = GOOD.replace("학습", "é").getBytes(StandardCharsets.ISO_8859_1);
    problem(
        SERVER.send(
            "POST",
            "/v1/jobs",
            HttpRequest.BodyPublishers.ofByteArray(latin),
            "Content-Type",
            "application/json"),
        400,
        "MALFORMED_REQUEST");
  }

  @Test
  void aBodyTooLongIsRefusedWithAndWithoutALength() throws Exception {
    String big = GOOD.replace("echo hi", "x".repeat(2 << 20));
    problem(SERVER.post("/v1/jobs", big), 413, "BODY_TOO_LARGE");
    problem(
        SERVER.send(
            "POST",
            "/v1/jobs",
            HttpRequest.BodyPublishers.ofInputStream(
                () -> new java.io.ByteArrayInputStream(big.getBytes(StandardCharsets.UTF_8))),
            "Content-Type",
            "application/json"),
        413,
        "BODY_TOO_LARGE");
  }

  @Test
  void rulesRefuseWithTheirCodeClauseAndField() throws Exception {
    JsonNode p =
        problem(
            SERVER.post("/v1/jobs", GOOD.replace("\"num_gpus\":2", "\"num_gpus\":4")),
            422,
            "NO_FIT_PLACEMENT");
    assertEquals("N2", p.get("rule").asString());
    assertEquals("num_gpus", p.get("errors").get(0).get("path").asString());
    problem(SERVER.post("/v1/jobs", GOOD.replace("3600", "30000")), 422, "MIN_RUNTIME_TOO_LONG");
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/plain", "application/x-www-form-urlencoded", "application/xml", ""})
  void onlyJsonIsRead(String type) throws Exception {
    HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString(GOOD);
    problem(
        type.isEmpty()
            ? SERVER.send("POST", "/v1/jobs", body)
            : SERVER.send("POST", "/v1/jobs", body, "Content-Type", type),
        415,
        "UNSUPPORTED_MEDIA_TYPE");
    problem(
        SERVER.send(
            "POST", "/v1/jobs", body, "Content-Type", "application/json; charset=iso-8859-1"),
        415,
        "UNSUPPORTED_MEDIA_TYPE");
  }

  @ParameterizedTest
  @ValueSource(strings = {"application/json; charset=bogus", "bogus//x", "application/json;"})
  void aContentTypeThatIsNoneDoesNoHarm(String type) throws Exception {
    SERVER.post("/v1/jobs", GOOD);
    for (String path : new String[] {"/v1/jobs", "/v1/jobs/1/cancel"}) {
      HttpResponse<String> answer =
          SERVER.send(
              "POST", path, HttpRequest.BodyPublishers.ofString("{}"), "Content-Type", type);
      assertTrue(answer.statusCode() == 415 || type.endsWith(";"), answer.body());
      assertTrue(answer.statusCode() < 500, answer.body());
    }
    HttpResponse<String> odd = SERVER.get("/v1/jobs", "Accept", "bogus");
    problem(odd, 406, "NOT_ACCEPTABLE");
  }

  /** Whatever is cut out of a good body, put in or doubled: an answer, and never a failure. */
  @Test
  void noBodyMakesTheServiceFail() throws Exception {
    java.util.Random random = new java.util.Random(20260410);
    String[] bits = {
      "{",
      "}",
      "[",
      "]",
      "\"",
      ",",
      ":",
      "null",
      "-1",
      "1e400",
      "NaN",
      "\\u0000",
      "\\ud800",
      "\u202e",
      "#!",
      "9".repeat(300),
      "true",
      "\\",
      "\n",
      "//",
      "0x1",
      "'",
      "{\"a\":{}}"
    };
    for (int i = 0; i < 400; i++) {
      StringBuilder body = new StringBuilder(GOOD);
      for (int change = random.nextInt(3); change >= 0; change--) {
        int at = random.nextInt(body.length());
        int to = Math.min(body.length(), at + random.nextInt(12));
        body.replace(at, random.nextBoolean() ? at : to, bits[random.nextInt(bits.length)]);
      }
      HttpResponse<String> answer = SERVER.post("/v1/jobs", body.toString());
      assertTrue(
          java.util.Set.of(201, 400, 422).contains(answer.statusCode()),
          answer.statusCode() + " " + answer.body() + " for " + body);
    }
  }

  @ParameterizedTest
  @CsvSource({"PUT, /v1/jobs", "DELETE, /v1/jobs/1", "PATCH, /v1/queue", "GET, /v1/jobs/1/cancel"})
  void otherMethodsAreNotAllowed(String method, String path) throws Exception {
    HttpResponse<String> answer = SERVER.send(method, path, HttpRequest.BodyPublishers.noBody());
    problem(answer, 405, "METHOD_NOT_ALLOWED");
    assertTrue(answer.headers().firstValue("Allow").isPresent());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1",
        "/v1/job",
        "/v1/jobs/99",
        "/v1/jobs/x%20y",
        "/v1/jobs/99/why",
        "/v2/jobs",
        "/v1/decisions/d-9",
        "/v1/jobs/1/when",
        "/v1/jobs/%F0%9F%A6%91"
      })
  void whatIsNotThereIsNotFound(String path) throws Exception {
    problem(SERVER.get(path), 404, "NOT_FOUND");
  }

  @Test
  void answersOnlyInJson() throws Exception {
    problem(SERVER.get("/v1/jobs", "Accept", "text/html"), 406, "NOT_ACCEPTABLE");
    problem(SERVER.get("/v1/jobs/77", "Accept", "application/json"), 404, "NOT_FOUND");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=x",
        "limit=",
        "limit=1&limit=2",
        "limit=1e2",
        "acount=BCG",
        "state=RUNING",
        "%zz=1",
        "limit=99999999999"
      })
  void parametersOfListsAreChecked(String query) throws Exception {
    java.net.URI.create("http://x/");
    String answer = raw("GET /v1/jobs?" + query + " HTTP/1.1");
    assertTrue(answer.startsWith("HTTP/1.1 422"), answer);
    assertTrue(answer.contains("\"code\":\"INVALID_REQUEST\""), answer);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/placements?cursor=x", "/v1/accounts?cursor=aXg", "/v1/jobs/1?x=1"})
  void aCursorMustHaveBeenGivenOut(String path) throws Exception {
    problem(SERVER.get(path), 422, "INVALID_REQUEST");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ledger?account=%00",
        "ledger?node=n%00",
        "ledger?tier=%00",
        "ledger?job=01",
        "ledger?from=%2B1000000000-12-31T23:59:59Z",
        "ledger?to=-0001-12-31T23:59:59Z",
        "decisions?account=%00",
        "decisions?clause=%00",
        "decisions?since=%2B10000-01-01T00:00:00Z",
        "jobs?account=%00",
        "jobs/1/why?at=%2B10000-01-01T00:00:00Z",
        "events?account=%00"
      })
  void whatTheDatabaseCannotBeAskedForIsRefused(String query) throws Exception {
    problem(SERVER.get("/v1/" + query), 422, "INVALID_REQUEST");
  }

  /** One request by hand, for what no client would send. */
  private static String raw(String head) throws Exception {
    try (Socket socket = new Socket("127.0.0.1", SERVER.port())) {
      socket.setSoTimeout(10_000);
      socket
          .getOutputStream()
          .write(
              (head + "\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                  .getBytes(StandardCharsets.ISO_8859_1));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /v1/jobs/a%2Fb HTTP/1.1", "GET /v1/jobs/%00 HTTP/1.1", "GET /v1/jobs/../../x HTTP/1.1",
        "GET /v1/jobs/<script> HTTP/1.1", "BREW /v1/jobs HTTP/1.1", "GET /v1/jobs/%zz HTTP/1.1"
      })
  void oddRequestsGetNoInsides(String head) throws Exception {
    String answer = raw(head);
    assertTrue(answer.startsWith("HTTP/1.1 40"), answer);
    assertFalse(answer.contains("Exception"), answer);
    assertFalse(answer.contains("Tomcat"), answer);
    assertFalse(answer.contains("<script>"), answer);
  }

  @Test
  void listsComeInParts() throws Exception {
    for (int i = 0; i < 3; i++) {
      SERVER.post("/v1/jobs", GOOD);
    }
    JsonNode first = JSON.readTree(SERVER.get("/v1/jobs?limit=2").body());
    assertEquals(2, first.get("items").size());
    assertEquals("3", first.get("items").get(0).get("id").asString());
    String next = first.get("next_cursor").asString();
    JsonNode last = JSON.readTree(SERVER.get("/v1/jobs?limit=2&cursor=" + next).body());
    assertEquals(1, last.get("items").size());
    assertTrue(last.get("next_cursor").isNull());
    JsonNode placements = JSON.readTree(SERVER.get("/v1/placements?limit=1").body());
    assertEquals("n1", placements.get("items").get(0).get("node").asString());
    placements =
        JSON.readTree(
            SERVER
                .get("/v1/placements?limit=1&cursor=" + placements.get("next_cursor").asString())
                .body());
    assertEquals("draining", placements.get("items").get(0).get("state").asString());
    assertTrue(placements.get("next_cursor").isNull());
    assertEquals(0, JSON.readTree(SERVER.get("/v1/jobs?account=KDG").body()).get("items").size());
    assertEquals(
        3,
        JSON.readTree(SERVER.get("/v1/jobs?state=GLOBAL_QUEUE_WAIT&account=BCG").body())
            .get("items")
            .size());
  }

  @Test
  void everyOtherRouteAnswers() throws Exception {
    SERVER.post("/v1/jobs", GOOD);
    JsonNode line = JSON.readTree(SERVER.get("/v1/queue").body()).get("items").get(0);
    assertEquals(1, line.get("position").asInt());
    assertEquals(24000.0, line.get("figures").get("account_usage").asDouble());
    JsonNode accounts = JSON.readTree(SERVER.get("/v1/accounts").body()).get("items");
    assertEquals("연구실", accounts.get(1).get("id").asString());
    assertEquals(1, accounts.get(1).get("depth").asInt());
    JsonNode why = JSON.readTree(SERVER.get("/v1/jobs/1/why").body());
    assertEquals("NO_IDLE", why.get("code").asString());
    assertEquals(1, why.get("ahead_count").asInt());
    JsonNode policy = JSON.readTree(SERVER.get("/v1/policy").body());
    assertEquals("D4", policy.get("clauses").get(0).get("clause").asString());
    JsonNode decisions = JSON.readTree(SERVER.get("/v1/decisions?job=1").body()).get("items");
    assertEquals("d-1", decisions.get(0).get("id").asString());
    String decision = SERVER.get("/v1/decisions/d-1").body();
    assertTrue(decision.contains("\"decision\":" + FakeDesk.DECISION), decision);
    HttpResponse<String> cycle = SERVER.post("/v1/cycle", "");
    assertEquals("DECIDED", JSON.readTree(cycle.body()).get("result").asString());
  }

  @Test
  void aJobIsCancelledWithOrWithoutABody() throws Exception {
    SERVER.post("/v1/jobs", GOOD);
    HttpResponse<String> answer =
        SERVER.send("POST", "/v1/jobs/1/cancel", HttpRequest.BodyPublishers.noBody());
    assertEquals(200, answer.statusCode(), answer.body());
    assertEquals("CANCELLED", JSON.readTree(answer.body()).get("state").asString());
    assertEquals(200, SERVER.post("/v1/jobs/1/cancel", "{\"user\":\"kim\"}").statusCode());
    problem(SERVER.post("/v1/jobs/1/cancel", "{\"usr\":\"kim\"}"), 422, "INVALID_REQUEST");
    problem(SERVER.post("/v1/jobs/2/cancel", "{}"), 404, "NOT_FOUND");
    problem(
        SERVER.send(
            "POST",
            "/v1/jobs/1/cancel",
            HttpRequest.BodyPublishers.ofString("x"),
            "Content-Type",
            "text/plain"),
        415,
        "UNSUPPORTED_MEDIA_TYPE");
  }

  @Test
  void aDatabaseThatIsAwayIsSaidAndMayBeTriedAgain() throws Exception {
    SERVER.desk().fail(FakeDesk::databaseAway);
    for (String path : new String[] {"/v1/jobs", "/v1/queue", "/v1/placements"}) {
      HttpResponse<String> answer = SERVER.get(path);
      problem(answer, 503, "DATABASE_AWAY");
      assertEquals("5", answer.headers().firstValue("Retry-After").orElse(""));
    }
    SERVER
        .desk()
        .fail(
            () ->
                new IllegalStateException(
                    new org.springframework.transaction.TransactionSystemException("secret")));
    problem(SERVER.post("/v1/jobs", GOOD), 503, "DATABASE_AWAY");
  }

  @Test
  void aRuleThatFailsIsNamedAndTheSubmissionMayBeTriedAgain() throws Exception {
    SERVER.desk().fail(() -> new RuleFailed("fit/F1.drl:9: rule \"F1\" failed for a submission"));
    HttpResponse<String> answer = SERVER.post("/v1/jobs", GOOD);
    JsonNode p = problem(answer, 503, "RULE_FAILED");
    assertEquals("5", answer.headers().firstValue("Retry-After").orElse(""));
    assertTrue(p.get("detail").asString().startsWith("fit/F1.drl:9: rule \"F1\" failed"));
  }

  @Test
  void aFaultOfOursShowsNothingButItsIncident() throws Exception {
    SERVER.desk().fail(() -> new IllegalStateException("secret"));
    HttpResponse<String> answer = SERVER.get("/v1/jobs/1");
    JsonNode p = problem(answer, 500, "INTERNAL_ERROR");
    assertEquals(36, p.get("incident").asString().length());
  }

  @Test
  void theDescriptionNamesEveryRouteAndField() throws Exception {
    JsonNode api = JSON.readTree(SERVER.get("/v3/api-docs").body());
    for (String path :
        new String[] {
          "/v1/jobs",
          "/v1/jobs/{id}",
          "/v1/jobs/{id}/cancel",
          "/v1/jobs/{id}/why",
          "/v1/queue",
          "/v1/placements",
          "/v1/accounts",
          "/v1/accounts/{id}/history",
          "/v1/accounts/{id}/weights",
          "/v1/accounts/apply",
          "/v1/policy",
          "/v1/decisions",
          "/v1/decisions/{id}",
          "/v1/cycle",
          "/v1/now",
          "/v1/events",
          "/v1/jobs/{id}/output",
          "/v1/decisions/{id}/snapshot"
        }) {
      assertTrue(api.get("paths").has(path), path);
    }
    assertFalse(api.get("paths").has("/error"));
    JsonNode submission = api.get("components").get("schemas").get("Submission");
    assertEquals(16, submission.get("properties").size());
    assertEquals("integer", submission.get("properties").get("num_gpus").get("type").asString());
    assertEquals(
        "object",
        api.get("components")
            .get("schemas")
            .get("RecordedDecision")
            .get("properties")
            .get("decision")
            .get("type")
            .asString());
    for (JsonNode path : api.get("paths")) {
      for (JsonNode operation : path) {
        operation.path("parameters").forEach(p -> assertTrue(p.has("schema"), p.toString()));
      }
    }
    JsonNode job = api.get("components").get("schemas").get("Job");
    assertTrue(job.get("properties").has("min_runtime_s"), job.toString());
    assertTrue(job.get("properties").has("charged_tflop_s"), job.toString());
  }
}
