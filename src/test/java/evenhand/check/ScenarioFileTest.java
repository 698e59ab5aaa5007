package evenhand.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.input.InputFault;
import evenhand.policy.RuleFiles;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a scenario may be written like, what is a fault in it, and what is a difference. */
class ScenarioFileTest {
  private static final Check CHECK = new Check(RuleFiles.of(Optional.empty()));

  /** Lines 1 to 6: jobA first, one GPU of two idle; jobB behind it. */
  private static final String WORLD =
      """
      title: a world
      clauses: [D3]
      tiers: {4090: {sort_order: 20, tflops: 82.6}, 5090: {sort_order: 30, tflops: 104.8}}
      nodes: {n1: {4090: 2}, n2: {4090: 4, 5090: 1}}
      accounts: {BCG: {usage: 24000}, KDG: {usage: 28000}}
      steps:
      """;

  private static final String BEGUN =
      WORLD
          + """
            - at: 0s
              node: {n2: down}
              hold: {n1: {4090: 1}}
              submit: [{job: jobA, account: BCG, num_gpus: 2}, {job: jobB, account: KDG}]
          """;

  private static List<String> differences(String text) {
    return CHECK.run(new Check.Text("x.yaml", text)).differences();
  }

  private static void goes(String text) {
    assertThat(differences(text)).isEmpty();
  }

  private static String indented(String lines) {
    return lines.indent(4).replaceFirst("^ {4}-", "  -");
  }

  // ------------------------------------------------------------------ spellings

