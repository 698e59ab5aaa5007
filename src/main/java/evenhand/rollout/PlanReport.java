package evenhand.rollout;

import evenhand.cycle.Recorder;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.policy.Policy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a change of the policy would do.
 *
 * @param apply the command that puts it in force
 * @param decisions null where nothing changes
 * @param simulation null where nothing changes, or there is no job to simulate
 * @param notes what one should know when reading it, one sentence each
 * @param tookSeconds how long it took to find out
 */
public record PlanReport(
    long id,
    Instant at,
    String by,
    String policy,
    String hash,
    String againstPolicy,
    String against,
    Verdict verdict,
    String apply,
    Changes changes,
    Decisions decisions,
    Played simulation,
    List<Guardrail> guardrails,
    List<String> notes,
    double tookSeconds) {

  /** What one sees at a glance. */
  public enum Verdict {
    /** The candidate is what is in force. */
    SAME,
    /** No guard rail is broken. */
    PASSES,
    BREAKS_GUARDRAILS
  }

  /** What is written otherwise. */
  public record Changes(List<Clause> clauses, List<File> files) {}

  /**
   * @param kind {@code added}, {@code removed} or {@code changed}
   * @param was its parameters and choices that are not so any more
   * @param becomes those that come in their place
   */
  public record Clause(String clause, String kind, List<String> was, List<String> becomes) {}

  /**
   * @param kind {@code added}, {@code removed} or {@code changed}
   * @param diff what {@code diff -u} shows
   */
  public record File(String file, String kind, String diff) {}

  /**
   * Recorded decisions made again by both.
   *
   * @param days how far back
   * @param recorded how many there are
   * @param compared how many were made again, spread evenly over those
   * @param differ in how many of these something differs
   * @param differInActs in how many more than why jobs wait differs
   * @param failed in how many the candidate failed
   * @param failure the first of these, or null
   * @param clauses which clauses decide in the place of which, most often first
   * @param first the earliest that differs, or null
   */
  public record Decisions(
      int days,
      long recorded,
      int compared,
      int differ,
      int differInActs,
      int failed,
      String failure,
      List<Instead> clauses,
      First first) {}

  /** How many jobs were decided about by one clause, and would be by another. */
  public record Instead(String was, String becomes, long jobs) {}

  /**
   * One decision side by side.
   *
   * @param job of which it decides otherwise; null where only costs or the LLM router differ
   * @param was what the policy in force decides about it
   * @param wasRules the rules that do, each a whole sentence
   */
  public record First(
      String decision,
      Instant at,
      String job,
      int jobs,
      List<JsonNode> was,
      List<String> wasRules,
      List<JsonNode> becomes,
      List<String> becomesRules) {

    /** Of two decisions on one snapshot that differ, by two policies. */
    static First of(
        long id,
        Comparison comparison,
        Policy before,
        Decision one,
        Policy after,
        Decision other,
        Recorder recorder) {
      Comparison.Difference d = comparison.first();
      String job = d == null ? null : d.job();
      return new First(
          Long.toString(id),
          one.now(),
          job,
          comparison.differences().size(),
          d == null ? List.of() : outcomes(recorder, one, job),
          d == null ? List.of() : rules(before, d.was()),
          d == null ? List.of() : outcomes(recorder, other, job),
          d == null ? List.of() : rules(after, d.becomes()));
    }
  }

  /**
   * Both policies on the same jobs.
   *
   * @param of where the jobs are from
   * @param leftOut jobs that could not be simulated
   */
  public record Played(String of, int jobs, int leftOut, Figures was, Figures becomes) {}

  /**
   * What came of it. Jobs that never started waited until the end.
   *
   * @param lostGpuS work that had to be done again, GPU-seconds
   * @param deliveredOverEntitled null where nothing was entitled
   */
  public record Figures(
      int jobs,
      int neverStarted,
      int refused,
      double waitMeanS,
      double waitP50S,
      double waitP90S,
      double waitMaxS,
      int preemptions,
      double lostGpuS,
      double utilization,
      Double deliveredOverEntitled,
      Map<String, Group> accounts,
      Map<String, Group> classes) {}

  /**
   * The jobs of an account or of a class.
   *
   * @param deliveredOverEntitled null for classes, and where nothing was entitled
   */
  public record Group(
      int jobs, int neverStarted, double waitMeanS, double gpuS, Double deliveredOverEntitled) {}

  /**
   * A guard rail.
   *
   * @param state {@code kept}, {@code broken}, or {@code unknown} where there are no figures
   * @param figures a sentence for each figure that breaks it; else one that says how it stands
   */
  public record Guardrail(String name, String state, List<String> figures) {}

  private static final JsonMapper JSON =
      JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

  /** As it is kept and sent. */
  public String json() {
    return JSON.writeValueAsString(this);
  }

  static String json(Object part) {
    return JSON.writeValueAsString(part);
  }

  /** What a decision has about a job, as it is recorded. */
  static List<JsonNode> outcomes(Recorder recorder, Decision decision, String job) {
    List<JsonNode> found = new ArrayList<>();
    for (JsonNode outcome : JSON.readTree(recorder.decision(decision)).path("outcomes")) {
      if (outcome.path("job").asString("").equals(job)) {
        found.add(outcome);
      }
    }
    return found;
  }

  /** How often which clause stands in the place of which. */
  static List<Instead> instead(Map<String, Long> counts) {
    return new TreeMap<>(counts)
        .entrySet().stream()
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
            .map(
                e -> {
                  String[] both = e.getKey().split("\n", 2);
                  return new Instead(both[0], both[1], e.getValue());
                })
            .toList();
  }

  static void count(Map<String, Long> counts, Comparison.Difference d) {
    counts.merge(
        Comparison.Difference.clause(d.was()) + "\n" + Comparison.Difference.clause(d.becomes()),
        1L,
        Long::sum);
  }

  /** The whole names of the rules that decided. */
  static List<String> rules(Policy policy, List<Decided> decided) {
    return decided.stream()
        .map(d -> d.ruleName() == null ? policy.ruleName(d.rule()) : d.ruleName())
        .distinct()
        .toList();
  }
}
