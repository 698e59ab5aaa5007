package evenhand.access;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Where tokens are kept: never their secrets, only digests of them. */
public interface TokenBook {

  /**
   * Keeps a new token.
   *
   * @param digest SHA-256 of its whole text
   * @return with its id; empty when there is one of that name already that is not revoked
   */
  Optional<AccessToken> add(AccessToken token, byte[] digest);

  /** A token and the digest of its text. */
  record Kept(AccessToken token, byte[] digest) {}

  Optional<Kept> find(String prefix);

  /**
   * Tokens, newest first, revoked ones too.
   *
   * @param user only those that stand for this user; null for all
   * @param before only ids below this one; {@link Long#MAX_VALUE} for the newest
   */
  List<AccessToken> all(String user, int limit, long before);

  /**
   * Revokes the token of this name.
   *
   * @return it, as it is now; empty when there is none that is not revoked already
   */
  Optional<AccessToken> revoke(String name, String by, Instant at);

  /** Notes that a token was used. */
  void used(long id, Instant at);

  /** Whether any token of an admin counts at this moment. */
  boolean hasAdmin(Instant now);
}
