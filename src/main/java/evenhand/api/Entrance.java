package evenhand.api;

import evenhand.access.Person;
import evenhand.access.Role;
import evenhand.access.Tokens;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import org.springframework.http.HttpHeaders;
import org.springframework.security.authentication.AbstractAuthenticationToken;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;

/**
 * Finds out who sent a request: by the token in its header {@code Authorization}, and by nothing
 * that a browser sends by itself. Whether they may do what they ask for is decided behind it.
 */
final class Entrance implements Filter {
  /** Attribute of a request: why its token lets nobody in. */
  static final String NOT_KNOWN = "evenhand.not-known";

  private static final String COUNTED = "evenhand.counted";

  private final Access access;
  private final OwnPages ownPages;

  Entrance(Access access) {
    this.access = access;
    this.ownPages = new OwnPages(access.hosts());
  }

  /** Somebody that is known, for Spring. */
  private static final class Known extends AbstractAuthenticationToken {
    private static final long serialVersionUID = 1L;
    private final transient Person person;

    Known(Person person) {
      super(authorities(person));
      this.person = person;
      setAuthenticated(true);
    }

    private static Collection<GrantedAuthority> authorities(Person person) {
      return Arrays.stream(Role.values())
          .filter(person::is)
          .map(role -> (GrantedAuthority) new SimpleGrantedAuthority("ROLE_" + role.name()))
          .toList();
    }

    @Override
    public Object getCredentials() {
      return "";
    }

    @Override
    public Object getPrincipal() {
      return person.name();
    }

    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(this);
    }
  }

  @Override
  public void doFilter(ServletRequest plain, ServletResponse plainAnswer, FilterChain chain)
      throws IOException, ServletException {
    HttpServletRequest request = (HttpServletRequest) plain;
    HttpServletResponse answer = (HttpServletResponse) plainAnswer;
    Person person = Caller.of(request); // known already where a request goes on later
    if (person == null) {
      if (!access.on()) {
        Problem objection = ownPages.objection(request);
        if (objection != null) {
          objection.writeTo(request, answer);
          return;
        }
        person = Person.ANYBODY;
      } else {
        try {
          person = recognise(request);
        } catch (RuntimeException e) {
          Problems.answer(e, request, answer);
          return;
        }
      }
    }
    if (person != null) {
      request.setAttribute(Caller.PERSON, person);
      if (person.known() && request.getAttribute(COUNTED) == null) {
        request.setAttribute(COUNTED, true);
        int wait = access.allowance().take(person.token() == null ? person.user() : person.token());
        if (wait > 0) {
          tooMany(person, wait)
              .writeTo(request, answer, HttpHeaders.RETRY_AFTER, Integer.toString(wait));
          return;
        }
      }
      SecurityContextHolder.setContext(new SecurityContextImpl(new Known(person)));
    }
    try {
      chain.doFilter(request, answer);
    } finally {
      SecurityContextHolder.clearContext();
    }
  }

  private Problem tooMany(Person person, int wait) {
    return Problem.of(
        429,
        "TOO_MANY_REQUESTS",
        "That is too often",
        person.name()
            + " may send "
            + access.allowance().perMinute()
            + " requests a minute; nothing was changed. Try again in "
            + wait
            + " s.");
  }

  private Person recognise(HttpServletRequest request) {
    String header = request.getHeader(HttpHeaders.AUTHORIZATION);
    if (header == null) {
      return null;
    }
    try {
      return access.recognise(header);
    } catch (Tokens.NotKnown e) {
      request.setAttribute(NOT_KNOWN, e.getMessage());
      return null;
    }
  }
}
