package evenhand.explain;

import evenhand.explain.WhatIf.Given;
import evenhand.facts.Job;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import evenhand.policy.Stage;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Which smallest changes would start a waiting job now. Each kind is looked for by itself, from the
 * smallest change on, every value asked of the policy and none left out: so nothing smaller of that
 * kind starts it, whether or not more always needs more. The order of kinds: fewer GPUs, fewer
 * nodes, another tier or a lower minimum tier, no minimum run time (N5), the end of a protection.
 *
 * @param asIs where it would start as it is, in the next cycle; null when it would not
 * @param changes at most one of each kind, in that order
 * @param asked how many decisions were made to find out
 * @param complete false when the limit of decisions was reached before all was asked
 */
public record SmallestChanges(List<Share> asIs, List<Change> changes, int asked, boolean complete) {
  /** Most values of one kind that are asked. */
  public static final int MOST_OF_A_KIND = 40;

  public SmallestChanges {
    asIs = asIs == null ? null : List.copyOf(asIs);
    changes = List.copyOf(changes);
  }

  /**
   * Looks for them.
   *
   * @param id of a job that is in the queue of the snapshot
   */
  public static SmallestChanges of(WhatIf whatIf, String id) {
    return new Search(whatIf, whatIf.job(id)).made();
  }

  private static final class Search {
    private final WhatIf whatIf;
    private final Job job;
    private final int before;
    private final List<Change> found = new ArrayList<>();
    private boolean complete = true;

    Search(WhatIf whatIf, Job job) {
      this.whatIf = whatIf;
      this.job = job;
      this.before = whatIf.asked();
    }

    SmallestChanges made() {
      Given asIs = whatIf.given(job);
      if (asIs != null) {
        return new SmallestChanges(asIs.start().on(), List.of(), whatIf.asked() - before, true);
      }
      fewer(
          "num_gpus", job.numGpus(), gpus -> job.asking(job.nodes(), gpus, job.tier(), minimum()));
      fewer("nodes", job.nodes(), nodes -> job.asking(nodes, job.numGpus(), job.tier(), minimum()));
      if (job.tier() != null) {
        anotherTier();
      } else if (job.minimumTierSortOrder() > 0) {
        lowerMinimum();
      }
      if (whatIf.policy().hasBudgets() && job.minRuntimeSeconds() > 0) {
        first("min_runtime_s", job.minRuntimeSeconds(), List.of(0L), job::protectedFor);
      }
      if (whatIf.policy().has(Stage.PREEMPT)) {
        protectionEnds();
      }
      return new SmallestChanges(null, found, whatIf.asked() - before, complete);
    }

    private int minimum() {
      return job.minimumTierSortOrder();
    }

    private void fewer(String kind, int now, Function<Integer, Job> changed) {
      List<Integer> values = new ArrayList<>();
      for (int value = now - 1; value >= 1; value--) {
        values.add(value);
      }
      first(kind, now, values, changed);
    }

    /** The nearest in rank first; that it takes any only where no single one will do. */
    private void anotherTier() {
      Map<String, Tier> tiers =
          whatIf.snapshot().tiers().stream()
              .collect(Collectors.toMap(Tier::name, t -> t, (a, b) -> a));
      Tier own = tiers.get(job.tier());
      int rank = own == null ? 0 : own.sortOrder();
      List<String> names = new ArrayList<>();
      tiers.values().stream()
          .filter(t -> !t.name().equals(job.tier()))
          .sorted(
              Comparator.<Tier>comparingInt(t -> Math.abs(t.sortOrder() - rank))
                  .thenComparing(Tier::name))
          .forEach(t -> names.add(t.name()));
      names.add(null);
      first(
          "tier",
          job.tier(),
          names,
          name -> job.asking(job.nodes(), job.numGpus(), name, minimum()));
    }

