package evenhand.outcomes;

import evenhand.facts.Share;
import evenhand.facts.Soonest;
import evenhand.facts.Turn;
import java.time.Instant;
import java.util.List;

/**
 * G2: the job claims these GPUs: idle ones are held for it, others come to it as they are free or
 * no longer protected.
 *
 * @param readyAt not later than then it has all of them
 * @param yields jobs that run there and that it counts on
 */
public record Claimed(String job, List<Share> on, Instant readyAt, List<String> yields)
    implements Outcome {
  public Claimed {
    on = List.copyOf(on);
    yields = List.copyOf(yields);
  }

  public Claimed(Turn turn, Soonest soonest) {
    this(turn.job(), soonest.on(), soonest.readyAt(), soonest.yields());
  }
}
