package evenhand.access;

import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Whoever a request is of.
 *
 * @param name of the token, or how the site's login calls them
 * @param user whose jobs, drains and weights these are; null where security is off: then names are
 *     taken at their word
 * @param roles never empty
 * @param accounts whose jobs they may submit
 * @param token the part of the token that is no secret; null for a login of the site
 */
public record Person(
    String name, String user, Set<Role> roles, List<String> accounts, String token) {

  /** Everybody, where security is off. */
  public static final Person ANYBODY =
      new Person("anybody", null, EnumSet.allOf(Role.class), List.of(), null);

  public Person {
    roles = Set.copyOf(roles);
    accounts = List.copyOf(accounts);
  }

  /** Whether it is known who they are. */
  public boolean known() {
    return user != null;
  }

  public boolean is(Role role) {
    return roles.contains(role) || roles.contains(Role.ADMIN);
  }

  public boolean isAny(Collection<Role> wanted) {
    return wanted.stream().anyMatch(this::is);
  }

  /** Whether what only those of an account may see of it is theirs to see. */
  public boolean belongsTo(String account) {
    return !known() || is(Role.ADMIN) || accounts.contains(account);
  }

  /** The same, of these accounts. */
  public Person of(List<String> others) {
    return new Person(name, user, roles, others, token);
  }
}
