package evenhand.router;

import evenhand.cycle.Router;
import evenhand.outcomes.Yield;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends {@code POST {base}/v1/yield} with {@code {node, tier, gpus, job_id}} from one daemon
 * thread.
 *
 * <p>Any 2xx answer is delivery. Another answer than 408, 429 or 5xx is final: the router has
 * understood and said no. All else is tried again after a growing pause, until the message is
 * {@code maxAge} old. At most {@code capacity} messages wait; what comes on top is dropped.
 */
public final class HttpRouter implements Router, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpRouter.class);
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  private final URI target;
  private final Duration timeout;
  private final Duration maxAge;
  private final int capacity;
  private final HttpClient client;
  private final DelayQueue<Message> queue = new DelayQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final Counter sent;
  private final Counter failed;
  private final Counter retried;
  private final Counter dropped;
  private final Thread thread;
  private volatile boolean closed;

  /**
   * @param base the router's address, e.g. {@code http://llm-router:9000}
   * @param timeout for one try, connecting and answering each
   * @param meters gets {@code evenhand.router.messages} with tag {@code result} = sent, failed,
   *     retried, dropped, and the gauge {@code evenhand.router.waiting}
   */
  public HttpRouter(
      URI base, Duration timeout, Duration maxAge, int capacity, MeterRegistry meters) {
    String text = base.toString();
    this.target =
        URI.create(
            (text.endsWith("/") ? text.substring(0, text.length() - 1) : text) + "/v1/yield");
    this.timeout = timeout;
    this.maxAge = maxAge;
    this.capacity = capacity;
    this.client = HttpClient.newBuilder().connectTimeout(timeout).build();
    this.sent = counter(meters, "sent");
    this.failed = counter(meters, "failed");
    this.retried = counter(meters, "retried");
    this.dropped = counter(meters, "dropped");
    meters.gauge("evenhand.router.waiting", waiting);
    this.thread = new Thread(this::deliver, "router");
    this.thread.setDaemon(true);
    this.thread.start();
  }

  private static Counter counter(MeterRegistry meters, String result) {
    return Counter.builder("evenhand.router.messages")
        .description("messages to the LLM router, by what became of them")
        .tag("result", result)
        .register(meters);
  }

  private static final class Message implements Delayed {
    final Yield order;
    final long begun = System.nanoTime();
    long due = begun;
    int tries;

    Message(Yield order) {
      this.order = order;
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.compare(due - ((Message) other).due, 0);
    }
  }

  @Override
  public void yield(Yield order) {
    if (closed || waiting.incrementAndGet() > capacity) {
      waiting.decrementAndGet();
      dropped.increment();
      LOG.warn(
          "The LLM router is not told to {}: {}",
          order.asked(),
          closed ? "the service is ending" : capacity + " messages wait already");
      return;
    }
    queue.add(new Message(order));
  }

  private void deliver() {
    while (!closed) {
      try {
        Message message = queue.take();
        if (attempt(message)) {
          waiting.decrementAndGet();
        } else {
          retried.increment();
          queue.add(message);
        }
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException e) {
        // Nothing that one message does may end the thread that sends the others.
        LOG.error("A message to the router could not be handled", e);
        waiting.decrementAndGet();
        failed.increment();
      }
    }
  }

  /** True when it is done with, one way or the other. */
  private boolean attempt(Message message) throws InterruptedException {
    message.tries++;
    String because;
    try {
      HttpResponse<String> answer =
          client.send(
              HttpRequest.newBuilder(target)
                  .timeout(timeout)
                  .header("Content-Type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofString(body(message.order)))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      int status = answer.statusCode();
      if (status / 100 == 2) {
        sent.increment();
        return true;
      }
      because = "it answered " + status;
      if (status < 500 && status != 408 && status != 429) {
        failed.increment();
        LOG.warn("The LLM router refuses to {}: {}", message.order.asked(), because);
        return true;
      }
    } catch (IOException e) {
      because = said(e);
    }
    if (System.nanoTime() - message.begun > maxAge.toNanos()) {
      failed.increment();
      LOG.warn(
          "The LLM router was not told to {} in {} tries and is not told any more: {}",
          message.order.asked(),
          message.tries,
          because);
      return true;
    }
    if (message.tries == 1) {
      LOG.warn(
          "The LLM router was not told to {}, which is tried again: {}",
          message.order.asked(),
          because);
    }
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(message.tries - 1, 10));
    message.due =
        System.nanoTime() + (pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause).toNanos();
    return false;
  }

  private String said(IOException e) {
    if (e instanceof HttpTimeoutException) {
      return target + " did not answer in " + timeout.toMillis() + " ms";
    }
    if (e instanceof ConnectException) {
      return target + " could not be reached";
    }
    return target + " broke off" + (e.getMessage() == null ? "" : ": " + e.getMessage());
  }

  private static String body(Yield order) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("node", order.node());
    fields.put("tier", order.tier());
    fields.put("gpus", order.gpus());
    fields.put("job_id", order.job());
    return JSON.writeValueAsString(fields);
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
  }
}