    private void lowerMinimum() {
      TreeMap<Integer, String> below = new TreeMap<>(Comparator.reverseOrder());
      for (Tier tier : whatIf.snapshot().tiers()) {
        if (tier.sortOrder() < minimum()) {
          below.merge(tier.sortOrder(), tier.name(), (a, b) -> a.compareTo(b) <= 0 ? a : b);
        }
      }
      Map<String, Integer> orders = new TreeMap<>();
      below.forEach((order, name) -> orders.put(name, order));
      first(
          "minimum_tier",
          "sort_order " + minimum(),
          List.copyOf(below.values()),
          name -> job.asking(job.nodes(), job.numGpus(), null, orders.get(name)));
    }

    /** Asks one value after another until the job starts with one. */
    private <T> void first(String kind, Object from, List<T> values, Function<T, Job> changed) {
      int asked = 0;
      for (T value : values) {
        if (asked == MOST_OF_A_KIND) {
          complete = false;
          return;
        }
        Job other = changed.apply(value);
        if (!whatIf.admitted(other)) {
          continue;
        }
        asked++;
        Given given = whatIf.given(other);
        if (given != null) {
          boolean anew = startsAnew(other);
          found.add(
              new Change(
                  kind,
                  from,
                  value,
                  given.start().on(),
                  given.ends(),
                  List.of(),
                  anew,
                  sentence(kind, from, value, given, anew)));
          return;
        }
      }
    }

    /** Whether it starts too when it has not waited yet: a changed job is submitted anew. */
    private boolean startsAnew(Job other) {
      return whatIf.given(other.submitted(whatIf.snapshot().now())) != null;
    }

    private void protectionEnds() {
      TreeMap<Instant, List<String>> ends = new TreeMap<>();
      for (Running r : whatIf.snapshot().running()) {
        if (!r.leaving() && !r.unprotected(whatIf.snapshot().now())) {
          ends.computeIfAbsent(r.protectedUntil(), at -> new ArrayList<>()).add(r.job());
        }
      }
      int asked = 0;
      for (Map.Entry<Instant, List<String>> end : ends.entrySet()) {
        if (asked++ == MOST_OF_A_KIND) {
          complete = false;
          return;
        }
        Given given = whatIf.given(job, end.getKey());
        if (given != null) {
          found.add(
              new Change(
                  "protection_ends",
                  null,
                  end.getKey(),
                  given.start().on(),
                  given.ends(),
                  end.getValue(),
                  null,
                  (end.getValue().size() == 1 ? "job " : "jobs ")
                      + some(end.getValue())
                      + (end.getValue().size() == 1 ? " leaves" : " leave")
                      + " protection at "
                      + end.getKey().truncatedTo(ChronoUnit.SECONDS)
                      + ": if nothing else changes, it is then given "
                      + on(given.start().on())
                      + room(given)));
          return;
        }
      }
    }

    private static String sentence(String kind, Object from, Object to, Given given, boolean anew) {
      String what =
          switch (kind) {
            case "num_gpus" -> "with num_gpus " + to + " instead of " + from;
            case "nodes" -> "with nodes " + to + " instead of " + from;
            case "tier" -> to == null ? "on any tier" : "on tier " + to + " instead of " + from;
            case "minimum_tier" -> "with minimum_tier " + to + " instead of " + from;
            default -> "with min_runtime_s 0, as unallocated work that makes room when asked (N5),";
          };
      return what
          + " it would be given "
          + on(given.start().on())
          + " now"
          + room(given)
          + (anew ? "" : "; but only at its present place: submitted anew it would wait");
    }

    private static String room(Given given) {
      return given.ends().isEmpty()
          ? ""
          : "; "
              + (given.ends().size() == 1 ? "job " : "jobs ")
              + some(given.ends())
              + " would make room";
    }

    private static String some(List<String> jobs) {
      return jobs.size() <= 5
          ? String.join(", ", jobs)
          : String.join(", ", jobs.subList(0, 5)) + " and " + (jobs.size() - 5) + " more";
    }

    private static String on(List<Share> on) {
      Share first = on.get(0);
      String gpus = first.gpus() == 1 ? "1 GPU" : first.gpus() + " GPUs";
      return on.size() == 1
          ? gpus + " of " + first.node() + " (" + first.tier().name() + ")"
          : gpus
              + " on each of "
              + on.size()
              + " nodes ("
              + first.tier().name()
              + "), "
              + first.node()
              + " first";
    }
  }
}
