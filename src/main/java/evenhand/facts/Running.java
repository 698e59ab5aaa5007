package evenhand.facts;

import java.time.Instant;
import java.util.List;

/**
 * A job that holds GPUs, from the moment it is dispatched.
 *
 * @param protectedUntil until when nothing may preempt it (K2)
 * @param allocated whether its time is charged to its account's budget (N5)
 */
public record Running(
    String job,
    String account,
    List<Share> on,
    Instant startedAt,
    Instant protectedUntil,
    boolean allocated,
    boolean resumable) {
  public Running {
    on = List.copyOf(on);
  }
}
