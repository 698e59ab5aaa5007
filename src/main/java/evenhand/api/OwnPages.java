package evenhand.api;

import jakarta.servlet.http.HttpServletRequest;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Keeps pages of other sites out where no token is asked for. A page in somebody's browser on this
 * host can reach loopback: it may send simple requests without being asked (cross-site request
 * forgery), and one whose name is made to mean 127.0.0.1 may read answers too (DNS rebinding). With
 * tokens neither gets anywhere, since no browser sends them by itself.
 */
final class OwnPages {
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127(?:\\.[0-9]{1,3}){3}|\\[::1\\]");

  private final List<String> hosts;

  /**
   * @param hosts names of this service besides those of loopback
   */
  OwnPages(List<String> hosts) {
    this.hosts = hosts.stream().map(h -> h.toLowerCase(Locale.ROOT)).toList();
  }

  /** Why a request is not let in; null when it is. */
  Problem objection(HttpServletRequest request) {
    String host = request.getHeader("Host");
    String name =
        host == null ? "" : host.toLowerCase(Locale.ROOT).replaceFirst(":[0-9]{1,5}$", "");
    if (!LOOPBACK.matcher(name).matches() && !hosts.contains(name)) {
      return no(
          "the header Host is "
              + (host == null ? "missing" : "\"" + shown(host) + "\"")
              + "; without security this service answers to localhost and 127.0.0.1, and to what"
              + " evenhand.api.hosts lists");
    }
    if (!Rights.changes(request.getMethod())) {
      return null;
    }
    String origin = request.getHeader("Origin");
    String site = request.getHeader("Sec-Fetch-Site");
    boolean foreign = origin != null && !isOwn(origin, host);
    if (foreign || site != null && !List.of("same-origin", "none").contains(site)) {
      return no(
          "it comes from a page of another site"
              + (foreign ? ", " + shown(origin) : "")
              + "; only the pages of this service may change something");
    }
    return null;
  }

  private static boolean isOwn(String origin, String host) {
    try {
      return host.equalsIgnoreCase(URI.create(origin).getAuthority());
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static String shown(String header) {
    return header.length() > 100 ? header.substring(0, 100) + "…" : header;
  }

  private static Problem no(String detail) {
    return Problem.of(403, "FORBIDDEN", "That is not yours to do", detail);
  }
}
