package evenhand.access;

import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * A token without its secret.
 *
 * @param id 0 while it is not kept
 * @param name what people call it; of two tokens of one name at most one is not revoked
 * @param prefix the first part of its text, by which it is found; no secret
 * @param user whom it stands for
 * @param accounts whose jobs it may submit
 * @param expiresAt null for never
 * @param revokedAt and {@code revokedBy}: null while it is not
 * @param lastUsedAt to the minute; null when it never was
 */
public record AccessToken(
    long id,
    String name,
    String prefix,
    String user,
    Set<Role> roles,
    List<String> accounts,
    Instant createdAt,
    String createdBy,
    Instant expiresAt,
    Instant revokedAt,
    String revokedBy,
    Instant lastUsedAt) {
  public AccessToken {
    roles = Set.copyOf(roles);
    accounts = List.copyOf(accounts);
  }

  /** Whether it lets anybody in at this moment. */
  public boolean counts(Instant now) {
    return revokedAt == null && (expiresAt == null || now.isBefore(expiresAt));
  }
}
