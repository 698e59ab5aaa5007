package evenhand.cli;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.api.ApiServer;
import evenhand.check.Check;
import evenhand.policy.EditedRules;
import evenhand.policy.Policies;
import evenhand.policy.RuleFiles;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands about rules, and what wrong use is told. */
class ExplainCommandsTest {
  private static final ApiServer SERVER = ApiServer.one();

  @TempDir Path folder;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(String... arguments) {
    Console console =
        new Console(
            new ByteArrayInputStream(new byte[0]),
            Console.stream(out),
            Console.stream(err),
            Map.of("EVENHAND_SERVER", SERVER.url()));
    Parts parts =
        new Parts(
            Policies::load,
            settings -> Exit.DONE,
            (kind, in, to) -> Exit.NO,
            Map.of("gres", "Gres"));
    return new Commands(console, parts).run(arguments);
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource({
    "submit --gpus x s.sh, '--gpus must be a whole number, not \"x\".'",
    "submit --gpus 5000000000 s.sh, '--gpus must be 2147483647 or less, not \"5000000000\".'",
    "submit --gpus 1 --priority=-5000000000 s.sh, '--priority must be -2147483648 or more, not \"-5000000000\".'",
    "submit --gpus 1 --gpus 2 s.sh, --gpus stands there more than once; give it once.",
    "submit --env K --gpus 1 s.sh, --env must be written K=V",
    "submit --gpus, '--gpus needs a value, N: GPUs on each node.'",
    "why, Say ID: The job's id.",
    "queue -o yaml, '--output must be one of table, json, not \"yaml\".'",
    "why 1 --server=http://, --server must be an address such as",
    "scenario record, 'Say which: a JOB, or --decision ID.'",
    "scenario record 1 --decision 2, 'Say which: a JOB, or --decision ID.'",
    "policy doc reservation --hash x, give one of them",
    "check --watch --mutants, two things",
    "check --policy skip, --mutants",
    "check --runs 2, --watch",
  })
  void wrongUseIsTold(String line, String said) {
    assertThat(run(line.split(" "))).as(err()).isEqualTo(Exit.WRONG_USE);
    assertThat(err()).contains(said).doesNotContain("Invalid value").doesNotContain("Exception");
  }

  @Test
  void aScriptThatIsTooLargeIsBadInput() throws IOException {
    Path script = folder.resolve("big.sh");
    Files.writeString(script, "#!/bin/sh\n" + "# x\n".repeat(800_000));
    assertThat(run("submit", "--account=BCG", "--gpus=1", script.toString()))
        .as(err())
        .isEqualTo(Exit.WRONG_USE);
  }

  @Test
  void aPolicyIsADocumentWithoutAService() {
    assertThat(run("policy", "doc", "reservation")).as(err()).isEqualTo(Exit.DONE);
    assertThat(out())
        .startsWith("# Policy reservation: Placement and reservation\n")
        .contains("only a service has recorded that")
        .contains("## R3 A reservation whose job is no longer first is released")
        .contains("Source: N-STEP 11, N-S5.")
        .contains("| `max_gpus_per_node` | `8 GPUs` |")
        .contains("### Scenario: S5 ")
        .contains("Reads `Standing`, `Lost`; makes `Release`")
        .doesNotContain("decided 0 times");
    out.reset();
    assertThat(run("policy", "doc", "skip", "-o", "json")).isEqualTo(Exit.DONE);
    assertThat(out()).startsWith("{\"policy\":\"skip\"").contains("\"decided_last_day\":null");
  }

  /** A copy of the rules with one policy: each more is a compilation more. */
  private EditedRules rules(String policy) throws Exception {
    EditedRules rules = EditedRules.in(folder.resolve("rules"));
    for (String other : RuleFiles.of(Optional.of(rules.folder())).policies()) {
      if (!other.equals(policy)) {
        Files.delete(rules.folder().resolve("policies/" + other + ".yaml"));
      }
    }
    return rules;
  }

  @Test
  void watchingTellsWhatCameOutOtherwise() throws Exception {
    EditedRules rules = rules("reservation");
    Path scenarios = Files.createDirectory(folder.resolve("scenarios"));
    for (Check.Text text : Check.texts(Optional.empty())) {
      if (text.file().startsWith("D1-1") || text.file().startsWith("S1-")) {
        Files.writeString(scenarios.resolve(text.file()), text.text());
      }
    }
    CompletableFuture<Integer> status =
        CompletableFuture.supplyAsync(
            () ->
                run(
                    "check",
                    "--watch",
                    "--runs=3",
                    "--rules=" + rules.folder(),
                    "--scenarios=" + scenarios));
    until(() -> out().contains("watching"));
    assertThat(out()).contains("are right; watching");
    rules.edit(
        "policies/reservation.yaml",
        "keys: [tier_desc, idle_desc, node_asc]\n    meaning: where a job starts",
        "keys: [tier_desc, idle_asc, node_asc]\n    meaning: where a job starts");
    until(() -> out().contains("are not right"));
    assertThat(out()).contains("FAIL  D1-1-the-better-tier-first.yaml").contains("1 came out");
    assertThat(out()).doesNotContain("ok    policies/reservation");
    rules.edit(
        "policies/reservation.yaml",
        "keys: [tier_desc, idle_asc, node_asc]",
        "keys: [tier_desc, idle_desc, node_asc]");
    assertThat(status.get()).as(err()).isEqualTo(Exit.DONE);
    assertThat(out()).contains("ok    D1-1-the-better-tier-first.yaml");
  }

  /** Bounded by the tests' own limit: what never comes hangs visibly, and nothing is timed. */
  private static void until(BooleanSupplier there) throws InterruptedException {
    for (int i = 0; i < 1200 && !there.getAsBoolean(); i++) {
      Thread.sleep(100);
    }
    assertThat(there.getAsBoolean()).isTrue();
  }

  @Test
  void mutantsThatNoScenarioNoticesAreListed() throws Exception {
    EditedRules rules = rules("skip");
    Path scenarios = Files.createDirectory(folder.resolve("scenarios"));
    for (Check.Text text : Check.texts(Optional.empty())) {
      if (text.text().contains("policy: skip")) {
        Files.writeString(scenarios.resolve(text.file()), text.text());
      }
    }
    int status =
        run(
            "check",
            "--mutants",
            "--policy=skip",
            "--at-most=12",
            "--rules=" + rules.folder(),
            "--scenarios=" + scenarios);
    assertThat(status).as(err()).isEqualTo(Exit.DONE);
    // No scenario of this policy is about submissions, so nobody notices what becomes of N1.
    assertThat(out())
        .contains("admission/N1.drl: rule 1, alternative lost in Request: numGpus < 1")
        .contains("of 12 wrong edits go unnoticed")
        .contains("more edits were left out");
  }
}
