package evenhand.api;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.http.CacheControl;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.config.annotation.ResourceHandlerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * The web page: static files of the jar, which speak to the API and to nothing else. A browser is
 * told to run no script and take no style that does not come from here as a file, so that no text
 * of a user can become one.
 */
@Configuration(proxyBeanMethods = false)
class Page implements WebMvcConfigurer {
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

  /** The charts are those of the simulator's report: one file of the library, for both. */
  private static final String CHARTS = "/echarts.common.min.js";

  @Override
  public void addResourceHandlers(ResourceHandlerRegistry registry) {
    registry
        .addResourceHandler(CHARTS)
        .addResourceLocations("classpath:/report/")
        .setCacheControl(CacheControl.noCache());
  }

  @Bean
  FilterRegistrationBean<OncePerRequestFilter> pageHeaders() {
    OncePerRequestFilter filter =
        new OncePerRequestFilter() {
          @Override
          protected void doFilterInternal(
              HttpServletRequest request, HttpServletResponse response, FilterChain chain)
              throws ServletException, IOException {
            response.setHeader("Content-Security-Policy", POLICY);
            response.setHeader("X-Content-Type-Options", "nosniff");
            response.setHeader("Referrer-Policy", "no-referrer");
            if (!request.getRequestURI().startsWith("/v1/")) {
              response.setHeader("Cache-Control", "no-cache");
            }
            chain.doFilter(request, response);
          }
        };
    FilterRegistrationBean<OncePerRequestFilter> bean = new FilterRegistrationBean<>(filter);
    bean.setOrder(Ordered.HIGHEST_PRECEDENCE + 1);
    bean.setAsyncSupported(true);
    return bean;
  }
}
