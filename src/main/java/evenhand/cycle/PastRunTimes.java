package evenhand.cycle;

import evenhand.explain.Forecast;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Run times drawn from what jobs of the same account ran lately; where it ran nothing, from what
 * all ran; where nothing ran yet, up to the job's time limit, or an hour.
 */
final class PastRunTimes implements Forecast.RunTimes {
  private static final int LAST = 200;
  private static final double UNKNOWN = 3600;

  private final Store store;
  private final Map<String, StoredJob> jobs;
  private final Map<String, List<Double>> byAccount = new HashMap<>();
  private int drawnOf;

  /**
   * @param jobs that are not over, by id: their time limits end them
   */
  PastRunTimes(Store store, Map<String, StoredJob> jobs) {
    this.store = store;
    this.jobs = jobs;
    this.drawnOf = of(null).size();
  }

  /** How many past runs there are to draw from, of all accounts. */
  int known() {
    return drawnOf;
  }

  private List<Double> of(String account) {
    return byAccount.computeIfAbsent(
        String.valueOf(account),
        a -> {
          List<Double> seconds = new ArrayList<>();
          for (String kind : List.of("run", "unallocated")) {
            for (Store.LedgerRow row :
                store.ledger(
                    new Store.LedgerFilter(account, null, null, null, kind, null, null),
                    LAST,
                    Long.MAX_VALUE)) {
              seconds.add(Duration.between(row.from(), row.to()).toMillis() / 1000.0);
            }
          }
          return seconds;
        });
  }

  @Override
  public double draw(String job, String account, double atLeast, SplittableRandom random) {
    StoredJob stored = jobs.get(job);
    Double limit =
        stored == null || stored.timeLimitSeconds() == null
            ? null
            : stored.timeLimitSeconds().doubleValue();
    List<Double> past = of(account);
    List<Double> longer =
        (past.isEmpty() ? of(null) : past).stream().filter(s -> s > atLeast).toList();
    double drawn;
    if (!longer.isEmpty()) {
      drawn = longer.get(random.nextInt(longer.size()));
    } else {
      double most = limit != null ? limit : Math.max(UNKNOWN, 2 * atLeast);
      drawn = atLeast + random.nextDouble() * Math.max(1, most - atLeast);
    }
    return limit == null ? drawn : Math.max(atLeast, Math.min(drawn, limit));
  }
}
