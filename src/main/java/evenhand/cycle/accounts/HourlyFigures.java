package evenhand.cycle.accounts;

import evenhand.cycle.Attempt;
import evenhand.cycle.Books;
import evenhand.cycle.StoredJob;
import evenhand.cycle.World;
import evenhand.facts.Account;
import evenhand.facts.NodeState;
import evenhand.policy.AccountTree;
import evenhand.policy.ChargeUnit;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What accounts had a right to, asked for and got, by clock hours (A5), from a whole hour to now.
 * What ended is read as it was summed when it ended; what waits or runs counts up to now.
 *
 * <p>An account's figures are its own and those of all that is below it today. Its right in an hour
 * is its share of the GPUs that were up or draining, at the weights of that time, or what it asked
 * for if that is less.
 */
final class HourlyFigures {
  private static final long HOUR = Duration.ofHours(1).toNanos() / 1000;

  private final Instant from;
  private final int hours;
  private final Map<String, String> parents = new HashMap<>();
  private final Map<String, Map<Double, long[]>> used = new HashMap<>();
  private final Map<String, long[]> demand = new HashMap<>();
  private final Map<String, long[]> delivered = new HashMap<>();
  private final Map<String, double[]> rights = new HashMap<>();
  private final TreeMap<Long, List<Account>> trees = new TreeMap<>();

  /**
   * Sums over some hours, GPU-seconds.
   *
   * @param demand asked for by work with a minimum run time
   * @param delivered allocated run time
   */
  record Sums(double demand, double entitled, double delivered) {}

  /**
   * @param from a whole hour
   */
  HourlyFigures(AccountBook book, World world, Instant from, Instant now) {
    this.from = from;
    long length = micros(now);
    this.hours = (int) Math.max(0, (length + HOUR - 1) / HOUR);
    Instant end = from.plus(hours, ChronoUnit.HOURS);
    List<AccountBook.Entry> entries = book.entries();
    entries.forEach(e -> parents.put(e.id(), e.parent()));
    book.usage(from, end).forEach(u -> use(u.account(), u.tflops(), micros(u.hour()), u));
    book.demand(from, end)
        .forEach(u -> line(demand, u.account())[(int) (micros(u.hour()) / HOUR)] += u.gpuMicros());
    for (Attempt a : world.attempts()) {
      if (a.allocated() && a.startedAt() != null) {
        a.on()
            .forEach(
                s ->
                    spread(
                        prices(a.account(), s.tier().tflops()),
                        micros(a.startedAt()),
                        s.gpus(),
                        length));
      }
    }
    for (StoredJob job : world.jobs()) {
      if (job.asks().minRuntimeSeconds() > 0) {
        int gpus = job.asks().nodes() * job.asks().numGpus();
        spread(line(demand, job.asks().account()), micros(job.submittedAt()), gpus, length);
      }
    }
    used.forEach(
        (account, byPrice) -> byPrice.values().forEach(h -> add(line(delivered, account), h)));
    toThoseAbove(demand);
    toThoseAbove(delivered);
    treesSince(entries, book.changesSince(from));
    rights(book.spans(from, now), length);
  }

  private long micros(Instant at) {
    return ChronoUnit.MICROS.between(from, at);
  }

  private long[] line(Map<String, long[]> lines, String account) {
    return lines.computeIfAbsent(account, a -> new long[hours]);
  }

  private long[] prices(String account, double price) {
    return used.computeIfAbsent(account, a -> new HashMap<>())
        .computeIfAbsent(price, p -> new long[hours]);
  }

  private void use(String account, double price, long hour, AccountBook.HourUse use) {
    prices(account, price)[(int) (hour / HOUR)] += use.gpuMicros();
  }

  /** Adds so many GPUs from {@code begin} to {@code end}. */
  private static void spread(long[] line, long begin, long gpus, long end) {
    for (long at = Math.max(0, begin); at < end; ) {
      int hour = (int) (at / HOUR);
      long next = Math.min(end, (hour + 1) * HOUR);
      line[hour] += gpus * (next - at);
      at = next;
    }
  }

  private static void add(long[] to, long[] from) {
    for (int i = 0; i < to.length; i++) {
      to[i] += from[i];
    }
  }

  private void toThoseAbove(Map<String, long[]> lines) {
    for (Map.Entry<String, long[]> own : new ArrayList<>(copied(lines).entrySet())) {
      for (String up = parents.get(own.getKey()); up != null; up = parents.get(up)) {
        add(line(lines, up), own.getValue());
      }
    }
  }

