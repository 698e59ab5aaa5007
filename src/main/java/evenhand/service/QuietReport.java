package evenhand.service;

import org.springframework.boot.SpringBootExceptionReporter;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Takes the place of Spring's own reports of a start that failed: {@link Service#start} says it in
 * our words. Found through {@code META-INF/spring.factories}.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class QuietReport implements SpringBootExceptionReporter {
  QuietReport(ConfigurableApplicationContext context) {}

  @Override
  public boolean reportException(Throwable failure) {
    return true;
  }
}
