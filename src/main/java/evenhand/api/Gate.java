package evenhand.api;

import evenhand.access.Allowance;
import evenhand.access.Person;
import evenhand.access.Role;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;
import java.util.function.Supplier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.security.authentication.AuthenticationCredentialsNotFoundException;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.config.observation.SecurityObservationSettings;
import org.springframework.security.core.Authentication;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.ExceptionTranslationFilter;
import org.springframework.security.web.access.intercept.AuthorizationFilter;
import org.springframework.security.web.access.intercept.RequestAuthorizationContext;
import org.springframework.security.web.header.writers.ReferrerPolicyHeaderWriter.ReferrerPolicy;

/**
 * The one door of the service: who somebody is ({@link Entrance}), whether their role may use the
 * route ({@link Rights}), and that a change is written down before it is made ({@link AuditTrail}).
 *
 * <p>Stateless: a bearer token with each request, no cookie, no session. So there is nothing that
 * another site's page could have a browser send in somebody's name.
 */
@Configuration(proxyBeanMethods = false)
@EnableWebSecurity
class Gate {
  /**
   * A browser runs no script and takes no style that does not come from here as a file, so that no
   * text of a user can become one; and nobody may show the page within theirs.
   */
  private static final String CONTENT =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

  /** Refusals of strangers that are written down each minute, by address: not a flood of them. */
  private static final int STRANGERS_A_MINUTE = 30;

  @Bean
  SecurityFilterChain door(HttpSecurity http, Access access) throws Exception {
    AuditTrail trail = new AuditTrail(access);
    Allowance strangers = new Allowance(STRANGERS_A_MINUTE, access.clock());
    return http.csrf(AbstractHttpConfigurer::disable)
        .httpBasic(AbstractHttpConfigurer::disable)
        .formLogin(AbstractHttpConfigurer::disable)
        .logout(AbstractHttpConfigurer::disable)
        .anonymous(AbstractHttpConfigurer::disable)
        .requestCache(AbstractHttpConfigurer::disable)
        .sessionManagement(s -> s.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
        .headers(
            headers ->
                headers
                    .contentSecurityPolicy(csp -> csp.policyDirectives(CONTENT))
                    .frameOptions(frames -> frames.deny())
                    .referrerPolicy(referrer -> referrer.policy(ReferrerPolicy.NO_REFERRER)))
        .addFilterBefore(new Entrance(access), ExceptionTranslationFilter.class)
        .addFilterAfter(trail, AuthorizationFilter.class)
        .authorizeHttpRequests(
            requests -> requests.anyRequest().access((who, context) -> may(access, who, context)))
        .exceptionHandling(
            refused ->
                refused
                    .authenticationEntryPoint(
                        (request, answer, e) -> {
                          if (strangers.take(request.getRemoteAddr()) == 0) {
                            trail.refused(request, 401);
                          }
                          unknown(request, answer);
                        })
                    .accessDeniedHandler(
                        (request, answer, e) -> {
                          trail.refused(request, 403);
                          forbidden(request).writeTo(request, answer);
                        }))
        .build();
  }

  /** Nobody is let in by a password; with this Spring makes none up either. */
  @Bean
  AuthenticationManager nobodyByPassword() {
    return attempt -> {
      throw new AuthenticationCredentialsNotFoundException("only tokens are taken");
    };
  }

  /** What each of its filters takes is of no interest to anybody who watches the service. */
  @Bean
  SecurityObservationSettings doorUnobserved() {
    return SecurityObservationSettings.noObservations();
  }

  private static AuthorizationDecision may(
      Access access, Supplier<? extends Authentication> who, RequestAuthorizationContext context) {
    HttpServletRequest request = context.getRequest();
    Set<Role> roles = Rights.of(request);
    if (!access.on() || roles == null || request.getDispatcherType() == DispatcherType.ERROR) {
      return new AuthorizationDecision(true);
    }
    Person person = Caller.of(request);
    if (person == null) {
      throw new AuthenticationCredentialsNotFoundException("nobody is known");
    }
    return new AuthorizationDecision(person.isAny(roles));
  }

  private static void unknown(HttpServletRequest request, HttpServletResponse answer)
      throws IOException {
    Object why = request.getAttribute(Entrance.NOT_KNOWN);
    Problem.of(
            401,
            "UNAUTHENTICATED",
            "It is not known who you are",
            why != null
                ? why + "."
                : request.getMethod()
                    + " "
                    + Problems.shown(request.getRequestURI())
                    + " needs a token with the role "
                    + Role.any(Rights.of(request))
                    + ", in the header \"Authorization: Bearer TOKEN\"; the commands take it with"
                    + " --token-file or from EVENHAND_TOKEN.")
        .writeTo(request, answer, HttpHeaders.WWW_AUTHENTICATE, "Bearer realm=\"evenhand\"");
  }

  private static Problem forbidden(HttpServletRequest request) {
    Person person = Caller.of(request);
    return Problem.of(
        403,
        "FORBIDDEN",
        "That is not yours to do",
        request.getMethod()
            + " "
            + Problems.shown(request.getRequestURI())
            + " needs the role "
            + Role.any(Rights.of(request))
            + "; "
            + person.name()
            + " has "
            + (person.roles().isEmpty()
                ? "none"
                : Role.any(person.roles()).replace(" or ", " and "))
            + ".");
  }
}
