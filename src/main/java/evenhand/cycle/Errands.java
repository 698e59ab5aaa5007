package evenhand.cycle;

import evenhand.outcomes.Yield;
import evenhand.policy.Policy;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Carries out the orders of the outbox: what cannot be transacted is written down first, and looked
 * up before it is done again.
 *
 * <p>An order to submit is marked as begun before sbatch is called. One that is found begun, after
 * a crash or an answer that never came, is in doubt: the cluster is asked for its token, the job
 * found is adopted, and only when there is none, after a pause, it is submitted again.
 *
 * <p>What was submitted is held until its number is written down, and only then released. So a
 * submission that arrives late, from a process that was frozen or an sbatch that outlived its own,
 * makes a job that never runs; {@link Following} finds it and it is withdrawn.
 */
final class Errands {
  private static final int RECORDING_TRIES = 5;

  /** Between tries to tell a job that it has to leave: its grace time runs. */
  private static final Duration SIGNAL_PAUSE = Duration.ofSeconds(5);

  private final Store store;
  private final Cluster cluster;
  private final Router router;
  private final Supplier<Policy> policy;
  private final Clock clock;
  private final CycleSettings settings;
  private final Steps steps;

  Errands(
      Store store,
      Cluster cluster,
      Router router,
      Supplier<Policy> policy,
      Clock clock,
      CycleSettings settings,
      Steps steps) {
    this.store = store;
    this.cluster = cluster;
    this.router = router;
    this.policy = policy;
    this.clock = clock;
    this.settings = settings;
    this.steps = steps;
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  /**
   * Carries out what is due, yields first; gives the number of orders it did something about.
   *
   * @param tried how many orders of each kind this cycle has tried, counted on here
   */
  int run(List<String> notes, Map<Order.Kind, Integer> tried) {
    List<Order> due = store.due(now(), settings.ordersPerCycle());
    tellRouter(due.stream().filter(o -> o.kind() == Order.Kind.YIELD).toList());
    int done = (int) due.stream().filter(o -> o.kind() == Order.Kind.YIELD).count();
    int failures = 0;
    for (Order order : due) {
      if (order.kind() == Order.Kind.YIELD) {
        continue;
      }
      steps.reached(Steps.Step.BEFORE_ORDER);
      if (failures >= settings.failuresPerCycle()) {
        notes.add("the cluster takes no orders; the others wait for the next cycle");
        break;
      }
      if (tried.merge(order.kind(), 1, Integer::sum) > settings.ordersPerCycle()) {
        continue;
      }
      boolean fine =
          switch (order.kind()) {
            case SUBMIT -> submit(order, notes);
            case SIGNAL -> signal(order, notes);
            default -> cancel(order, notes);
          };
      failures = fine ? 0 : failures + 1;
      done++;
    }
    return done;
  }

  private void tellRouter(List<Order> yields) {
    if (yields.isEmpty()) {
      return;
    }
    Changes changes = Changes.ofCycle(now());
    for (Order order : yields) {
      router.yield(
          new Yield(Long.toString(order.token().job()), order.node(), order.tier(), order.gpus()));
      changes.put(order.closed(now(), "handed over"));
    }
    commit(changes);
  }

  /** False when somebody has changed it meanwhile: then the next cycle sees what is to be done. */
  private boolean commit(Changes changes) {
    try {
      store.commit(changes);
      return true;
    } catch (Overtaken e) {
      return false;
    }
  }

  /** The job and its attempt while that is the newest and open. */
  private Optional<Store.JobRecord> current(Order order) {
    return store
        .job(order.token().job())
        .filter(
            r ->
                r.attempt() != null
                    && r.attempt().attempt() == order.token().attempt()
                    && r.attempt().endedAt() == null);
  }

  private void close(Order order, String because) {
    Changes changes = Changes.ofCycle(now());
    changes.put(order.closed(now(), because));
    commit(changes);
  }

  private void later(Order order, Duration pause, boolean inDoubt, String because) {
    Changes changes = Changes.ofCycle(now());
    changes.put(order.later(now().plus(pause), inDoubt, because));
    commit(changes);
  }

  /** True unless the cluster did not take orders. */
  private boolean submit(Order order, List<String> notes) {
    Optional<Store.JobRecord> found = current(order);
    if (found.isEmpty()) {
      close(order, "the attempt has ended");
      return true;
    }
    Attempt attempt = found.get().attempt();
    if (attempt.clusterJob() != null) {
      return release(order, attempt, notes);
    }
    String id = "job " + order.token().job();
    if (order.inDoubt()) {
      Optional<SeenJob> there;
      try {
        there = cluster.find(order.token(), since(order));
      } catch (Cluster.ReadingFailed e) {
        later(
            order,
            settings.pauseAfter(order.tries()),
            true,
            "cannot look it up: " + e.getMessage());
        notes.add(id + " may be on the cluster and could not be looked up: " + e.getMessage());
        return false;
      }
      if (there.isPresent()) {
        notes.add(id + " was found on the cluster as " + there.get().clusterJob() + " and adopted");
        return adopt(order, there.get().clusterJob(), notes);
      }
    }
    if (attempt.cancelBy() != null) {
      end(order, JobState.CANCELLED, "cancelled by " + attempt.cancelBy(), notes);
      return true;
    }
    if (attempt.recalled() != null || attempt.preemptFor() != null) {
      requeue(
          order,
          attempt.recalled() != null ? attempt.recalled() : "it made room before it had started",
          notes);
      return true;
    }
    boolean spent =
        order.tries() >= settings.maxTries()
            || order.tries() > 0
                && Duration.between(order.createdAt(), now()).compareTo(settings.giveUpAfter()) > 0;
    if (spent) {
      requeue(order, "the cluster did not take it: " + order.answer(), notes);
      return false;
    }
    SubmitOrder what;
    try {
      what = store.submitOrder(order.token());
    } catch (IllegalArgumentException e) {
      end(order, JobState.FAILED, "cannot be submitted: " + e.getMessage(), notes);
      return true;
    }
    Order begun = order.begun(now(), now().plus(settings.pauseAfter(order.tries() + 1)));
    Changes changes = Changes.ofCycle(now());
    changes.put(begun);
    if (!commit(changes)) {
      return true;
    }
    steps.reached(Steps.Step.AFTER_ORDER_BEGUN);
    Submission answer = cluster.submit(what);
    steps.reached(Steps.Step.AFTER_SBATCH);
    if (answer instanceof Submission.Submitted submitted) {
      return adopt(begun, submitted.clusterJob(), notes);
    }
    if (answer instanceof Submission.Refused refused) {
      end(begun, JobState.FAILED, "refused by Slurm: " + refused.because(), notes);
      return true;
    }
    if (answer instanceof Submission.NotSubmitted not) {
      notes.add(id + " was not submitted: " + not.because());
      later(begun, settings.pauseAfter(begun.tries()), false, not.because());
      return false;
    }
    String because = ((Submission.Unknown) answer).because();
    notes.add(id + ": it is not known whether it was submitted: " + because);
    later(begun, settings.pauseAfter(begun.tries()), true, because);
    return false;
  }

  /** Writes down something about the order's attempt, anew when the job changed meanwhile. */
  private void record(Order order, java.util.function.BiConsumer<Changes, Store.JobRecord> what) {
    for (int i = 0; i < RECORDING_TRIES; i++) {
      Optional<Store.JobRecord> current = current(order);
      Changes changes = Changes.ofCycle(now());
      if (current.isEmpty()) {
        close(order, "the attempt has ended");
        return;
      }
      what.accept(changes, current.get());
      if (commit(changes)) {
        return;
      }
    }
    throw new Overtaken("job " + order.token().job() + " changed again and again");
  }

  /** Not before it was submitted, by this host's clock, which may have been set back since. */
  private Instant since(Order order) {
    Instant first = order.createdAt();
    if (order.triedAt() != null && order.triedAt().isBefore(first)) {
      first = order.triedAt();
    }
    return first.minus(settings.slack());
  }

  /** Writes its number down and lets it run; true unless the cluster did not take orders. */
  private boolean adopt(Order order, String clusterJob, List<String> notes) {
    Order known = order.later(now(), false, "on the cluster as " + clusterJob + ", held");
    Attempt[] adopted = new Attempt[1];
    record(
        order,
        (changes, r) -> {
          adopted[0] = r.attempt().known(clusterJob);
          changes.put(known);
          changes.put(r.job(), adopted[0]);
        });
    steps.reached(Steps.Step.AFTER_NUMBER);
    return adopted[0] == null || release(known, adopted[0], notes);
  }

  /** Lets an attempt run whose number is written down; may be done more than once. */
  private boolean release(Order order, Attempt attempt, List<String> notes) {
    if (attempt.leaving()) {
      close(order, "on the cluster as " + attempt.clusterJob() + ", to be ended there");
      return true;
    }
    Release answer = cluster.release(attempt.clusterJob(), order.token());
    steps.reached(Steps.Step.AFTER_RELEASE);
    if (answer instanceof Release.Failed failed) {
      String id = "job " + order.token().job();
      notes.add(id + " was submitted and could not be released: " + failed.because());
      if (Duration.between(order.createdAt(), now()).compareTo(settings.giveUpAfter()) > 0) {
        recall(order, "it could not be released on the cluster: " + failed.because());
      } else {
        later(order, settings.pauseAfter(order.tries()), false, failed.because());
      }
      return false;
    }
    close(order, "submitted as " + attempt.clusterJob());
    steps.reached(Steps.Step.AFTER_RELEASE_RECORDED);
    return true;
  }

  private void recall(Order order, String because) {
    record(
        order,
        (changes, r) -> {
          changes.put(order.closed(now(), because));
          changes.put(r.job().to(r.job().state(), because), r.attempt().toRecall(because));
          changes.write(Order.cancel(order.token(), now()));
        });
  }

  /** An attempt that never reached the cluster, and its job, are over. */
  private void end(Order order, JobState how, String because, List<String> notes) {
    notes.add("job " + order.token().job() + ": " + because);
    record(
        order,
        (changes, r) -> {
          changes.put(order.closed(now(), because));
          StoredJob job = settled(changes, r, how.name());
          changes.put(job.over(how, because, now(), null), r.attempt().over(how, null, now()));
          changes.finish(order.token(), null, because);
        });
  }

  private void requeue(Order order, String because, List<String> notes) {
    if (order.token().attempt() >= settings.maxAttempts()) {
      end(order, JobState.FAILED, because, notes);
      return;
    }
    notes.add("job " + order.token().job() + " goes back to the queue: " + because);
    record(
        order,
        (changes, r) -> {
          changes.put(order.closed(now(), because));
          StoredJob job = settled(changes, r, "REQUEUED");
          changes.put(
              job.queuedAgain(job.asks().minimumTierSortOrder(), job.nodeFailures(), null, because),
              r.attempt().over(JobState.FAILED, null, now()));
          changes.finish(order.token(), null, because);
        });
  }

  private StoredJob settled(Changes changes, Store.JobRecord r, String how) {
    StoredJob job = r.job();
    return changes.settle(
        job, r.attempt().attempt(), policy.get().settle(job.endedUnrun(how), now()));
  }

  /**
   * Tells a job to save its work (K6). Should that fail again and again, it is ended all the same
   * when its grace time is over. True unless the cluster did not take orders.
   */
  private boolean signal(Order order, List<String> notes) {
    Optional<Store.JobRecord> found = current(order);
    if (found.isEmpty() || found.get().attempt().clusterJob() == null) {
      close(order, "the attempt does not run");
      return true;
    }
    Attempt attempt = found.get().attempt();
    if (order.tries() > 0 && attempt.endBy() != null && !now().isBefore(attempt.endBy())) {
      close(order, "its grace time is over: " + order.answer());
      return true;
    }
    Order begun = order.begun(now(), now().plus(SIGNAL_PAUSE));
    Changes changes = Changes.ofCycle(now());
    changes.put(begun);
    if (!commit(changes)) {
      return true;
    }
    Cancellation answer = cluster.signal(attempt.clusterJob(), order.token());
    if (answer instanceof Cancellation.Failed failed) {
      later(begun, SIGNAL_PAUSE, true, failed.because());
      notes.add("job " + order.token().job() + " could not be told to leave: " + failed.because());
      return false;
    }
    close(begun, "told to leave");
    return true;
  }

  /** True unless the cluster did not take orders. */
  private boolean cancel(Order order, List<String> notes) {
    Optional<Store.JobRecord> found = current(order);
    if (found.isEmpty()) {
      close(order, "the attempt has ended");
      return true;
    }
    Attempt attempt = found.get().attempt();
    if (attempt.clusterJob() == null) {
      later(order, Duration.ofSeconds(5), false, "its number on the cluster is not known yet");
      return true;
    }
    if (order.tries() >= settings.maxTries()) {
      close(order, "given up: " + order.answer());
      notes.add(
          "job "
              + order.token().job()
              + " could not be ended on the cluster in "
              + order.tries()
              + " tries: "
              + order.answer());
      return true;
    }
    Order begun = order.begun(now(), now().plus(settings.pauseAfter(order.tries() + 1)));
    Changes changes = Changes.ofCycle(now());
    changes.put(begun);
    if (!commit(changes)) {
      return true;
    }
    steps.reached(Steps.Step.AFTER_CANCEL_BEGUN);
    // One that was only taken back because it did not start goes on if it has started after all.
    boolean unlessItRuns =
        attempt.recalled() != null && attempt.cancelBy() == null && attempt.preemptFor() == null;
    Cancellation answer =
        unlessItRuns
            ? cluster.withdraw(attempt.clusterJob(), order.token())
            : cluster.cancel(attempt.clusterJob(), order.token());
    steps.reached(Steps.Step.AFTER_SCANCEL);
    if (answer instanceof Cancellation.Failed failed) {
      later(begun, settings.pauseAfter(begun.tries()), true, failed.because());
      notes.add("job " + order.token().job() + " could not be cancelled: " + failed.because());
      return false;
    }
    // It stays open until the cluster shows the end: a job may outlive the first order to end it.
    later(begun, settings.pauseAfter(begun.tries()), false, "taken by the cluster");
    steps.reached(Steps.Step.AFTER_CANCEL_RECORDED);
    return true;
  }
}
