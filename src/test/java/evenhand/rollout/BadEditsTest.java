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
 * Edits as people make them by mistake: each is stopped by the lint or a scenario, or the plan
 * shows what it would do.
 */
class BadEditsTest {
  private static final String YAML = "policies/budget.yaml";

  /** By what an edit is noticed. */
  private enum By {
    /** The rules cannot be right: told with file and line. */
    LINT,
    /** A worked example goes otherwise. */
    SCENARIO,
    /** The plan: a guard rail is broken. */
    GUARDRAIL,
    /** The plan: recorded decisions would be others. */
    DECISIONS
  }

  private record Edit(By by, String what, String file, String old, String changed) {}

  private static final List<Edit> EDITS =
      List.of(
          new Edit(By.LINT, "a window of nothing", YAML, "value: 7d", "value: 0d"),
          new Edit(By.LINT, "a slice of nothing", YAML, "value: always", "value: 0s"),
          new Edit(By.LINT, "a limit below one", YAML, "value: 8\n", "value: 0\n"),
          new Edit(By.LINT, "a word that is none", YAML, "value: \"off\"", "value: \"on\""),
          new Edit(
              By.LINT,
              "a parameter that is gone",
              YAML,
              "  preemption_margin:",
              "  preemption_margins:"),
          new Edit(By.LINT, "a clause without its file", YAML, "contract/K5\n", "contract/K55\n"),
          new Edit(
              By.LINT,
              "a clause twice",
              YAML,
              "  - contract/K5\n",
              "  - contract/K5\n  - contract/K5\n"),
          new Edit(
              By.LINT, "an order that is none", YAML, "account_tree_asc", "account_tree_first"),
          new Edit(
              By.LINT,
              "no order of victims",
              YAML,
              "[allocated_asc, lost_work_asc, served_desc, started_desc, id_asc]",
              "[]"),
          new Edit(By.LINT, "a margin of minus", YAML, "value: 0\n", "value: -0.05\n"),
          new Edit(
              By.LINT,
              "a parenthesis lost",
              "contract/K5.drl",
              "stillBehind == false )",
              "stillBehind == false"),
          new Edit(By.LINT, "a misspelt part", "contract/K5.drl", "stillBehind", "stilBehind"),
          new Edit(
              By.LINT,
              "another clause's sign",
              "contract/K5.drl",
              "@clause( K5 )",
              "@clause( K4 )"),
          new Edit(
              By.SCENARIO,
              "a sign turned",
              "contract/K5.drl",
              "stillBehind == false",
              "stillBehind == true"),
          new Edit(By.SCENARIO, "protection deleted", YAML, "  - contract/K2\n", ""),
          new Edit(By.SCENARIO, "hysteresis deleted", YAML, "  - contract/K5\n", ""),
          new Edit(
              By.SCENARIO,
              "a condition dropped",
              "contract/K4.drl",
              "sameAccount == false, behind == true",
              "behind == true"),
          new Edit(
              By.SCENARIO,
              "a condition weakened",
              "contract/K4.drl",
              "allocated == false, sameAccount == false",
              "sameAccount == false"),
          new Edit(
              By.SCENARIO,
              "the preference reversed",
              YAML,
              "[tier_desc, idle_asc, node_asc]",
              "[tier_asc, idle_desc, node_desc]"),
          new Edit(
              By.SCENARIO,
              "unallocated work first",
              YAML,
              "[allocated_desc, account_tree_asc",
              "[allocated_asc, account_tree_asc"),
          new Edit(
              By.SCENARIO, "the most served first", YAML, "account_tree_asc", "account_tree_desc"),
          new Edit(
              By.SCENARIO, "the costliest victims first", YAML, "lost_work_asc", "lost_work_desc"),
          new Edit(By.SCENARIO, "draining nodes forgotten", YAML, "  - waiting/X2\n", ""),
          new Edit(By.SCENARIO, "nothing is charged", YAML, "  - charging/C3\n", ""),
          new Edit(By.SCENARIO, "jobs by age alone", YAML, "account_tree_asc, priority_desc, ", ""),
          new Edit(By.GUARDRAIL, "a minimum of seconds", YAML, "value: 8h", "value: 8s"),
          new Edit(By.GUARDRAIL, "one GPU a job", YAML, "value: 8\n", "value: 1\n"),
          new Edit(By.GUARDRAIL, "a margin of 500 %", YAML, "value: 0\n", "value: 5\n"),
          new Edit(By.GUARDRAIL, "a window of a second", YAML, "value: 7d", "value: 1s"));

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
  void eachIsStoppedOrShown() throws Exception {
    List<String> otherwise = new ArrayList<>();
    try (RolloutSite site =
            new RolloutSite(folder.resolve("rules"), "budget").start(Applies.PLANNED_ONLY);
        Planner planner = site.planner()) {
      record(site);
      String inForce = site.rollout.inForce().get().hash();
      for (Edit edit : EDITS) {
        Path file = site.rules.folder().resolve(edit.file());
        String whole = Files.readString(file);
        assertThat(whole).as(edit.what()).contains(edit.old());
        int at = whole.indexOf(edit.old());
        Files.writeString(
            file,
            whole.substring(0, at) + edit.changed() + whole.substring(at + edit.old().length()));
        String noticed = noticed(site, planner);
        if (!noticed.startsWith(edit.by() + ":")) {
          otherwise.add(edit.what() + ": not " + edit.by() + " but " + noticed);
        }
        assertThat(site.cycle().decision().policyHash()).isEqualTo(inForce);
        Files.writeString(file, whole);
      }
    }
    assertThat(otherwise).isEmpty();
    assertThat(EDITS).hasSizeGreaterThan(20);
    assertThat(EDITS.stream().collect(Collectors.groupingBy(Edit::by))).hasSizeGreaterThan(2);
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

  private static String noticed(RolloutSite site, Planner planner) throws Exception {
    site.look();
    List<PolicyFault.Fault> faults = site.rollout.status().faults();
    if (!faults.isEmpty()) {
      boolean scenario = faults.stream().allMatch(f -> f.file().startsWith("scenario "));
      assertThat(scenario || faults.stream().anyMatch(f -> f.line() > 0))
          .as("a fault of the rules names its line: %s", faults)
          .isTrue();
      return (scenario ? By.SCENARIO : By.LINT) + ": " + faults.get(0);
    }
    Planner.Standing plan = site.plan(planner, WORKLOAD);
    assertThat(plan.state()).as(plan.failure()).isEqualTo(Planner.State.DONE);
    JsonNode report = new JsonMapper().readTree(plan.report());
    List<String> broken = new ArrayList<>();
    for (JsonNode rail : report.path("guardrails")) {
      if (rail.path("state").asString().equals("broken")) {
        broken.add(rail.path("name").asString() + " " + rail.path("figures").path(0).asString());
      }
    }
    int differ = report.path("decisions").path("differ").asInt();
    return !broken.isEmpty()
        ? By.GUARDRAIL + ": " + broken
        : differ > 0 ? By.DECISIONS + ": " + differ : "not noticed: " + report.path("simulation");
  }

  @Test
  void aPlanShowsWhatWouldBeOtherwise() throws Exception {
    try (RolloutSite site =
            new RolloutSite(folder.resolve("rules"), "budget").start(Applies.PLANNED_ONLY);
        Planner planner = site.planner()) {
      record(site);
      site.rules.edit(YAML, "value: 0\n", "value: 5\n");
      Planner.Standing plan = site.plan(planner, WORKLOAD);
      JsonNode report = new JsonMapper().readTree(plan.report());
      JsonNode clause = report.path("changes").path("clauses").path(0);
      assertThat(clause.path("clause").asString()).isEqualTo("K5");
      assertThat(clause.path("was").path(0).asString()).startsWith("preemption_margin = 0 ");
      assertThat(clause.path("becomes").path(0).asString()).startsWith("preemption_margin = 5 ");
      assertThat(report.path("changes").path("files").path(0).path("diff").asString())
          .contains("-    value: 0", "+    value: 5");
      JsonNode decisions = report.path("decisions");
      assertThat(decisions.path("compared").asInt()).isEqualTo(decisions.path("recorded").asInt());
      assertThat(decisions.path("differ").asInt()).isPositive();
      JsonNode first = decisions.path("first");
      assertThat(first.path("was_rules").path(0).asString()).startsWith("K4 ");
      assertThat(first.path("becomes").path(0).path("code").asString()).isEqualTo("OVER_SHARE");
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
      site.rules.edit(YAML, "value: 5\n", "value: 6\n");
      final String later =
          new JsonMapper().readTree(site.plan(planner, WORKLOAD).report()).path("hash").asString();
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
      Planner.Standing plan = site.plan(planner, null);
      assertThat(plan.state()).isEqualTo(Planner.State.FAULTY);
      assertThat(plan.faults().get(0).toString())
          .contains("guardrails.yaml:7", "did you mean account_wait?");
      // The rules themselves are as right as before.
      site.look();
      assertThat(site.rollout.status().faults()).isEmpty();
      assertThat(site.rollout.status().candidate()).isNotNull();
      Files.delete(site.rules.folder().resolve(Guardrails.FILE));
      assertThat(site.plan(planner, null).report()).contains("There is no guardrails.yaml");
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
    assertThat(tenths).hasSize(10).allSatisfy((tenth, many) -> assertThat(many).isBetween(8L, 12L));
  }
}
