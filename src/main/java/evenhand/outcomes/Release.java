package evenhand.outcomes;

import evenhand.facts.Reservation;
import evenhand.facts.Tier;

/** A reservation ends without having been used; its GPUs are idle again (W1, R3, R4, R5). */
public record Release(String job, String node, Tier tier, int gpus) implements Outcome {

  public Release(Reservation ended) {
    this(ended.job(), ended.node(), ended.tier(), ended.gpus());
  }
}
