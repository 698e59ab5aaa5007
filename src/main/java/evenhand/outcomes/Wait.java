package evenhand.outcomes;

import evenhand.facts.Turn;

/**
 * The job waits. Every reason that applies is concluded; the policy's {@code explain} order picks
 * the one that is told.
 *
 * @param code stable, for programs: {@code NO_FIT}, {@code NO_IDLE}, {@code NOT_FIRST}, …
 * @param behind the job it waits for, or null
 * @param message what it needs, what there is, for people
 */
public record Wait(String job, String code, String behind, String message) implements Outcome {

  public Wait(Turn turn, String code, String behind, String message) {
    this(turn.job(), code, behind, message);
  }

  /** The same answer to another job that asked for the same. */
  public Wait to(String other) {
    return new Wait(other, code, behind, message);
  }
}
