package evenhand.simulator;

import java.util.List;

/**
 * A job set as read.
 *
 * @param rows how many rows it has, readable or not: {@code jobs} and {@code unreadable} together
 */
public record Trace(List<TraceJob> jobs, List<Unreadable> unreadable, int rows) {
  public Trace {
    jobs = List.copyOf(jobs);
    unreadable = List.copyOf(unreadable);
  }

  /**
   * A row that cannot be a job.
   *
   * @param line where it stands, from 1; 0 when it is not a matter of one line
   * @param reason what is wrong with it, for a person
   * @param text the row as it stands, cut where it is long
   */
  public record Unreadable(int line, String reason, String text) {}
}
