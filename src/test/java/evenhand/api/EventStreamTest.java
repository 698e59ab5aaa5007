package evenhand.api;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cli.Commands;
import evenhand.cli.Console;
import evenhand.cli.Parts;
import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.Desk;
import evenhand.cycle.NewJob;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.SomeJob;
import evenhand.cycle.events.EventFeed;
import evenhand.facts.Tier;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.service.JsonRecorder;
import evenhand.simulator.ManualClock;
import evenhand.simulator.SimulatedCluster;
import evenhand.store.Database;
import evenhand.store.PostgresStore;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Events over HTTP: as a list, and told as they happen to many at once. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(60)
class EventStreamTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier TIER = new Tier("4090", 20, 82.6, 8, true, "gpu4090", "gpu:4090");
  private static final JsonMapper JSON = new JsonMapper();

  private final HttpClient client = HttpClient.newHttpClient();
  private ConfigurableApplicationContext context;
  private int port;

  @BeforeAll
  void start() {
    context =
        new SpringApplication(App.class)
            .run(
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--server.shutdown=graceful",
                "--logging.level.root=warn",
                "--evenhand.events.max-clients=12");
    port = ((WebServerApplicationContext) context).getWebServer().getPort();
    context.getBean(Cycle.class).run();
  }

  @AfterAll
  void end() {
    context.close();
  }

  private String submit(String account) {
    NewJob job = SomeJob.PLAIN.named("jöb x").of(account).resumable(true).made();
    return context.getBean(Desk.class).submit(job, null).id();
  }

  /** A stream of events that is read line by line. */
  private final class Listener implements AutoCloseable {
    private final BufferedReader lines;
    private final int status;
    String lastId;

    Listener(String query, String... headers) throws IOException, InterruptedException {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/events" + query))
              .header("Accept", "text/event-stream");
      if (headers.length > 0) {
        request.headers(headers);
      }
      HttpResponse<InputStream> answer =
          client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
      status = answer.statusCode();
      lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
    }

    /** The next event: its name, and what it says. */
    Map.Entry<String, JsonNode> next() throws IOException {
      String name = null;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("event: ")) {
          name = line.substring(7);
        } else if (line.startsWith("id: ")) {
          lastId = line.substring(4);
        } else if (line.startsWith("data: ")) {
          return Map.entry(name, JSON.readTree(line.substring(6)));
        }
      }
      return null;
    }

    @Override
    public void close() throws IOException {
      lines.close();
    }
  }

  private JsonNode get(String path, int status) throws Exception {
    HttpResponse<String> answer =
        client.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return JSON.readTree(answer.body());
  }

  @Test
  void whatHappensIsToldAndAClientThatWasCutOffGoesOn() throws Exception {
    String first;
    String last;
    try (Listener all = new Listener("");
        Listener ofB = new Listener("?account=B&kinds=submitted")) {
      assertThat(all.status).isEqualTo(200);
      assertThat(all.next().getKey()).isEqualTo("ready");
      assertThat(ofB.next().getKey()).isEqualTo("ready");
      first = submit("A");
      Map.Entry<String, JsonNode> told = all.next();
      assertThat(told.getKey()).isEqualTo("submitted");
      assertThat(told.getValue().path("job").asString()).isEqualTo(first);
      assertThat(told.getValue().path("data").path("name").asString()).isEqualTo("jöb x");
      String ofOther = submit("B");
      assertThat(ofB.next().getValue().path("job").asString()).isEqualTo(ofOther);
      assertThat(all.next().getValue().path("job").asString()).isEqualTo(ofOther);
      last = all.lastId;
      context.getBean(EventFeed.class).cycled();
      assertThat(all.next().getKey()).isEqualTo("cycle");
      // A tick has no id: who is cut off after it has missed nothing.
      assertThat(all.lastId).isEqualTo(last);
    }
    String missed = submit("A");
    try (Listener again = new Listener("", "Last-Event-ID", last)) {
      assertThat(again.next().getKey()).isEqualTo("ready");
      assertThat(again.next().getValue().path("job").asString()).isEqualTo(missed);
    }
    try (Listener ahead = new Listener("", "Last-Event-ID", "999999999")) {
      assertThat(ahead.next().getValue().path("last").asString()).isNotEqualTo("999999999");
      missed = submit("A");
      assertThat(ahead.next().getValue().path("job").asString()).isEqualTo(missed);
    }
    try (Listener whole = new Listener("?since=0&job=" + first)) {
      assertThat(whole.next().getKey()).isEqualTo("ready");
      assertThat(whole.next().getValue().path("kind").asString()).isEqualTo("submitted");
    }
    JsonNode newest = get("/v1/events?limit=2&kinds=submitted", 200);
    assertThat(newest.path("items").get(0).path("job").asString()).isEqualTo(missed);
    String cursor = newest.path("next_cursor").asString();
    JsonNode before = get("/v1/events?limit=3&kinds=submitted&cursor=" + cursor, 200);
    assertThat(before.path("items").get(1).path("job").asString()).isEqualTo(first);
    JsonNode since = get("/v1/events?since=" + last, 200);
    assertThat(since.path("items").get(1).path("job").asString()).isEqualTo(missed);
    assertThat(cli("events", "--since", last)).contains(missed, "submitted", "kim submits");
  }

  @Test
  void aWrongFilterIsRefused() throws Exception {
    assertThat(get("/v1/events?kinds=startet", 422).path("detail").asString()).contains("started");
    assertThat(get("/v1/events?job=x", 422).path("code").asString()).isEqualTo("INVALID_REQUEST");
    assertThat(get("/v1/events?since=-1", 422).path("code").asString())
        .isEqualTo("INVALID_REQUEST");
    assertThat(get("/v1/events?joob=1", 422).path("detail").asString()).contains("job");
    try (Listener wrong = new Listener("?kinds=nothing")) {
      assertThat(wrong.status).isEqualTo(422);
    }
  }

  @Test
  void noMoreThanMayListenAndWhoStopsReadingHoldsUpNobody() throws Exception {
    List<Listener> listeners = new ArrayList<>();
    try (Socket deaf = new Socket("127.0.0.1", port)) {
      // It asks for everything there ever was and reads nothing of it.
      deaf.setReceiveBufferSize(1024);
      deaf.getOutputStream()
          .write(
              "GET /v1/events?since=0 HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      JdbcClient.create(context.getBean(DataSource.class))
          .sql(
              """
              insert into events (at, kind, message)
              select now(), 'charged', repeat('x', 1000) from generate_series(1, 20000)
              """)
          .update();
      // Those of other tests are gone when something is next written to them.
      int status = 200;
      while (status == 200) {
        assertThat(listeners.size()).isLessThan(12);
        Listener listener = new Listener("?kinds=submitted");
        status = listener.status;
        if (status == 200) {
          assertThat(listener.next().getKey()).isEqualTo("ready");
          listeners.add(listener);
        }
      }
      assertThat(status).isEqualTo(503);
      assertThat(listeners).isNotEmpty();
      String id = submit("A");
      for (Listener listener : listeners) {
        assertThat(listener.next().getValue().path("job").asString()).isEqualTo(id);
      }
    } finally {
      for (Listener listener : listeners) {
        listener.close();
      }
    }
  }

  private String cli(String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream to = new PrintStream(out, true, StandardCharsets.UTF_8);
    Console console =
        new Console(
            new ByteArrayInputStream(new byte[0]),
            to,
            to,
            Map.of("EVENHAND_SERVER", "http://127.0.0.1:" + port));
    new Commands(console, new Parts(Policies::load, s -> 0, (kind, in, text) -> 0, Map.of()))
        .run(arguments);
    return out.toString(StandardCharsets.UTF_8);
  }

  @Configuration
  @Import(DesksOverCycle.class)
  static class App {
    @Bean
    ManualClock clock() {
      return new ManualClock(T0);
    }

    @Bean
    DataSource source() {
      return Database.fresh();
    }

    @Bean(destroyMethod = "close")
    PostgresStore store(DataSource source) {
      PostgresStore store = new PostgresStore(source);
      store.setUp(
          List.of(TIER),
          List.of(new AccountSetup("A", null, 1), new AccountSetup("B", null, 1)),
          T0);
      return store;
    }

    @Bean
    Policy policy() throws PolicyFault {
      return Policies.load(Optional.empty(), "reservation", Map.of());
    }

    @Bean
    Recorder recorder() {
      return new JsonRecorder();
    }

    @Bean
    Cycle cycle(PostgresStore store, Policy policy, Recorder recorder, ManualClock clock) {
      SimulatedCluster cluster = new SimulatedCluster(clock);
      cluster.node("n1", TIER, 2);
      return new Cycle(
          store, cluster, Router.NONE, () -> policy, recorder, clock, CycleSettings.DEFAULT);
    }
  }
}
