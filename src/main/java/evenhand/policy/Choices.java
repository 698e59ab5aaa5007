package evenhand.policy;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.Placement;
import evenhand.facts.Running;
import evenhand.facts.Snapshot;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which of many allowed ones: total orders made of named keys, as a policy's YAML lists them. Each
 * ends with a key that tells any two apart, so that no choice depends on the order in which things
 * were read.
 */
final class Choices {
  private Choices() {}

  private static final Map<String, Comparator<Placement>> PLACEMENT_KEYS =
      Map.of(
          "tier", Comparator.comparingInt(p -> p.tier().sortOrder()),
          "idle", Comparator.comparingInt(Placement::idle),
          "capacity", Comparator.comparingInt(Placement::capacity),
          "node", Comparator.comparing(Placement::node));

  /** Most free first; ties as D1 breaks them. Only for telling people. */
  static final Comparator<Placement> MOST_IDLE =
      Comparator.comparingInt(Placement::idle)
          .reversed()
          .thenComparing(Comparator.<Placement>comparingInt(p -> p.tier().sortOrder()).reversed())
          .thenComparing(lastly());

  /** The best tier first, then most GPUs free or reserved. Only for telling people. */
  static final Comparator<Placement> MOST_PROMISED =
      Comparator.<Placement>comparingInt(p -> p.tier().sortOrder())
          .reversed()
          .thenComparing(
              Comparator.<Placement>comparingInt(p -> p.idle() + p.reserved()).reversed())
          .thenComparing(lastly());

  private static Comparator<Placement> lastly() {
    return Comparator.comparing(Placement::node).thenComparing(p -> p.tier().name());
  }

  /** Preferred first. A key is {@code tier}, {@code idle}, {@code capacity} or {@code node}. */
  static Comparator<Placement> preference(List<String> keys) {
    Comparator<Placement> all = (a, b) -> 0;
    for (String key : keys) {
      Directed d = Directed.read(key);
      Comparator<Placement> one = PLACEMENT_KEYS.get(d.name);
      if (one == null) {
        throw unknown(key, PLACEMENT_KEYS.keySet());
      }
      all = all.thenComparing(d.descending ? one.reversed() : one);
    }
    return all.thenComparing(lastly());
  }

  /** First of the queue first. */
  static final class Order {
    private static final List<String> KEYS =
        List.of(
            "account_usage",
            "account_tree",
            "allocated",
            "priority",
            "priority_class",
            "queued_at",
            "id");

    /** Keys that are about a job's account and its budget: alike for all jobs of one row. */
    private static final List<String> OF_ROWS =
        List.of("account_usage", "account_tree", "allocated");

    private final List<Directed> keys = new ArrayList<>();
    private final Comparator<Placed> jobs;
    private final Comparator<Row> rows;

    Order(List<String> keys) {
      for (String key : keys) {
        Directed d = Directed.read(key);
        if (!KEYS.contains(d.name)) {
          throw unknown(key, KEYS);
        }
        this.keys.add(d);
      }
      Comparator<Placed> all = (a, b) -> 0;
      for (Directed d : this.keys) {
        all = all.thenComparing(Ordered.comparator(d));
      }
      this.jobs = all.thenComparing(p -> p.job.id(), Natural.IDS);
      Comparator<Row> leading = (a, b) -> 0;
      for (Directed d : this.keys) {
        if (!OF_ROWS.contains(d.name)) {
          break;
        }
        leading = leading.thenComparing(ofRows(d));
      }
      this.rows = leading;
    }

    private static Comparator<Row> ofRows(Directed d) {
      Comparator<Row> one =
          switch (d.name) {
            case "account_usage" -> Comparator.comparingDouble(r -> r.usage);
            case "account_tree" -> Comparator.comparingInt(r -> r.rank);
            default -> (a, b) -> Boolean.compare(a.allocated, b.allocated);
          };
      return d.descending ? one.reversed() : one;
    }

    /** Whether it needs the account tree. */
    boolean usesTree() {
      return keys.stream().anyMatch(d -> d.name.equals("account_tree"));
    }

