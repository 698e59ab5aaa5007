package evenhand.rollout;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.SomeJob;
import evenhand.policy.PolicyFault;
import evenhand.rollout.Rollout.Applies;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Edits as people make them by mistake: each is stopped by the lint or a scenario; and where
 * neither speaks of it, the plan shows what it would do.
 */
class BadEditsTest {
  private static final String YAML = "policies/budget.yaml";

  private static final String OF_RESERVATION = "policies/reservation.yaml";
  private static final String VICTIMS =
      "[allocated_asc, lost_work_asc, served_desc, started_desc, id_asc]";

  /** By what an edit is noticed. */
  private enum By {
    /** The rules cannot be right: told with file and line. */
    LINT,
    /** A worked example goes otherwise. */
    SCENARIO
  }

  private record Edit(By by, String what, String file, String old, String changed) {}

  private static final List<Edit> OF_POLICY_BUDGET =
      List.of(
          new Edit(By.LINT, "a window of nothing", YAML, "value: 7d", "value: 0d"),
          new Edit(By.LINT, "a slice of nothing", YAML, "value: always", "value: 0s"),
          new Edit(By.LINT, "a limit below one", YAML, "value: 8\n", "value: 0\n"),
          new Edit(By.LINT, "a margin below nothing", YAML, "value: 0\n", "value: -0.05\n"),
          new Edit(By.LINT, "a word that is none", YAML, "value: \"off\"", "value: \"on\""),
          new Edit(
              By.LINT, "a name changed", YAML, "  preemption_margin:", "  preemption_margins:"),
          new Edit(By.LINT, "a file that is not there", YAML, "contract/K5\n", "contract/K55\n"),
          new Edit(
              By.LINT,
              "a clause twice",
              YAML,
              "  - contract/K5\n",
              "  - contract/K5\n  - contract/K5\n"),
          new Edit(By.LINT, "hysteresis deleted", YAML, "  - contract/K5\n", ""),
          new Edit(By.LINT, "no direction", YAML, "account_tree_asc", "account_tree"),
          new Edit(By.LINT, "jobs by age alone", YAML, "account_tree_asc, priority_desc, ", ""),
          new Edit(By.LINT, "no order of victims", YAML, VICTIMS, "[]"),
          new Edit(
              By.LINT,
              "a parenthesis lost",
              "contract/K5.drl",
              "Behind == false )",
              "Behind == false"),
          new Edit(By.LINT, "a misspelt part", "contract/K5.drl", "stillBehind", "stilBehind"),
          new Edit(
              By.LINT,
              "another clause's sign",
              "contract/K5.drl",
              "@clause( K5 )",
              "@clause( K4 )"),
          new Edit(
              By.SCENARIO, "a sign turned", "contract/K5.drl", "Behind == false", "Behind == true"),
          new Edit(By.SCENARIO, "protection deleted", YAML, "  - contract/K2\n", ""),
          new Edit(
              By.SCENARIO,
              "a condition dropped",
              "contract/K4.drl",
              "sameAccount == false, behind == true",
              "sameAccount == false"),
          new Edit(By.SCENARIO, "a margin of 500 %", YAML, "value: 0\n", "value: 5\n"));

  private static final List<Edit> OF_POLICY_RESERVATION =
      List.of(
          new Edit(
              By.SCENARIO,
              "a sign turned",
              "reservation/R2.drl",
              "Turn( first == false )",
              "Turn( first == true )"),
          new Edit(By.SCENARIO, "a clause deleted", OF_RESERVATION, "  - reservation/R3\n", ""),
          new Edit(By.SCENARIO, "nothing is charged", OF_RESERVATION, "  - charging/C3\n", ""),
          new Edit(
              By.SCENARIO,
              "the preference reversed",
              OF_RESERVATION,
              "[tier_desc, idle_desc, node_asc]",
              "[tier_asc, idle_asc, node_desc]"),
          new Edit(
              By.LINT,
              "a bracket lost",
              OF_RESERVATION,
              "[tier_desc, idle_desc, node_asc]",
              "[tier_desc, idle_desc, node_asc"));

