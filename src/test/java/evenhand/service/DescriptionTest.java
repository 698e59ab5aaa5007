package evenhand.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import evenhand.access.Role;
import evenhand.access.Tokens;
import evenhand.store.Database;
import evenhand.store.PostgresAccess;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The API's description is enough to use it: a client that knows nothing else sends every request
 * that it describes, as its examples say, and finds every answer as it is described.
 */
class DescriptionTest {
  private static final JsonMapper JSON = new JsonMapper();

  /** In this order each finds what it asks for. */
  private static final List<String> FIRST =
      List.of(
          "POST /v1/cycle",
          "POST /v1/accounts/plan",
          "POST /v1/accounts/apply",
          "POST /v1/jobs",
          "POST /v1/tokens",
          "GET ",
          "PUT ",
          "POST /v1/nodes/{node}/drain");

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<String> wrong = new ArrayList<>();
  private String url;
  private String token;
  private JsonNode described;

  private record Call(String method, String path, JsonNode operation) {
    String name() {
      return method + " " + path;
    }

    int turn() {
      for (int i = 0; i < FIRST.size(); i++) {
        if (name().startsWith(FIRST.get(i))) {
          return i;
        }
      }
      return FIRST.size();
    }
  }

  /** What needs more than an example can say: a plan, a policy before, a decision to tell of. */
  private static final Set<String> MAY_REFUSE =
      Set.of(
          "POST /v1/policy/apply",
          "POST /v1/policy/rollback",
          "GET /v1/policy/plans/{id}",
          "GET /v1/jobs/{id}/scenario",
          "GET /v1/decisions/{id}/scenario");

  @Test
  void everyOperationCanBeUsedAsItIsDescribed() throws Exception {
    PGSimpleDataSource source = Database.ofAService();
    try (ConfigurableApplicationContext context =
        Service.start(
            OneNode.settings(
                    4,
                    source,
                    "--server.port=0",
                    "--evenhand.security=on",
                    "--evenhand.check-scenarios=false",
                    "--evenhand.policy=budget",
                    "--evenhand.cycle.enabled=false",
                    "--evenhand.accounts[0].id=lab",
                    "--evenhand.accounts[1].id=KDG",
                    "--evenhand.accounts[1].parent=lab",
                    "--evenhand.accounts[2].id=BCG",
                    "--evenhand.accounts[2].parent=lab")
                .toArray(String[]::new))) {
      url = "http://127.0.0.1:" + ((WebServerApplicationContext) context).getWebServer().getPort();
      token =
          new Tokens(new PostgresAccess(source), Clock.systemUTC())
              .create(
                  "all",
                  "all",
                  EnumSet.of(Role.ADMIN),
                  List.of("KDG"),
                  Instant.now().plusSeconds(3600),
                  "test")
              .orElseThrow()
              .text();
      described = JSON.readTree(send("GET", "/v3/api-docs", null).body());
      List<Call> calls = new ArrayList<>();
      described
          .path("paths")
          .properties()
          .forEach(
              path ->
                  path.getValue()
                      .properties()
                      .forEach(
                          operation ->
                              calls.add(
                                  new Call(
                                      operation.getKey().toUpperCase(java.util.Locale.ROOT),
                                      path.getKey(),
                                      operation.getValue()))));
      calls.sort(Comparator.comparingInt(Call::turn).thenComparing(Call::name));
      assertThat(calls).hasSizeGreaterThan(28);
      assertThat(calls.stream().map(c -> c.operation().path("operationId").asString()))
          .as("names that a generated client takes over, none numbered")
          .doesNotHaveDuplicates()
          .noneMatch(id -> id.matches(".*_[0-9]+"));
      for (Call call : calls) {
        use(call);
        if (call.name().equals("POST /v1/jobs")) {
          // The job runs, so that it can report a checkpoint, and there is a decision to look at.
          context.getBean(CycleTimer.class).run();
          context.getBean(CycleTimer.class).run();
        }
      }
      assertThat(wrong).isEmpty();
    }
  }

  private void use(Call call) throws Exception {
    String path = call.path();
    for (JsonNode parameter : call.operation().path("parameters")) {
      if (parameter.path("in").asString("").equals("path")) {
        JsonNode example = parameter.path("example");
        if (example.isMissingNode()) {
          wrong.add(call.name() + " has no example of " + parameter.path("name").asString());
          return;
        }
        path = path.replace("{" + parameter.path("name").asString() + "}", example.asString());
      }
      if (parameter.path("description").asString("").isBlank()
          && !parameter.path("in").asString("").equals("path")) {
        wrong.add(call.name() + " does not say what " + parameter.path("name") + " means");
      }
    }
    if (call.operation().path("summary").asString("").isBlank()) {
      wrong.add(call.name() + " has no summary");
    }
    JsonNode body = call.operation().path("requestBody").path("content").path("application/json");
    String sent = null;
    if (!body.isMissingNode()) {
      if (body.path("example").isMissingNode()) {
        wrong.add(call.name() + " has no example of its body");
        return;
      }
      sent = body.path("example").toString();
      told(call, "the example", body.path("schema"), body.path("example"));
    }
    answersAreShown(call);
    HttpResponse<String> answer = send(call.method(), path, sent);
    check(call, answer, answer.statusCode() >= 400 && MAY_REFUSE.contains(call.name()));
    if (call.operation().path("parameters").toString().contains("\"limit\"")
        && send("GET", path + "?limit=1", null).statusCode() != 200) {
      wrong.add(call.name() + " is described as a list and takes no limit");
    }
    // And what is refused is refused as described.
    check(call, send(call.method(), path + "?nonsense=1", sent == null ? null : "{\"x\":1}"), true);
  }

