package evenhand.cycle;

import java.time.Instant;

/**
 * A node that gets no new work and loses what it runs (X1, X2).
 *
 * @param id 0 for one that is not stored yet
 * @param source whether it was asked of this service, or of Slurm
 * @param by who drained it
 * @param emptySince when nothing ran there any more, so that it is drained (X3); null while
 *     something does
 * @param endedAt when it was used again, or null; {@code endedBy} by whose wish
 */
public record NodeDrain(
    long id,
    String node,
    Source source,
    String reason,
    String by,
    Instant since,
    Instant emptySince,
    Instant endedAt,
    String endedBy) {

  /** Who was asked. */
  public enum Source {
    EVENHAND,
    SLURM
  }

  /** A drain that begins. */
  public static NodeDrain begun(
      String node, Source source, String reason, String by, Instant since) {
    return new NodeDrain(0, node, source, reason, by, since, null, null, null);
  }

  /** Empty since then; null: not any more. */
  public NodeDrain empty(Instant at) {
    return new NodeDrain(id, node, source, reason, by, since, at, endedAt, endedBy);
  }

  /** For another reason. */
  public NodeDrain told(String nowReason, String nowBy) {
    return new NodeDrain(id, node, source, nowReason, nowBy, since, emptySince, endedAt, endedBy);
  }

  /** Used again. */
  public NodeDrain ended(Instant at, String endedBy) {
    return new NodeDrain(id, node, source, reason, by, since, emptySince, at, endedBy);
  }

  /** The same drain as a store keeps it. */
  public NodeDrain numbered(long number) {
    return new NodeDrain(number, node, source, reason, by, since, emptySince, endedAt, endedBy);
  }
}
