package evenhand.api;

import evenhand.access.Role;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Which roles may use which route; {@code admin} may use all. A route that is in no row: reading it
 * needs operator or auditor, changing something operator. What stands under neither {@code /v1} nor
 * {@code /actuator} is for everybody: the page's own files, and the description of the API.
 */
final class Rights {
  private static final Set<Role> PEOPLE =
      EnumSet.of(Role.SUBMITTER, Role.OWNER, Role.OPERATOR, Role.AUDITOR, Role.ADMIN);
  private static final Set<Role> WATCHERS =
      EnumSet.of(Role.OPERATOR, Role.AUDITOR, Role.METRICS, Role.ADMIN);
  private static final Set<Role> READERS = EnumSet.of(Role.OPERATOR, Role.AUDITOR, Role.ADMIN);
  private static final Set<Role> OPERATORS = EnumSet.of(Role.OPERATOR, Role.ADMIN);

  /**
   * A row.
   *
   * @param roles null for everybody, known or not
   */
  record Right(String method, PathPattern path, Set<Role> roles) {}

  static final List<Right> ROWS =
      List.of(
          // Whoever comes must be able to learn that a token is asked for.
          right("GET", "/v1/access", null),
          right("GET", "/v1/me", EnumSet.allOf(Role.class)),
          // How things stand is no secret: who waits must see for whom.
          right("GET", "/v1/queue", PEOPLE),
          right("GET", "/v1/placements", PEOPLE),
          right("GET", "/v1/nodes", PEOPLE),
          right("GET", "/v1/nodes/{node}/drains", PEOPLE),
          right("GET", "/v1/now", PEOPLE),
          right("GET", "/v1/events", PEOPLE),
          right("GET", "/v1/policy", PEOPLE),
          right("GET", "/v1/policy/{*part}", PEOPLE),
          right("GET", "/v1/jobs", PEOPLE),
          right("GET", "/v1/jobs/{id}", PEOPLE),
          right("GET", "/v1/jobs/{id}/why", PEOPLE),
          right("GET", "/v1/jobs/{id}/scenario", PEOPLE),
          // Which file it is, is told to those of its account only; the route sees to that.
          right("GET", "/v1/jobs/{id}/output", PEOPLE),
          right("GET", "/v1/accounts", PEOPLE),
          right("GET", "/v1/accounts/{id}/history", PEOPLE),
          right("GET", "/v1/accounts/{id}/changes", PEOPLE),
          right("GET", "/v1/accounts/{id}/weights", PEOPLE),
          right("GET", "/v1/decisions", PEOPLE),
          right("GET", "/v1/decisions/{id}", PEOPLE),
          right("GET", "/v1/decisions/{id}/snapshot", PEOPLE),
          right("GET", "/v1/decisions/{id}/scenario", PEOPLE),
          right("GET", "/v1/decisions/{id}/verify", READERS),
          // A submitter reads what is of their own accounts; the route sees to that.
          right("GET", "/v1/ledger", PEOPLE),
          right("GET", "/v1/ledger/verify", READERS),
          // The routes themselves see to it that a submitter's jobs are their own.
          right("POST", "/v1/jobs", EnumSet.of(Role.SUBMITTER, Role.ADMIN)),
          right(
              "POST",
              "/v1/jobs/{id}/cancel",
              EnumSet.of(Role.SUBMITTER, Role.OPERATOR, Role.ADMIN)),
          right(
              "POST",
              "/v1/jobs/{id}/checkpoint",
              EnumSet.of(Role.SUBMITTER, Role.OPERATOR, Role.ADMIN)),
          // And that an owner owns what they change.
          right("PUT", "/v1/accounts/{id}/weights", EnumSet.of(Role.OWNER, Role.ADMIN)),
          right(
              "POST",
              "/v1/accounts/plan",
              EnumSet.of(Role.OWNER, Role.OPERATOR, Role.AUDITOR, Role.ADMIN)),
          right("POST", "/v1/accounts/apply", OPERATORS),
          right("POST", "/v1/nodes/{node}/drain", OPERATORS),
          right("POST", "/v1/nodes/{node}/resume", OPERATORS),
          right("POST", "/v1/cycle", OPERATORS),
          right("POST", "/v1/ledger/corrections", OPERATORS),
          right("GET", "/v1/tokens", EnumSet.of(Role.ADMIN)),
          right("POST", "/v1/tokens", EnumSet.of(Role.ADMIN)),
          right("POST", "/v1/tokens/{name}/revoke", EnumSet.of(Role.ADMIN)),
          right("GET", "/v1/audit", EnumSet.of(Role.AUDITOR, Role.ADMIN)),
          right("GET", "/actuator/health", null),
          right("GET", "/actuator/health/{*part}", null),
          right("GET", "/actuator", WATCHERS),
          right("GET", "/actuator/{*endpoint}", WATCHERS));

  private Rights() {}

  private static Right right(String method, String path, Set<Role> roles) {
    return new Right(
        method,
        PathPatternParser.defaultInstance.parse(path),
        roles == null ? null : Set.copyOf(roles));
  }

  /** The roles that may use a route; null where everybody may. */
  static Set<Role> of(HttpServletRequest request) {
    return of(request.getMethod(), request.getRequestURI());
  }

  static Set<Role> of(String method, String uri) {
    PathContainer path = PathContainer.parsePath(uri);
    String asked = method.equals("HEAD") ? "GET" : method;
    List<Right> fit = new ArrayList<>();
    for (Right row : ROWS) {
      if (row.method().equals(asked) && row.path().matches(path)) {
        fit.add(row);
      }
    }
    if (!fit.isEmpty()) {
      fit.sort((a, b) -> PathPattern.SPECIFICITY_COMPARATOR.compare(a.path(), b.path()));
      return fit.get(0).roles();
    }
    boolean guarded = isBelow(uri, "/v1") || isBelow(uri, "/actuator");
    return !guarded ? null : changes(asked) ? OPERATORS : READERS;
  }

  private static boolean isBelow(String uri, String folder) {
    // Spring's own firewall lets through neither // nor encoded or double dots.
    return uri.equals(folder) || uri.startsWith(folder + "/") || uri.startsWith(folder + ";");
  }

  /** Whether a method is for changing something. */
  static boolean changes(String method) {
    return !List.of("GET", "HEAD", "OPTIONS").contains(method);
  }
}
