package evenhand.api;

import evenhand.access.Tokens;
import evenhand.cycle.events.Event;
import evenhand.cycle.events.EventFeed;
import evenhand.cycle.events.EventFilter;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.SmartLifecycle;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * Clients that are told events as they happen. One thread serves them all: it looks into the log
 * twice a second and gives each client what it has not been told, as much as the client takes;
 * nothing here waits for a client. One that takes nothing for {@link #PATIENCE} is hung up on, and
 * goes on later from the last id it has. One whose token is no longer good is hung up on as well.
 */
@Component
class EventStreams implements SmartLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(EventStreams.class);
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);
  static final Duration PATIENCE = Duration.ofSeconds(30);

  /** For so long at most somebody listens on whose token has expired or was revoked. */
  private static final Duration TRUST = Duration.ofSeconds(5);

  /** Events read for a client at once, and bytes that may wait for it before it is given more. */
  private static final int PART = 200;

  private static final int MOST_WAITING = 64 << 10;

  private final EventFeed feed;
  private final int most;
  private final Access access;
  private final Set<Client> clients = ConcurrentHashMap.newKeySet();
  private ScheduledExecutorService thread;
  private volatile boolean running;

  EventStreams(
      EventFeed feed, @Value("${evenhand.events.max-clients:200}") int most, Access access) {
    this.feed = feed;
    this.most = most;
    this.access = access;
  }

  @Override
  public synchronized void start() {
    thread =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread made = new Thread(task, "events");
              made.setDaemon(true);
              return made;
            });
    long pause = BETWEEN_LOOKS.toMillis();
    thread.scheduleWithFixedDelay(this::look, pause, pause, TimeUnit.MILLISECONDS);
    running = true;
  }

  /** Before the web server waits for requests under way: these would never end. */
  @Override
  public synchronized void stop() {
    running = false;
    thread.shutdownNow();
    clients.forEach(Client::end);
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /**
   * Begins to tell a client.
   *
   * @param since id of the last event it knows; null, or one there is not yet, for what happens
   *     from now on
   * @param ticks whether it wants to know of every cycle too
   * @throws Refusal 503 when there are as many clients as there may be, or the service ends
   */
  void open(
      HttpServletRequest request,
      HttpServletResponse response,
      EventFilter filter,
      Long since,
      boolean ticks)
      throws IOException {
    if (!running || clients.size() >= most) {
      throw new Refusal(
          Problem.of(
              503,
              "BUSY",
              "No more can listen",
              running
                  ? most + " clients listen already; try again later, or ask for a list"
                  : "The service is ending."));
    }
    // A client from before a backup was put back knows numbers that are still to come.
    long newest = feed.look();
    long from = since == null ? newest : Math.min(since, newest);
    response.setContentType("text/event-stream");
    response.setCharacterEncoding("UTF-8");
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Accel-Buffering", "no");
    AsyncContext async = request.startAsync();
    async.setTimeout(0);
    String token = access.on() ? request.getHeader(HttpHeaders.AUTHORIZATION) : null;
    Client client = new Client(async, response.getOutputStream(), filter, from, ticks, token);
    async.addListener(client);
    clients.add(client);
    client.begin();
  }

  private void look() {
    try {
      if (clients.isEmpty()) {
        return;
      }
      feed.look();
    } catch (RuntimeException e) {
      LOG.debug("events cannot be read just now", e);
    }
    for (Client client : clients) {
      try {
        client.letGoWhoIsNotKnown();
        client.serve();
      } catch (RuntimeException e) {
        LOG.debug("a client was not told", e);
      }
    }
  }

  /** One client. Its calls come from the thread here and from the web server's, one at a time. */
  private final class Client implements WriteListener, AsyncListener {
    private final AsyncContext async;
    private final ServletOutputStream out;
    private final EventFilter filter;
    private final boolean ticks;
    private final String token;
    private final ArrayDeque<byte[]> waiting = new ArrayDeque<>();
    private long after;
    private long cycles = feed.cycles();
    private int bytes;
    private boolean writable;
    private boolean over;
    private long moved = System.nanoTime();
    private long told = System.nanoTime();
    private long known = System.nanoTime();

    Client(
        AsyncContext async,
        ServletOutputStream out,
        EventFilter filter,
        long after,
        boolean ticks,
        String token) {
      this.async = async;
      this.out = out;
      this.filter = filter;
      this.after = after;
      this.ticks = ticks;
      this.token = token;
    }

    synchronized void begin() {
      put("retry: 2000\nid: " + after + "\nevent: ready\ndata: {\"last\":\"" + after + "\"}\n\n");
      out.setWriteListener(this);
    }

    /** Asked again now and then; while the database is away, whoever was known stays known. */
    void letGoWhoIsNotKnown() {
      if (token == null || System.nanoTime() - known < TRUST.toNanos()) {
        return;
      }
      known = System.nanoTime();
      try {
        if (access.recognise(token).isAny(Rights.of("GET", "/v1/events"))) {
          return;
        }
      } catch (Tokens.NotKnown e) {
        LOG.debug("somebody listened whose token is not good any more", e);
      }
      end();
    }

    synchronized void serve() {
      if (over) {
        return;
      }
      if (bytes > 0 && System.nanoTime() - moved > PATIENCE.toNanos()) {
        LOG.info("A client that took no events for {} s is hung up on", PATIENCE.toSeconds());
        end();
        return;
      }
      if (bytes < MOST_WAITING) {
        EventFeed.Part part = feed.after(after, filter, PART);
        part.events().forEach(this::put);
        after = part.next();
        long now = feed.cycles();
        if (ticks && now != cycles) {
          cycles = now;
          put("event: cycle\ndata: {}\n\n");
        }
      }
      if (bytes == 0 && System.nanoTime() - told > HEARTBEAT.toNanos()) {
        put(": still here\n\n");
      }
      write();
    }

    private void put(Event event) {
      put(
          "id: "
              + event.id()
              + "\nevent: "
              + event.kind().word()
              + "\ndata: "
              + JSON.writeValueAsString(event.fields())
              + "\n\n");
    }

    private void put(String text) {
      byte[] part = text.getBytes(StandardCharsets.UTF_8);
      waiting.add(part);
      bytes += part.length;
    }

    private void write() {
      if (!writable || over) {
        return;
      }
      try {
        boolean some = false;
        while (out.isReady()) {
          byte[] part = waiting.poll();
          if (part == null) {
            if (some) {
              out.flush();
            }
            return;
          }
          bytes -= part.length;
          out.write(part);
          some = true;
          moved = System.nanoTime();
          told = moved;
        }
      } catch (IOException | IllegalStateException e) {
        onError(e);
      }
    }

    @Override
    public synchronized void onWritePossible() {
      writable = true;
      write();
    }

    synchronized void end() {
      if (!over) {
        over = true;
        clients.remove(this);
        try {
          async.complete();
        } catch (IllegalStateException e) {
          LOG.debug("it was over already", e);
        }
      }
    }

    @Override
    public void onError(Throwable e) {
      LOG.debug("a client of events is gone", e);
      end();
    }

    @Override
    public void onError(AsyncEvent event) {
      end();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
      end();
    }

    @Override
    public synchronized void onComplete(AsyncEvent event) {
      over = true;
      clients.remove(this);
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
      // it begins once
    }
  }
}