  private static Map<String, long[]> copied(Map<String, long[]> lines) {
    Map<String, long[]> copies = new HashMap<>();
    lines.forEach((account, line) -> copies.put(account, line.clone()));
    return copies;
  }

  /** The trees there were, by when each began: what is known now, with changes undone. */
  private void treesSince(List<AccountBook.Entry> entries, List<AccountChange> newestFirst) {
    Map<String, Account> tree = new LinkedHashMap<>();
    entries.forEach(e -> tree.put(e.id(), new Account(e.id(), e.parent(), e.weight(), 0, 0)));
    for (AccountChange c : newestFirst) {
      trees.computeIfAbsent(micros(c.at()), at -> List.copyOf(tree.values()));
      Account is = tree.get(c.account());
      if (is == null) {
        continue;
      }
      switch (c.kind()) {
        case ADDED -> tree.remove(c.account());
        case MOVED -> tree.put(c.account(), with(is, c.was(), is.weight()));
        case WEIGHT, RETIRED, RESTORED ->
            tree.put(c.account(), with(is, is.parent(), c.weightWas()));
        case OWNERS, USERS -> {
          // no figure hangs on them
        }
      }
    }
    trees.put(Long.MIN_VALUE, List.copyOf(tree.values()));
  }

  private static Account with(Account a, String parent, double weight) {
    return new Account(a.id(), parent, weight, 0, 0);
  }

  /** Cuts time wherever hours, trees or the capacity change, and gives each account its part. */
  private void rights(List<Books.Span> spans, long length) {
    TreeMap<Long, Long> changes = new TreeMap<>();
    for (Books.Span span : spans) {
      if (span.state() != NodeState.DOWN) {
        changes.merge(Math.max(0, micros(span.from())), (long) span.capacity(), Long::sum);
        if (span.to() != null) {
          changes.merge(Math.max(0, micros(span.to())), (long) -span.capacity(), Long::sum);
        }
      }
    }
    TreeSet<Long> cuts = new TreeSet<>(changes.keySet());
    cuts.addAll(trees.keySet());
    for (int hour = 0; hour < hours; hour++) {
      cuts.add(hour * HOUR);
    }
    cuts.add(length);
    long capacity = 0;
    AccountTree tree = null;
    List<Account> of = List.of();
    for (long at : cuts) {
      if (at >= length) {
        break;
      }
      capacity += changes.getOrDefault(at, 0L);
      if (trees.containsKey(at)) {
        of = trees.get(at);
        tree = new AccountTree(of, List.of());
      }
      if (at >= 0) {
        double gpuMicros = (double) capacity * (cuts.higher(at) - at);
        for (Account account : of) {
          rights.computeIfAbsent(account.id(), a -> new double[hours])[(int) (at / HOUR)] +=
              tree.share(account.id()) * gpuMicros;
        }
      }
    }
  }

  int hours() {
    return hours;
  }

  /** The sums over hours {@code first} to {@code last}, the last one not among them. */
  Sums sums(String account, int first, int last) {
    long[] asked = demand.getOrDefault(account, new long[hours]);
    long[] got = delivered.getOrDefault(account, new long[hours]);
    double[] right = rights.getOrDefault(account, new double[hours]);
    long askedSum = 0;
    long gotSum = 0;
    double entitled = 0;
    for (int hour = first; hour < last; hour++) {
      askedSum += asked[hour];
      gotSum += got[hour];
      entitled += Math.min(right[hour], asked[hour]);
    }
    return new Sums(askedSum / 1e6, entitled / 1e6, gotSum / 1e6);
  }

  /**
   * The tree as it was when an hour began, with what each account had used in the whole hours of
   * the window before that.
   */
  AccountTree treeAt(int hour, int window, ChargeUnit unit) {
    Map<String, GpuTime> windows = new HashMap<>();
    used.forEach(
        (account, byPrice) -> {
          GpuTime time = new GpuTime();
          byPrice.forEach(
              (price, line) -> {
                long sum = 0;
                for (int h = Math.max(0, hour - window); h < hour; h++) {
                  sum += line[h];
                }
                time.add(price, sum);
              });
          windows.put(account, time);
        });
    List<Account> facts = new ArrayList<>();
    for (Account a : trees.floorEntry(hour * HOUR).getValue()) {
      double usage = windows.getOrDefault(a.id(), new GpuTime()).in(unit);
      facts.add(new Account(a.id(), a.parent(), a.weight(), 0, usage));
    }
    return new AccountTree(facts, List.of());
  }

  /** Whether the account was there when an hour began. */
  boolean knows(String account, int hour) {
    return trees.floorEntry(hour * HOUR).getValue().stream().anyMatch(a -> a.id().equals(account));
  }
}
