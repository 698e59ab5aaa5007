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
 * The web page: static files of the jar, which speak to the API and to nothing else. What a browser
 * may do with them says {@link Gate}.
 */
@Configuration(proxyBeanMethods = false)
class Page implements WebMvcConfigurer {
  /** The charts are those of the simulator's report: one file of the library, for both. */
  private static final String CHARTS = "/echarts.common.min.js";

  @Override
  public void addResourceHandlers(ResourceHandlerRegistry registry) {
    registry
        .addResourceHandler(CHARTS)
        .addResourceLocations("classpath:/report/")
        .setCacheControl(CacheControl.noCache());
  }

  /** A browser keeps the files, and asks each time whether they are still the same. */
  @Bean
  FilterRegistrationBean<OncePerRequestFilter> askedAgain() {
    OncePerRequestFilter filter =
        new OncePerRequestFilter() {
          @Override
          protected void doFilterInternal(
              HttpServletRequest request, HttpServletResponse response, FilterChain chain)
              throws ServletException, IOException {
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
