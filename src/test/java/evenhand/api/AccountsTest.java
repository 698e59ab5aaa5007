package evenhand.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import evenhand.cli.Commands;
import evenhand.cli.Console;
import evenhand.cli.Parts;
import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Router;
import evenhand.cycle.Store;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.SimulatedCluster;
import evenhand.store.Database;
import evenhand.store.PostgresStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The account tree over real HTTP, PostgreSQL and rules; only clock and cluster are in memory. */
class AccountsTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier TIER = new Tier("h100", 30, 989, 8, true, "h100", "gpu:h100");
  private static final JsonMapper JSON = new JsonMapper();
  private static final String TREE =
      """
      ai2:
        owners: [ada]
        children:
          vision: {weight: 1, owners: [kim], children: {v1: {users: [lee]}, v2: {weight: 3}}}
          language: {weight: 1, users: [park]}
      """;

  @TempDir private Path folder;
  private ConfigurableApplicationContext context;
  private String url;

  record Ran(int status, String out, String err) {}

  @BeforeEach
  void start() {
    SpringApplication application = new SpringApplication(App.class);
    application.setRegisterShutdownHook(false);
    context =
        application.run(
            "--server.port=0",
            "--server.address=127.0.0.1",
            "--spring.main.banner-mode=off",
            "--logging.level.root=warn");
    url = "http://127.0.0.1:" + ((WebServerApplicationContext) context).getWebServer().getPort();
  }

  @AfterEach
  void stop() {
    context.close();
  }

  private Ran run(String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console =
        new Console(
            new ByteArrayInputStream(new byte[0]),
            new java.io.PrintStream(out, false, StandardCharsets.UTF_8),
            new java.io.PrintStream(err, false, StandardCharsets.UTF_8),
            Map.of("EVENHAND_SERVER", url));
    int status = new Commands(console, new Parts(null, null, null, Map.of())).run(arguments);
    return new Ran(
        status,
        out.toString(StandardCharsets.UTF_8).replaceAll("(?<=\\S) +", " "),
        err.toString(StandardCharsets.UTF_8));
  }

  private Ran apply(String tree, String... more) throws Exception {
    Path file = folder.resolve("tree.yaml");
    Files.writeString(file, tree);
    List<String> arguments = new ArrayList<>(List.of("accounts", "apply", file.toString()));
    arguments.addAll(List.of(more));
    return run(arguments.toArray(String[]::new));
  }

  private JsonNode ask(String method, String path, String json, int status) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path));
    request.method(
        method,
        json == null
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofString(json));
    if (json != null) {
      request.header("Content-Type", "application/json");
    }
    HttpResponse<String> answer =
        HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return JSON.readTree(answer.body());
  }

  private JsonNode get(String path) throws Exception {
    return ask("GET", path, null, 200);
  }

  private JsonNode account(String id) throws Exception {
    for (JsonNode a : get("/v1/accounts?retired=true").get("items")) {
      if (a.get("id").asString().equals(id)) {
        return a;
      }
    }
    throw new AssertionError("no account " + id);
  }

  private JsonNode submit(String account, int gpus, long minimum, int priority, String user)
      throws Exception {
    return ask(
        "POST",
        "/v1/jobs",
        "{\"account\":"
            + (account == null ? "null" : "\"" + account + "\"")
            + ",\"num_gpus\":"
            + gpus
            + ",\"min_runtime_s\":"
            + minimum
            + ",\"priority\":"
            + priority
            + ",\"user\":\""
            + user
            + "\",\"resumable\":true,\"script\":\"#!/bin/sh\\n\"}",
        201);
  }

  private void after(Duration time) throws Exception {
    context.getBean(ManualClock.class).advance(time);
    JsonNode report = ask("POST", "/v1/cycle", "", 200);
    assertThat(report.get("result").asString()).as(report.toString()).isEqualTo("DECIDED");
  }

  private JsonNode weights(String of, String weights, String by, int status) throws Exception {
    return ask(
        "PUT",
        "/v1/accounts/" + of + "/weights",
        "{\"weights\":" + weights + ",\"by\":\"" + by + "\",\"reason\":\"a test\"}",
        status);
  }

  @Test
  void aTreeIsPlannedConfirmedAppliedAndRemembered() throws Exception {
    Ran plan = apply(TREE, "--dry-run");
    assertThat(plan.status()).as(plan.err()).isZero();
    assertThat(plan.out())
        .contains(
            "+ ai2: added below the top, weight 1\n",
            "+ v1: added below vision, weight 1\n",
            "~ v1: users none -> lee\n",
            "- BCG: retired (weight 1, kept with its history)\n",
            "v2 0.0 % 37.5 %\n",
            "BCG 100.0 % 0.0 %\n");
    assertThat(get("/v1/accounts").get("items").size()).isEqualTo(1);
    Ran unsaid = apply(TREE);
    assertThat(unsaid.status()).isEqualTo(1);
    assertThat(unsaid.err()).contains("Nothing was applied. Give --yes");
    Ran done = apply(TREE, "--yes", "--by=ada");
    assertThat(done.status()).as(done.err()).isZero();
    assertThat(done.out()).endsWith("Applied; effective from the next cycle on.\n");
    assertThat(apply(TREE, "--yes").out()).startsWith("Nothing to change");
    assertThat(JSON.readTree(apply(TREE, "--dry-run", "-o=json").out()).get("changes").size())
        .isZero();
    // What the settings name stays as the tree has it after a restart.
    context
        .getBean(Store.class)
        .setUp(List.of(TIER), List.of(new AccountSetup("BCG", null, 1)), T0.plusSeconds(60));
    assertThat(account("BCG").get("retired_at").asString()).isEqualTo(T0.toString());
    Ran moved =
        apply(
            TREE.replace("weight: 3", "weight: 1").replace("{users: [lee]}", "{}")
                + "  weight: 2\nBCG: {owners: [eve], users: [lee], weight: 0}\n",
            "--yes");
    assertThat(moved.out())
        .contains(
            "~ v2: weight 3 -> 1\n",
            "~ ai2: weight 1 -> 2\n",
            "+ BCG: back in the tree, weight 0\n",
            "~ v1: users lee -> none\n",
            "~ BCG: users none -> lee\n");
    Ran table = run("accounts");
    assertThat(table.out()).contains("\n  vision 1 50.0 %", "\n    v1 1 25.0 %");
    Ran changes = run("accounts", "history", "v2", "--changes");
    assertThat(changes.out()).contains("~ v2: weight 3 -> 1", "applied from ", "+ v2: added below");
    assertThat(
            get("/v1/accounts?parent=vision&limit=1").path("items").path(0).path("id").asString())
        .isEqualTo("v1");
    assertThat(get("/v1/accounts?user=lee").get("items").size()).isEqualTo(1);
    assertThat(get("/v1/accounts?user=kim").path("items").path(0).path("id").asString())
        .isEqualTo("vision");
    // A plan that people have seen is not applied to another tree.
    JsonNode late =
        ask(
            "POST",
            "/v1/accounts/apply",
            "{\"accounts\":[{\"id\":\"ai2\"}],\"by\":\"ada\",\"reason\":\"r\",\"version\":1}",
            409);
    assertThat(late.get("code").asString()).isEqualTo("CHANGED_MEANWHILE");
  }

  @Test
  void aTreeThatCannotBeIsRefused() throws Exception {
    Ran unknown = apply("ai2: {wieght: 2}\n", "--yes");
    assertThat(unknown.status()).isEqualTo(2);
    assertThat(unknown.err()).contains("tree.yaml", "weight");
    assertThat(apply("a: {weight: .nan}\n", "--yes").status()).isEqualTo(2);
    assertThat(apply("a: {weight: -1}\n", "--yes").status()).isEqualTo(2);
    Ran none = apply("a: {children: {b: {weight: 0}, c: {weight: 0}}}\n", "--yes");
    assertThat(none.err()).contains("all accounts below a have weight 0");
    assertThat(apply("a: {users: [x], children: {b: {}}}\n", "--yes").status()).isEqualTo(2);
    assertThat(apply("a: {users: [x]}\nb: {users: [x]}\n", "--yes").err()).contains("one of a");
    Ran simulated = apply("a: {}\nweight_changes: [{at: 1h, account: a, weight: 2}]\n", "--yes");
    assertThat(simulated.err()).contains("is for simulations");
    assertThat(apply("\"a b\": {}\n", "--yes").status()).isEqualTo(2);
    assertThat(get("/v1/accounts").get("items").size()).isEqualTo(1);
  }

  @Test
  void onlyOwnersSetWeightsAndEveryChangeIsWrittenDown() throws Exception {
    apply(TREE, "--yes", "--by=ada");
    JsonNode no = weights("vision", "{\"v1\":2}", "lee", 403);
    assertThat(no.get("code").asString()).isEqualTo("FORBIDDEN");
    assertThat(no.get("detail").asString()).contains("kim (owner of vision)", "ada (owner of ai2)");
    weights("ai2", "{\"vision\":2}", "kim", 403);
    assertThat(weights("vision", "{\"v3\":2}", "kim", 422).get("detail").asString())
        .contains("v3 is not right below vision; those are v1, v2");
    for (String bad : new String[] {"-1", "NaN", "\"2\"", "1e400", "null", "true"}) {
      assertThat(weights("vision", "{\"v1\":" + bad + "}", "kim", 422).get("detail").asString())
          .contains("weights.v1");
    }
    weights("vision", "{}", "kim", 422);
    weights("vision", "[]", "kim", 422);
    weights("v1", "{\"v2\":1}", "kim", 422);
    assertThat(weights("vision", "{\"v1\":0,\"v2\":0}", "kim", 422).get("detail").asString())
        .contains("all accounts below vision would have weight 0");
    weights("nobody", "{\"v2\":1}", "kim", 404);
    ask("PUT", "/v1/accounts/vision/weights", "{\"weights\":{\"v1\":2},\"by\":\"kim\"}", 422);
    assertThat(get("/v1/accounts/vision/weights").get("weights").get("v1").asDouble()).isEqualTo(1);

    Ran set = run("accounts", "weights", "vision", "v1=2", "v2=1", "--by=kim", "--reason=a paper");
    assertThat(set.out()).as(set.err()).isEqualTo("~ v1: weight 1 -> 2\n~ v2: weight 3 -> 1\n");
    assertThat(run("accounts", "weights", "vision", "v1=2", "--by=kim", "--reason=x").out())
        .startsWith("Nothing to change");
    assertThat(run("accounts", "weights", "vision", "v1=2").status()).isEqualTo(2);
    assertThat(run("accounts", "weights", "vision", "v1=5", "--by=lee", "--reason=x").status())
        .isEqualTo(1);
    JsonNode made = weights("vision", "{\"v1\":1}", "ada", 200); // an owner of what is above
    assertThat(made.get("changes").get(0).get("was").asDouble()).isEqualTo(2);
    JsonNode history = get("/v1/accounts/vision/weights?limit=2");
    assertThat(history.get("changes").size()).isEqualTo(2);
    JsonNode last = history.get("changes").get(0);
    assertThat(last.get("by").asString() + last.get("account").asString() + last.get("became"))
        .isEqualTo("adav11.0");
    JsonNode more =
        get("/v1/accounts/vision/weights?limit=9&cursor=" + history.get("next_cursor").asString());
    assertThat(more.get("changes").get(0).get("reason").asString()).isEqualTo("a paper");
    assertThat(run("accounts", "weights", "vision").out()).contains("a paper", "kim");
    assertThat(account("v1").get("share").asDouble()).isEqualTo(0.25);
  }

  @Test
  void workIsChargedRankedExplainedAndDelivered() throws Exception {
    apply(TREE, "--yes", "--by=ada");
    JsonNode retired =
        ask(
            "POST",
            "/v1/jobs",
            "{\"account\":\"BCG\",\"num_gpus\":1,\"script\":\"#!/bin/sh\\n\"}",
            422);
    assertThat(retired.get("detail").asString()).contains("BCG is retired since " + T0);
    JsonNode above =
        ask(
            "POST",
            "/v1/jobs",
            "{\"account\":\"vision\",\"num_gpus\":1,\"script\":\"#!/bin/sh\\n\"}",
            422);
    assertThat(above.get("rule").asString()).isEqualTo("A1");
    ask(
        "POST",
        "/v1/jobs",
        "{\"user\":\"nobody\",\"num_gpus\":1,\"script\":\"#!/bin/sh\\n\"}",
        422);

    // One of 8 GPUs for lee's own account, where none is named; 6 for v2.
    JsonNode terms = submit(null, 1, 3600, 0, "lee").get("terms");
    assertThat(terms.get("allocated").asBoolean()).isTrue();
    assertThat(terms.get("protected_s").asLong()).isEqualTo(3600);
    assertThat(terms.get("minimum_gpu_h").asDouble()).isEqualTo(1);
    assertThat(terms.get("minimum_of_window").asDouble())
        .isEqualTo(1 / (0.125 * 8 * 7 * 24), within(1e-12));
    assertThat(terms.get("message").asString()).endsWith("Its place in the queue is 1 of 1.");
    submit("v2", 6, 3600, 0, "choi");
    JsonNode loose = submit("language", 1, 0, 0, "park");
    assertThat(loose.get("terms").get("allocated").asBoolean()).isFalse();
    assertThat(loose.get("terms").get("position").asInt()).isEqualTo(3);
    after(Duration.ZERO);
    after(Duration.ofSeconds(90));
    after(Duration.ofMinutes(90));

    // 8 GPUs up, and two shares of a half: v1 may have an eighth, v2 three eighths of them.
    JsonNode v1 = account("v1");
    assertThat(v1.get("demand_gpu_s").asDouble()).isEqualTo(5490);
    assertThat(v1.get("entitled_gpu_s").asDouble()).isEqualTo(5490, within(1e-6));
    double got = v1.get("delivered_gpu_s").asDouble();
    assertThat(v1.get("window_usage").asDouble()).isEqualTo(got);
    assertThat(got).isBetween(5300.0, 5490.0);
    JsonNode v2 = account("v2");
    assertThat(v2.get("entitled_gpu_s").asDouble()).isEqualTo(3 * 5490, within(1e-6));
    assertThat(v2.get("delivered_gpu_s").asDouble()).isEqualTo(6 * got);
    assertThat(v2.get("ratio").asDouble()).isEqualTo(6 / 7.0 / 0.75, within(1e-12));
    assertThat(account("vision").get("delivered_gpu_s").asDouble()).isEqualTo(7 * got);
    assertThat(account("language").get("window_usage").asDouble()).isZero();
    assertThat(account("language").get("demand_gpu_s").asDouble()).isZero();

    String behind = submit("v2", 8, 3600, 5, "choi").get("id").asString();
    String ahead = submit("language", 8, 3600, 0, "park").get("id").asString();
    String later = submit("language", 8, 3600, 2, "park").get("id").asString();
    JsonNode queue = get("/v1/queue").get("items");
    assertThat(queue.get(0).get("id").asString()).isEqualTo(later);
    JsonNode path = queue.get(2).get("path");
    assertThat(path.get(1).get("account").asString()).isEqualTo("vision");
    assertThat(path.get(1).get("ratio").asDouble()).isEqualTo(2);
    assertThat(path.get(2).get("usage_share").asDouble()).isEqualTo(6 / 7.0, within(1e-12));
    JsonNode why = get("/v1/jobs/" + behind + "/why?against=" + ahead).get("against");
    assertThat(why.get("first").asString()).isEqualTo(ahead);
    assertThat(why.get("key").asString()).isEqualTo("account_tree");
    assertThat(why.get("above").asString()).isEqualTo("ai2");
    assertThat(why.get("first_branch").get("ratio").asDouble()).isZero();
    assertThat(why.get("by").asDouble()).isEqualTo(2);
    Ran said = run("why", ahead, "--against", behind);
    assertThat(said.out())
        .contains(
            "Job " + ahead + " comes before job " + behind + ". Their accounts part below ai2",
            "language is ahead by 2.");
    assertThat(run("why", ahead, "--against", later).out()).contains("has priority 2", " 0.");
    assertThat(run("why", ahead, "--against", "1").err()).contains("job 1 is RUNNING");
    assertThat(run("why", ahead, "--against", "99").err()).contains("no job 99");

    JsonNode hours = get("/v1/accounts/v2/history?step=1h&since=" + T0).get("items");
    assertThat(hours.size()).isEqualTo(2);
    assertThat(hours.get(0).get("entitled_gpu_s").asDouble()).isEqualTo(3 * 3600, within(1e-6));
    assertThat(
            hours.get(0).get("delivered_gpu_s").asDouble()
                + hours.get(1).get("delivered_gpu_s").asDouble())
        .isEqualTo(6 * got);
    assertThat(hours.get(0).get("window_usage").asDouble())
        .isEqualTo(hours.get(0).get("delivered_gpu_s").asDouble());
    assertThat(hours.get(1).get("ratio").asDouble()).isEqualTo(v2.get("ratio").asDouble());
    for (String bad :
        new String[] {"step=90m", "step=0h", "since=x", "since=2030-01-01T00:00:00Z"}) {
      ask("GET", "/v1/accounts/v2/history?" + bad, null, 422);
    }
    ask("GET", "/v1/accounts/v2/history?since=1970-01-01T00:00:00Z", null, 422);
    assertThat(run("accounts", "history", "v2", "--step=1h").out()).contains("37.5 %");

    // A weight set now does not change what was entitled before; what ran keeps its figures.
    weights("vision", "{\"v2\":1}", "kim", 200);
    assertThat(account("v2").get("entitled_gpu_s").asDouble()).isEqualTo(3 * 5490, within(1e-6));
    after(Duration.ofMinutes(30));
    assertThat(account("v2").get("entitled_gpu_s").asDouble())
        .isEqualTo(3 * 5490 + 2 * 1800, within(1e-6));
    ask("POST", "/v1/jobs/1/cancel", "{}", 200);
    after(Duration.ofSeconds(5));
    after(Duration.ofSeconds(5));
    double before = account("v1").get("delivered_gpu_s").asDouble();
    assertThat(account("v1").get("window_usage").asDouble()).isEqualTo(before);
    after(Duration.ofMinutes(10));
    assertThat(account("v1").get("delivered_gpu_s").asDouble()).isEqualTo(before);
    Ran table = run("accounts");
    assertThat(table.out()).contains("Delivered of what was entitled: ");
  }

  @Configuration
  @Import(DesksOverCycle.class)
  static class App {
    @Bean
    ManualClock clock() {
      return new ManualClock(T0);
    }

    @Bean
    Policy policy() throws PolicyFault {
      return Policies.load(Optional.empty(), "budget", Map.of());
    }

    @Bean(destroyMethod = "close")
    PostgresStore store() {
      DataSource source = Database.fresh();
      PostgresStore store = new PostgresStore(source);
      store.setUp(List.of(TIER), List.of(new AccountSetup("BCG", null, 1)), T0);
      return store;
    }

    @Bean
    Cycle cycle(Store store, Policy policy, ManualClock clock) {
      SimulatedCluster cluster = new SimulatedCluster(clock);
      cluster.node("n1", TIER, 8);
      cluster.runTimes(order -> Duration.ofDays(2));
      Cycle cycle =
          new Cycle(
              store,
              cluster,
              Router.NONE,
              () -> policy,
              new JsonRecorder(),
              clock,
              CycleSettings.DEFAULT);
      cycle.run();
      return cycle;
    }
  }
}
