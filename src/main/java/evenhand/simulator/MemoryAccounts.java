package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Books;
import evenhand.cycle.Store;
import evenhand.cycle.StoredJob;
import evenhand.cycle.accounts.AccountBook;
import evenhand.cycle.accounts.AccountChange;
import evenhand.cycle.accounts.GpuTime;
import evenhand.cycle.accounts.InUse;
import evenhand.facts.Account;
import evenhand.outcomes.HoldingCost;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** The account tree in memory; figures by the hour are worked out from all rows, anew each time. */
final class MemoryAccounts implements AccountBook {
  private final Map<String, Account> accounts = new LinkedHashMap<>();
  private final Map<String, List<String>> owners = new HashMap<>();
  private final Map<String, List<String>> users = new HashMap<>();
  private final Map<String, Instant> retired = new HashMap<>();
  private final List<AccountChange> changes = new ArrayList<>();
  private final List<Earlier> before = new ArrayList<>();
  private final Object lock;
  private final List<Store.LedgerRow> ledger;
  private final Collection<StoredJob> jobs;
  private final List<Books.Span> spans;
  private boolean applied;

  private record Earlier(String account, long gpuMicros, Instant at) {}

  /**
   * @param lock of the store that the others are parts of
   */
  MemoryAccounts(
      Object lock,
      List<Store.LedgerRow> ledger,
      Collection<StoredJob> jobs,
      List<Books.Span> spans) {
    this.lock = lock;
    this.ledger = ledger;
    this.jobs = jobs;
    this.spans = spans;
  }

  void setUp(List<AccountSetup> setups, Instant now) {
    for (AccountSetup setup : setups) {
      if (setup.parent() != null && !accounts.containsKey(setup.parent())) {
        throw new IllegalArgumentException(
            "account " + setup.id() + ": its parent " + setup.parent() + " is not known");
      }
      Account old = accounts.get(setup.id());
      if (old == null) {
        String weight = Double.toString(setup.weight());
        write(made(now, setup, AccountChange.Kind.ADDED, null, weight));
      } else if (!applied && !java.util.Objects.equals(old.parent(), setup.parent())) {
        write(made(now, setup, AccountChange.Kind.MOVED, old.parent(), setup.parent()));
      }
    }
  }

  private static AccountChange made(
      Instant now, AccountSetup setup, AccountChange.Kind kind, String was, String became) {
    String why = "the settings of the service";
    return new AccountChange(
        0, now, setup.id(), kind, was, became, setup.parent(), "settings", why);
  }

  Account get(String id) {
    return accounts.get(id);
  }

  List<Account> all() {
    return List.copyOf(accounts.values());
  }

  /** Adds to what an account was ever charged. */
  void use(String id, double tflopSeconds) {
    Account old = accounts.get(id);
    if (old == null) {
      throw new IllegalArgumentException("there is no account " + id);
    }
    put(id, old.parent(), old.weight(), old.cumulativeUsage() + tflopSeconds);
  }

  private void put(String id, String parent, double weight, double cumulative) {
    accounts.put(id, new Account(id, parent, weight, cumulative, 0));
  }

  /** Counted at a price of 1: in whatever unit the policy counts. */
  void usedBefore(String account, double amount, Instant at) {
    before.add(new Earlier(account, Math.round(amount * 1e6), at));
  }

  /**
   * @param window charged run time since then is summed; null: none is
   */
  InUse inUse(Set<String> withWork, Instant window) {
    Map<String, GpuTime> used = new HashMap<>();
    if (window != null) {
      for (Earlier e : before) {
        if (e.at().isAfter(window)) {
          used.computeIfAbsent(e.account(), a -> new GpuTime()).add(1, e.gpuMicros());
        }
      }
      for (Store.LedgerRow row : ledger) {
        if (isUsage(row) && row.to().isAfter(window)) {
          used.computeIfAbsent(row.account(), a -> new GpuTime())
              .add(row.tflops(), micros(row.gpus(), later(row.from(), window), row.to()));
        }
      }
    }
    return InUse.of(all(), retired.keySet(), withWork, used);
  }

  private static boolean isUsage(Store.LedgerRow row) {
    return row.kind().equals(HoldingCost.RUN) && row.charge() != null;
  }

  private static long micros(int gpus, Instant from, Instant to) {
    return gpus * ChronoUnit.MICROS.between(from, to);
  }

  private static Instant later(Instant a, Instant b) {
    return a.isAfter(b) ? a : b;
  }

  private static Instant sooner(Instant a, Instant b) {
    return a.isBefore(b) ? a : b;
  }

  @Override
  public List<Entry> entries() {
    synchronized (lock) {
      return new TreeMap<>(accounts)
          .values().stream()
              .map(
                  a ->
                      new Entry(
                          a.id(),
                          a.parent(),
                          a.weight(),
                          owners.getOrDefault(a.id(), List.of()),
                          users.getOrDefault(a.id(), List.of()),
                          retired.get(a.id())))
              .toList();
    }
  }

