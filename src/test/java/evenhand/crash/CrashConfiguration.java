package evenhand.crash;

import evenhand.cycle.Steps;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Added to a service under test by {@code --spring.main.sources}: ends its process at the step that
 * the system property {@code evenhand.crash.at} names, {@code STEP:n} for the n-th time it is
 * reached. Nothing is flushed, closed or told to anybody, as with SIGKILL. With {@code
 * STEP:n:freeze} the process stops there as with SIGSTOP, and goes on when it is woken; with {@code
 * STEP:n:pause} only the thread that came there stays for {@link #PAUSE_MILLIS}.
 */
@Configuration(proxyBeanMethods = false)
public class CrashConfiguration {
  /** What is written where a pause begins. */
  static final String PAUSED = "paused at ";

  static final int PAUSE_MILLIS = 5000;
  private static final int SIGKILL = 128 + 9;

  @Bean
  Steps crashAt() {
    String at = System.getProperty("evenhand.crash.at", "");
    if (at.isEmpty()) {
      return Steps.UNWATCHED;
    }
    String[] parts = at.split(":");
    Steps.Step where = Steps.Step.valueOf(parts[0]);
    AtomicInteger left = new AtomicInteger(Integer.parseInt(parts[1]));
    return step -> {
      if (step == where && left.decrementAndGet() == 0) {
        if (parts.length > 2 && parts[2].equals("pause")) {
          pause(step);
        } else if (parts.length > 2) {
          freeze();
        } else {
          Runtime.getRuntime().halt(SIGKILL);
        }
      }
    };
  }

  private static void pause(Steps.Step step) {
    System.out.println(PAUSED + step);
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void freeze() {
    try {
      ServiceProcess.signal("STOP", ProcessHandle.current().pid());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