  @ParameterizedTest
  @ValueSource(
      strings = {
        "expect: [{reserve: {job: jobA, node: n1, gpus: 1}, by: D3}]",
        "expect: {reserve: {job: jobA, node: n1, tier: 4090, gpus: 1}, by: D3}",
        "expect: [{reserve: {job: jobA, on: n1, gpus: 1}, rule: D3}]",
        "expect: [{reserve: {job: jobA, on: {node: n1, tier: 4090, gpus: 1}, by: D3}}]",
        "expect: [{reserve: {job: jobA, on: [{node: n1, gpus: 1}]}}]",
        "expect: [{reserve: {job: jobA, on: {n1: {4090: 1}}}}]",
        "expect: [{reserve: {job: jobA, on: {n1: 1}}}]",
        "expect: [{reserve: jobA}]",
        "expect: [{type: reserve, job: jobA, node: n1, tier: '4090', gpus: 1, rule: D3}]",
        "expect: [{reserve: jobA}, {wait: {job: jobB, code: HELD_BY_RESERVATION}, by: D5}]",
        "waits: {jobB: HELD_BY_RESERVATION}",
        "waits: {jobB: {code: HELD_BY_RESERVATION, behind: jobA, by: D5}}",
        "waits: {jobB: {code: HELD_BY_RESERVATION, rule: D5}}",
        "waits: {jobB: }",
        "waits: [jobB]",
        "waits: jobB",
        "waits: [{jobB: HELD_BY_RESERVATION}]",
        "waits: [{job: jobB, code: HELD_BY_RESERVATION, behind: jobA, by: D5}]",
        "waits: [{wait: {job: jobB, code: HELD_BY_RESERVATION}, by: D5}]",
        "waits: [{type: wait, job: jobB, code: HELD_BY_RESERVATION, rule: D5, message: m}]",
        "waits: {jobB: {code: HELD_BY_RESERVATION, says: has reserved}}",
        "accounts: {BCG: 24000, KDG: 28_000}",
        "accounts: {BCG: {usage: 24000}}",
        "states: {jobA: GLOBAL_QUEUE_WAIT, jobB: global_queue_wait}",
        "idle: {n1: {4090: 0}}",
        "idle: {n1: 0}",
        "cycle: true",
        "cycle: {}",
        "cycle:",
        "yields: []",
      })
  void partsMayBeWrittenInManyWays(String part) {
    goes(BEGUN + indented(part));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "finish: jobA           | COMPLETED",
        "finish: [jobA]         | COMPLETED",
        "finish: [{job: jobA}]  | COMPLETED",
        "finish: {job: jobA}    | COMPLETED",
        "cancel: jobA           | CANCELLED",
        "cancel: [jobA]         | CANCELLED",
        "cancel: {job: jobA}    | CANCELLED",
        "fail: {jobA: error}    | FAILED",
        "fail: [{jobA: error}]  | FAILED",
        "fail: {jobA: timeout}  | TIMEOUT",
        "fail: {jobA: node}     | DISPATCHING",
        "fail: {jobA: oom}      | FAILED", // the better tier has one GPU a node
      })
  void jobsEndHoweverItIsWritten(String verb, String state) {
    goes(
        WORLD
            + """
              - at: 0
                submit: {job: jobA, account: BCG, num_gpus: 2}
                expect: [{start: {job: jobA}}]
              - at: 1m
                %s
                states: {jobA: %s}
            """
                .formatted(verb, state));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "submit: {job: jobA, account: BCG, num_gpus: 2}",
        "submit: [{job: jobA, account: BCG, num_gpus: 2}]",
        "submit: {jobA: {account: BCG, num_gpus: 2}}",
        "submit: [{jobA: {account: BCG, num_gpus: 2, user: kim, nodes: 1, tier: 4090}}]",
        "submit: {job: jobA, account: BCG, num_gpus: 2, min_runtime: 1h, time_limit_s: 7200}",
        "submit: {job: jobA, account: BCG, num_gpus: 2, min_runtime_s: 60, resumable: true}",
        "submit: {job: jobA, account: BCG, num_gpus: 2, minimum_tier_sort_order: 15}",
      })
  void submissionsMayBeWrittenInManyWays(String part) {
    goes(WORLD + "  - " + part + "\n    expect: [{start: {job: jobA, gpus: 2}}]\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "refuse: {job: x, account: BCG, num_gpus: 9, code: INVALID_REQUEST}",
        "refuse: [{job: x, account: BCG, num_gpus: 9, code: INVALID_REQUEST, by: N1}]",
        "refuse: {x: {account: BCG, num_gpus: 9, code: INVALID_REQUEST}}",
        "refuse: [{job: x, account: BCG, num_gpus: 9}]",
        "refuse: [{job: x, account: BCG, num_gpus: 9, says: from 1 to 8}]",
      })
  void refusalsMayBeWrittenInManyWays(String part) {
    goes(WORLD + "  - at: 0s\n    " + part + "\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{n1: {4090: 1}}", "{n1: 1}", "n1", "[n1]", "[{n1: 1}]"})
  void whatIsHeldIsFreedHoweverItIsWritten(String free) {
    goes(
        BEGUN
            + "  - at: 5s\n    free: "
            + free
            + "\n    expect: [{start: {job: jobA, on: n1}, by: D2}]\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"drain", "draining", "drained", "down", "retired", "{state: down}"})
  void nodesChangeHoweverItIsWritten(String word) {
    goes(
        BEGUN
            + "  - at: 5s\n    node: {n1: "
            + word
            + "}\n    expect: [{release: {job: jobA}, by: R5}]\n");
  }

  @Test
  void whatIsLeftOutHasADefault() {
    Scenario scenario =
        ScenarioFile.read(
            "x.yaml",
            """
            tiers: {4090: {}, 5090: }
            nodes: {"n[1-2]": {4090: 2}, n1: {5090: 1}}
            accounts: [BCG]
            steps:
              - submit: [{job: jobA}]
              - cycle: true
            """);
    assertThat(scenario.title()).isEqualTo("x.yaml");
    assertThat(scenario.policy()).isEqualTo("reservation");
    assertThat(scenario.nodes().get("n1")).containsEntry("4090", 2).containsEntry("5090", 1);
    assertThat(scenario.steps().get(0).submit().get(0).account()).isEqualTo("BCG");
    assertThat(scenario.steps().get(1).at()).hasSeconds(5);
  }

  @Test
  void accountsMayBeATree() {
    Scenario scenario =
        ScenarioFile.read(
            "x.yaml",
            """
            tiers: {4090: {}}
            nodes: {n1: {4090: 2}}
            accounts: {lab: {parent: top, usage: 3}, top: {weight: 2, children: {other: 7}}}
            steps: [{at: 0}]
            """);
    assertThat(scenario.accounts())
        .extracting(a -> a.id() + " " + a.parent() + " " + a.cumulativeUsage())
        .containsExactly("top null 0.0", "other top 7.0", "lab top 3.0"); // parents first
  }

  @Test
  void choicesMayBeListsAndSeveralCyclesRunAtOneMoment() {
    goes(
        """
        title: t
        set: {preference: [tier_desc, idle_asc, node_asc]}
        tiers: {4090: }
        nodes: {n1: {4090: 4}, n2: {4090: 2}}
        accounts: {BCG: 1}
        steps:
          - at: 0s
            hold: {n1: 2, n2: 1}
            submit: [{job: jobA}, {job: jobB, num_gpus: 4}]
            cycle: 2
            expect: [{start: {job: jobA, on: n2}}, {reserve: {job: jobB, on: n1, gpus: 2}}]
        """);
  }

  // ------------------------------------------------------------------ faults of form

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "expects: []                                | steps[1].expects | did you mean expect?",
        "kill: [jobA]                               | steps[1].kill | is no field of a step",
        "finish: [jobX]                             | steps[1].finish[0] | there is no job jobX",
        "cancel: jobAA                              | steps[1].cancel | did you mean jobA?",
        "fail: {jobX: oom}                          | steps[1].fail.jobX | there is no job jobX",
        "fail: {jobA: fire}                         | steps[1].fail.jobA | [error, node, oom, timeout]",
        "node: {n9: down}                           | steps[1].node.n9 | there is no node n9",
        "node: {n1: broken}                         | steps[1].node.n1 | must be one of",
        "hold: {n9: {4090: 1}}                      | steps[1].hold.n9 | there is no node n9",
        "hold: {n1: {5090: 1}}                      | steps[1].hold.n1.5090 | no tier on node n1 5090",
        "hold: {n2: 1}                              | steps[1].hold.n2 | has several tiers",
        "hold: {n1: {4090: some}}                   | steps[1].hold.n1.4090 | must be a number",
        "hold: {n1: {4090: -1}}                     | steps[1].hold.n1.4090 | must be a number",
        "hold: {n1: {4090: 0.5}}                    | steps[1].hold.n1.4090 | whole number",
        "free: n9                                   | steps[1].free | there is no node n9",
        "idle: {n1: {3080: 1}}                      | steps[1].idle.n1.3080 | no tier on node n1 3080",
        "nodes: {n1: {3080: 1}}                     | steps[1].nodes.n1.3080 | there is no tier 3080",
        "charge: {ABC: 1}                           | steps[1].charge.ABC | there is no account ABC",
        "charge: {BCG: -1}                          | steps[1].charge.BCG | 0 or more",
        "accounts: {BGC: 1}                         | steps[1].accounts.BGC | did you mean BCG?",
        "states: {jobX: RUNNING}                    | steps[1].states.jobX | there is no job jobX",
        "states: {jobA: RUNING}                     | steps[1].states.jobA | did you mean RUNNING?",
        "waits: {jobX: NO_FIT}                      | steps[1].waits.jobX | there is no job jobX",
        "waits: {jobA: {kode: NO_FIT}}              | steps[1].waits.jobA.kode | did you mean code?",
        "waits: [{start: {job: jobA}}]              | steps[1].waits[0].start | there is no job start",
        "expect: [{begin: {job: jobA}}]             | steps[1].expect[0].begin | is no outcome",
        "expect: [{by: D1}]                         | steps[1].expect[0] | names no outcome",
        "expect: [{start: jobA, reserve: jobB}]     | steps[1].expect[0].reserve | an entry of its own",
        "expect: [{start: {job: jobX}}]             | steps[1].expect[0].start.job | there is no job jobX",
        "expect: [{start: {job: jobA, on: n9}}]     | steps[1].expect[0].start.on | there is no node n9",
        "expect: [{start: {job: jobA, where: n1}}]  | steps[1].expect[0].start.where | no part of an outcome",
        "submit: [{job: jobA, account: BCG}]        | steps[1].submit[0] | is submitted twice",
        "submit: [{job: c, account: BCG, gpu: 1}]   | steps[1].submit[0].gpu | is no field of a submission",
        "submit: [{job: c}]                         | steps[1].submit[0] | names no account",
        "submit: [{job: c, account: X}]             | steps[1].submit[0] | there is no account X",
        "submit: [{job: c, account: BCG, tier: X}]  | steps[1].submit[0] | there is no tier X",
        "submit: [{job: c, account: BCG, code: X}]  | steps[1].submit[0].code | is no field",
        "cycle: false                               | steps[1].cycle | must be true, or how many",
      })
  void whatIsWrongIsNamedWithItsLine(String part, String path, String message) {
    String text = BEGUN + "  - at: 5s\n    " + part + "\n";
    assertThatThrownBy(() -> ScenarioFile.read("x.yaml", text))
        .isInstanceOf(InputFault.class)
        .satisfies(
            e ->
                assertThat(((InputFault) e).faults().get(0).toString())
                    .startsWith("x.yaml:12: " + path + ": ")
                    .contains(message));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "titel: t                            | did you mean title?",
        "tiers: {4090: {flops: 1}}           | did you mean tflops?",
        "nodes: {n1: {5090: 1}}              | there is no tier 5090",
        "accounts: {A: {parent: B}}          | there is no account B",
        "accounts: {A: {parent: A}}          | is its own ancestor",
        "accounts: [A, A]                    | stands here twice",
        "nodes: {n1: {4090: 2}, 'n[1-2]': {4090: 2}} | given twice",
      })
  void theWorldMustHoldTogether(String line, String message) {
    StringBuilder text = new StringBuilder(line).append('\n');
    for (String other :
        List.of(
            "tiers: {4090: {}}", "nodes: {n1: {4090: 2}}", "accounts: [A]", "steps: [{at: 0}]")) {
      if (!line.startsWith(other.substring(0, other.indexOf(':')))) {
        text.append(other).append('\n');
      }
    }
    assertThatThrownBy(() -> ScenarioFile.read("x.yaml", text.toString()))
        .isInstanceOf(InputFault.class)
        .hasMessageContaining("x.yaml:1: ")
        .hasMessageContaining(message);
  }

  @Test
  void stepsGoForwardInTime() {
    assertThat(differences(BEGUN + "  - at: 10s\n  - at: 9s\n"))
        .containsExactly("x.yaml:12: steps[2].at: is before the step above it, which is at 10s");
  }

  @Test
  void aKeyStandsOnce() {
    assertThat(differences(BEGUN + "    hold: {n1: {4090: 1}}\n").get(0))
        .startsWith("x.yaml:11: ")
        .contains("stands here twice");
  }

  @Test
  void aJobThatComesLaterIsNotThereYet() {
    assertThat(
            differences(
                    WORLD
                        + "  - at: 0s\n    waits: {jobA: NO_IDLE}\n"
                        + "  - at: 5s\n    submit: [{job: jobA, account: BCG}]\n")
                .get(0))
        .startsWith("x.yaml:8: ")
        .contains("there is no job jobA");
  }

  @Test
  void noSuchPolicyAndNoSuchParameterAreTold() {
    String world = BEGUN;
    assertThat(differences("policy: reserve\n" + world).get(0)).contains("there is no policy");
    assertThat(differences("set: {prefrence: idle_asc}\n" + world).get(0))
        .contains("has no parameter \"prefrence\"");
  }

  // ------------------------------------------------------------------ differences

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "expect: []                                              | decided, and not expected: reserve {job: jobA, node: n1, tier: 4090, gpus: 1} by D3",
        "expect: [{reserve: {job: jobA, node: n1, gpus: 2}}]     | expected reserve {job: jobA, node: n1, gpus: 2}; there were reserve {job: jobA, node: n1, tier: 4090, gpus: 1} by D3",
        "expect: [{reserve: {job: jobA}, by: D1}]                | expected reserve {job: jobA} by D1",
        "expect: [{reserve: {job: jobB}}]                        | expected reserve {job: jobB}",
        "expect: [{reserve: {job: jobA, node: n2}}]              | expected reserve {job: jobA, node: n2}",
        "expect: [{reserve: jobA}, {reserve: jobA}]              | expected reserve {job: jobA}",
        "expect: [{reserve: jobA}, {charge: {account: BCG}}]     | expected charge {account: BCG}",
        "expect: [{reserve: jobA}, {release: jobA}]              | expected release {job: jobA}",
        "expect: [{reserve: jobA}, {wait: {job: jobB, code: X}}] | expected wait {job: jobB, code: X}",
        "waits: {jobB: NO_IDLE}                                  | expected wait {job: jobB, code: NO_IDLE}; there were",
        "waits: {jobB: {code: HELD_BY_RESERVATION, by: R2}}      | expected wait {job: jobB, code: HELD_BY_RESERVATION} by R2",
        "waits: {jobB: {behind: jobB}}                           | expected wait {job: jobB, behind: jobB}",
        "waits: {jobA: GATHERING}                                | expected wait {job: jobA, code: GATHERING}",
        "waits: {jobB: {says: no such words}}                    | expected wait {job: jobB, says: no such words}",
        "accounts: {BCG: 24001}                                  | account BCG must have used 24001.0, has 24000.0",
        "states: {jobA: RUNNING}                                 | job jobA must be RUNNING, is GLOBAL_QUEUE_WAIT",
        "idle: {n1: {4090: 1}}                                   | idle on n1 of 4090 must be 1, is 0",
        "yields: [{job: jobA, node: n1}]                         | expected yield {job: jobA, node: n1}; there were none",
        "refuse: [{job: x, account: BCG}]                        | job x must be refused, and was accepted",
        "refuse: [{job: x, account: BCG, num_gpus: 9, code: NO_FIT_PLACEMENT}] | must be refused with NO_FIT_PLACEMENT, not INVALID_REQUEST",
        "refuse: [{job: x, account: BCG, num_gpus: 9, by: N2}]   | must be refused by N2, not N1",
        "refuse: [{job: x, account: BCG, num_gpus: 9, says: hello}] | must say \"hello\"",
        "free: {n1: {4090: 2}}                                   | frees 2 of tier 4090 on n1, where 0 are held",
        "finish: [jobA]                                          | job jobA is GLOBAL_QUEUE_WAIT; only a running job can end so",
      })
  void aWrongExpectationFailsAndSaysHow(String part, String difference) {
    assertThat(differences(BEGUN + indented(part)))
        .first()
        .asString()
        .startsWith("x.yaml:7: step at 0s: ")
        .contains(difference);
  }

  @Test
  void aSubmissionThatIsRefusedIsADifference() {
    assertThat(differences(WORLD + "  - submit: [{job: a, account: BCG, num_gpus: 9}]\n").get(0))
        .contains("job a was refused (INVALID_REQUEST)");
    assertThat(differences(WORLD + "  - submit: [{job: a, account: BCG, says: hello}]\n").get(0))
        .contains("must say \"hello\", and says nothing");
  }

  @Test
  void moreThanANodeHasCannotBeHeldNorAnEndedJobCancelled() {
    assertThat(differences(BEGUN + "  - at: 5s\n    hold: {n1: 2}\n").get(0))
        .startsWith("x.yaml:11: step at 5s: holds 3 of tier 4090 on n1, which has 2");
    assertThat(
            differences(BEGUN + "  - at: 5s\n    cancel: jobB\n  - at: 6s\n    cancel: jobB\n")
                .get(0))
        .contains("job jobB is CANCELLED already");
  }

  /** The shape's own example lists neither the charge of its forced release nor any wait. */
  @Test
  void waitsChargesAndWhatAnEndBringsMayBeLeftOut() {
    goes(
        BEGUN
            + """
              - at: 300s
                cancel: [jobA]
                expect: [{start: {job: jobB, on: n1}, by: D1}]
            """);
    goes(
        BEGUN
            + """
              - at: 300s
                cancel: [jobA]
                expect:
                  - {start: {job: jobB, on: n1}, by: D1}
                  - {charge: {account: BCG, job: jobA, tflop_s: 24780}, by: C3}
                  - {release: {job: jobA, node: n1, gpus: 1}, by: R4}
            """);
    assertThat(
            differences(
                BEGUN
                    + """
                      - at: 300s
                        cancel: [jobA]
                        expect: [{start: jobB}, {charge: {account: BCG, tflop_s: 24781}}]
                    """))
        .singleElement()
        .asString()
        .contains("expected charge {account: BCG, tflop_s: 24781}; there were")
        .contains("charge {job: jobA, account: BCG, tflop_s: 24780.0} by C3");
  }

  @Test
  void nothingIsToldOfWhatFollowsADifference() {
    assertThat(differences(BEGUN + "    idle: {n1: 1}\n  - at: 5s\n    idle: {n1: 1}\n"))
        .hasSize(1);
  }
}
