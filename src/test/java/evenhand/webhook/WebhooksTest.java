package evenhand.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import evenhand.cycle.AccountSetup;
import evenhand.cycle.NewJob;
import evenhand.cycle.SomeJob;
import evenhand.cycle.events.Event;
import evenhand.cycle.events.EventFeed;
import evenhand.facts.Tier;
import evenhand.store.Database;
import evenhand.store.PostgresStore;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A receiver on loopback hears every event, in order, signed, and also when it was away. */
class WebhooksTest {
  private static final Tier TIER = new Tier("4090", 20, 82.6, 8, true, null, "gpu:4090");
  private static final Duration SOON = Duration.ofMillis(20);

  private final PostgresStore store = new PostgresStore(Database.fresh());
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final List<JsonNode> heard = new CopyOnWriteArrayList<>();
  private final List<String> wrong = new CopyOnWriteArrayList<>();
  private final AtomicInteger refuse = new AtomicInteger();
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicBoolean decides = new AtomicBoolean(true);
  private HttpServer server;

  @BeforeEach
  void receiver() throws IOException {
    store.setUp(List.of(TIER), List.of(new AccountSetup("A", null, 1)), Instant.EPOCH);
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/hook", this::hear);
    server.start();
  }

  @AfterEach
  void end() {
    server.stop(0);
    store.close();
  }

  private void hear(HttpExchange exchange) throws IOException {
    asked.incrementAndGet();
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String timestamp = exchange.getRequestHeaders().getFirst("X-Evenhand-Timestamp");
    String signature = exchange.getRequestHeaders().getFirst("X-Evenhand-Signature");
    if (!hmac("hush", timestamp + "." + body).equals(signature)) {
      wrong.add(String.valueOf(signature));
    }
    JsonNode event = JsonMapper.builder().build().readTree(body);
    if (!event
        .path("kind")
        .asString()
        .equals(exchange.getRequestHeaders().getFirst("X-Evenhand-Event"))) {
      wrong.add(body);
    }
    int status = refuse.get() > 0 && refuse.getAndDecrement() > 0 ? 503 : 204;
    if (status == 204) {
      heard.add(event);
    }
    exchange.sendResponseHeaders(status, -1);
    exchange.close();
  }

  /** Worked out here again, apart from the code that is tested. */
  private static String hmac(String secret, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      return "sha256="
          + HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    } catch (java.security.GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private Webhooks start(Set<Event.Kind> kinds, Duration giveUpAfter) {
    URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/hook");
    Webhook hook = new Webhook("chat", url, "hush", kinds, Duration.ofSeconds(5), giveUpAfter);
    return new Webhooks(
        List.of(hook),
        new EventFeed(store.events()),
        decides::get,
        Clock.systemUTC(),
        meters,
        SOON);
  }

  private String submit() {
    NewJob job = SomeJob.PLAIN.of("A").resumable(true).made();
    return Long.toString(store.add(job, 0, null, null, Instant.EPOCH).record().job().id());
  }

  private static void await(BooleanSupplier it) throws InterruptedException {
    for (int i = 0; i < 400 && !it.getAsBoolean(); i++) {
      Thread.sleep(25);
    }
    assertThat(it.getAsBoolean()).isTrue();
  }

  private double counted(String result) {
    return meters.counter("evenhand.webhook.events", "hook", "chat", "result", result).count();
  }

  @Test
  void eachEventOnceInOrderSignedAndAgainAfterItWasAway() throws Exception {
    submit(); // before the hook was set: not told
    try (Webhooks first = start(Set.of(Event.Kind.SUBMITTED), Duration.ofHours(1))) {
      await(() -> store.events().cursor("chat").isPresent());
      List<String> ids = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        ids.add(submit());
      }
      await(() -> heard.size() == 3);
      refuse.set(3);
      for (int i = 0; i < 3; i++) {
        ids.add(submit());
      }
      await(() -> heard.size() == 6);
      assertThat(heard).extracting(e -> e.path("job").asString()).containsExactlyElementsOf(ids);
      assertThat(wrong).isEmpty();
      assertThat(counted("retried")).isEqualTo(3);
      assertThat(counted("sent")).isEqualTo(6);
      assertThat(counted("given_up")).isZero();
      assertThat(asked.get()).isEqualTo(9);
      assertThat(heard.get(0).path("message").asString()).contains("kim submits job");
    }
    // Nobody sends while nobody is there; another process goes on where this one was.
    String meanwhile = submit();
    try (Webhooks second = start(Set.of(Event.Kind.SUBMITTED), Duration.ofHours(1))) {
      await(() -> heard.size() == 7);
      assertThat(heard.get(6).path("job").asString()).isEqualTo(meanwhile);
      decides.set(false);
      Thread.sleep(600); // what is under way ends
      String standby = submit();
      Thread.sleep(1200);
      assertThat(heard).hasSize(7);
      decides.set(true);
      await(() -> heard.size() == 8);
      assertThat(heard.get(7).path("job").asString()).isEqualTo(standby);
    }
  }

  @Test
  void whatIsGivenUpIsCountedAndTheNextIsTold() throws Exception {
    try (Webhooks hooks = start(Set.of(), Duration.ZERO)) {
      await(() -> store.events().cursor("chat").isPresent());
      refuse.set(1);
      submit();
      String next = submit();
      await(() -> heard.size() == 1);
      assertThat(heard.get(0).path("job").asString()).isEqualTo(next);
      assertThat(counted("given_up")).isEqualTo(1);
    }
  }
}