    /** Whether it looks at what each account has used so far. */
    boolean usesUsage() {
      return keys.stream().anyMatch(d -> d.name.equals("account_usage"));
    }

    /** Whether classes of priority are among its keys (PR1). */
    boolean usesClasses() {
      return keys.stream().anyMatch(d -> d.name.equals("priority_class"));
    }

    /** Jobs by all keys, the id last. */
    Comparator<Placed> jobs() {
      return jobs;
    }

    /** Rows by the keys about accounts that come before all keys about jobs. */
    Comparator<Row> rows() {
      return rows;
    }

    /**
     * The jobs of a snapshot in order.
     *
     * @param tree null where no key needs it
     */
    Ordered order(Snapshot snapshot, AccountTree tree) {
      return new Ordered(this, snapshot, tree);
    }
  }

  /**
   * What places all jobs alike that are of one account and allocated alike. Work that no budget
   * pays for is served by arrival alone: neither its account nor its priority counts (Q3).
   */
  static final class Row {
    final boolean allocated;
    double usage;
    int rank;

    Row(boolean allocated) {
      this.allocated = allocated;
    }
  }

  /** A job, and what places it besides its own terms. */
  static class Placed {
    final Job job;
    final Row row;

    Placed(Job job, Row row) {
      this.job = job;
      this.row = row;
    }

    private int priority() {
      return row.allocated ? job.priority() : 0;
    }
  }

  /** An {@link Order} applied to one snapshot. */
  static final class Ordered implements Ordering {
    private final Order order;
    private final List<Directed> keys;
    private final Snapshot snapshot;
    private final AccountTree tree;
    private final Map<String, Account> accounts = new java.util.HashMap<>();
    private List<Job> jobs;

    Ordered(Order order, Snapshot snapshot, AccountTree tree) {
      this.order = order;
      this.keys = order.keys;
      this.snapshot = snapshot;
      this.tree = tree;
      snapshot.accounts().forEach(a -> accounts.put(a.id(), a));
    }

    private Placed placed(Job job) {
      Row row = new Row(tree == null || OneCycle.allocated(tree, job));
      row.usage =
          Optional.ofNullable(accounts.get(job.account()))
              .map(Account::cumulativeUsage)
              .orElse(0.0);
      row.rank = tree == null || !row.allocated ? 0 : tree.rank(job.account());
      return new Placed(job, row);
    }

    private static Comparator<Placed> comparator(Directed d) {
      Comparator<Placed> one =
          switch (d.name) {
            case "account_usage", "account_tree", "allocated" -> {
              Comparator<Row> rows = Order.ofRows(d);
              yield (a, b) -> rows.compare(a.row, b.row);
            }
            case "priority" -> Comparator.comparingInt(Placed::priority);
            case "priority_class" -> Comparator.comparingInt(p -> Urgency.of(p.priority()));
            case "queued_at" -> Comparator.comparing(p -> p.job.queuedAt());
            default -> Comparator.comparing(p -> p.job.id(), Natural.IDS);
          };
      return d.descending && !Order.OF_ROWS.contains(d.name) ? one.reversed() : one;
    }

    @Override
    public List<Job> jobs() {
      if (jobs == null) {
        WaitingLine line = new WaitingLine(order);
        line.follow(snapshot);
        jobs = line.jobs();
      }
      return jobs;
    }

    @Override
    public Map<String, Object> figures(Job job) {
      Placed placed = placed(job);
      Map<String, Object> figures = new LinkedHashMap<>();
      for (Directed d : keys) {
        figures.put(
            d.name,
            d.name.equals("account_tree")
                ? placed.row.allocated ? words(tree.path(job.account())) : "unallocated"
                : figure(d.name, placed));
      }
      return figures;
    }

    private static Object figure(String key, Placed placed) {
      return switch (key) {
        case "account_usage" -> placed.row.usage;
        case "account_tree" -> null;
        case "allocated" -> placed.row.allocated;
        case "priority" -> placed.priority();
        case "priority_class" -> Urgency.of(placed.priority());
        case "queued_at" -> placed.job.queuedAt();
        default -> placed.job.id();
      };
    }

