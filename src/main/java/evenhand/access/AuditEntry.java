package evenhand.access;

import java.time.Instant;
import java.util.List;

/**
 * A change that was asked for.
 *
 * @param id 0 while it is not kept
 * @param who name of the token, or of the login; {@code nobody} where none was given or it is not
 *     known
 * @param user whom it stands for; where security is off, who the request says it is of, or null
 * @param token the part of the token that is no secret, or null
 * @param address where it came from
 * @param method and {@code path}: what was asked for
 * @param body what was sent with it, as JSON, without what is private or secret; null for nothing
 * @param endedAt null while it is not known how it came out
 * @param status HTTP status of the answer, null while it is not known
 */
public record AuditEntry(
    long id,
    Instant at,
    String who,
    String user,
    String token,
    String address,
    String method,
    String path,
    String body,
    Instant endedAt,
    Integer status) {

  public static final String NOBODY = "nobody";

  /** What an entry may have come to. */
  public static final List<String> OUTCOMES = List.of("done", "refused", "failed", "unknown");

  /** {@code done}, {@code refused}, {@code failed}, or {@code unknown} while nobody knows. */
  public String outcome() {
    if (status == null) {
      return "unknown";
    }
    return status < 400 ? "done" : status < 500 ? "refused" : "failed";
  }
}
