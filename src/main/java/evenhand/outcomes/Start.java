package evenhand.outcomes;

import evenhand.facts.Placement;
import evenhand.facts.Share;
import evenhand.facts.Turn;
import java.util.List;

/**
 * The job starts now, on these GPUs. A reservation of its own on the same GPUs ends with it (D2).
 */
public record Start(String job, List<Share> on) implements Outcome {
  public Start {
    on = List.copyOf(on);
  }

  /** Starts on one placement with all the GPUs it asks for. */
  public Start(Turn turn, Placement on) {
    this(turn.job(), List.of(new Share(on.node(), on.tier(), turn.request().numGpus())));
  }
}
