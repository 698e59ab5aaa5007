package evenhand.simulator;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * Jobs that a service has had, as a job set. Zero is midnight UTC before the first submission, so
 * that clock hours stay clock hours. A job is taken to run as long as its last attempt ran, however
 * that ended; one that never ran, or still runs, has no known length and is listed beside the
 * others.
 */
public final class RecordedHistory {
  private RecordedHistory() {}

  /**
   * A job as it was.
   *
   * @param startedAt when its last attempt began, null when it never ran
   * @param endedAt null while it is not over
   */
  public record Seen(
      String id,
      Instant submittedAt,
      Instant startedAt,
      Instant endedAt,
      String account,
      String user,
      int nodes,
      int numGpus,
      String tier,
      long minRuntimeSeconds,
      boolean resumable,
      int priority,
      boolean preemptible) {}

  /** The zero of a job set whose first job was submitted then. */
  public static Instant zero(Instant firstSubmission) {
    return firstSubmission.atZone(ZoneOffset.UTC).truncatedTo(ChronoUnit.DAYS).toInstant();
  }

  /** Microseconds from one moment to another. */
  public static long micros(Instant from, Instant to) {
    return ChronoUnit.MICROS.between(from, to);
  }

  /** The job set. */
  public static Trace trace(List<Seen> oldestFirst, Instant zero) {
    List<TraceJob> jobs = new ArrayList<>();
    List<Trace.Unreadable> unreadable = new ArrayList<>();
    for (Seen job : oldestFirst) {
      try {
        jobs.add(CsvTrace.checked(read(job, zero)));
      } catch (IllegalArgumentException e) {
        unreadable.add(new Trace.Unreadable(0, e.getMessage(), "job_id " + job.id()));
      }
    }
    return new Trace(jobs, unreadable, oldestFirst.size());
  }

  private static TraceJob read(Seen job, Instant zero) {
    if (job.startedAt() == null
        || job.endedAt() == null
        || job.endedAt().isBefore(job.startedAt())) {
      String why =
          job.startedAt() == null
              ? "it never ran"
              : job.endedAt() == null ? "it still runs" : "it has no length";
      throw new IllegalArgumentException(why + ", so how long it runs is not known");
    }
    return new TraceJob(
        job.id(),
        micros(zero, job.submittedAt()),
        job.account(),
        job.user(),
        job.nodes(),
        job.numGpus(),
        job.tier(),
        micros(job.startedAt(), job.endedAt()),
        job.minRuntimeSeconds(),
        job.resumable(),
        job.priority(),
        null,
        job.preemptible(),
        0);
  }
}
