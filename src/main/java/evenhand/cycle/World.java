package evenhand.cycle;

import evenhand.cycle.accounts.GpuTime;
import evenhand.facts.Account;
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
 */
public record World(
    List<Tier> tiers,
    List<Stock> stock,
    List<Account> accounts,
    List<StoredJob> jobs,
    List<Attempt> attempts,
    Map<String, GpuTime> used) {
  public World {
    tiers = List.copyOf(tiers);
    stock = List.copyOf(stock);
    accounts = List.copyOf(accounts);
    jobs = List.copyOf(jobs);
    attempts = List.copyOf(attempts);
    used = Map.copyOf(used);
  }

  /** One in which nobody has used anything. */
  public World(
      List<Tier> tiers,
      List<Stock> stock,
      List<Account> accounts,
      List<StoredJob> jobs,
      List<Attempt> attempts) {
    this(tiers, stock, accounts, jobs, attempts, Map.of());
  }

  /** The reservations its jobs hold. */
  public List<Reservation> reservations() {
    return jobs.stream().map(StoredJob::reservation).filter(r -> r != null).toList();
  }
}
