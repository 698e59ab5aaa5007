package evenhand.api;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.time.Duration;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.core.StandardHost;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.util.unit.DataSize;

/** How the web server treats what is no whole, well-formed request. */
@Configuration(proxyBeanMethods = false)
class WebServer {
  /** Attribute of a request: run to close its connection without reading the rest of its body. */
  static final String HANG_UP = "evenhand.hang-up";

  @Bean
  WebServerFactoryCustomizer<TomcatServletWebServerFactory> problemsOfTomcat() {
    return factory -> {
      factory.addContextCustomizers(
          context ->
              ((StandardHost) context.getParent())
                  .setErrorReportValveClass(ProblemValve.class.getName()));
      factory.addEngineValves(new HangingUp());
    };
  }

  @Bean
  FilterRegistrationBean<WholeBody> wholeBody(
      @Value("${evenhand.api.max-body:2MB}") DataSize most,
      @Value("${evenhand.api.body-within:10s}") Duration within,
      Access access) {
    FilterRegistrationBean<WholeBody> filter =
        new FilterRegistrationBean<>(
            new WholeBody(Math.toIntExact(most.toBytes()), within, access.on()));
    filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
    filter.setDispatcherTypes(DispatcherType.REQUEST);
    filter.setAsyncSupported(true);
    return filter;
  }

  /** Without it, the thread that answers would wait for what a slow client has not sent. */
  private static final class HangingUp extends ValveBase {
    HangingUp() {
      super(true);
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
      Runnable hangUp =
          () -> response.getCoyoteResponse().action(ActionCode.DISABLE_SWALLOW_INPUT, null);
      request.setAttribute(HANG_UP, hangUp);
      getNext().invoke(request, response);
    }
  }
}
