package evenhand.outcomes;

import evenhand.facts.Placement;
import evenhand.facts.Tier;
import evenhand.facts.Turn;

/** D2: the job's reservation grows by these GPUs. */
public record Absorb(String job, String node, Tier tier, int gpus) implements Outcome {

  public Absorb(Turn turn, Placement on, int gpus) {
    this(turn.job(), on.node(), on.tier(), gpus);
  }
}
