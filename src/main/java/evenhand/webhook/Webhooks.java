package evenhand.webhook;

import evenhand.cycle.events.Event;
import evenhand.cycle.events.EventFeed;
import evenhand.cycle.events.EventFilter;
import evenhand.cycle.events.EventLog;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends each event as {@code POST} with the event as JSON, one after another for each hook.
 *
 * <p>Headers: {@code X-Evenhand-Event} (its kind), {@code X-Evenhand-Id}, {@code
 * X-Evenhand-Timestamp} (seconds since 1970 of this try) and, where there is a secret, {@code
 * X-Evenhand-Signature: sha256=HEX}, the HMAC of {@code TIMESTAMP.BODY}. Any 2xx is delivery;
 * redirects are not followed. All else is tried again after a pause that doubles from one second to
 * five minutes, and the events after it wait, until the hook's {@code giveUpAfter}: then the event
 * is given up, which is logged and counted, and the next one is told.
 */
public final class Webhooks implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand.webhooks");
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Duration LOOK = Duration.ofMillis(500);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);
  private static final int PART = 100;

  private final List<Webhook> hooks;
  private final EventFeed feed;
  private final BooleanSupplier decides;
  private final Clock clock;
  private final Duration firstPause;
  private final MeterRegistry meters;
  private final HttpClient client =
      HttpClient.newBuilder()
          .connectTimeout(Duration.ofSeconds(5))
          .followRedirects(HttpClient.Redirect.NEVER)
          .version(HttpClient.Version.HTTP_1_1)
          .build();
  private final ScheduledExecutorService threads;

  /**
   * @param decides whether this process has the right to decide: only that one sends
   * @param meters gets {@code evenhand.webhook.events} with tags {@code hook} and {@code result} =
   *     sent, retried, given_up
   */
  public Webhooks(
      List<Webhook> hooks,
      EventFeed feed,
      BooleanSupplier decides,
      Clock clock,
      MeterRegistry meters) {
    this(hooks, feed, decides, clock, meters, FIRST_PAUSE);
  }

  Webhooks(
      List<Webhook> hooks,
      EventFeed feed,
      BooleanSupplier decides,
      Clock clock,
      MeterRegistry meters,
      Duration firstPause) {
    this.hooks = List.copyOf(hooks);
    this.feed = feed;
    this.decides = decides;
    this.clock = clock;
    this.meters = meters;
    this.firstPause = firstPause;
    this.threads =
        hooks.isEmpty()
            ? null
            : Executors.newScheduledThreadPool(
                Math.min(4, hooks.size()),
                task -> {
                  Thread thread = new Thread(task, "webhooks");
                  thread.setDaemon(true);
                  return thread;
                });
    for (Webhook hook : this.hooks) {
      for (String result : List.of("sent", "retried", "given_up")) {
        counter(hook, result);
      }
      threads.scheduleWithFixedDelay(
          () -> tell(hook), LOOK.toMillis(), LOOK.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private Counter counter(Webhook hook, String result) {
    return Counter.builder("evenhand.webhook.events")
        .description("events for webhooks, by what became of them")
        .tag("hook", hook.name())
        .tag("result", result)
        .register(meters);
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  /** Whatever goes wrong with one hook, it is looked at again. */
  private void tell(Webhook hook) {
    try {
      if (decides.getAsBoolean()) {
        tellNow(hook);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.debug("webhook {} cannot be told just now", hook.name(), e);
    }
  }

  private void tellNow(Webhook hook) throws InterruptedException {
    EventLog log = feed.log();
    long settled = feed.look();
    EventLog.Cursor at = log.cursor(hook.name()).orElse(null);
    if (at == null) {
      log.move(new EventLog.Cursor(hook.name(), settled, 0, null, null, null), null);
      LOG.info("Webhook {} is told what happens from now on", hook.name());
      return;
    }
    if (at.nextTryAt() != null && now().isBefore(at.nextTryAt())) {
      return;
    }
    EventFilter filter = new EventFilter(hook.kinds(), null, null);
    while (at.last() < settled && decides.getAsBoolean()) {
      List<Event> events = log.forward(at.last(), settled, filter, PART);
      for (Event event : events) {
        EventLog.Cursor next = one(hook, at, event);
        if (!log.move(next, at.last())) {
          return; // another process tells it now
        }
        at = next;
        if (at.last() != event.id()) {
          return; // it waits for its next try
        }
      }
      if (events.size() < PART) {
        if (at.last() < settled) {
          // What it does not want to hear of is passed over.
          log.move(
              new EventLog.Cursor(hook.name(), settled, 0, null, null, at.answer()), at.last());
        }
        return;
      }
    }
  }

  /** Tries one event once; gives the hook's place after that. */
  private EventLog.Cursor one(Webhook hook, EventLog.Cursor at, Event event)
      throws InterruptedException {
    String because = send(hook, event);
    Instant now = now();
    if (because == null) {
      counter(hook, "sent").increment();
      if (at.tries() > 0) {
        LOG.info("Webhook {} answers again", hook.name());
      }
      return new EventLog.Cursor(hook.name(), event.id(), 0, null, null, "delivered");
    }
    Instant since = at.failingSince() == null ? now : at.failingSince();
    int tries = at.tries() + 1;
    if (Duration.between(since, now).compareTo(hook.giveUpAfter()) >= 0) {
      counter(hook, "given_up").increment();
      LOG.error(
          "Webhook {} is not told of event {} any more, after {} tries since {}: {}. It was: {}",
          hook.name(),
          event.id(),
          tries,
          since,
          because,
          event.message());
      return new EventLog.Cursor(hook.name(), event.id(), 0, null, null, "given up: " + because);
    }
    counter(hook, "retried").increment();
    if (tries == 1) {
      LOG.warn(
          "Webhook {} was not told of event {}, which is tried again: {}",
          hook.name(),
          event.id(),
          because);
    }
    Duration pause = firstPause.multipliedBy(1L << Math.min(tries - 1, 12));
    Instant next = now.plus(pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause);
    return new EventLog.Cursor(hook.name(), at.last(), tries, since, next, because);
  }

  /** Null when it was delivered, else why not. */
  private String send(Webhook hook, Event event) throws InterruptedException {
    String body = JSON.writeValueAsString(event.fields());
    String timestamp = Long.toString(clock.instant().getEpochSecond());
    HttpRequest.Builder request =
        HttpRequest.newBuilder(hook.url())
            .timeout(hook.timeout())
            .header("Content-Type", "application/json")
            .header("X-Evenhand-Event", event.kind().word())
            .header("X-Evenhand-Id", Long.toString(event.id()))
            .header("X-Evenhand-Timestamp", timestamp)
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (hook.secret() != null) {
      request.header("X-Evenhand-Signature", signature(hook.secret(), timestamp + "." + body));
    }
    try {
      int status =
          client.send(request.build(), HttpResponse.BodyHandlers.discarding()).statusCode();
      return status / 100 == 2 ? null : "it answered " + status;
    } catch (HttpTimeoutException e) {
      return "it did not answer in " + hook.timeout().toMillis() + " ms";
    } catch (ConnectException e) {
      return "it could not be reached";
    } catch (IOException e) {
      return "it broke off" + (e.getMessage() == null ? "" : ": " + e.getMessage());
    }
  }

  /** {@code sha256=} and the HMAC-SHA256 of a text in UTF-8, in hexadecimal digits. */
  static String signature(String secret, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      return "sha256="
          + HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has HMAC with SHA-256", e);
    }
  }

  @Override
  public void close() {
    if (threads != null) {
      threads.shutdownNow();
    }
  }
}
