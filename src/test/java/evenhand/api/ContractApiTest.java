package evenhand.api;

import static org.assertj.core.api.Assertions.assertThat;

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
import evenhand.simulator.MemoryStore;
import evenhand.simulator.SimulatedCluster;
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

/** Nodes, drains, checkpoints and the terms of a job over HTTP, under policy {@code budget}. */
class ContractApiTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier TIER = new Tier("h100", 40, 989.0, 8, true, "h100", "gpu:h100");

  @Test
  void aNodeIsDrainedWaitsForProtectionAndIsUsedAgain() throws Exception {
    SpringApplication application = new SpringApplication(App.class);
    try (ConfigurableApplicationContext context =
        application.run(
            "--server.port=0", "--server.address=127.0.0.1", "--logging.level.root=warn")) {
      int port = ((WebServerApplicationContext) context).getWebServer().getPort();
      Client client = new Client("http://127.0.0.1:" + port);
      ManualClock clock = context.getBean(ManualClock.class);
      client.post("/v1/cycle", "", 200);
      JsonNode job =
          client.post(
              "/v1/jobs",
              "{\"account\":\"A\",\"num_gpus\":8,\"min_runtime_s\":3600,\"resumable\":true,"
                  + "\"script\":\"#!/bin/sh\\n\",\"user\":\"kim\"}",
              201);
      String id = job.get("id").asString();
      client.post("/v1/cycle", "", 200);
      clock.advance(Duration.ofSeconds(5));
      client.post("/v1/cycle", "", 200);
      assertThat(client.get("/v1/jobs/" + id).get("state").asString()).isEqualTo("RUNNING");

      JsonNode node = client.get("/v1/nodes").get("items").get(0);
      assertThat(node.get("state").asString()).isEqualTo("up");
      assertThat(node.get("gpus").get(0).get("allocated").asInt()).isEqualTo(8);

      JsonNode draining =
          client.post("/v1/nodes/n1/drain", "{\"reason\":\"fan 3\",\"user\":\"ops\"}", 200);
      assertThat(draining.get("state").asString()).isEqualTo("draining");
      assertThat(draining.get("reason").asString()).isEqualTo("fan 3");
      JsonNode waits = draining.get("waits_for").get(0);
      assertThat(waits.get("job").asString()).isEqualTo(id);
      // It started when the second cycle saw it run; from there its minimum is protected (K2).
      Instant started = Instant.parse(client.get("/v1/jobs/" + id).get("started_at").asString());
      assertThat(waits.get("until").asString()).isEqualTo(started.plusSeconds(3600).toString());

      JsonNode saved = client.post("/v1/jobs/" + id + "/checkpoint", "", 200);
      assertThat(saved.get("checkpoint_at").asString()).isEqualTo(clock.instant().toString());
      JsonNode later =
          client.post("/v1/jobs/" + id + "/checkpoint", "{\"at\":\"" + T0 + "\"}", 200);
      assertThat(later.get("checkpoint_at")).isEqualTo(saved.get("checkpoint_at"));

      clock.advance(Duration.ofHours(1));
      client.post("/v1/cycle", "", 200); // X2: told to leave
      clock.advance(Duration.ofSeconds(5));
      client.post("/v1/cycle", "", 200);
      JsonNode drained = client.get("/v1/nodes").get("items").get(0);
      assertThat(drained.get("state").asString()).as(drained.toString()).isEqualTo("drained");
      assertThat(drained.get("waits_for")).isEmpty();
      assertThat(client.get("/v1/jobs/" + id + "/why").get("code").asString())
          .isEqualTo("NODE_DRAINING");

      JsonNode resumed = client.post("/v1/nodes/n1/resume", "{\"user\":\"ops\"}", 200);
      assertThat(resumed.get("state").asString()).isEqualTo("up");
      JsonNode past = client.get("/v1/nodes/n1/drains?source=evenhand").get("items").get(0);
      assertThat(client.get("/v1/nodes/n1/drains?source=slurm").get("items")).isEmpty();
      assertThat(past.get("drained_by").asString()).isEqualTo("ops");
      assertThat(past.get("ended_at").asString()).isEqualTo(clock.instant().toString());
      client.post("/v1/cycle", "", 200);
      clock.advance(Duration.ofSeconds(5));
      client.post("/v1/cycle", "", 200);
      assertThat(client.get("/v1/jobs/" + id).get("attempt").asInt()).isEqualTo(2);
    }
  }

  @Test
  void whatCannotBeIsRefusedByName() throws Exception {
    SpringApplication application = new SpringApplication(App.class);
    try (ConfigurableApplicationContext context =
        application.run(
            "--server.port=0", "--server.address=127.0.0.1", "--logging.level.root=warn")) {
      int port = ((WebServerApplicationContext) context).getWebServer().getPort();
      Client client = new Client("http://127.0.0.1:" + port);
      client.post("/v1/cycle", "", 200);
      String reason = "{\"reason\":\"r\"}";
      assertThat(client.post("/v1/nodes/n9/drain", reason, 404).get("detail").asString())
          .contains("n9");
      JsonNode without = client.post("/v1/nodes/n1/drain", "{}", 422);
      assertThat(without.get("errors").get(0).get("path").asString()).isEqualTo("reason");
      JsonNode misspelt = client.post("/v1/nodes/n1/drain", "{\"reasn\":\"r\"}", 422);
      assertThat(misspelt.toString()).contains("reason");
      // Nothing to resume, and so nothing changes.
      assertThat(client.post("/v1/nodes/n1/resume", "", 200).get("state").asString())
          .isEqualTo("up");
      client.post("/v1/jobs/1/checkpoint", "", 404);
      client.post("/v1/jobs/x/checkpoint", "", 404);
      assertThat(client.status("/v1/nodes?limit=0")).isEqualTo(422);
      assertThat(client.get("/v1/nodes/n1/drains").get("items")).isEmpty();
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
      return Policies.load(Optional.empty(), "budget", Map.of());
    }

    @Bean
    Store store() {
      MemoryStore store = new MemoryStore();
      store.setUp(List.of(TIER), List.of(new AccountSetup("A", null, 1)), T0);
      return store;
    }

    @Bean
    Cycle cycle(Store store, Policy policy, ManualClock clock) {
      SimulatedCluster cluster = new SimulatedCluster(clock);
      cluster.node("n1", TIER, 8);
      cluster.runTimes(order -> Duration.ofDays(1));
      cluster.leaveTimes(order -> Duration.ZERO);
      return new Cycle(
          store,
          cluster,
          Router.NONE,
          () -> policy,
          new JsonRecorder(),
          clock,
          CycleSettings.DEFAULT);
    }
  }
}
