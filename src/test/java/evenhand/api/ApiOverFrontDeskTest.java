package evenhand.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import evenhand.cli.Commands;
import evenhand.cli.Console;
import evenhand.cli.Parts;
import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.Store;
import evenhand.facts.Tier;
import evenhand.json.DecisionJson;
import evenhand.outcomes.Decision;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tools.jackson.databind.JsonNode;

/** The API over the real desk, cycle and rules, with store, cluster and clock in memory. */
class ApiOverFrontDeskTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier TIER = new Tier("4090", 20, 82.6, 8, true, "gpu4090", "gpu:4090");

  @Test
  void aJobReservesIsExplainedAndPaysWhenItIsCancelled() throws Exception {
    SpringApplication application = new SpringApplication(App.class);
    try (ConfigurableApplicationContext context =
        application.run(
            "--server.port=0", "--server.address=127.0.0.1", "--logging.level.root=warn")) {
      int port = ((WebServerApplicationContext) context).getWebServer().getPort();
      Client client = new Client("http://127.0.0.1:" + port);
      String body =
          "{\"account\":\"BCG\",\"num_gpus\":2,\"script\":\"#!/bin/sh\\n\",\"user\":\"kim\"}";
      client.post("/v1/cycle", "", 200);
      String id = client.post("/v1/jobs", body, 201).get("id").asString();
      assertEquals(id, client.post("/v1/jobs", body, 200).get("id").asString());
      JsonNode no = client.post("/v1/jobs", body.replace(":2", ":4"), 409);
      assertEquals("IDEMPOTENCY_CONFLICT", no.get("code").asString());
      JsonNode unknown = client.post("/v1/jobs", body.replace("BCG", "BCH"), 422);
      assertEquals("account", unknown.get("errors").get(0).get("path").asString());

      JsonNode report = client.post("/v1/cycle", "", 200);
      assertEquals("DECIDED", report.get("result").asString(), report.toString());
      JsonNode job = client.get("/v1/jobs/" + id);
      assertEquals("n1", job.get("reservation").get("node").asString(), job.toString());
      JsonNode why = client.get("/v1/jobs/" + id + "/why");
      assertTrue(why.get("rule_name").asString().length() > 10, why.toString());
      assertEquals(1, client.get("/v1/queue").get("items").get(0).get("position").asInt());
      assertEquals(1, client.get("/v1/placements").get("items").get(0).get("reserved").asInt());
      for (String all :
          List.of(
              "placements?node=n1", "placements?tier=4090", "nodes?state=up", "nodes?node=n1")) {
        assertEquals(1, client.get("/v1/" + all).get("items").size(), all);
      }
      for (String none :
          List.of("placements?node=n2", "placements?tier=x", "nodes?state=down", "nodes?node=n2")) {
        assertEquals(0, client.get("/v1/" + none).get("items").size(), none);
      }
      assertEquals(422, client.status("/v1/nodes?state=asleep"));

      String decision = report.get("decision").asString();
      JsonNode recorded = client.get("/v1/decisions/" + decision);
      Decision read = DecisionJson.read("d", recorded.get("decision").toString());
      assertTrue(read.outcomes().size() > 0, recorded.toString());

      context.getBean(ManualClock.class).advance(Duration.ofSeconds(300));
      JsonNode over = client.post("/v1/jobs/" + id + "/cancel", "{\"user\":\"kim\"}", 200);
      assertEquals("CANCELLED", over.get("state").asString());
      assertEquals(24_780, over.get("charged_tflop_s").asDouble());
      JsonNode account = client.get("/v1/accounts").get("items").get(0);
      assertEquals(24_780, account.get("cumulative_usage").asDouble());
      JsonNode rows = client.get("/v1/ledger?account=BCG&kind=reserved").get("items");
      assertEquals(24_780, rows.get(0).get("tflop_s").asDouble(), rows.toString());
      JsonNode sums = client.get("/v1/ledger?by=kind,placement").get("items");
      assertEquals(2, sums.size(), sums.toString());
      assertEquals("n1 (4090)", sums.get(0).get("placement").asString());
      assertEquals(300, sums.get(0).get("gpu_s").asInt());
      assertEquals(422, client.status("/v1/ledger?by=week"));
      assertEquals(422, client.status("/v1/ledger?kind=idle"));
      assertEquals(422, client.status("/v1/ledger?from=yesterday"));
      assertEquals(422, client.status("/v1/ledger?job=x"));
      JsonNode check = client.get("/v1/ledger/verify");
      assertTrue(check.get("clean").asBoolean(), check.toString());
      JsonNode same = client.get("/v1/decisions/" + decision + "/verify");
      assertTrue(same.get("same").asBoolean(), same.toString());
      assertEquals(404, client.status("/v1/decisions/999/verify"));
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      Console console =
          new Console(
              new ByteArrayInputStream(new byte[0]),
              new PrintStream(out),
              new PrintStream(out),
              Map.of("EVENHAND_SERVER", "http://127.0.0.1:" + port));
      int status =
          new Commands(console, new Parts(null, null, null, Map.of()))
              .run("verify", "--since", T0.toString());
      assertEquals("1 decision made again: the same to the byte.\n", out.toString());
      assertEquals(0, status);
      String correction =
          "{\"account\":\"BCG\",\"tflop_s\":-80,\"reason\":\"a test\",\"user\":\"lee\"}";
      JsonNode made = client.post("/v1/ledger/corrections", correction, 201);
      assertEquals(made, client.post("/v1/ledger/corrections", correction, 201));
      client.post("/v1/ledger/corrections", correction.replace("-80", "-81"), 409);
      client.post("/v1/ledger/corrections", correction.replace("\"a test\"", "7"), 422);
      account = client.get("/v1/accounts").get("items").get(0);
      assertEquals(24_700, account.get("cumulative_usage").asDouble());
      assertTrue(client.get("/v1/ledger/verify").get("clean").asBoolean());
      assertEquals("reservation", client.get("/v1/policy").get("name").asString());
      assertEquals(404, client.status("/v1/jobs/x"));
      assertEquals(422, client.status("/v1/jobs?cursor=x"));
    }
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
      return Policies.load(Optional.empty(), "reservation", Map.of());
    }

    @Bean
    Store store() {
      MemoryStore store = new MemoryStore();
      store.setUp(List.of(TIER), List.of(new AccountSetup("BCG", null, 1)), T0);
      return store;
    }

    @Bean
    Cycle cycle(Store store, Policy policy, ManualClock clock) {
      SimulatedCluster cluster = new SimulatedCluster(clock);
      cluster.node("n1", TIER, 2);
      cluster.hold("n1", TIER, 1);
      Recorder recorder = new JsonRecorder();
      return new Cycle(
          store, cluster, Router.NONE, () -> policy, recorder, clock, CycleSettings.DEFAULT);
    }
  }
}
