package evenhand.crash;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import evenhand.service.OneNode;
import evenhand.service.Service;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The service while its database is killed, and while it hangs. The server is set, as zonky's are,
 * to answer before a commit is on disk: the service has to see to it itself that nothing is
 * forgotten.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class DatabaseAwayTest {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String JOB =
      """
      {"account": "BCG", "user": "kim", "num_gpus": 1, "resumable": false,
       "script": "#!/bin/sh\\nsleep 2\\n"}
      """;

  @TempDir Path folder;
  private EmbeddedPostgres postgres;
  private int port;
  private String url;

  private void startPostgres() throws IOException {
    if (postgres != null) {
      postgres.close(); // killed already, but it holds a lock in this process
    }
    Files.deleteIfExists(folder.resolve("data/postmaster.pid"));
    postgres =
        EmbeddedPostgres.builder()
            .setDataDirectory(folder.resolve("data"))
            .setCleanDataDirectory(false)
            .setPort(port)
            .setServerConfig("synchronous_commit", "off")
            .start();
  }

  private long postmaster() throws IOException {
    return Long.parseLong(Files.readAllLines(folder.resolve("data/postmaster.pid")).get(0).strip());
  }

  private HttpResponse<String> ask(String path, String key) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path)).timeout(Duration.ofSeconds(60));
    if (key != null) {
      request
          .header("Content-Type", "application/json")
          .header("Idempotency-Key", key)
          .POST(HttpRequest.BodyPublishers.ofString(JOB));
    }
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private void isAway() throws Exception {
    for (HttpResponse<String> answer : List.of(ask("/v1/jobs", null), ask("/v1/jobs", "away"))) {
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
      assertThat(answer.headers().firstValue("Retry-After")).isPresent();
      assertThat(answer.headers().firstValue("Content-Type"))
          .hasValueSatisfying(type -> assertThat(type).startsWith("application/problem+json"));
      assertThat(answer.body()).contains("DATABASE_AWAY");
    }
    HttpResponse<String> health = ask("/actuator/health", null);
    assertThat(health.statusCode()).isEqualTo(503);
    assertThat(health.body())
        .contains("\"status\":\"DOWN\"", "\"error\":\"the database cannot be reached: ")
        .doesNotContain("Exception", "springframework", "Hikari");
  }

  /** The log that people read, from now on. */
  private static ListAppender<ILoggingEvent> listenToLog() {
    ListAppender<ILoggingEvent> told = new ListAppender<>();
    told.list = Collections.synchronizedList(told.list);
    told.start();
    ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).addAppender(told);
    return told;
  }

  /** Each time that it was away is told in one sentence, and so is each return. */
  private static void isToldOnce(ListAppender<ILoggingEvent> log, int times) {
    List<ILoggingEvent> told = new ArrayList<>(List.copyOf(log.list));
    log.list.clear();
    told.removeIf(e -> e.getLoggerName().startsWith("io.zonky")); // of this test's own database
    assertThat(told)
        .filteredOn(e -> e.getLevel() == Level.ERROR)
        .hasSize(times)
        .allSatisfy(
            e ->
                assertThat(e.getFormattedMessage())
                    .startsWith("Nothing is decided and requests are answered 503: the database"));
    assertThat(told)
        .filteredOn(e -> e.getFormattedMessage().equals("The database can be reached again"))
        .hasSize(times);
    assertThat(told)
        .allSatisfy(
            e -> {
              assertThat(e.getThrowableProxy()).as(e.getFormattedMessage()).isNull();
              assertThat(e.getFormattedMessage()).doesNotContain("Exception", "Hikari");
            });
    assertThat(told)
        .filteredOn(e -> e.getFormattedMessage().startsWith("A request is answered 503"))
        .hasSizeLessThan(2);
  }

  private void awaitHealthy() throws Exception {
    String body = "";
    for (int i = 0; i < 600; i++) {
      HttpResponse<String> health = ask("/actuator/health", null);
      body = health.body();
      if (health.statusCode() == 200 && body.contains("\"role\":\"leader\"")) {
        return;
      }
      Thread.sleep(100);
    }
    throw new AssertionError("it did not come back by itself: " + body);
  }

  private void awaitCompleted(String id) throws Exception {
    String body = "";
    for (int i = 0; i < 600 && !body.contains("\"state\":\"COMPLETED\""); i++) {
      Thread.sleep(100);
      body = ask("/v1/jobs/" + id, null).body();
    }
    assertThat(body).contains("\"state\":\"COMPLETED\"");
  }

  private String submit(String key) throws Exception {
    HttpResponse<String> answer = ask("/v1/jobs", key);
    assertThat(answer.statusCode()).as(answer.body()).isIn(200, 201);
    return answer.body().replaceAll("(?s).*?\"id\":\"(\\d+)\".*", "$1");
  }

  @Test
  void requestsAreToldToComeBackAndTheServiceComesBackByItself() throws Exception {
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    startPostgres();
    List<String> settings =
        OneNode.settings(
            4,
            "--server.port=0",
            "--spring.datasource.url=jdbc:postgresql://127.0.0.1:" + port + "/postgres",
            "--spring.datasource.username=postgres",
            "--spring.datasource.hikari.connection-timeout=1000",
            "--spring.datasource.hikari.data-source-properties.socketTimeout=3",
            "--evenhand.check-scenarios=false",
            "--evenhand.cycle.interval=200ms",
            "--evenhand.cycle.lease=2s",
            "--evenhand.accounts[0].id=BCG");
    try (ConfigurableApplicationContext context = Service.start(settings.toArray(String[]::new))) {
      url = "http://127.0.0.1:" + ((WebServerApplicationContext) context).getWebServer().getPort();
      awaitHealthy();
      assertThat(ask("/actuator/health", null).body())
          .contains("\"role\":\"leader\"", "\"readingAgeSeconds\":", "\"outbox\":", "\"result\":");
      assertThat(
              context
                  .getBean(JdbcClient.class)
                  .sql("show synchronous_commit")
                  .query(String.class)
                  .single())
          .isEqualTo("on");
      String before = submit("before");
      ListAppender<ILoggingEvent> log = listenToLog();

      long from = System.nanoTime();
      ServiceProcess.signal("KILL", postmaster());
      isAway();
      Thread.sleep(1500); // several cycles
      isAway();
      startPostgres();
      awaitHealthy();
      System.out.printf(
          "database away: killed and started again, healthy after %d ms%n", since(from));
      awaitCompleted(before);
      awaitCompleted(submit("away"));
      isToldOnce(log, 1);

      List<ProcessHandle> all = new ArrayList<>();
      ProcessHandle.of(postmaster())
          .ifPresent(
              p -> {
                all.add(p);
                p.descendants().forEach(all::add);
              });
      for (ProcessHandle process : all) {
        ServiceProcess.signal("STOP", process.pid());
      }
      from = System.nanoTime();
      List<CompletableFuture<HttpResponse<String>>> asked = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        asked.add(
            HTTP.sendAsync(
                HttpRequest.newBuilder(URI.create(url + "/v1/jobs")).build(),
                HttpResponse.BodyHandlers.ofString()));
      }
      for (CompletableFuture<HttpResponse<String>> answer : asked) {
        assertThat(answer.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
      }
      System.out.printf(
          "database hangs: 30 requests answered 503 in %d ms, at a socketTimeout of 3 s%n",
          since(from));
      for (ProcessHandle process : all) {
        ServiceProcess.signal("CONT", process.pid());
      }
      awaitHealthy();
      awaitCompleted(submit("after"));
      isToldOnce(log, 1);
    } finally {
      postgres.close();
    }
  }

  private static long since(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }
}