  /** Values that no worked example speaks of, for those say what the text says. */
  private static final Map<String, String> SET =
      Map.of(
          "max_min_runtime", "8s",
          "max_gpus_per_node", "1",
          "lookback", "1s");

  /** Two teams, half a day, more work than the cluster can do; one submits most of it early. */
  private static final String WORKLOAD =
      """
      length: 12h
      nodes: 2
      gpus_per_node: 8
      load: 1.6
      unallocated: 0.1
      teams:
        red: {weight: 1, demand: 4, users: 2}
        green: {weight: 3, demand: 2, users: 2}
      classes:
        single: {part: 3, gpus: [1, 2, 4], run_p10: 10m, run_p90: 2h, min_runtime: [20m]}
        gang: {part: 1, gpus: [8], run_p10: 30m, run_p90: 3h, min_runtime: [30m]}
      """;

  @TempDir Path folder;

  @Test
  void eachIsStopped() throws Exception {
    stopped("budget", OF_POLICY_BUDGET);
    stopped("reservation", OF_POLICY_RESERVATION);
    assertThat(OF_POLICY_BUDGET.size() + OF_POLICY_RESERVATION.size() + SET.size())
        .isGreaterThan(20);
  }

  private void stopped(String policy, List<Edit> edits) throws Exception {
    List<String> otherwise = new ArrayList<>();
    try (RolloutSite site =
        new RolloutSite(folder.resolve(policy), policy).start(Applies.PLANNED_ONLY)) {
      String inForce = site.rollout.inForce().get().hash();
      for (Edit edit : edits) {
        Path file = site.rules.folder().resolve(edit.file());
        String whole = Files.readString(file);
        assertThat(whole).as(edit.what()).contains(edit.old());
        int at = whole.indexOf(edit.old());
        Files.writeString(
            file,
            whole.substring(0, at) + edit.changed() + whole.substring(at + edit.old().length()));
        site.look();
        String noticed = noticed(site.rollout.status().faults());
        if (!noticed.startsWith(edit.by() + ":")) {
          otherwise.add(edit.what() + ": not " + edit.by() + " but " + noticed);
        }
        assertThat(site.cycle().decision().policyHash()).isEqualTo(inForce);
        Files.writeString(file, whole);
      }
    }
    assertThat(otherwise).isEmpty();
  }

  private static String noticed(List<PolicyFault.Fault> faults) {
    if (faults.isEmpty()) {
      return "not noticed";
    }
    boolean scenario = faults.stream().allMatch(f -> f.file().startsWith("scenario "));
    assertThat(scenario || faults.stream().anyMatch(f -> f.line() > 0))
        .as("a fault of the rules names its line: %s", faults)
        .isTrue();
    return (scenario ? By.SCENARIO : By.LINT) + ": " + faults.get(0);
  }

  /** Some decisions to make again. */
  private static void record(RolloutSite site) {
    for (int i = 0; i < 4; i++) {
      site.submit(SomeJob.PLAIN.of("red").on(8, null).minimum(60).resumable(true));
      site.cycle();
    }
    site.submit(SomeJob.PLAIN.of("green").on(4, null).minimum(60).resumable(true));
    for (int i = 0; i < 20; i++) {
      site.cycle();
    }
  }

  private static JsonNode planned(RolloutSite site, Planner planner, Map<String, String> set)
      throws InterruptedException {
    Planner.Standing plan = site.plan(planner, set, WORKLOAD);
    assertThat(plan.state()).as(plan.failure() + plan.faults()).isEqualTo(Planner.State.DONE);
    return new JsonMapper().readTree(plan.report());
  }

