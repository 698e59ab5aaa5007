package evenhand.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Makes tokens, knows them again, and revokes them. */
public final class Tokens {
  /** What the text of every token begins with, so that a leaked one can be searched for. */
  public static final String MARK = "evh_";

  private static final int PREFIX_BYTES = 5;
  private static final int SECRET_BYTES = 32;
  private static final Pattern FORM =
      Pattern.compile("(evh_[0-9a-f]{" + 2 * PREFIX_BYTES + "})_[A-Za-z0-9_-]{43}");
  private static final Duration BETWEEN_NOTES = Duration.ofMinutes(1);

  private final TokenBook book;
  private final Clock clock;
  private final SecureRandom random = new SecureRandom();

  public Tokens(TokenBook book, Clock clock) {
    this.book = book;
    this.clock = clock;
  }

  /**
   * A token that was just made.
   *
   * @param text all of it; it is kept nowhere
   */
  public record Made(AccessToken token, String text) {
    @Override
    public String toString() {
      return "a new token " + token.prefix();
    }
  }

  /** Somebody is not let in; the message says why and what would help. */
  public static final class NotKnown extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public NotKnown(String message) {
      super(message);
    }
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MICROS);
  }

  /**
   * Makes a token.
   *
   * @param expiresAt null for never
   * @param by who makes it
   * @return empty when there is one of that name already that is not revoked
   */
  public Optional<Made> create(
      String name,
      String user,
      Set<Role> roles,
      List<String> accounts,
      Instant expiresAt,
      String by) {
    byte[] prefix = new byte[PREFIX_BYTES];
    random.nextBytes(prefix);
    byte[] secret = new byte[SECRET_BYTES];
    random.nextBytes(secret);
    String mark = MARK + HexFormat.of().formatHex(prefix);
    String text = mark + "_" + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    return book.add(
            new AccessToken(
                0, name, mark, user, roles, accounts, now(), by, expiresAt, null, null, null),
            digest(text))
        .map(kept -> new Made(kept, text));
  }

  /** Whether a text has the form of our tokens; a site's own are none of ours. */
  public static boolean isOurs(String text) {
    return text.startsWith(MARK);
  }

  /**
   * Whom a token stands for.
   *
   * @throws NotKnown when nobody is let in by it
   */
  public Person recognise(String text) {
    var form = FORM.matcher(text);
    TokenBook.Kept kept = form.matches() ? book.find(form.group(1)).orElse(null) : null;
    if (kept == null || !MessageDigest.isEqual(kept.digest(), digest(text))) {
      throw new NotKnown(
          "the token is not known here: it is misspelt, or it is of another service; an admin makes"
              + " one with \"evenhand token create\"");
    }
    AccessToken token = kept.token();
    Instant now = now();
    if (token.revokedAt() != null) {
      throw new NotKnown(
          "the token "
              + token.name()
              + " was revoked at "
              + token.revokedAt().truncatedTo(ChronoUnit.SECONDS)
              + "; ask an admin for another");
    }
    if (!token.counts(now)) {
      throw new NotKnown(
          "the token "
              + token.name()
              + " expired at "
              + token.expiresAt().truncatedTo(ChronoUnit.SECONDS)
              + "; ask an admin for another");
    }
    if (token.lastUsedAt() == null || !now.isBefore(token.lastUsedAt().plus(BETWEEN_NOTES))) {
      book.used(token.id(), now.truncatedTo(ChronoUnit.MINUTES));
    }
    return new Person(token.name(), token.user(), token.roles(), token.accounts(), token.prefix());
  }

  public List<AccessToken> all(String user, int limit, long before) {
    return book.all(user, limit, before);
  }

  /** See {@link TokenBook#revoke}. */
  public Optional<AccessToken> revoke(String name, String by) {
    return book.revoke(name, by, now());
  }

  public boolean hasAdmin() {
    return book.hasAdmin(now());
  }

  private static byte[] digest(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
