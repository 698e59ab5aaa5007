package evenhand.cycle;

import evenhand.cycle.accounts.GpuTime;
import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Reservation;
import evenhand.facts.Tier;
import java.util.List;
import java.util.Map;

/**
 * What the store remembers that one cycle needs, of one moment.
 *
 * @param accounts those in use, without their windows
 * @param jobs all that have not ended: queued, dispatching, running
 * @param attempts those that have not ended
 * @param used what ended runs were charged in the window, by account; running ones are not in it
 *     yet
 * @param drains of nodes that are drained at present
 * @param claim the one that stands (G1), or null
 */
public record World(
    List<Tier> tiers,
    List<Stock> stock,
    List<Account> accounts,
    List<StoredJob> jobs,
    List<Attempt> attempts,
    Map<String, GpuTime> used,
    List<NodeDrain> drains,
    Claim claim) {
  public World {
    tiers = List.copyOf(tiers);
    stock = List.copyOf(stock);
    accounts = List.copyOf(accounts);
    jobs = List.copyOf(jobs);
    attempts = List.copyOf(attempts);
    used = Map.copyOf(used);
    drains = List.copyOf(drains);
  }

  /** One in which nobody has used anything, nothing drains, and nothing is claimed. */
  public World(
      List<Tier> tiers,
      List<Stock> stock,
      List<Account> accounts,
      List<StoredJob> jobs,
      List<Attempt> attempts) {
    this(tiers, stock, accounts, jobs, attempts, Map.of(), List.of(), null);
  }

  /** The reservations its jobs hold. */
  public List<Reservation> reservations() {
    return jobs.stream().map(StoredJob::reservation).filter(r -> r != null).toList();
  }
}