  @Test
  void aPlanShowsWhatWouldBeOtherwise() throws Exception {
    try (RolloutSite site =
            new RolloutSite(folder.resolve("rules"), "budget").start(Applies.PLANNED_ONLY);
        Planner planner = site.planner()) {
      record(site);
      for (Map.Entry<String, String> one : SET.entrySet()) {
        JsonNode report = planned(site, planner, Map.of(one.getKey(), one.getValue()));
        assertThat(report.path("verdict").asString())
            .as("%s: %s", one, report.path("guardrails"))
            .isEqualTo("BREAKS_GUARDRAILS");
      }
      JsonNode report = planned(site, planner, Map.of("preemption_margin", "5"));
      JsonNode clause = report.path("changes").path("clauses").path(0);
      assertThat(clause.path("clause").asString()).isEqualTo("K5");
      assertThat(clause.path("was").path(0).asString()).startsWith("preemption_margin = 0 ");
      assertThat(clause.path("becomes").path(0).asString()).startsWith("preemption_margin = 5 ");
      assertThat(report.path("changes").path("files").path(0).path("diff").asString())
          .contains("+5");
      JsonNode decisions = report.path("decisions");
      assertThat(decisions.path("compared").asInt()).isEqualTo(decisions.path("recorded").asInt());
      assertThat(decisions.path("differ").asInt()).isPositive();
      JsonNode first = decisions.path("first");
      assertThat(first.path("was_rules").path(0).asString()).startsWith("K4 ");
      assertThat(first.path("becomes").path(0).path("type").asString())
          .as(first.toString())
          .isEqualTo("wait");
      JsonNode played = report.path("simulation");
      assertThat(played.path("was").path("preemptions").asInt())
          .isGreaterThan(played.path("becomes").path("preemptions").asInt());
      assertThat(played.path("was").path("accounts").propertyNames()).contains("red", "green");
      assertThat(report.path("verdict").asString()).isEqualTo("BREAKS_GUARDRAILS");
      String hash = report.path("hash").asString();
      assertThat(report.path("apply").asString()).contains(hash, "--despite-guardrails");
      assertThat(refusal(() -> site.rollout.apply(hash, "kim", "why", false)))
          .contains("breaks guard rails");
      // What is in force has changed since: the plan is no ground any more.
      site.rollout.apply(hash, "kim", "they asked for it", true);
      site.cycle();
      String later =
          planned(site, planner, Map.of("preemption_margin", "6")).path("hash").asString();
      site.rollout.rollback("kim", "too much");
      assertThat(refusal(() -> site.rollout.apply(later, "kim", "why", true)))
          .contains("compares with policy " + hash, "plan again");
    }
  }

  private static String refusal(Runnable work) {
    try {
      work.run();
      return "";
    } catch (evenhand.cycle.Desk.Refused e) {
      return e.getMessage();
    }
  }

  @Test
  void theGuardRailsAreReadStrictly() throws Exception {
    try (RolloutSite site =
            new RolloutSite(folder.resolve("rules"), "fifo").start(Applies.PLANNED_ONLY);
        Planner planner = site.planner()) {
      site.rules.edit("policies/fifo.yaml", "[tier_desc, idle_desc", "[tier_desc, idle_asc");
      site.rules.edit(Guardrails.FILE, "account_wait: {most_times", "account_waits: {most_time");
      Planner.Standing plan = site.plan(planner, Map.of(), null);
      assertThat(plan.state()).isEqualTo(Planner.State.FAULTY);
      assertThat(plan.faults().get(0).toString())
          .contains("guardrails.yaml:7", "did you mean account_wait?");
      // The rules themselves are as right as before.
      site.look();
      assertThat(site.rollout.status().faults()).isEmpty();
      assertThat(site.rollout.status().candidate()).isNotNull();
      Files.delete(site.rules.folder().resolve(Guardrails.FILE));
      assertThat(site.plan(planner, Map.of(), null).report())
          .contains("There is no guardrails.yaml");
    }
  }

  @Test
  void sampledDecisionsAreSpreadOverAllOfThem() throws IOException {
    List<Long> ids = new ArrayList<>();
    for (long i = 0; i < 1000; i++) {
      ids.add(i);
    }
    List<Long> order = Planner.spread(ids);
    assertThat(order).containsExactlyInAnyOrderElementsOf(ids);
    Map<Long, Long> tenths =
        order.subList(0, 100).stream()
            .collect(Collectors.groupingBy(i -> i / 100, Collectors.counting()));
    assertThat(tenths).hasSize(10).allSatisfy((tenth, many) -> assertThat(many).isBetween(7L, 14L));
  }
}
