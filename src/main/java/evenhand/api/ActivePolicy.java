package evenhand.api;

import evenhand.policy.Policy;
import evenhand.policy.Rule;
import io.swagger.v3.oas.annotations.media.Schema;
import java.util.List;
import java.util.function.Supplier;

/** The policy that decides at present. */
public interface ActivePolicy {

  View view();

  /** The view of whichever policy is active when it is asked for. */
  static ActivePolicy of(Supplier<Policy> active) {
    return () -> {
      Policy policy = active.get();
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
                          c.figures()))
              .toList());
    };
  }

  /**
   * @param from where its rule files were read from, for people
   * @param clauses in the policy's order
   */
  @Schema(name = "Policy")
  record View(String name, String title, String hash, String from, List<Clause> clauses) {
    public View {
      clauses = List.copyOf(clauses);
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
