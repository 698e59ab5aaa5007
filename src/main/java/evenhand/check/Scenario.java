package evenhand.check;

import evenhand.facts.Account;
import evenhand.facts.NodeState;
import evenhand.facts.Tier;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * One scenario as written (FORMATS 3).
 *
 * @param clauses ids of the clauses it shows
 * @param settings parameters and choices of the policy changed for it
 * @param nodes GPUs by node and tier name
 * @param accounts with the usage they start with
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
    List<Step> steps) {

  /**
   * What happens at one moment, in the order of these parts; then a cycle runs, and what it decided
   * is held against {@code expect} and the parts after it. A part that is null is not looked at.
   *
   * @param at since the scenario's start
   * @param free GPUs that jobs nobody follows give back; {@code hold}: GPUs they take
   * @param charge TFLOP-seconds that jobs nobody follows cost an account
   * @param fail jobs that die, and of what: {@code oom}, {@code node}, {@code error}
   * @param refuse submissions that must be refused with the code given
   * @param expect every outcome but waits and charges, in any order; charges where they are listed
   * @param idle GPUs idle by node and tier after the cycle, reserved ones taken off
   */
  public record Step(
      int line,
      Duration at,
      Map<String, NodeState> node,
      Map<String, Map<String, Integer>> free,
      Map<String, Map<String, Integer>> hold,
      Map<String, Double> charge,
      List<String> finish,
      Map<String, String> fail,
      List<String> cancel,
      List<Submit> submit,
      List<Submit> refuse,
      List<Expected> expect,
      List<Expected> waits,
      Map<String, Double> accounts,
      Map<String, String> states,
      Map<String, Map<String, Integer>> idle) {}

  /**
   * A job that is submitted.
   *
   * @param minimumTier name of the lowest tier accepted, or null
   * @param role the submitter's role, or null
   * @param code the refusal expected, null where it must be accepted
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
      String role,
      String code) {}

  /**
   * An outcome that must be among those decided.
   *
   * @param parts what is said of it, e.g. job, node, gpus, code; what is not said is not looked at
   * @param by the clause that must have decided it, or null
   */
  public record Expected(String type, Map<String, String> parts, String by) {
    @Override
    public String toString() {
      return type + " " + parts + (by == null ? "" : " by " + by);
    }
  }
}
