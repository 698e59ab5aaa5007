package evenhand.rollout;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * An entry of the policy's history.
 *
 * @param id 0 before it is written
 * @param hash what was in force from then on
 * @param from what was in force before; null for the first
 */
public record Event(
    long id,
    Instant at,
    Kind kind,
    String policy,
    String hash,
    String from,
    String by,
    String reason) {

  /** What happened. */
  public enum Kind {
    /** The first policy of this database. */
    FIRST,
    APPLIED,
    /** Somebody went back to the policy before. */
    ROLLED_BACK,
    /** A rule failed, and the policy before took over by itself. */
    FELL_BACK
  }

  /**
   * What one could go back to, the nearest first: applying puts a policy on top of those before it,
   * going back takes it away for good. So going back twice goes back two steps, not to and fro.
   *
   * @param newestFirst the history
   */
  static List<Event> below(List<Event> newestFirst) {
    Deque<Event> stack = new ArrayDeque<>();
    for (int i = newestFirst.size() - 1; i >= 0; i--) {
      Event e = newestFirst.get(i);
      if (e.kind() == Kind.ROLLED_BACK || e.kind() == Kind.FELL_BACK) {
        while (!stack.isEmpty() && !stack.peek().hash().equals(e.hash())) {
          stack.pop();
        }
      } else {
        stack.removeIf(before -> before.hash().equals(e.hash()));
        stack.push(e);
      }
    }
    stack.poll();
    return List.copyOf(stack);
  }
}
