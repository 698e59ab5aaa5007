package evenhand.rollout;

import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Wait;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Where two policies part on one snapshot.
 *
 * @param differences jobs of which they decide otherwise, in the order of the first decision
 * @param besides whether what reservations cost or the LLM router is told differs
 */
record Comparison(List<Difference> differences, boolean besides) {
  Comparison {
    differences = List.copyOf(differences);
  }

  /**
   * What each of them decides about one job.
   *
   * @param was outcomes of the one, in order; empty where it says nothing about the job
   * @param becomes outcomes of the other
   */
  record Difference(String job, List<Decided> was, List<Decided> becomes) {

    /** Whether more differs than why the job waits. */
    boolean acts() {
      return !acts(was).equals(acts(becomes));
    }

    private static List<Decided> acts(List<Decided> all) {
      return all.stream().filter(d -> !(d.outcome() instanceof Wait)).toList();
    }

    /**
     * The clause of the verdict, which is the last about a job; {@code none} where there is none.
     */
    static String clause(List<Decided> of) {
      return of.isEmpty() ? "none" : of.get(of.size() - 1).rule();
    }
  }

  static Comparison of(Decision was, Decision becomes) {
    Map<String, List<Decided>> before = byJob(was);
    Map<String, List<Decided>> after = byJob(becomes);
    Set<String> jobs = new LinkedHashSet<>(before.keySet());
    jobs.addAll(after.keySet());
    List<Difference> differences = new ArrayList<>();
    for (String job : jobs) {
      List<Decided> one = before.getOrDefault(job, List.of());
      List<Decided> other = after.getOrDefault(job, List.of());
      if (!one.equals(other)) {
        differences.add(new Difference(job, one, other));
      }
    }
    return new Comparison(
        differences,
        !was.accruals().equals(becomes.accruals()) || !was.yields().equals(becomes.yields()));
  }

  private static Map<String, List<Decided>> byJob(Decision decision) {
    Map<String, List<Decided>> jobs = new LinkedHashMap<>();
    for (Decided d : decision.outcomes()) {
      jobs.computeIfAbsent(d.outcome().job(), job -> new ArrayList<>()).add(d);
    }
    return jobs;
  }

  boolean differs() {
    return besides || !differences.isEmpty();
  }

  /** Whether more differs than why jobs wait. */
  boolean acts() {
    return besides || differences.stream().anyMatch(Difference::acts);
  }

  /**
   * What shows best where they part: the first job that both have a verdict on and something else
   * is done about; else the first of which something else is done; else the first that differs;
   * else null.
   */
  Difference first() {
    return differences.stream()
        .filter(d -> d.acts() && !d.was().isEmpty() && !d.becomes().isEmpty())
        .findFirst()
        .or(() -> differences.stream().filter(Difference::acts).findFirst())
        .orElse(differences.isEmpty() ? null : differences.get(0));
  }
}
