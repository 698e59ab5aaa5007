package evenhand.service;

import java.util.concurrent.CountDownLatch;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;

/** Starts and stops the service. */
public final class Service {
  private Service() {}

  /**
   * Starts the service and returns when it answers. Closing the context stops it: the cycle under
   * way ends first, then requests, then the database.
   *
   * @param arguments settings as {@code --key=value}; {@code --demo} for the demonstration
   * @throws RuntimeException when it cannot start, its cause in the message
   */
  public static ConfigurableApplicationContext start(String... arguments) {
    SpringApplication application = new SpringApplication(Wiring.class);
    application.setBannerMode(Banner.Mode.OFF);
    application.setWebApplicationType(WebApplicationType.SERVLET);
    application.addInitializers(new EmbeddedDatabase.Initializer());
    return application.run(arguments);
  }

  /** Starts the service and returns when it has been stopped. */
  public static void serve(String... arguments) throws InterruptedException {
    CountDownLatch stopped = new CountDownLatch(1);
    ConfigurableApplicationContext context = start(arguments);
    context.addApplicationListener(
        (ApplicationListener<ContextClosedEvent>) event -> stopped.countDown());
    stopped.await();
  }
}
