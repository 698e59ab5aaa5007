package evenhand.service;

import evenhand.api.DatabaseAway;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleReport;
import evenhand.cycle.Store;
import evenhand.facts.Share;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/** Runs cycles, one at a time on one thread, each interval and whenever one is asked for. */
final class CycleTimer implements SmartLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand.cycle");
  private static final Duration BETWEEN_FORGETTING = Duration.ofHours(1);
  private static final Duration FIRST = Duration.ofSeconds(15);
  private static final Duration STOP = Duration.ofSeconds(30);

  private final Cycle cycle;
  private final Store store;
  private final Settings settings;
  private final CycleMeters meters;
  private final List<BesideCycle> beside;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "cycle"));
  private final CountDownLatch first = new CountDownLatch(1);
  private volatile boolean running;
  private volatile Last last = new Last(null, null, null, 0);
  private Instant forgotten = Instant.MIN;

  /** Of the thread: whether the database was found away, and whether so since the last look. */
  private boolean databaseAway;

  private boolean databaseMissed;

  /**
   * @param report of the last cycle that came to its end
   * @param failure what was thrown out of the last one, null when nothing was
   * @param goodReadingAt when the last reading that could be relied on began
   * @param undecided how many cycles in a row have decided nothing, where this process decides
   */
  record Last(CycleReport report, String failure, Instant goodReadingAt, int undecided) {}

  /**
   * @param beside called before and after each cycle, in this order
   */
  CycleTimer(
      Cycle cycle, Store store, Settings settings, CycleMeters meters, List<BesideCycle> beside) {
    this.beside = List.copyOf(beside);
    this.cycle = cycle;
    this.store = store;
    this.settings = settings;
    this.meters = meters;
  }

  @Override
  public void start() {
    running = true;
    long millis = settings.cycle().interval().toMillis();
    if (settings.cycle().enabled()) {
      thread.scheduleWithFixedDelay(this::tick, 0, millis, TimeUnit.MILLISECONDS);
      try {
        if (!first.await(FIRST.toSeconds(), TimeUnit.SECONDS)) {
          LOG.warn("The first cycle takes longer than {} s; requests are taken", FIRST.toSeconds());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    } else {
      LOG.info("The cycle is paused (evenhand.cycle.enabled=false): nothing is started");
      thread.scheduleWithFixedDelay(this::look, millis, millis, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void stop() {
    running = false;
    if (!Threads.end(thread, STOP)) {
      LOG.warn("The cycle under way did not end in {} s", STOP.toSeconds());
    }
  }

  /**
   * Before the web server, so that whoever is let in finds the cluster read; and after it, at the
   * end.
   */
  @Override
  public int getPhase() {
    return SmartLifecycle.DEFAULT_PHASE - 4096;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  Last last() {
    return last;
  }

  /** Whether this process has the right to decide, as far as its last cycle knows. */
  boolean decides() {
    Last now = last;
    return now.report != null
        && now.failure == null
        && now.report.result() != CycleReport.Result.STANDBY;
  }

  /** Runs one whole cycle, after the one under way if there is one. */
  CycleReport run() {
    try {
      return thread.submit(this::one).get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the cycle", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  private void tick() {
    try {
      one();
    } catch (RuntimeException | Error e) {
      // The database is away, as a rule: the next cycle may find it again. Errors too, for what is
      // thrown here ends the timer for good, and nothing would be decided any more.
    } finally {
      first.countDown();
    }
  }

  private CycleReport one() {
    CycleReport report;
    before();
    try {
      report = cycle.run();
    } catch (RuntimeException | Error e) {
      boolean away = DatabaseAway.is(e);
      if (away) {
        tellAway(e);
      } else if (last.failure == null) {
        LOG.error("The cycle failed; nothing was decided", e);
      }
      String failure = away ? DatabaseAway.sentence(e) : String.valueOf(e.getMessage());
      last = new Last(last.report, failure, last.goodReadingAt, last.undecided + 1);
      meters.failed(last.undecided);
      throw e;
    }
    tellBack();
    tell(report);
    boolean decides =
        report.result() == CycleReport.Result.DECIDED
            || report.result() == CycleReport.Result.STANDBY;
    last =
        new Last(
            report,
            null,
            report.readingAt() == null ? last.goodReadingAt : report.readingAt(),
            decides ? 0 : last.undecided + 1);
    meters.ran(report, last.undecided);
    for (BesideCycle one : beside) {
      guarded(() -> one.after(report));
    }
    forget(report);
    return report;
  }

  private void before() {
    beside.forEach(one -> guarded(one::before));
  }

  /** In place of a cycle, while it is paused. */
  private void look() {
    databaseMissed = false;
    before();
    if (!databaseMissed) {
      tellBack();
    }
  }

  /** What goes wrong beside a cycle does not keep it from deciding. */
  private void guarded(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      if (DatabaseAway.is(e)) {
        tellAway(e);
      } else {
        LOG.warn("Beside the cycle: {}", e.toString());
      }
    }
  }

  private void tellAway(Throwable e) {
    databaseMissed = true;
    if (!databaseAway) {
      databaseAway = true;
      LOG.error(
          "Nothing is decided and requests are answered 503: {}. It is tried again each cycle",
          DatabaseAway.sentence(e));
    }
  }

  private void tellBack() {
    if (databaseAway) {
      databaseAway = false;
      LOG.info("The database can be reached again");
    }
  }

  private void forget(CycleReport report) {
    if (report.result() == CycleReport.Result.DECIDED
        && !report.at().isBefore(forgotten == Instant.MIN ? report.at() : forgotten)) {
      store.forget(settings.keep(), report.at());
      beside.forEach(one -> guarded(() -> one.forget(settings.keep(), report.at())));
      forgotten = report.at().plus(BETWEEN_FORGETTING);
    }
  }

  /** A change of the result is told once; what was decided each time. */
  private void tell(CycleReport report) {
    CycleReport before = last.report;
    boolean changed = before == null || last.failure != null || before.result() != report.result();
    if (changed && report.result() == CycleReport.Result.DECIDED && before != null) {
      LOG.info("The cycle decides again");
    } else if (changed && report.result() != CycleReport.Result.DECIDED) {
      LOG.warn("Nothing is decided ({}): {}", report.result(), report.because());
    }
    report.notes().forEach(LOG::warn);
    for (CycleReport.Ending ending : report.endings()) {
      LOG.atInfo()
          .addKeyValue("job", ending.job())
          .addKeyValue("account", ending.account())
          .log(
              "Job {} {}{}; {} is charged {} TFLOP-s",
              ending.job(),
              ending.state().ended() ? "ended: " + ending.state() : "is queued again",
              ending.because() == null ? "" : ", " + ending.because(),
              ending.account(),
              String.format(Locale.ROOT, "%,.1f", ending.chargedTflopSeconds()));
    }
    if (report.decision() != null) {
      for (Decided decided : report.decision().outcomes()) {
        if (!(decided.outcome() instanceof Wait)) {
          LOG.atInfo()
              .addKeyValue("job", decided.outcome().job())
              .addKeyValue("clause", decided.rule())
              .addKeyValue("decision", report.decisionId())
              .log("{} [{}]", sentence(decided.outcome()), decided.rule());
        }
      }
    }
  }

  private static String sentence(Outcome outcome) {
    if (outcome instanceof Start start) {
      return "Job "
          + start.job()
          + " starts on "
          + start.on().stream().map(CycleTimer::place).collect(Collectors.joining(", "));
    }
    if (outcome instanceof Reserve r) {
      return "Job " + r.job() + " reserves " + place(new Share(r.node(), r.tier(), r.gpus()));
    }
    if (outcome instanceof Absorb a) {
      return "Job " + a.job() + " adds " + place(new Share(a.node(), a.tier(), a.gpus()));
    }
    if (outcome instanceof Release r) {
      return "Job " + r.job() + " gives back " + place(new Share(r.node(), r.tier(), r.gpus()));
    }
    if (outcome instanceof Charge c) {
      return String.format(
          Locale.ROOT,
          "Account %s is charged %,.1f TFLOP-s for job %s",
          c.account(),
          c.tflopSeconds(),
          c.job());
    }
    if (outcome instanceof Preempt p) {
      return "Job "
          + p.job()
          + (p.forJob() == null ? " leaves its node" : " makes room for job " + p.forJob());
    }
    if (outcome instanceof Claimed c) {
      return "Job "
          + c.job()
          + " claims "
          + c.on().stream().map(CycleTimer::place).collect(Collectors.joining(", "))
          + " and has all of them not later than "
          + c.readyAt();
    }
    return "Job " + outcome.job() + " waits: " + ((Wait) outcome).message();
  }

  private static String place(Share share) {
    return share.gpus() + " x " + share.tier().name() + " of " + share.node();
  }
}
