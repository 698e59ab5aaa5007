package evenhand.outcomes;

import evenhand.facts.Placement;
import evenhand.facts.Tier;
import evenhand.facts.Turn;

/** D3: a reservation begins; these GPUs are held for the job. */
public record Reserve(String job, String node, Tier tier, int gpus) implements Outcome {

  public Reserve(Turn turn, Placement on, int gpus) {
    this(turn.job(), on.node(), on.tier(), gpus);
  }
}
