package evenhand.api;

import evenhand.access.Allowance;
import evenhand.access.AuditBook;
import evenhand.access.Person;
import evenhand.access.Role;
import evenhand.access.Tokens;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * What the door of the API stands on.
 *
 * @param on whether it is asked who somebody is; off, everybody may do everything, and only pages
 *     and names of this host are let in
 * @param tokens null where security is off and there is no memory
 * @param login the site's own, where it has one
 * @param accountOf the account that a user is attached to in the tree
 * @param allowance requests of one person
 * @param hosts names by which this service may be called where security is off, besides those of
 *     loopback
 */
public record Access(
    boolean on,
    Tokens tokens,
    AuditBook audit,
    Optional<Login> login,
    Function<String, Optional<String>> accountOf,
    Allowance allowance,
    List<String> hosts,
    Clock clock) {
  private static final String BEARER = "Bearer ";

  public Access {
    hosts = List.copyOf(hosts);
  }

  /** One without security and without a memory, for tools and tests. */
  public static Access open(Clock clock) {
    return new Access(
        false,
        null,
        AuditBook.NONE,
        Optional.empty(),
        user -> Optional.empty(),
        new Allowance(0, clock),
        List.of(),
        clock);
  }

  /**
   * Whom the header {@code Authorization} of a request stands for.
   *
   * @throws Tokens.NotKnown when it lets nobody in, or not any more
   */
  Person recognise(String header) {
    if (!header.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
      throw new Tokens.NotKnown("the header Authorization must be \"Bearer TOKEN\"");
    }
    String text = header.substring(BEARER.length()).strip();
    Person person =
        Tokens.isOurs(text) || login.isEmpty()
            ? tokens.recognise(text)
            : login.get().recognise(text);
    return person.accounts().isEmpty() && person.roles().contains(Role.SUBMITTER)
        ? person.of(accountOf.apply(person.user()).map(List::of).orElse(List.of()))
        : person;
  }

  /** A login of the site, such as OpenID Connect. */
  @FunctionalInterface
  public interface Login {
    /**
     * Whom a bearer token that is none of ours stands for.
     *
     * @throws Tokens.NotKnown when it lets nobody in
     */
    Person recognise(String bearer);
  }
}
