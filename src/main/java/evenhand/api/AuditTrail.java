package evenhand.api;

import evenhand.access.AuditEntry;
import evenhand.access.Person;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes every change down before it is made, and how it came out after it. One that cannot be
 * written down is not made.
 */
final class AuditTrail implements Filter {
  private static final Logger LOG = LoggerFactory.getLogger("evenhand.audit");
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int LONGEST_PATH = 500;
  private static final int LONGEST_BODY = 4000;
  private static final int LONGEST_TEXT = 300;

  /** What of a body is nobody's business, or a secret. */
  private static final List<String> PRIVATE = List.of("script", "args", "env");

  private static final Pattern SECRET =
      Pattern.compile("(?i).*(secret|token|password|credential|url).*");

  private final Access access;

  AuditTrail(Access access) {
    this.access = access;
  }

  @Override
  public void doFilter(ServletRequest plain, ServletResponse answer, FilterChain chain)
      throws IOException, ServletException {
    HttpServletRequest request = (HttpServletRequest) plain;
    if (!isChange(request)) {
      chain.doFilter(plain, answer);
      return;
    }
    long id;
    try {
      id = access.audit().begun(entry(request, null));
    } catch (RuntimeException e) {
      Problems.answer(e, request, (HttpServletResponse) answer);
      return;
    }
    int status = 500;
    try {
      chain.doFilter(plain, answer);
      status = ((HttpServletResponse) answer).getStatus();
    } finally {
      ended(id, status);
    }
  }

  private void ended(long id, int status) {
    try {
      access.audit().ended(id, status, now());
    } catch (RuntimeException e) {
      // The entry stays open: that nobody knows how it came out is the truth.
      LOG.warn(
          "How entry {} of the audit came out could not be written down: {}", id, e.toString());
    }
  }

  /** Writes a change down that was refused at the door. */
  void refused(HttpServletRequest request, int status) {
    if (isChange(request)) {
      try {
        access.audit().begun(entry(request, status));
      } catch (RuntimeException e) {
        LOG.warn("A refused change could not be written down: {}", e.toString());
      }
    }
  }

  /** Plans change nothing. */
  private static boolean isChange(HttpServletRequest request) {
    String path = request.getRequestURI();
    return Rights.changes(request.getMethod())
        && path.startsWith("/v1/")
        && !path.endsWith("/plan")
        && request.getDispatcherType() != DispatcherType.ERROR;
  }

  private Instant now() {
    return access.clock().instant().truncatedTo(ChronoUnit.MICROS);
  }

  private AuditEntry entry(HttpServletRequest request, Integer status) {
    Person person = Caller.of(request);
    ObjectNode sent = sent(request);
    String user = person == null ? null : person.user();
    if (person != null && !person.known() && sent != null) {
      String by = sent.path("by").asString(sent.path("user").asString(null));
      user = by == null || by.isBlank() ? null : cut(by, LONGEST_TEXT);
    }
    Instant now = now();
    return new AuditEntry(
        0,
        now,
        person == null ? AuditEntry.NOBODY : person.name(),
        user,
        person == null ? null : person.token(),
        request.getRemoteAddr(),
        request.getMethod(),
        cut(request.getRequestURI(), LONGEST_PATH),
        sent == null ? null : cut(shown(sent), LONGEST_BODY),
        status == null ? null : now,
        status);
  }

  private static ObjectNode sent(HttpServletRequest request) {
    if (!(request.getAttribute(WholeBody.TAKEN) instanceof byte[] bytes)) {
      return null;
    }
    try {
      return JSON.readTree(bytes) instanceof ObjectNode object ? object : null;
    } catch (JacksonException e) {
      return null; // refused later, in words
    }
  }

  private static String shown(ObjectNode sent) {
    for (Iterator<Map.Entry<String, JsonNode>> fields = sent.properties().iterator();
        fields.hasNext(); ) {
      Map.Entry<String, JsonNode> field = fields.next();
      boolean hidden = PRIVATE.contains(field.getKey()) || SECRET.matcher(field.getKey()).matches();
      if (hidden) {
        field.setValue(JSON.getNodeFactory().stringNode("(not kept)"));
      } else if (field.getValue().isString()) {
        field.setValue(
            JSON.getNodeFactory().stringNode(cut(field.getValue().asString(), LONGEST_TEXT)));
      }
    }
    return sent.toString();
  }

  /** PostgreSQL's texts hold every character but NUL. */
  private static String cut(String text, int most) {
    String clean = text.replace('\0', ' ');
    return clean.length() <= most ? clean : clean.substring(0, most) + "…";
  }
}
