package evenhand.crash;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.service.OneNode;
import evenhand.store.Database;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The service as a process, told to end while a request is half sent, somebody listens to events
 * and a cycle is about to carry out its orders; and the log it writes meanwhile, as JSON.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class StopTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String JOB =
      "{\"account\":\"KDG\",\"user\":\"kim\",\"num_gpus\":1,\"script\":\"#!/bin/sh\\nsleep 60\\n\"}";

  @TempDir Path folder;

  private static Socket send(URI url, String head, String part) throws IOException {
    Socket socket = new Socket(url.getHost(), url.getPort());
    socket.setSoTimeout(60_000);
    socket
        .getOutputStream()
        .write(
            (head + "\r\nHost: localhost\r\nConnection: close\r\n" + part)
                .getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  @Test
  void whatIsUnderWayEndsAndNothingIsLeftHalfDone() throws Exception {
    PGSimpleDataSource database = Database.ofAService();
    JdbcClient sql = JdbcClient.create(database);
    List<String> settings =
        OneNode.settings(
            2,
            database,
            "--evenhand.security=off",
            "--logging.level.org.springframework.boot.tomcat=info", // says when it begins to end
            "--logging.structured.format.console=ecs",
            "--evenhand.api.body-within=60s",
            "--evenhand.cycle.interval=200ms",
            "--evenhand.accounts[0].id=KDG");
    try (ServiceProcess service =
        ServiceProcess.withItsOwnLogging(folder, "service", "BEFORE_ORDER:1:pause", settings)) {
      service.awaitListening();
      URI url = URI.create(service.url().orElseThrow());
      Socket listening = send(url, "GET /v1/events HTTP/1.1", "Accept: text/event-stream\r\n\r\n");
      assertThat(service.post("/v1/jobs", "first", JOB).statusCode()).isEqualTo(201);
      service.awaitLog("paused at BEFORE_ORDER");
      String half = JOB.substring(0, JOB.length() / 2);
      Socket asking =
          send(
              url,
              "POST /v1/jobs HTTP/1.1",
              "Content-Type: application/json\r\nContent-Length: "
                  + JOB.length()
                  + "\r\n\r\n"
                  + half);
      // What is half there has arrived: this one came later and is answered.
      assertThat(service.get("/v1/queue?limit=1").statusCode()).isEqualTo(200);
      service.terminate();
      service.awaitLog("Commencing graceful shutdown");
      asking.getOutputStream().write(JOB.substring(half.length()).getBytes(StandardCharsets.UTF_8));
      BufferedReader answer =
          new BufferedReader(
              new InputStreamReader(asking.getInputStream(), StandardCharsets.UTF_8));
      assertThat(answer.readLine()).as(service.log()).startsWith("HTTP/1.1 201");
      // Whoever listens is let go and does not hold it up.
      assertThat(new String(listening.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .contains("event: ready");
      assertThat(service.await(90)).as("it ends: " + service.log()).isTrue();
      assertThat(service.exitCode()).isEqualTo(128 + 15);
      asking.close();
      listening.close();

      // Both jobs are there; the one that was decided was given to the cluster, whole.
      assertThat(sql.sql("select count(*) from jobs").query(Integer.class).single()).isEqualTo(2);
      assertThat(
              sql.sql(
                      "select tries || ' ' || (closed_at is not null) from outbox where job_id = 1 and kind = 'submit'")
                  .query(String.class)
                  .list())
          .isNotEmpty()
          .containsOnly("1 true");
      assertThat(
              sql.sql("select count(*) from outbox where tries > 0 and closed_at is null")
                  .query(Integer.class)
                  .single())
          .isZero();
      theLogIsOneObjectALine(service.log());
    }
  }

  private static void theLogIsOneObjectALine(String log) {
    Set<String> told = new TreeSet<>();
    List<String> lines = new ArrayList<>(log.lines().filter(l -> !l.isBlank()).toList());
    lines.removeIf(line -> line.startsWith(CrashConfiguration.PAUSED));
    assertThat(lines).hasSizeGreaterThan(3);
    for (String line : lines) {
      JsonNode entry = JSON.readTree(line);
      assertThat(entry.isObject()).as(line).isTrue();
      assertThat(entry.path("@timestamp").asString("")).as(line).isNotEmpty();
      assertThat(entry.path("message").asString("")).as(line).isNotEmpty();
      assertThat(entry.path("log").path("level").asString("")).as(line).isNotEmpty();
      if (entry.path("message").asString().startsWith("Job 1 starts")) {
        for (String field : List.of("job", "clause", "decision")) {
          told.add(field + "=" + entry.path(field).asString(""));
        }
      }
    }
    assertThat(told).contains("job=1", "clause=D1").anyMatch(t -> t.matches("decision=[0-9]+"));
  }
}
