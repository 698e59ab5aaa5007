package evenhand.api;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes bodies in as they arrive and lets a request go on when its body is whole. Until then it
 * holds no thread, so that clients that send slowly, or half, keep nobody else waiting; what they
 * hold is a little memory, and that is bounded.
 */
final class WholeBody implements Filter {
  /** Attribute of a request: its body, or the {@link Problem} that it is. */
  static final String TAKEN = "evenhand.body";

  private static final Logger LOG = LoggerFactory.getLogger(WholeBody.class);
  private static final long MOST_HELD = 64L << 20;
  private static final long MOST_DISCARDED = 16L << 20;

  private final int most;
  private final Duration within;
  private final boolean onlyWithToken;
  private final AtomicLong held = new AtomicLong();

  /**
   * @param most bytes of a body; of a longer one the rest is read and thrown away, so that its
   *     client hears why
   * @param within how long a client may take for the whole of it
   */
  WholeBody(int most, Duration within) {
    this(most, within, false);
  }

  /**
   * @param onlyWithToken whether bodies of requests that have no token are thrown away as they
   *     come: these are refused, and strangers shall not fill the memory there is for bodies
   */
  WholeBody(int most, Duration within, boolean onlyWithToken) {
    this.most = most;
    this.within = within;
    this.onlyWithToken = onlyWithToken;
  }

  @Override
  public void doFilter(ServletRequest plain, ServletResponse answer, FilterChain chain)
      throws IOException, ServletException {
    HttpServletRequest request = (HttpServletRequest) plain;
    if (Body.isAbsent(request)) {
      chain.doFilter(request, answer);
      return;
    }
    AsyncContext async = request.startAsync(request, answer);
    async.setTimeout(within.toMillis());
    Taking taking = new Taking(request, (HttpServletResponse) answer, async);
    async.addListener(taking);
    request.getInputStream().setReadListener(taking);
  }

  /** One body on its way in. Its calls come one after another, whatever thread they are on. */
  private final class Taking implements ReadListener, AsyncListener {
    private final HttpServletRequest request;
    private final HttpServletResponse answer;
    private final AsyncContext async;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private final byte[] part = new byte[8192];
    private final int kept;
    private long length;
    private boolean done;

    Taking(HttpServletRequest request, HttpServletResponse answer, AsyncContext async) {
      this.request = request;
      this.answer = answer;
      this.async = async;
      boolean stranger = onlyWithToken && request.getHeader("Authorization") == null;
      this.kept = stranger ? 0 : most;
    }

    @Override
    public synchronized void onDataAvailable() {
      try {
        ServletInputStream in = request.getInputStream();
        while (!done && in.isReady() && !in.isFinished()) {
          int read = in.read(part);
          if (read > 0) {
            take(read);
          }
        }
      } catch (IOException e) {
        broken(e);
      }
    }

    private void take(int read) {
      length += read;
      if (length > kept) {
        free();
        if (length > MOST_DISCARDED) {
          hangUp();
          goOn(Body.tooLong(most));
        }
      } else if (held.addAndGet(read) > MOST_HELD) {
        held.addAndGet(-read);
        refuse(
            Problem.of(
                503,
                "BUSY",
                "Too many bodies are on their way",
                "Nothing was changed. Send it again in a moment."));
      } else {
        body.write(part, 0, read);
      }
    }

    @Override
    public synchronized void onAllDataRead() {
      if (!done) {
        goOn(length > kept ? Body.tooLong(most) : body.toByteArray());
      }
    }

    @Override
    public synchronized void onError(Throwable e) {
      broken(e);
    }

    private void broken(Throwable e) {
      LOG.debug("a body did not arrive", e);
      if (!done) {
        refuse(Problems.unreadBody(e));
      }
    }

    private void goOn(Object taken) {
      done = true;
      free();
      request.setAttribute(TAKEN, taken);
      async.dispatch();
    }

    /** Answers without waiting for the rest. */
    private void refuse(Problem problem) {
      done = true;
      free();
      hangUp();
      try {
        problem.writeTo(request, answer, "Connection", "close");
      } catch (IOException | IllegalStateException e) {
        LOG.debug("nobody waits for the answer", e);
      }
      async.complete();
    }

    private void hangUp() {
      if (request.getAttribute(WebServer.HANG_UP) instanceof Runnable hangUp) {
        hangUp.run();
      }
    }

    private void free() {
      held.addAndGet(-body.size());
      body.reset();
    }

    @Override
    public synchronized void onTimeout(AsyncEvent event) {
      if (!done) {
        refuse(Problems.tooSlow());
      }
    }

    @Override
    public void onComplete(AsyncEvent event) {
      // nothing is left to do
    }

    @Override
    public synchronized void onError(AsyncEvent event) {
      if (event.getThrowable() != null && !done) {
        broken(event.getThrowable());
      }
    }

    @Override
    public void onStartAsync(AsyncEvent event) {
      // the route itself has nothing that goes on later
    }
  }
}
