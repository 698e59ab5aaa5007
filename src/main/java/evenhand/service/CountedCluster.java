package evenhand.service;

import evenhand.cycle.Cancellation;
import evenhand.cycle.Cluster;
import evenhand.cycle.Reading;
import evenhand.cycle.Release;
import evenhand.cycle.SeenJob;
import evenhand.cycle.Submission;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A cluster whose calls are counted and timed: {@code evenhand.cluster.calls} with {@code call} and
 * {@code result}, which is how the cluster answered, e.g. {@code done}, {@code refused}, {@code
 * failed}.
 */
final class CountedCluster implements Cluster {
  private final Cluster cluster;
  private final MeterRegistry meters;

  CountedCluster(Cluster cluster, MeterRegistry meters) {
    this.cluster = cluster;
    this.meters = meters;
  }

  /** A call that may fail as readings do. */
  @FunctionalInterface
  private interface Asking<T> {
    T ask() throws ReadingFailed;
  }

  private <T> T asked(String call, Asking<T> asking) throws ReadingFailed {
    long from = System.nanoTime();
    String result = "failed";
    try {
      T answer = asking.ask();
      result =
          answer instanceof Submission
                  || answer instanceof Release
                  || answer instanceof Cancellation
              ? answer.getClass().getSimpleName().toLowerCase(Locale.ROOT)
              : "done";
      return answer;
    } finally {
      meters
          .timer("evenhand.cluster.calls", "call", call, "result", result)
          .record(System.nanoTime() - from, TimeUnit.NANOSECONDS);
    }
  }

  private <T> T told(String call, java.util.function.Supplier<T> asking) {
    try {
      return asked(call, asking::get);
    } catch (ReadingFailed e) {
      throw new IllegalStateException("a call that reads nothing failed as a reading", e);
    }
  }

  @Override
  public Reading read() throws ReadingFailed {
    return asked("read", () -> cluster.read());
  }

  @Override
  public Submission submit(SubmitOrder order) {
    return told("submit", () -> cluster.submit(order));
  }

  @Override
  public Optional<SeenJob> find(Token token, Instant since) throws ReadingFailed {
    return asked("find", () -> cluster.find(token, since));
  }

  @Override
  public Optional<SeenJob> findStarted(Token token, String clusterJob, Instant startedAt)
      throws ReadingFailed {
    return asked("find", () -> cluster.findStarted(token, clusterJob, startedAt));
  }

  @Override
  public Release release(String clusterJob, Token token) {
    return told("release", () -> cluster.release(clusterJob, token));
  }

  @Override
  public Cancellation signal(String clusterJob, Token token) {
    return told("signal", () -> cluster.signal(clusterJob, token));
  }

  @Override
  public Cancellation cancel(String clusterJob, Token token) {
    return told("cancel", () -> cluster.cancel(clusterJob, token));
  }

  @Override
  public Cancellation withdraw(String clusterJob, Token token) {
    return told("withdraw", () -> cluster.withdraw(clusterJob, token));
  }

  @Override
  public String forgotten() {
    return cluster.forgotten();
  }
}
