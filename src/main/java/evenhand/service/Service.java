package evenhand.service;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/** Starts and stops the service. */
public final class Service {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand");

  private Service() {}

  /**
   * Starts the service and returns when it answers. Closing the context stops it: the cycle under
   * way ends first, then requests, then the database.
   *
   * @param arguments settings as {@code --key=value}; {@code --demo} for the demonstration
   * @throws StartFault when it cannot start, why in the message
   */
  public static ConfigurableApplicationContext start(String... arguments) {
    SpringApplication application = new SpringApplication(Wiring.class);
    application.setBannerMode(Banner.Mode.OFF);
    application.setWebApplicationType(WebApplicationType.SERVLET);
    application.setLogStartupInfo(false);
    application.addInitializers(
        new SettingsCheck.Initializer(), new EmbeddedDatabase.Initializer());
    ConfigurableEnvironment[] environment = new ConfigurableEnvironment[1];
    application.addListeners(
        (ApplicationListener<ApplicationEnvironmentPreparedEvent>)
            event -> environment[0] = event.getEnvironment());
    ConfigurableApplicationContext context;
    try {
      context = application.run(arguments);
    } catch (RuntimeException e) {
      LOG.debug("evenhand cannot start", e);
      throw StartFaults.of(
          e,
          List.of(arguments),
          environment[0] == null ? null : environment[0].getProperty("spring.datasource.url"),
          environment[0] == null ? "this host" : address(environment[0]));
    }
    if (context instanceof WebServerApplicationContext web) {
      LOG.info(
          "evenhand listens on http://{}:{}",
          address(context.getEnvironment()),
          web.getWebServer().getPort());
    }
    return context;
  }

  private static String address(Environment environment) {
    return environment.getProperty("server.address", "0.0.0.0");
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
