package evenhand.check;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.check.Check.Result;
import evenhand.check.Check.State;
import evenhand.policy.RuleFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a check tells of rules and scenarios that are not as they should be. */
class CheckTest {
  private static final List<String> FILES =
      List.of("fit/F1", "fit/V1", "dispatch/D1", "dispatch/D4", "waiting/N6");

  @TempDir Path folder;
  private Path rules;
  private Path scenarios;
  private int failed;

  @BeforeEach
  void fewRules() throws IOException {
    rules = folder.resolve("rules");
    scenarios = Files.createDirectories(folder.resolve("scenarios/more"));
    scenarios = scenarios.getParent();
    for (String module : FILES) {
      Path to = rules.resolve(module + ".drl");
      Files.createDirectories(to.getParent());
      Files.copy(Path.of("rules", module + ".drl"), to);
    }
    Files.createDirectories(rules.resolve("policies"));
    Files.writeString(
        rules.resolve("policies/mini.yaml"),
        """
        policy: mini
        title: The fewest rules
        modules: [fit/F1, fit/V1, dispatch/D1, dispatch/D4, waiting/N6]
        choices:
          order: {clause: Q1, keys: [id_asc], meaning: the queue}
          preference: {clause: D1, keys: [node_asc], meaning: where a job starts}
          explain: {clause: D4, keys: [NO_FIT, NO_IDLE], meaning: which reason is told}
        """);
    scenario("a.yaml", "[{start: {job: a, on: n1}}]");
    scenario("more/b.yaml", "[{start: {job: a, on: n1}}]");
  }

  private void scenario(String file, String expected) throws IOException {
    Files.writeString(
        scenarios.resolve(file),
        """
        title: one job
        policy: mini
        tiers: {4090: {}}
        nodes: {n1: {4090: 2}}
        accounts: [A]
        steps:
          - submit: [{job: a, num_gpus: 2}]
            expect: %s
        """
            .formatted(expected));
  }

  private List<Result> check() {
    List<Result> results = new ArrayList<>();
    failed = new Check(RuleFiles.of(Optional.of(rules))).run(Optional.of(scenarios), results::add);
    return results;
  }

  private void edit(String file, String old, String changed) throws IOException {
    String text = Files.readString(rules.resolve(file));
    assertThat(text).contains(old);
    Files.writeString(rules.resolve(file), text.replace(old, changed));
  }

  @Test
  void aPolicyThatCannotBeLoadedIsToldOnce() throws IOException {
    edit("dispatch/D4.drl", "reservation == null )", "reservation == null");
    List<Result> results = check();
    assertThat(results)
        .extracting(Result::state)
        .containsExactly(State.FAIL, State.NOT_RUN, State.NOT_RUN);
    assertThat(failed).isEqualTo(3);
    assertThat(results.get(0).differences()).hasSize(1);
    assertThat(results.get(0).differences().get(0))
        .startsWith("dispatch/D4.drl:8: rule \"D4 ")
        .contains("found \"accumulate\" where \")\" or \",\" (the \"(\" on line 7 is not closed)")
        .contains("the line is: accumulate(");
    assertThat(results.get(1).differences()).isEmpty();
  }

  @Test
  void aFileThatIsNoTextIsACaseThatFails() throws IOException {
    Files.write(scenarios.resolve("bad.yaml"), new byte[] {(byte) 0xff, 0, 1});
    Files.createSymbolicLink(scenarios.resolve("gone.yml"), scenarios.resolve("nothing"));
    List<Result> results = check();
    assertThat(failed).isEqualTo(2);
    assertThat(results)
        .extracting(Result::name)
        .containsExactly("policies/mini", "a.yaml", "bad.yaml", "gone.yml", "more/b.yaml");
    assertThat(results.get(2).differences()).containsExactly("bad.yaml: is not text in UTF-8");
    assertThat(results.get(3).passed()).isFalse();
    assertThat(results.get(4).passed()).isTrue();
  }

  @Test
  void aRuleFileThatNoPolicyListsIsMentioned() throws IOException {
    Files.copy(rules.resolve("fit/F1.drl"), rules.resolve("fit/F9.drl"));
    List<Result> results = check();
    assertThat(failed).isZero();
    assertThat(results.get(1).name()).isEqualTo("fit/F9.drl");
    assertThat(results.get(1).state()).isEqualTo(State.NOTE);
    assertThat(results.get(1).title()).contains("listed by no policy");
  }

  @Test
  void anExpectationLeftEmptyIsNone() throws IOException {
    scenario("a.yaml", "");
    scenario("more/b.yaml", "null");
    List<Result> results = check();
    assertThat(failed).isEqualTo(2);
    for (Result result : results.subList(1, 3)) {
      assertThat(result.differences()).hasSize(1);
      assertThat(result.differences().get(0))
          .contains(":8: steps[0].expect: ")
          .contains("write `expect: []` for nothing");
    }
  }

  @Test
  void aRuleThatFailsIsNamedWithItsLine() throws IOException {
    edit(
        "dispatch/D4.drl",
        "    accumulate(",
        "    eval( 1 / ( $r.numGpus() - 2 ) > 0 )\n    accumulate(");
    edit("fit/F1.drl", "tier.autoAssign,", "tier.autoAssign,\n      tier.partition.length() > 0,");
    String said = check().get(1).differences().get(0);
    assertThat(said)
        .contains("fit/F1.drl:14: rule \"F1 ")
        .contains("of stage \"fit\" failed for ")
        .contains("its condition \"tier.partition.length() > 0\"")
        .contains("asks for a part of something that is not there");
    edit("fit/F1.drl", "\n      tier.partition.length() > 0,", "");
    edit("dispatch/D4.drl", "- 2 )", "- 2 + 0 * $r.nodes() )");
    edit("dispatch/D1.drl", "  when\n", "  when\n    Turn( waitingBefore != null )\n");
    said = check().get(1).differences().get(0);
    assertThat(said)
        .contains("dispatch/D4.drl:3: rule \"D4 ")
        .contains("of stage \"wait\" failed for job 1: it divides by zero");
  }
}
