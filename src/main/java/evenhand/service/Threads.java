package evenhand.service;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

/** How threads of the service end. */
final class Threads {
  private Threads() {}

  /**
   * Takes no more work and lets what is under way end.
   *
   * @param atMost how long that may take; then it is interrupted
   * @return whether it ended by itself
   */
  static boolean end(ExecutorService thread, Duration atMost) {
    thread.shutdown();
    try {
      if (thread.awaitTermination(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
        return true;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    thread.shutdownNow();
    return false;
  }
}
