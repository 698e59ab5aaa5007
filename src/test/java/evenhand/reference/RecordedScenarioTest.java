package evenhand.reference;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.check.Check;
import evenhand.check.RecordedScenario;
import evenhand.facts.Snapshot;
import evenhand.json.DecisionJson;
import evenhand.json.SnapshotJson;
import evenhand.outcomes.Decision;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFiles;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/** Recorded decisions of random worlds, written as scenarios: the check makes the same of them. */
class RecordedScenarioTest {
  private static final long SEED = 20_261_132L;

  @Test
  void reservation() throws Exception {
    hold("reservation", RandomSnapshots::of, Map.of(), 60);
  }

  @Test
  void budget() throws Exception {
    hold("budget", seed -> BudgetSnapshots.of(seed, "budget"), Map.of(), 60);
  }

  @Test
  void budgetWithClaimsSetForOnce() throws Exception {
    hold(
        "budget",
        seed -> BudgetSnapshots.of(seed, "budget"),
        Map.of("gang_reservation", "claim"),
        30);
  }

  private static void hold(
      String name, LongFunction<Snapshot> worlds, Map<String, String> settings, int count)
      throws Exception {
    Policy policy = Policies.load(Optional.empty(), name, settings);
    Check check = new Check(RuleFiles.of(Optional.empty()));
    int expected = 0;
    for (long seed = SEED; seed < SEED + count; seed++) {
      // What is recorded has been written and read again.
      Snapshot world =
          SnapshotJson.readRecorded("recorded", SnapshotJson.write(worlds.apply(seed)));
      Decision decision =
          DecisionJson.read("decision", DecisionJson.write(policy.decide(world).on("sha256:0")));
      String yaml = RecordedScenario.of("Seed " + seed, settings, policy, world, decision);
      String about = "seed " + seed + "\n" + yaml;
      Check.Result result = check.run(new Check.Text("seed.yaml", yaml));
      assertThat(result.differences()).as(about).isEmpty();
      assertThat(result.state()).as(about).isEqualTo(Check.State.OK);
      assertThat(yaml.substring(yaml.indexOf("situation:"))).as(about).doesNotContain("gpu-a");
      // Ready to be edited: whatever is decided otherwise is noticed.
      if (yaml.contains("{start: ")) {
        expected++;
        String without = yaml.replaceFirst("  - \\{start: .*\\n", "");
        String edited =
            without.contains("expect:\n  -")
                ? without
                : without.replace("expect:\n", "expect: []\n");
        List<String> differences = check.run(new Check.Text("seed.yaml", edited)).differences();
        assertThat(differences).as(about).anyMatch(d -> d.contains("not expected: start"));
      }
    }
    assertThat(expected).as("worlds in which something starts").isGreaterThan(count / 4);
  }

  @Test
  void aSituationThatCannotBeReadIsToldWithItsLine() throws PolicyFault {
    Check check = new Check(RuleFiles.of(Optional.empty()));
    Check.Result result =
        check.run(
            new Check.Text(
                "s.yaml",
                """
                title: wrong
                policy: reservation
                situation:
                  now: "2026-04-10T09:05:00Z"
                  tiers: [{name: "4090"}]
                  placements: [{node: n1, tier: "4090", capacity: 2, ilde: 1}]
                expect: []
                """));
    assertThat(result.differences()).singleElement().asString().contains("6").contains("idle");
    result =
        check.run(
            new Check.Text(
                "s.yaml",
                """
                title: both
                policy: reservation
                tiers: {4090: {}}
                situation: {now: "2026-04-10T09:05:00Z"}
                expect: []
                """));
    assertThat(result.differences())
        .singleElement()
        .asString()
        .contains("cannot stand beside a situation");
  }
}
