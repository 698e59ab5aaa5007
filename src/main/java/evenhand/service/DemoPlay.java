package evenhand.service;

import evenhand.api.DatabaseAway;
import evenhand.cycle.Desk;
import evenhand.cycle.NewJob;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/** What demonstrations have in common: jobs submitted at set times, on a thread of their own. */
abstract class DemoPlay implements SmartLifecycle {
  static final Logger LOG = LoggerFactory.getLogger("evenhand.demo");
  private static final int FIRST_READING_SECONDS = 60;
  private static final Duration STOP = Duration.ofSeconds(5);

  private final boolean on;
  final Desk desk;
  private ScheduledThreadPoolExecutor thread;
  private volatile boolean running;

  DemoPlay(boolean on, Desk desk) {
    this.on = on;
    this.desk = desk;
  }

  /** Says what happens when, once the first reading of the cluster is in. */
  abstract void play();

  @Override
  public final synchronized void start() {
    running = true;
    thread = new ScheduledThreadPoolExecutor(1, task -> new Thread(task, "demo"));
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    if (on) {
      thread.submit(this::open);
    }
  }

  private void open() {
    for (int i = 0; i < FIRST_READING_SECONDS * 10 && running && desk.placements().isEmpty(); i++) {
      try {
        Thread.sleep(100);
      } catch (InterruptedException e) {
        return;
      }
    }
    play();
  }

  /** Once, so many seconds from now. */
  final void at(int seconds, Runnable what) {
    thread.schedule(what, seconds, TimeUnit.SECONDS);
  }

  /** Again and again, the first time in so many seconds from now. */
  final void every(int firstSeconds, int pauseSeconds, Runnable what) {
    thread.scheduleWithFixedDelay(what, firstSeconds, pauseSeconds, TimeUnit.SECONDS);
  }

  /** Whether fewer jobs than this wait; no where the queue cannot be read just now. */
  final boolean fewerWaitThan(int most) {
    try {
      return desk.queue(most, null).items().size() < most;
    } catch (RuntimeException e) {
      if (!DatabaseAway.is(e)) { // the cycle says that
        LOG.warn("The queue cannot be read: {}", e.getMessage());
      }
      return false;
    }
  }

  /**
   * An example job of one node.
   *
   * @param minimum its minimum run time, seconds
   * @param runs how long it sleeps, seconds
   */
  record Example(
      int after,
      String account,
      String name,
      int gpus,
      String tier,
      String minimumTier,
      int minimum,
      int runs) {}

  /**
   * Submits it, and says so.
   *
   * @param how what is to be said of it
   * @return its id, empty when it was not taken
   */
  final Optional<String> submit(Example example, String how) {
    try {
      Desk.JobView job =
          desk.submit(
              new NewJob(
                  example.name(),
                  example.account(),
                  "demo",
                  null,
                  1,
                  example.gpus(),
                  example.tier(),
                  example.minimumTier(),
                  example.minimum(),
                  true,
                  0,
                  null,
                  "#!/bin/sh\nsleep " + example.runs() + "\n",
                  List.of(),
                  Map.of(),
                  null),
              null);
      LOG.info(
          "{} submits job {}: {}, {} GPU{}, {}",
          example.account(),
          job.id(),
          example.name(),
          example.gpus(),
          example.gpus() == 1 ? "" : "s",
          how);
      return Optional.of(job.id());
    } catch (RuntimeException e) {
      LOG.warn("An example job was not taken: {}", e.getMessage());
      return Optional.empty();
    }
  }

  @Override
  public final synchronized void stop() {
    running = false;
    Threads.end(thread, STOP); // a submission under way still has its database
  }

  @Override
  public final synchronized boolean isRunning() {
    return running;
  }
}
