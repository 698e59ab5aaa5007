package evenhand.service;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cli.Commands;
import evenhand.cli.Console;
import evenhand.cli.Exit;
import evenhand.cli.Parts;
import evenhand.cycle.Desk;
import evenhand.cycle.SomeJob;
import evenhand.policy.EditedRules;
import evenhand.policy.Policies;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The policy is changed while the whole service runs, by its command line and by REST. */
class PolicyRolloutTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String SPREAD = "[tier_desc, idle_desc, node_asc]";
  private static final String PACK = "[tier_desc, idle_asc, node_asc]";

  @TempDir Path folder;
  private final HttpClient client = HttpClient.newHttpClient();
  private String url;

  private ConfigurableApplicationContext start(EditedRules rules) {
    ConfigurableApplicationContext context =
        Service.start(
            "--server.port=0",
            "--evenhand.data-dir=" + folder.resolve("data"),
            "--evenhand.cycle.interval=200ms",
            "--evenhand.policy=fifo",
            "--evenhand.rules=" + rules.folder(),
            "--evenhand.rules-look=100ms");
    url = "http://127.0.0.1:" + ((WebServerApplicationContext) context).getWebServer().getPort();
    return context;
  }

  private record Said(int status, String out) {}

  private Said evenhand(String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream to = new PrintStream(out, true, StandardCharsets.UTF_8);
    Console console =
        new Console(new ByteArrayInputStream(new byte[0]), to, to, Map.of("EVENHAND_SERVER", url));
    Parts parts = new Parts(Policies::load, settings -> 0, (kind, in, o) -> 0, Map.of());
    int status = new Commands(console, parts).run(arguments);
    return new Said(status, out.toString(StandardCharsets.UTF_8));
  }

  private JsonNode get(String path) throws Exception {
    return JSON.readTree(
        client
            .send(
                HttpRequest.newBuilder(URI.create(url + path)).build(),
                HttpResponse.BodyHandlers.ofString())
            .body());
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create(url + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static void await(String what, Supplier<Boolean> holds) throws InterruptedException {
    for (int i = 0; i < 600 && !holds.get(); i++) {
      Thread.sleep(50);
    }
    assertThat(holds.get()).as(what).isTrue();
  }

  private String hash() {
    try {
      return get("/v1/policy").path("hash").asString();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private String candidate() {
    try {
      return get("/v1/policy").path("candidate").path("hash").asString(null);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static void submit(ConfigurableApplicationContext context, int gpus) {
    context
        .getBean(Desk.class)
        .submit(SomeJob.PLAIN.of("KDG").on(gpus, null).resumable(true).made(), null);
  }

  @Test
  void editedPlannedAppliedAndTakenBackWhileItRuns() throws Exception {
    EditedRules rules = EditedRules.in(folder.resolve("rules"));
    try (ConfigurableApplicationContext context = start(rules)) {
      final String first = hash();
      assertThat(evenhand("policy", "status").out())
          .contains(
              "Policy fifo " + first + " decides", "The rules in the service's folder are those");

      // Broken: told everywhere, and nothing else happens.
      rules.edit(
          "baseline/FF1.drl", "Turn( waitingBefore != null )", "Turn( waitingBefor != null )");
      await("the fault is found", () -> evenhand("policy", "status").status() == Exit.NO);
      assertThat(evenhand("policy", "status").out())
          .contains("baseline/FF1.drl:7: rule \"FF1 Nobody passes a job that waits\"");
      JsonNode fault = get("/v1/policy").path("fault").path(0);
      assertThat(fault.path("file").asString()).isEqualTo("baseline/FF1.drl");
      assertThat(fault.path("line").asInt()).isEqualTo(7);
      JsonNode health = get("/actuator/health");
      assertThat(health.path("status").asString()).isEqualTo("UP");
      JsonNode ofRules = health.path("components").path("rules").path("details");
      assertThat(ofRules.path("rules").asString()).isEqualTo("fault");
      assertThat(ofRules.path("faults").path(0).asString()).contains("baseline/FF1.drl:7");
      assertThat(metric("evenhand.policy.faults")).isEqualTo(1);
      assertThat(evenhand("policy", "plan").status()).isEqualTo(Exit.NO);
      assertThat(evenhand("policy", "plan").out()).contains("nothing was planned", "FF1.drl:7");
      assertThat(hash()).isEqualTo(first);
      rules.edit("baseline/FF1.drl", "waitingBefor ", "waitingBefore ");
      await("it is right again", () -> evenhand("policy", "status").status() == Exit.DONE);

      // Changed: planned, applied, in the next decision.
      rules.edit("policies/fifo.yaml", SPREAD, PACK);
      await("the candidate is found", () -> candidate() != null);
      String edited = candidate();
      Said unplanned = evenhand("policy", "apply", edited, "--reason", "now");
      assertThat(unplanned.status()).isEqualTo(Exit.NO);
      assertThat(unplanned.out()).contains("NOT_PLANNED", "policy plan");
      submit(context, 1);
      Said plan = evenhand("policy", "plan", "--days", "1", "--by", "kim");
      assertThat(plan.status()).as(plan.out()).isEqualTo(Exit.DONE);
      assertThat(plan.out())
          .contains(
              "Plan 3: policy fifo " + edited,
              "Clause D1 is changed",
              "+    keys: " + PACK,
              "Decisions of the last day",
              "Guard rails",
              "evenhand policy apply " + edited + " --reason WHY");
      assertThat(evenhand("policy", "plans", "3").out()).isEqualTo(plan.out());
      assertThat(evenhand("policy", "plans").out()).contains(edited, "PASSES");
      Said applied =
          evenhand("policy", "apply", edited, "--by", "kim", "--reason", "whole nodes stay free");
      assertThat(applied.status()).as(applied.out()).isZero();
      await("it decides", () -> hash().equals(edited));
      submit(context, 1);
      await(
          "the next decision is made by it",
          () ->
              context
                  .getBean(Desk.class)
                  .decisions(null, 1, null)
                  .items()
                  .get(0)
                  .policyHash()
                  .equals(edited));
      assertThat(
              get("/actuator/metrics/evenhand.policy.info?tag=hash:" + edited)
                  .path("measurements")
                  .path(0)
                  .path("value")
                  .asInt())
          .isEqualTo(1);

      shadowed(context);

      HttpResponse<String> back =
          post("/v1/policy/rollback", "{\"by\":\"lee\",\"reason\":\"not yet\"}");
      assertThat(back.statusCode()).as(back.body()).isEqualTo(200);
      await("the first decides again", () -> hash().equals(first));
      assertThat(evenhand("policy", "history").out())
          .containsSubsequence(
              "rolled back",
              "lee",
              "not yet",
              "applied",
              "kim",
              "whole nodes stay free",
              "first",
              "settings");
      listed(first, edited);
      refusals();
    }
  }

  private void listed(String first, String edited) throws Exception {
    assertThat(get("/v1/policy/history?kind=applied").path("items"))
        .extracting(e -> e.path("hash").asString())
        .containsExactly(edited);
    JsonNode one = get("/v1/policy/history?policy=fifo&limit=1");
    assertThat(one.path("items").path(0).path("kind").asString()).isEqualTo("rolled_back");
    JsonNode rest =
        get("/v1/policy/history?policy=fifo&cursor=" + one.path("next_cursor").asString());
    assertThat(rest.path("items"))
        .extracting(e -> e.path("kind").asString())
        .containsExactly("applied", "first");
    JsonNode byKim = get("/v1/policy/history?by=kim&limit=1");
    assertThat(byKim.path("items")).hasSize(1);
    assertThat(byKim.path("next_cursor").isNull() || byKim.path("next_cursor").isMissingNode())
        .isTrue();
    assertThat(get("/v1/policy/history?by=nobody").path("items")).isEmpty();
    assertThat(get("/v1/policy/history?kind=aplied").path("errors").path(0).toString())
        .contains("kind", "did you mean applied?");
    assertThat(get("/v1/policy/plans?verdict=PASSES&by=kim").path("items"))
        .extracting(e -> e.path("hash").asString())
        .contains(edited);
    assertThat(get("/v1/policy/plans?policy=budget").path("items")).isEmpty();
    assertThat(get("/v1/policy/shadow/differences?hash=%00").path("errors").path(0).toString())
        .contains("hash", "holds a NUL character");
    assertThat(get("/v1/policy/shadow/differences?hash=" + first).path("items")).isEmpty();
  }

  private int metric(String name) throws Exception {
    return get("/actuator/metrics/" + name).path("measurements").path(0).path("value").asInt();
  }

  private void shadowed(ConfigurableApplicationContext context) throws Exception {
    assertThat(evenhand("policy", "shadow").out()).contains("Nothing decides beside");
    Said set = evenhand("policy", "shadow", "reservation", "--by", "kim");
    assertThat(set.status()).as(set.out()).isZero();
    JsonNode shadow = get("/v1/policy/shadow");
    assertThat(shadow.path("policy").asString()).isEqualTo("reservation");
    JsonNode differs = get("/v1/policy/shadow/differences").path("items").path(0);
    for (int i = 0; i < 600 && differs.isMissingNode(); i++) {
      if (i % 5 == 0) {
        submit(context, 2); // one that is not first waits by another clause there
      }
      Thread.sleep(100);
      differs = get("/v1/policy/shadow/differences").path("items").path(0);
    }
    assertThat(get("/v1/policy/shadow").path("differed").asInt()).isPositive();
    assertThat(differs.path("hash").asString()).isEqualTo(shadow.path("hash").asString());
    assertThat(differs.path("against").asString()).isEqualTo(hash());
    assertThat(differs.path("difference").path("first").path("job").asString()).isNotEmpty();
    assertThat(evenhand("policy", "shadow").out())
        .contains("decides beside the one in force", "instead of", "DECISION");
    assertThat(metric("evenhand.shadow.differences")).isPositive();
    assertThat(evenhand("policy", "shadow", "off").out()).contains("Nothing decides beside");
  }

  private void refusals() throws Exception {
    HttpResponse<String> unknown =
        post("/v1/policy/apply", "{\"hash\":\"sha256:00000000\",\"by\":\"kim\",\"reason\":\"x\"}");
    assertThat(unknown.statusCode()).isEqualTo(404);
    assertThat(unknown.body()).contains("NOT_PLANNED");
    HttpResponse<String> unsaid = post("/v1/policy/apply", "{\"hash\":\"sha256:00000000\"}");
    assertThat(unsaid.statusCode()).isEqualTo(422);
    assertThat(unsaid.body()).contains("\"path\":\"reason\"");
    assertThat(post("/v1/policy/rollback", "{\"by\":\"lee\",\"reason\":\"further\"}").body())
        .contains("NO_PREVIOUS");
    assertThat(get("/v1/policy/plans/999").path("code").asString()).isEqualTo("NOT_FOUND");
    assertThat(get("/v1/policy/plans/x").path("code").asString()).isEqualTo("NOT_FOUND");
    assertThat(post("/v1/policy/plan", "{\"texts\":{\"../x\":\"y\"}}").body()).contains("texts");
    HttpResponse<String> sent =
        post("/v1/policy/plan", "{\"texts\":{\"policies/fifo.yaml\":\"policy: fifo\"}}");
    assertThat(sent.statusCode()).isEqualTo(202);
    String id = JSON.readTree(sent.body()).path("id").asString();
    await(
        "it ends",
        () -> {
          try {
            return get("/v1/policy/plans/" + id).path("state").asString().equals("faulty");
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    assertThat(get("/v1/policy/plans/" + id).path("faults").path(0).path("file").asString())
        .isEqualTo("policies/fifo.yaml");
    assertThat(post("/v1/policy/shadow", "{\"policy\":\"nobody\"}").body())
        .contains("RULES_FAULTY");
    assertThat(get("/v3/api-docs").path("paths").propertyNames())
        .contains("/v1/policy/plan", "/v1/policy/apply", "/v1/policy/history", "/v1/policy/shadow");
  }
}
