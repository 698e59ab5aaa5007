package evenhand.crash;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.service.Service;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Many submissions while cycles run. {@code -Devenhand.load.seconds=300} for the long run; what is
 * measured is printed and never asserted.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class LoadTest {
  private static final int SECONDS = Integer.getInteger("evenhand.load.seconds", 8);
  private static final int PER_MINUTE = 1000;
  private static final int CLIENTS = 64;

  @TempDir Path folder;
  private final HttpClient http = HttpClient.newHttpClient();
  private final AtomicInteger refused = new AtomicInteger();
  private ConfigurableApplicationContext context;
  private String url;

  @BeforeEach
  void start() {
    List<String> settings =
        new ArrayList<>(
            List.of(
                "--server.port=0",
                "--evenhand.data-dir=" + folder.resolve("data"),
                "--evenhand.check-scenarios=false",
                "--evenhand.cycle.interval=1s",
                "--evenhand.cluster=simulated",
                "--evenhand.tiers[0].name=4090",
                "--evenhand.tiers[0].sort-order=20",
                "--evenhand.tiers[0].tflops=82.6",
                "--evenhand.accounts[0].id=BCG"));
    for (int i = 0; i < 16; i++) {
      String node = "--evenhand.nodes[" + i + "].";
      settings.addAll(List.of(node + "name=n" + i, node + "tier=4090", node + "gpus=8"));
    }
    context = Service.start(settings.toArray(String[]::new));
    url = "http://127.0.0.1:" + ((WebServerApplicationContext) context).getWebServer().getPort();
  }

  @AfterEach
  void stop() {
    context.close();
  }

  /** Gives the id of the job, new or not. */
  private String submit(String key, Set<String> made) throws Exception {
    String body =
        """
        {"account": "BCG", "user": "kim", "num_gpus": 1, "resumable": false, "name": "%s",
         "script": "#!/bin/sh\\nsleep 5\\n"}
        """
            .formatted(key);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + "/v1/jobs"))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", key)
            .timeout(Duration.ofSeconds(60))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
    // As told to: the same key, a moment later.
    for (int i = 0; i < 20 && answer.statusCode() == 503; i++) {
      refused.incrementAndGet();
      Thread.sleep(500);
      answer = http.send(request, HttpResponse.BodyHandlers.ofString());
    }
    assertThat(answer.statusCode()).as(answer.body()).isIn(200, 201);
    String id = answer.body().replaceAll("(?s).*?\"id\":\"(\\d+)\".*", "$1");
    if (answer.statusCode() == 201) {
      assertThat(made.add(id)).as("made once").isTrue();
    }
    return id;
  }

  private long jobs() {
    return context
        .getBean(JdbcClient.class)
        .sql("select count(*) from jobs")
        .query(Long.class)
        .single();
  }

  @Test
  void manyClientsWithKeysUsedTwiceMakeAsManyJobsAsKeys() throws Exception {
    Set<String> made = ConcurrentHashMap.newKeySet();
    CyclicBarrier together = new CyclicBarrier(CLIENTS);
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    List<Future<String>> answers = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      String key = "key" + i / 2;
      answers.add(
          clients.submit(
              () -> {
                together.await(30, TimeUnit.SECONDS);
                return submit(key, made);
              }));
    }
    for (int i = 0; i < CLIENTS; i += 2) {
      assertThat(answers.get(i).get()).isEqualTo(answers.get(i + 1).get());
    }
    clients.shutdown();
    assertThat(made).hasSize(CLIENTS / 2);
    assertThat(jobs()).isEqualTo(CLIENTS / 2);
  }

  @Test
  void aThousandSubmissionsAMinuteAreAllThere() throws Exception {
    int count = PER_MINUTE * SECONDS / 60;
    Random random = new Random(7);
    Set<String> made = ConcurrentHashMap.newKeySet();
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    List<Future<Long>> answers = new ArrayList<>();
    long begun = System.nanoTime();
    for (int i = 0; i < count; i++) {
      long due = begun + i * TimeUnit.SECONDS.toNanos(60) / PER_MINUTE;
      long wait = due - System.nanoTime();
      if (wait > 0) {
        TimeUnit.NANOSECONDS.sleep(wait + random.nextInt(10_000_000));
      }
      String key = "load" + i;
      answers.add(
          clients.submit(
              () -> {
                submit(key, made);
                // From when it was due: a service that stalls is not measured only once.
                return (System.nanoTime() - due) / 1000;
              }));
    }
    List<Long> micros = new ArrayList<>();
    for (Future<Long> answer : answers) {
      micros.add(answer.get());
    }
    clients.shutdown();
    Collections.sort(micros);
    System.out.printf(
        "load: %d submissions in %d s, POST p50 %.1f ms, p99 %.1f ms, longest %.1f ms, %d times 503%n",
        count,
        SECONDS,
        micros.get(count / 2) / 1000.0,
        micros.get(count * 99 / 100) / 1000.0,
        micros.get(count - 1) / 1000.0,
        refused.get());
    assertThat(made).hasSize(count);
    assertThat(jobs()).isEqualTo(count);
  }
}
