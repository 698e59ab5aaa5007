package evenhand.service;

import evenhand.access.Person;
import evenhand.access.Role;
import evenhand.access.Tokens;
import evenhand.api.Access;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtException;

/** A site's login by OpenID Connect: who its signed tokens say that somebody is. */
final class SiteLogin implements Access.Login {
  private final JwtDecoder decoder;
  private final Settings.OidcSetting claims;

  SiteLogin(JwtDecoder decoder, Settings.OidcSetting claims) {
    this.decoder = decoder;
    this.claims = claims;
  }

  @Override
  public Person recognise(String bearer) {
    Jwt jwt;
    try {
      jwt = decoder.decode(bearer);
    } catch (BadJwtException e) {
      throw new Tokens.NotKnown(
          "the token is neither one of evenhand's nor a valid one of the site's login ("
              + e.getMessage()
              + "); log in again");
    } catch (JwtException e) {
      throw new Tokens.NotKnown("the site's login cannot be asked at present; try again");
    }
    List<String> users = words(jwt.getClaim(claims.userClaim()));
    String user = users.isEmpty() ? jwt.getSubject() : users.get(0);
    if (user == null || user.isBlank()) {
      throw new Tokens.NotKnown(
          "the site's token names no user: it has neither " + claims.userClaim() + " nor sub");
    }
    Set<Role> roles = EnumSet.noneOf(Role.class);
    words(jwt.getClaim(claims.rolesClaim())).forEach(word -> Role.of(word).ifPresent(roles::add));
    return new Person(user, user, roles, words(jwt.getClaim(claims.accountsClaim())), null);
  }

  /** A list, or words with spaces between; none of anything else. */
  private static List<String> words(Object claim) {
    if (claim instanceof Collection<?> many) {
      return many.stream().filter(String.class::isInstance).map(String.class::cast).toList();
    }
    return claim instanceof String text && !text.isBlank()
        ? Arrays.asList(text.strip().split("\\s+"))
        : List.of();
  }
}
