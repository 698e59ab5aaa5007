package evenhand.service;

import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;

/** Starts and stops the service. */
public final class Service {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand");

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
    application.setLogStartupInfo(false);
    application.addInitializers(new EmbeddedDatabase.Initializer());
    ConfigurableApplicationContext context;
    try {
      context = application.run(arguments);
    } catch (RuntimeException e) {
      LOG.debug("evenhand cannot start", e);
      throw e;
    }
    if (context instanceof WebServerApplicationContext web) {
      LOG.info(
          "evenhand listens on http://{}:{}",
          context.getEnvironment().getProperty("server.address", "0.0.0.0"),
          web.getWebServer().getPort());
    }
    return context;
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
