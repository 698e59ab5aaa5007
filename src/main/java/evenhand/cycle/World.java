package evenhand.cycle;

import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Reservation;
import evenhand.facts.Tier;
import java.util.List;

/**
 * What the store remembers that one cycle needs, of one moment.
 *
 * @param accounts {@code windowUsage} is what ended runs were charged in the window, GPU-seconds;
 *     running ones are not in it yet
 * @param jobs all that have not ended: queued, dispatching, running
 * @param attempts those that have not ended
 * @param drains of nodes that are drained at present
 * @param claim the one that stands (G1), or null
 */
public record World(
    List<Tier> tiers,
    List<Stock> stock,
    List<Account> accounts,
    List<StoredJob> jobs,
    List<Attempt> attempts,
    List<NodeDrain> drains,
    Claim claim) {
  public World {
    tiers = List.copyOf(tiers);
    stock = List.copyOf(stock);
    accounts = List.copyOf(accounts);
    jobs = List.copyOf(jobs);
    attempts = List.copyOf(attempts);
    drains = List.copyOf(drains);
  }

  /** The reservations its jobs hold. */
  public List<Reservation> reservations() {
    return jobs.stream().map(StoredJob::reservation).filter(r -> r != null).toList();
  }
}
