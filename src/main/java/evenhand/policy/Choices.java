package evenhand.policy;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.Placement;
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
        List.of("account_usage", "priority", "queued_at", "id");
    private final List<Directed> keys = new ArrayList<>();

    Order(List<String> keys) {
      for (String key : keys) {
        Directed d = Directed.read(key);
        if (!KEYS.contains(d.name)) {
          throw unknown(key, KEYS);
        }
        this.keys.add(d);
      }
    }

    /** A job with the figure that is looked up but once. */
    private record Placed(Job job, double usage) {}

    /** The jobs in order, first of the queue first. */
    List<Job> sort(List<Job> jobs, Map<String, Account> accounts) {
      Comparator<Placed> all = (a, b) -> 0;
      for (Directed d : keys) {
        Comparator<Placed> one =
            switch (d.name) {
              case "account_usage" -> Comparator.comparingDouble(Placed::usage);
              case "priority" -> Comparator.comparingInt(p -> p.job.priority());
              case "queued_at" -> Comparator.comparing(p -> p.job.queuedAt());
              default -> Comparator.comparing(p -> p.job.id(), Natural.IDS);
            };
        all = all.thenComparing(d.descending ? one.reversed() : one);
      }
      Placed[] placed = new Placed[jobs.size()];
      for (int i = 0; i < placed.length; i++) {
        placed[i] = new Placed(jobs.get(i), usage(accounts, jobs.get(i)));
      }
      java.util.Arrays.sort(placed, all.thenComparing(p -> p.job.id(), Natural.IDS));
      List<Job> sorted = new ArrayList<>(placed.length);
      for (Placed p : placed) {
        sorted.add(p.job);
      }
      return sorted;
    }

    Map<String, Object> figures(Job job, Map<String, Account> accounts) {
      Map<String, Object> figures = new LinkedHashMap<>();
      for (Directed d : keys) {
        figures.put(
            d.name,
            switch (d.name) {
              case "account_usage" -> usage(accounts, job);
              case "priority" -> job.priority();
              case "queued_at" -> job.queuedAt();
              default -> job.id();
            });
      }
      return figures;
    }

    private static double usage(Map<String, Account> accounts, Job job) {
      return Optional.ofNullable(accounts.get(job.account()))
          .map(Account::cumulativeUsage)
          .orElse(0.0);
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
