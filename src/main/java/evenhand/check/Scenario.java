package evenhand.check;

import evenhand.facts.Account;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One scenario as written.
 *
 * @param clauses ids of the clauses it shows
 * @param settings parameters and choices of the policy changed for it
 * @param nodes GPUs by node and tier name
 * @param accounts with the usage they start with
 * @param situation all that one cycle knows, of which one decision is made: then there is one step,
 *     and nothing in it happens but that decision. Null where steps tell a story
 */
public record Scenario(
    String file,
    String title,
    List<String> clauses,
    String policy,
    Map<String, String> settings,
    List<Tier> tiers,
    Map<String, Map<String, Integer>> nodes,
    List<Account> accounts,
    List<Step> steps,
    Snapshot situation) {

  /** As a number of GPUs to free: all that are held there. */
  public static final int ALL_HELD = Integer.MAX_VALUE;

  /**
   * What happens at one moment, in the order of these parts; then a cycle runs, and what it decided
   * is held against {@code expect} and the parts after it. A part that is null is not looked at.
   *
   * @param at since the scenario's start
   * @param inventory GPUs by node and tier that exist from now on; 0 takes them away
   * @param node nodes that change: {@code up}, {@code drain}, {@code closed}, {@code down}, {@code
   *     retired}
   * @param free GPUs that jobs nobody follows give back; {@code hold}: GPUs they take
   * @param charge TFLOP-seconds that jobs nobody follows cost an account
   * @param submit jobs that must be accepted
   * @param finish jobs that end well
   * @param fail jobs that die, and of what: {@code oom}, {@code node}, {@code error}, {@code
   *     timeout}
   * @param cancel jobs that their users cancel; running ones are gone by this step's cycle
   * @param refuse submissions that must be refused with the code given
   * @param cycles how many cycles run at this moment
   * @param expect the outcomes of these cycles, in any order, and no others. Left out may be waits,
   *     charges, and releases by jobs' ends, which no cycle decides; where written they must be
   * @param waits waits that must be among the outcomes
   * @param yields exactly what the LLM router is told
   * @param accounts usage after the cycle
   * @param states of jobs after the cycle; a job is RUNNING from the cycle on that sees it run
   * @param idle GPUs idle by node and tier after the cycle, reserved ones taken off
   */
  public record Step(
      int line,
      Duration at,
      Map<String, Map<String, Integer>> inventory,
      Map<String, String> node,
      Map<String, Map<String, Integer>> free,
      Map<String, Map<String, Integer>> hold,
      Map<String, Double> charge,
      List<Submit> submit,
      List<String> finish,
      Map<String, String> fail,
      List<String> cancel,
      List<Submit> refuse,
      int cycles,
      List<Expected> expect,
      List<Expected> waits,
      List<Expected> yields,
      Map<String, Double> accounts,
      Map<String, String> states,
      Map<String, Map<String, Integer>> idle) {}

  /**
   * A job that is submitted.
   *
   * @param minimumTier name of the lowest tier accepted, or null
   * @param timeLimitSeconds or null for none
   * @param leavesAfter how long it goes on when it is told to leave; ended at the latest when its
   *     grace time is over
   * @param role the submitter's role, or null
   * @param code the refusal expected, null for any
   * @param field the field that must be at fault, or null for any
   * @param by the clause that must have refused it, or null for any
   * @param says what the answer must contain, after {@code "= "} the whole of it; empty where it
   *     must say nothing; null for any
   * @param preemptible whether it consents to be preempted (PR3)
   */
  public record Submit(
      String job,
      String account,
      String user,
      int nodes,
      int numGpus,
      String tier,
      String minimumTier,
      long minRuntimeSeconds,
      boolean resumable,
      int priority,
      Long timeLimitSeconds,
      Duration leavesAfter,
      String role,
      String code,
      String field,
      String by,
      String says,
      boolean preemptible) {}

  /**
   * An outcome that must be among those decided.
   *
   * @param parts what is said of it, e.g. job, node, gpus, code; {@code says} is part of a wait's
   *     message; what is not said is not looked at
   * @param by the clause that must have decided it, or null
   */
  public record Expected(String type, Map<String, String> parts, String by) {
    @Override
    public String toString() {
      return told(type, parts, by);
    }
  }

  /** {@code reserve {job: jobA, node: n1, gpus: 1} by D3}. */
  static String told(String type, Map<String, String> parts, String by) {
    return type
        + parts.entrySet().stream()
            .map(p -> p.getKey() + ": " + p.getValue())
            .collect(Collectors.joining(", ", " {", "}"))
        + (by == null ? "" : " by " + by);
  }
}
