package evenhand.cycle;

import java.time.Instant;

/** The hands: Slurm, or a cluster in memory. Every call is bounded in time. */
public interface Cluster {

  /**
   * Reads the whole inventory and all jobs it still knows, finished ones too.
   *
   * @throws ReadingFailed when any part failed, was empty where it cannot be, or could not be
   *     understood: then nothing may be decided on it
   */
  Reading read() throws ReadingFailed;

  /**
   * Gives one attempt of a job to the cluster, held: it does not run before it is released. So an
   * attempt that was submitted twice runs once, and one whose number was never written down did not
   * run. Never throws: what is not known is an answer too.
   */
  Submission submit(SubmitOrder order);

  /**
   * Looks one attempt up by its token among the jobs submitted at or after {@code since}.
   *
   * @throws ReadingFailed when the cluster did not answer: then it may be there or not
   */
  java.util.Optional<SeenJob> find(Token token, Instant since) throws ReadingFailed;

  /**
   * Looks up an attempt that has run by its number, for one that is called otherwise by now. Number
   * and start together are no other job's. Empty where names cannot change.
   *
   * @throws ReadingFailed when the cluster did not answer: then it may be there or not
   */
  default java.util.Optional<SeenJob> findStarted(Token token, String clusterJob, Instant startedAt)
      throws ReadingFailed {
    return java.util.Optional.empty();
  }

  /**
   * Lets a submitted job run. Releasing one that was released before, or is gone, is done, not an
   * error.
   */
  Release release(String clusterJob, Token token);

  /**
   * Tells a running job, its batch shell too, that it will be ended soon, so that it can save its
   * work (K6). Telling one that does not run, or has ended, is done, not an error.
   */
  Cancellation signal(String clusterJob, Token token);

  /** Ends a job. Cancelling one that has ended already is done, not an error. */
  Cancellation cancel(String clusterJob, Token token);

  /** Ends a job unless it runs; one that runs goes on, and that is done too. */
  Cancellation withdraw(String clusterJob, Token token);

  /** What is said of a job whose end nobody saw, and which the cluster does not know any more. */
  default String forgotten() {
    return "Slurm no longer knows this job; its end was not seen";
  }

  /** A reading that failed: what was asked and what came back, in one sentence. */
  final class ReadingFailed extends Exception {
    private static final long serialVersionUID = 1L;

    public ReadingFailed(String message) {
      super(message);
    }

    public ReadingFailed(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
