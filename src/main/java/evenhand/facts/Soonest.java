package evenhand.facts;

import java.time.Instant;
import java.util.List;

/**
 * The placements that become free or unprotected soonest for the job whose turn it is (G2).
 *
 * @param readyAt when the last of them is, by the contracts of those that run there
 * @param yields the jobs that this counts on
 */
public record Soonest(List<Share> on, Instant readyAt, List<String> yields) {
  public Soonest {
    on = List.copyOf(on);
    yields = List.copyOf(yields);
  }
}
