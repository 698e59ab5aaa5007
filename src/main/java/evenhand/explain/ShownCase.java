package evenhand.explain;

import java.util.List;

/**
 * A scenario as a table for people.
 *
 * @param file its name among the scenarios
 * @param policy the policy it is about
 * @param clauses ids of the clauses it shows
 * @param settings parameters that are changed for it, as {@code name=value}
 * @param stage what there is when it begins: nodes, accounts
 * @param rows what happens and what must come of it, moment by moment
 */
public record ShownCase(
    String file,
    String title,
    String policy,
    List<String> clauses,
    List<String> settings,
    List<String> stage,
    List<Row> rows) {
  public ShownCase {
    clauses = List.copyOf(clauses);
    settings = List.copyOf(settings);
    stage = List.copyOf(stage);
    rows = List.copyOf(rows);
  }

  /** One moment: when, what is given, what is expected. */
  public record Row(String at, List<String> given, List<String> expected) {
    public Row {
      given = List.copyOf(given);
      expected = List.copyOf(expected);
    }
  }
}
