package evenhand.rollout;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.cycle.World;
import evenhand.cycle.accounts.AccountBook;
import evenhand.cycle.accounts.AccountChange;
import evenhand.facts.Job;
import evenhand.simulator.AccountPlan;
import evenhand.simulator.ClusterPlan;
import evenhand.simulator.JobSet;
import evenhand.simulator.RecordedHistory;
import evenhand.simulator.Trace;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The jobs that the service has had, to be played again: on the GPUs there are now, with the
 * weights as they were; see {@link RecordedHistory}.
 */
final class RecordedJobs {
  private static final int PART = 1000;

  private RecordedJobs() {}

  /**
   * Reads them; no job at all where none has run or no GPU is there.
   *
   * @param most how many at most, the newest
   */
  static JobSet since(Store store, Instant from, int most) {
    List<StoredJob> newestFirst = new ArrayList<>();
    long before = Long.MAX_VALUE;
    boolean more = true;
    while (more && newestFirst.size() < most) {
      List<Store.JobRecord> part = store.jobs(null, null, null, PART, before);
      for (Store.JobRecord record : part) {
        before = record.job().id();
        more = !record.job().submittedAt().isBefore(from);
        if (more) {
          newestFirst.add(record.job());
        }
      }
      more &= part.size() == PART;
    }
    List<StoredJob> jobs = new ArrayList<>(newestFirst);
    Collections.reverse(jobs);
    Instant zero = RecordedHistory.zero(jobs.isEmpty() ? from : jobs.get(0).submittedAt());
    World world = store.inventory();
    List<ClusterPlan.Gpus> gpus =
        world.stock().stream()
            .filter(s -> s.capacity() > 0)
            .map(s -> new ClusterPlan.Gpus(s.node(), s.tier(), s.capacity()))
            .toList();
    AccountPlan accounts = accounts(store.accounts(), zero);
    Trace trace =
        gpus.isEmpty()
            ? new Trace(List.of(), List.of(), 0)
            : RecordedHistory.trace(jobs.stream().map(RecordedJobs::seen).toList(), zero);
    return new JobSet(
        new ClusterPlan(world.tiers(), gpus, List.of()), accounts, accounts.known(trace), null);
  }

  private static RecordedHistory.Seen seen(StoredJob job) {
    Job asks = job.asks();
    return new RecordedHistory.Seen(
        asks.id(),
        job.submittedAt(),
        job.startedAt(),
        job.endedAt(),
        asks.account(),
        asks.user(),
        asks.nodes(),
        asks.numGpus(),
        asks.tier(),
        asks.minRuntimeSeconds(),
        asks.resumable(),
        asks.priority(),
        asks.preemptible());
  }

  private static AccountPlan accounts(AccountBook book, Instant zero) {
    Map<String, Double> first = new HashMap<>();
    List<AccountPlan.Change> changes = new ArrayList<>();
    for (AccountChange c : book.changesSince(zero)) {
      if (c.kind().ofWeight()) {
        changes.add(
            new AccountPlan.Change(
                RecordedHistory.micros(zero, c.at()), c.account(), c.weightBecame()));
        // newest first: what the earliest was before is what it began with
        first.put(c.account(), c.was() == null ? c.weightBecame() : c.weightWas());
      }
    }
    List<AccountSetup> setups =
        parentsFirst(book.entries()).stream()
            .map(e -> new AccountSetup(e.id(), e.parent(), first.getOrDefault(e.id(), e.weight())))
            .toList();
    return new AccountPlan(setups, Map.of(), Map.of(), changes, true);
  }

  private static List<AccountBook.Entry> parentsFirst(List<AccountBook.Entry> entries) {
    Map<String, AccountBook.Entry> byId = new HashMap<>();
    entries.forEach(e -> byId.put(e.id(), e));
    List<AccountBook.Entry> sorted = new ArrayList<>();
    entries.forEach(e -> add(e, byId, sorted));
    return sorted;
  }

  private static void add(
      AccountBook.Entry entry,
      Map<String, AccountBook.Entry> byId,
      List<AccountBook.Entry> sorted) {
    if (entry == null || sorted.contains(entry)) {
      return;
    }
    if (entry.parent() != null) {
      add(byId.get(entry.parent()), byId, sorted);
    }
    sorted.add(entry);
  }
}