  @Override
  public List<AccountChange> changes(String of, String below, int limit, long last) {
    synchronized (lock) {
      List<AccountChange> found = new ArrayList<>();
      for (int i = (int) Math.min(changes.size(), last - 1) - 1;
          i >= 0 && found.size() < limit;
          i--) {
        AccountChange c = changes.get(i);
        if ((of == null || of.equals(c.account())) && (below == null || below.equals(c.parent()))) {
          found.add(c);
        }
      }
      return found;
    }
  }

  @Override
  public List<AccountChange> changesSince(Instant after) {
    return changes(null, null, Integer.MAX_VALUE, Long.MAX_VALUE).stream()
        .filter(c -> c.at().isAfter(after))
        .toList();
  }

  @Override
  public List<AccountChange> change(Function<List<Entry>, Amendment> work) {
    synchronized (lock) {
      Amendment amendment = work.apply(entries());
      for (AccountChange c : amendment.changes()) {
        if (c.kind().ofWeight() && c.weightBecame() < 0) {
          throw new IllegalArgumentException("account " + c.account() + ": a weight below 0");
        }
      }
      applied |= amendment.wholeTree() && !amendment.changes().isEmpty();
      return amendment.changes().stream().map(this::write).toList();
    }
  }

  private AccountChange write(AccountChange c) {
    Account old = accounts.get(c.account());
    double cumulative = old == null ? 0 : old.cumulativeUsage();
    switch (c.kind()) {
      case ADDED -> put(c.account(), c.parent(), c.weightBecame(), 0);
      case WEIGHT -> put(c.account(), old.parent(), c.weightBecame(), cumulative);
      case MOVED -> put(c.account(), c.became(), old.weight(), cumulative);
      case RETIRED -> {
        put(c.account(), old.parent(), 0, cumulative);
        retired.put(c.account(), c.at());
      }
      case RESTORED -> {
        put(c.account(), old.parent(), c.weightBecame(), cumulative);
        retired.remove(c.account());
      }
      case OWNERS -> owners.put(c.account(), c.namesBecame());
      case USERS -> {
        users.replaceAll(
            (account, names) -> names.stream().filter(n -> !c.namesBecame().contains(n)).toList());
        users.put(c.account(), c.namesBecame());
      }
    }
    AccountChange written = c.written(changes.size() + 1L);
    changes.add(written);
    return written;
  }

  @Override
  public List<HourUse> usage(Instant from, Instant to) {
    synchronized (lock) {
      List<HourUse> hours = new ArrayList<>();
      for (Store.LedgerRow row : ledger) {
        if (isUsage(row)) {
          cut(row.account(), row.from(), row.to(), row.tflops(), row.gpus(), from, to, hours);
        }
      }
      return hours;
    }
  }

  @Override
  public List<HourUse> demand(Instant from, Instant to) {
    synchronized (lock) {
      List<HourUse> hours = new ArrayList<>();
      for (StoredJob job : jobs) {
        if (job.endedAt() != null && job.asks().minRuntimeSeconds() > 0) {
          int gpus = job.asks().nodes() * job.asks().numGpus();
          cut(job.asks().account(), job.submittedAt(), job.endedAt(), 0, gpus, from, to, hours);
        }
      }
      return hours;
    }
  }

  private static void cut(
      String account,
      Instant begin,
      Instant end,
      double tflops,
      int gpus,
      Instant from,
      Instant to,
      List<HourUse> hours) {
    Instant last = sooner(end, to);
    Instant hour = later(begin, from).truncatedTo(ChronoUnit.HOURS);
    while (hour.isBefore(last)) {
      Instant next = hour.plus(1, ChronoUnit.HOURS);
      long gpuMicros = micros(gpus, later(begin, hour), sooner(end, next));
      hours.add(new HourUse(account, hour, tflops, gpuMicros));
      hour = next;
    }
  }

  @Override
  public List<Books.Span> spans(Instant from, Instant to) {
    synchronized (lock) {
      return spans.stream()
          .filter(s -> (s.to() == null || s.to().isAfter(from)) && s.from().isBefore(to))
          .toList();
    }
  }

  @Override
  public Map<String, Integer> openJobs() {
    synchronized (lock) {
      Map<String, Integer> open = new HashMap<>();
      for (StoredJob job : jobs) {
        if (!job.state().ended()) {
          open.merge(job.asks().account(), 1, Integer::sum);
        }
      }
      return open;
    }
  }

  @Override
  public <T> T atOneMoment(Function<AccountBook, T> reader) {
    synchronized (lock) {
      return reader.apply(this);
    }
  }
}