    /** The ratios that placed it, from the top: {@code ai2 0.8 > lab 1.25}. */
    private static String words(List<AccountTree.Step> steps) {
      StringBuilder path = new StringBuilder();
      for (AccountTree.Step step : steps) {
        path.append(path.isEmpty() ? "" : " > ")
            .append(step.account())
            .append(' ')
            .append(Math.round(step.ratio() * 1000) / 1000.0);
      }
      return path.toString();
    }

    @Override
    public List<AccountTree.Step> path(Job job) {
      return keys.stream().anyMatch(d -> d.name.equals("account_tree"))
              && OneCycle.allocated(tree, job)
          ? tree.path(job.account())
          : List.of();
    }

    @Override
    public Parting parting(Job one, Job other) {
      Placed a = placed(one);
      Placed b = placed(other);
      for (Directed d : keys) {
        int order = comparator(d).compare(a, b);
        if (order != 0) {
          return parting(order < 0 ? a : b, order < 0 ? b : a, d.name);
        }
      }
      boolean inOrder = Natural.IDS.compare(one.id(), other.id()) <= 0;
      return parting(inOrder ? a : b, inOrder ? b : a, "id");
    }

    private Parting parting(Placed first, Placed second, String key) {
      return new Parting(
          first.job,
          second.job,
          key,
          figure(key, first),
          figure(key, second),
          key.equals("account_tree") ? tree.fork(first.job.account(), second.job.account()) : null);
    }
  }

  /** Which running work makes room first (K4): cheapest first. */
  static final class VictimOrder {
    private static final List<String> KEYS =
        List.of("allocated", "priority_class", "lost_work", "served", "started", "id");
    private final Comparator<Placed> all;

    VictimOrder(List<String> keys) {
      Comparator<Placed> some = (a, b) -> 0;
      for (String key : keys) {
        Directed d = Directed.read(key);
        if (!KEYS.contains(d.name)) {
          throw unknown(key, KEYS);
        }
        some = some.thenComparing(comparator(d));
      }
      this.all = some.thenComparing(p -> p.running.job(), Natural.IDS);
    }

    /** Running work with the figures that order it, worked out but once. */
    private record Placed(int number, Running running, double lost, int served) {}

    /**
     * The numbers of running work in order, cheapest to end first; {@code served}: how far back its
     * account stands in the order of service.
     */
    int[] order(List<Running> work, Instant now, AccountTree tree) {
      Placed[] placed = new Placed[work.size()];
      for (int i = 0; i < placed.length; i++) {
        Running r = work.get(i);
        placed[i] = new Placed(i, r, r.lostWork(now), tree == null ? 0 : tree.rank(r.account()));
      }
      java.util.Arrays.sort(placed, all);
      int[] numbers = new int[placed.length];
      for (int i = 0; i < placed.length; i++) {
        numbers[i] = placed[i].number;
      }
      return numbers;
    }

    private static Comparator<Placed> comparator(Directed d) {
      Comparator<Placed> one =
          switch (d.name) {
            case "allocated" -> Comparator.comparing(p -> p.running.allocated());
            case "priority_class" -> Comparator.comparingInt(p -> Urgency.of(p.running.priority()));
            case "lost_work" -> Comparator.comparingDouble(Placed::lost);
            case "served" -> Comparator.comparingInt(Placed::served);
            case "started" -> Comparator.comparing(p -> p.running.startedAt());
            default -> Comparator.comparing(p -> p.running.job(), Natural.IDS);
          };
      return d.descending ? one.reversed() : one;
    }
  }

  private record Directed(String name, boolean descending) {
    static Directed read(String key) {
      if (key.endsWith("_asc")) {
        return new Directed(key.substring(0, key.length() - 4), false);
      }
      if (key.endsWith("_desc")) {
        return new Directed(key.substring(0, key.length() - 5), true);
      }
      throw new IllegalArgumentException(
          "\"" + key + "\" does not say which way: it must end in _asc or _desc");
    }
  }

  private static IllegalArgumentException unknown(String key, java.util.Collection<String> known) {
    return new IllegalArgumentException(
        "\""
            + key
            + "\" is no key to choose by; there are "
            + known.stream().sorted().toList()
            + ", each with _asc or _desc");
  }
}
