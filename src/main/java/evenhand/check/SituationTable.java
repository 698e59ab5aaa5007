package evenhand.check;

import evenhand.explain.ShownCase;
import evenhand.facts.Snapshot;
import java.util.ArrayList;
import java.util.List;

/** A recorded situation as a table for people. */
final class SituationTable {
  private static final int MOST_JOBS = 12;

  private SituationTable() {}

  static ShownCase of(Scenario s) {
    Snapshot now = s.situation();
    List<String> given = new ArrayList<>();
    now.jobs().stream()
        .limit(MOST_JOBS)
        .forEach(
            j ->
                given.add(
                    j.id()
                        + " of account "
                        + j.account()
                        + " waits for "
                        + (j.nodes() > 1 ? j.nodes() + " x " : "")
                        + j.numGpus()
                        + " GPUs"));
    if (now.jobs().size() > MOST_JOBS) {
      given.add((now.jobs().size() - MOST_JOBS) + " more jobs wait");
    }
    now.reservations().forEach(r -> given.add(r.job() + " holds " + r.gpus() + " of " + r.node()));
    given.add(now.running().size() + " jobs run");
    List<String> expected = new ArrayList<>();
    ScenarioTables.outcomes(expected, s.steps().get(0).expect());
    ScenarioTables.outcomes(expected, s.steps().get(0).waits());
    return new ShownCase(
        s.file(),
        s.title(),
        s.policy(),
        s.clauses(),
        ScenarioTables.settings(s),
        List.of(
            now.placements().size() + " placements",
            now.accounts().size() + " accounts",
            now.jobs().size() + " jobs that wait"),
        List.of(new ShownCase.Row(now.now().toString(), given, expected)));
  }
}
