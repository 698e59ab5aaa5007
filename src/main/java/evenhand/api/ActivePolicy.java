package evenhand.api;

import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.Rule;
import evenhand.rollout.Rollout;
import io.swagger.v3.oas.annotations.media.Schema;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;

/** The policy that decides at present. */
public interface ActivePolicy {

  View view();

  /** The view of whichever policy is active when it is asked for. */
  static ActivePolicy of(Supplier<Policy> active) {
    return of(active, () -> null);
  }

  /**
   * The view of whichever policy is active when it is asked for.
   *
   * @param status how its rollout stands; gives null where nobody knows
   */
  static ActivePolicy of(Supplier<Policy> active, Supplier<Rollout.Status> status) {
    return () -> {
      Policy policy = active.get();
      Rollout.Status s = status.get();
      return new View(
          policy.name(),
          policy.title(),
          policy.hash(),
          policy.where(),
          policy.clauses().stream()
              .map(
                  c ->
                      new Clause(
                          c.clause(),
                          c.text(),
                          c.rules().stream().map(Rule::name).toList(),
                          c.sentences()))
              .toList(),
          s == null ? null : s.inForce().since(),
          s == null ? null : s.inForce().by(),
          s == null ? null : s.inForce().reason(),
          s == null || s.candidate() == null ? null : new Candidate(s.candidate(), s.since()),
          s == null ? List.of() : s.faults().stream().map(Fault::of).toList(),
          s == null ? null : s.alarm());
    };
  }

  /**
   * @param from where its rule files were read from, for people
   * @param clauses in the policy's order
   * @param since when it was put in force, by whom and why; null where nobody knows
   * @param candidate the rules at hand, where they are others and pass their check; else null
   * @param fault why the rules at hand could not decide; empty when they could
   * @param alarm a rule has failed and the policy before has taken over, or such; null when all is
   *     well
   */
  @Schema(name = "Policy")
  record View(
      String name,
      String title,
      String hash,
      String from,
      List<Clause> clauses,
      Instant since,
      String by,
      String reason,
      Candidate candidate,
      List<Fault> fault,
      String alarm) {
    public View {
      clauses = List.copyOf(clauses);
      fault = List.copyOf(fault);
    }

    /** One of which only the policy itself is known. */
    public View(String name, String title, String hash, String from, List<Clause> clauses) {
      this(name, title, hash, from, clauses, null, null, null, null, List.of(), null);
    }
  }

  /** Rules that pass their check and wait to be planned and applied. */
  @Schema(name = "PolicyCandidate")
  record Candidate(String hash, Instant since) {}

  /**
   * What is wrong with rules.
   *
   * @param line from 1; 0 where the whole file is meant
   * @param rule the rule's name, or null
   */
  @Schema(name = "PolicyFault")
  record Fault(String file, int line, String rule, String message) {
    static Fault of(PolicyFault.Fault f) {
      return new Fault(f.file(), f.line(), f.rule(), f.sentence());
    }
  }

  /**
   * @param text what stands above its rule; empty for a clause without rules
   * @param rules names of its rules, each a whole sentence
   * @param figures choices and parameters that carry it, as {@code name = value (meaning)}
   */
  @Schema(name = "Clause")
  record Clause(String clause, String text, List<String> rules, List<String> figures) {
    public Clause {
      rules = List.copyOf(rules);
      figures = List.copyOf(figures);
    }
  }
}
