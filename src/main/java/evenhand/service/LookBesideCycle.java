package evenhand.service;

import evenhand.cycle.CycleReport;
import evenhand.cycle.FrontDesk;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the queue after each cycle, on a thread of its own, so that nobody who asks why a job
 * waits has to wait for that. One look at a time, and one more at most that is still to be taken:
 * where looks take longer than cycles are apart, some are left out.
 */
final class LookBesideCycle implements BesideCycle, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand.cycle");

  private static final Duration STOP = Duration.ofSeconds(5);

  private final FrontDesk desk;
  private final ThreadPoolExecutor thread =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(1),
          task -> {
            Thread thread = new Thread(task, "look");
            thread.setDaemon(true);
            thread.setPriority(Thread.MIN_PRIORITY);
            return thread;
          });

  LookBesideCycle(FrontDesk desk) {
    this.desk = desk;
  }

  @Override
  public void after(CycleReport report) {
    try {
      desk.isLookedAt();
      thread.execute(this::look);
    } catch (RejectedExecutionException e) {
      LOG.debug("the look after the cycle before is still to be taken");
    }
  }

  /** Looks at once. */
  void look() {
    try {
      desk.look();
    } catch (RuntimeException e) {
      LOG.debug("the queue could not be looked at; whoever asks looks again", e);
    }
  }

  @Override
  public void close() {
    Threads.end(thread, STOP); // a look under way still has its database
  }
}