  /** Each answer that has a schema has an example, which is as the schema says. */
  private void answersAreShown(Call call) {
    for (JsonNode response : call.operation().path("responses")) {
      for (JsonNode media : response.path("content")) {
        if (media.path("schema").has("$ref")) {
          if (media.path("example").isMissingNode()) {
            wrong.add(call.name() + " has no example of " + media.path("schema"));
          } else {
            told(call, "the example of an answer", media.path("schema"), media.path("example"));
          }
        }
      }
    }
  }

  private void check(Call call, HttpResponse<String> answer, boolean refused) {
    JsonNode responses = call.operation().path("responses");
    JsonNode response = responses.path(Integer.toString(answer.statusCode()));
    if (!refused && response.isMissingNode()) {
      wrong.add(
          call.name() + " answers " + answer.statusCode() + ", not described: " + answer.body());
      return;
    }
    if (refused) {
      response = responses.path("default");
      if (answer.statusCode() < 400) {
        wrong.add(call.name() + " takes a parameter that it does not describe");
      }
    }
    JsonNode schema =
        response
            .path("content")
            .path(refused ? "application/problem+json" : "application/json")
            .path("schema");
    if (schema.isMissingNode()) {
      wrong.add(call.name() + " does not describe its answer " + answer.statusCode());
      return;
    }
    told(call, "the answer " + answer.statusCode(), schema, JSON.readTree(answer.body()));
  }

  private void told(Call call, String what, JsonNode schema, JsonNode value) {
    ObjectNode whole = JSON.createObjectNode();
    schema.properties().forEach(e -> whole.set(e.getKey(), e.getValue()));
    whole.set("components", described.path("components"));
    Schema compiled =
        SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(whole);
    compiled
        .validate(value)
        .forEach(e -> wrong.add(call.name() + ", " + what + ": " + e + " in " + value));
  }

  private HttpResponse<String> send(String method, String path, String json) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .header("Authorization", "Bearer " + token)
            .header("Accept", "application/json, application/problem+json")
            .method(
                method,
                json == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(json));
    if (json != null) {
      request.header("Content-Type", "application/json");
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static Set<String> codes() throws Exception {
    Set<String> codes = new TreeSet<>();
    List<Pattern> made =
        List.of(
            Pattern.compile("Problem\\.of\\(\\s*[^\"()]*?\"([A-Z_]+)\""),
            Pattern.compile("Refused\\(\\s*\"([A-Z_]+)\""),
            Pattern.compile("new Refuse\\(\\s*\"([A-Z_]+)\""));
    try (Stream<Path> files =
        Stream.concat(Files.walk(Path.of("src/main/java")), Files.walk(Path.of("rules")))) {
      for (Path file : files.filter(f -> f.toString().matches(".*\\.(java|drl)")).toList()) {
        for (Pattern pattern : made) {
          Matcher m = pattern.matcher(Files.readString(file));
          while (m.find()) {
            codes.add(m.group(1));
          }
        }
      }
    }
    return codes;
  }

  private static Set<String> waits() throws Exception {
    Set<String> codes = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of("rules"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".drl")).toList()) {
        Matcher m =
            Pattern.compile("new Wait\\(\\s*\\$\\w+,\\s*\"([A-Z_]+)\"")
                .matcher(Files.readString(file));
        while (m.find()) {
          codes.add(m.group(1));
        }
      }
    }
    return codes;
  }

  @Test
  void everyCodeStandsInTheTableAndHasAKoreanSentence() throws Exception {
    String readme = Files.readString(Path.of("README.md"));
    String table = readme.substring(readme.indexOf("| status | `code` |"));
    table = table.substring(0, table.indexOf("\n\n"));
    Set<String> codes = codes();
    assertThat(codes).hasSizeGreaterThan(20);
    for (String code : codes) {
      assertThat(table).as("the table of problems in the README").contains("`" + code + "`");
    }
    String korean = Files.readString(Path.of("src/main/resources/messages/ko.properties"));
    for (String code : codes) {
      assertThat(korean)
          .contains("\nproblem." + code + ".title=", "\nproblem." + code + ".detail=");
    }
    String waits = readme.substring(readme.indexOf("| code | clause | it waits because |"));
    Set<String> told = new TreeSet<>(waits());
    told.addAll(List.of("WAITING_FOR_VICTIMS", "NOT_DECIDED", "RULE_FAILED"));
    for (String code : told) {
      assertThat(waits).as("the table of waits in the README").contains("\n| `" + code + "` |");
      assertThat(korean).contains("\nwait." + code + "=");
    }
  }
}
