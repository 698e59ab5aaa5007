package evenhand.outcomes;

import evenhand.facts.Placement;
import evenhand.facts.Share;
import evenhand.facts.Turn;
import java.util.List;

/**
 * The job starts now, on these GPUs. A reservation of its own on the same GPUs ends with it (D2).
 *
 * @param allocated whether its time is charged to its account's budget (N5); policies without
 *     budgets look at nothing of the kind and say null
 */
public record Start(String job, List<Share> on, Boolean allocated) implements Outcome {
  public Start {
    on = List.copyOf(on);
  }

  /** A start by a policy without budgets. */
  public Start(String job, List<Share> on) {
    this(job, on, null);
  }

  /** Starts on one placement with all the GPUs it asks for. */
  public Start(Turn turn, Placement on) {
    this(
        turn.job(),
        List.of(new Share(on.node(), on.tier(), turn.request().numGpus())),
        turn.request().allocated());
  }
}
