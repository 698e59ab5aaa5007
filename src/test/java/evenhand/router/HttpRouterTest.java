package evenhand.router;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.sun.net.httpserver.HttpServer;
import evenhand.outcomes.Yield;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class HttpRouterTest {
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final List<String> got = Collections.synchronizedList(new ArrayList<>());
  private final List<Integer> answers = Collections.synchronizedList(new ArrayList<>());
  private HttpServer server;
  private HttpRouter router;

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/v1/yield",
        exchange -> {
          got.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          exchange.sendResponseHeaders(answers.isEmpty() ? 200 : answers.remove(0), -1);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    router.close();
    server.stop(0);
  }

  private void router(int port, int capacity) {
    router =
        new HttpRouter(
            URI.create("http://127.0.0.1:" + port + "/"),
            Duration.ofSeconds(2),
            Duration.ofSeconds(30),
            capacity,
            meters);
  }

  private double count(String result) {
    return meters.counter("evenhand.router.messages", "result", result).count();
  }

  private void await(String result, double count) throws InterruptedException {
    for (int i = 0; i < 200 && count(result) < count; i++) {
      Thread.sleep(50);
    }
    assertThat(count(result)).isEqualTo(count);
  }

  @Test
  void sendsWhatToGiveUp() throws Exception {
    router(server.getAddress().getPort(), 10);
    router.yield(new Yield("7", "n1", "4090", 2));
    await("sent", 1);
    assertThat(got)
        .containsExactly("{\"node\":\"n1\",\"tier\":\"4090\",\"gpus\":2,\"job_id\":\"7\"}");
  }

  @Test
  void triesAgainWhenTheRouterIsBusyAndNotWhenItRefuses() throws Exception {
    answers.addAll(List.of(503, 200, 400));
    router(server.getAddress().getPort(), 10);
    router.yield(new Yield("7", "n1", "4090", 2));
    await("sent", 1);
    assertThat(count("retried")).isEqualTo(1);
    router.yield(new Yield("8", "n1", "4090", 2));
    await("failed", 1);
    assertThat(got).hasSize(3);
  }

  @Test
  void neverHoldsUpWhoeverCalls() throws Exception {
    int nobody = server.getAddress().getPort();
    server.stop(0);
    router(nobody, 3);
    Logger log = (Logger) LoggerFactory.getLogger(HttpRouter.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    for (int i = 0; i < 10; i++) {
      router.yield(new Yield("7", "n1", "4090", 2));
    }
    await("dropped", 7);
    for (int i = 0; i < 200 && count("retried") < 1; i++) {
      Thread.sleep(50);
    }
    log.detachAppender(lines);
    assertThat(count("sent")).isZero();
    String asked = "to give up 2 GPUs of n1 (4090) for job 7";
    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .contains("The LLM router is not told " + asked + ": 3 messages wait already")
        .anyMatch(
            l -> l.startsWith("The LLM router was not told " + asked + ", which is tried again"))
        .noneMatch(l -> l.contains("Yield[") || l.contains("Exception"));
  }
}
