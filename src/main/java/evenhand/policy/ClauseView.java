package evenhand.policy;

import java.util.List;

/**
 * One clause of a policy, for people: by rules, by a choice, by parameters, or kept by the facts.
 *
 * @param text what stands above the rule in its file; empty for clauses without rules
 * @param rules its rules, empty for clauses without
 * @param figures choices and parameters that carry this clause, as {@code name = value (meaning)}
 */
public record ClauseView(String clause, String text, List<Rule> rules, List<String> figures) {}
