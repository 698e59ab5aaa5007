package evenhand.service;

import evenhand.cycle.Desk;
import evenhand.cycle.NewJob;
import java.util.function.ToIntFunction;

/** How many jobs of one user may wait in the queue ({@code evenhand.api.jobs-per-user}). */
final class QueueLimit {
  private final int most;
  private final ToIntFunction<String> waiting;

  /**
   * @param most 0 for any number
   * @param waiting how many jobs of a user wait
   */
  QueueLimit(int most, ToIntFunction<String> waiting) {
    this.most = most;
    this.waiting = waiting;
  }

  /**
   * @throws Desk.Refused {@code TOO_MANY_JOBS}; two submissions at one moment may both pass
   */
  void check(NewJob job) {
    int now = most == 0 ? 0 : waiting.applyAsInt(job.user());
    if (most > 0 && now >= most) {
      throw new Desk.Refused(
          "TOO_MANY_JOBS",
          "user",
          null,
          now
              + " jobs of "
              + job.user()
              + " wait in the queue, and no user may have more than "
              + most
              + " there (evenhand.api.jobs-per-user); submit it again when some have started");
    }
  }
}
