package evenhand.explain;

import java.time.Instant;
import java.util.Set;

/**
 * Placements of one tier, capacity and state on which a waiting job cannot start for one reason.
 *
 * @param condition what they fail at: {@code ahead} (they would do, but jobs ahead of it are taken
 *     first), {@code free} (they would do, it needs more of them or has not had its turn), {@code
 *     reserved} (enough is idle, but reserved or claimed for another), {@code few_idle}, a wait
 *     code of the policy in small letters, e.g. {@code protected}, {@code draining}, {@code down},
 *     {@code too_small}, {@code tier}, {@code not_allowed} (a rule keeps this job from them)
 * @param placements how many of them
 * @param node the nearest miss among them, with its figures: {@code idle} GPUs that nobody holds,
 *     of these {@code reserved} for others, and {@code needed}
 * @param holder the job for which they are reserved or claimed, or null
 * @param until when the first protection there ends, or null
 * @param message the same in words
 */
public record Miss(
    String tier,
    int capacity,
    String state,
    String condition,
    int placements,
    String node,
    int idle,
    int reserved,
    int needed,
    String holder,
    Instant until,
    String message) {
  private static final Set<String> NEVER = Set.of("too_small", "tier", "not_allowed");
  private static final Set<String> NOT_UP = Set.of("draining", "down");

  /** Whether these would do if enough were idle on them. */
  public boolean fitsAndIsUp() {
    return !NEVER.contains(condition) && !NOT_UP.contains(condition);
  }

  /** GPUs of the nearest that are idle and kept for nobody else. */
  public int free() {
    return Math.max(0, idle - reserved);
  }
}
