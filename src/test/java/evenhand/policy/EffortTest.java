package evenhand.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Rules that multiply facts, or need more than there is, fail by their names instead of hanging.
 */
class EffortTest {
  private static final Instant T0 = Instant.parse("2026-04-10T09:00:00Z");
  private static final Tier TIER = new Tier("4090", 20, 82.6, 8, true, "p", "gpu:4090");

  @TempDir Path folder;

  private Policy with(String conditions) throws Exception {
    EditedRules rules =
        EditedRules.in(folder)
            .edit(
                "policies/fifo.yaml", "  - baseline/FF1\n", "  - baseline/FF1\n  - baseline/Z1\n");
    Files.writeString(
        folder.resolve("baseline/Z1.drl"),
        """
        // Z1  Made to cost too much.

        rule "Z1 No job starts where three nodes are one"
          @clause( Z1 )
          ruleflow-group "permission"
          when
        %s
          then
            insert( new Veto( "start", "never" ) );
        end
        """
            .formatted(conditions.indent(4).stripTrailing()));
    return Policies.load(Optional.of(rules.folder()), "fifo", Map.of());
  }

  private static Snapshot snapshot(int nodes) {
    return new Snapshot(
        "fifo",
        T0,
        "main",
        List.of(TIER),
        IntStream.range(0, nodes)
            .mapToObj(
                i -> new Placement("n" + i, new PlacementGroup(TIER, 4, NodeState.UP), 4, 0, null))
            .toList(),
        List.of(new Account("red", null, 1, 0, 0)),
        List.of(new Job("7", "red", "kim", 1, 1, null, 0, 0, T0, 0, true, 1, true)),
        List.of(),
        List.of());
  }

  private static final String THREE =
      """
      Turn()
      Placement( $a : node )
      Placement( $b : node )
      Placement( node == "never" + $a + $b )
      """;

  @Test
  void aRuleThatMultipliesFactsFailsByItsName() throws Exception {
    Policy policy = with(THREE);
    assertThat(policy.decide(snapshot(20)).outcomes()).isNotEmpty();
    assertThatThrownBy(() -> policy.decide(snapshot(400)))
        .isInstanceOf(RuleFailed.class)
        .hasMessageContaining("baseline/Z1.drl:3: rule \"Z1 No job starts where three nodes")
        .hasMessageContaining("job 7")
        .hasMessageContaining("tries more than 2,000,000 combinations of facts in one question")
        .satisfies(e -> assertThat(((RuleFailed) e).job()).contains("7"));
    assertThatThrownBy(() -> policy.decide(snapshot(600)))
        .hasMessageContaining("finds more than 200,000 combinations of facts in one question");
    assertThat(policy.decide(snapshot(20)).outcomes()).as("nothing is left of it").isNotEmpty();
  }

  @Test
  void soDoesOneThatCountsThem() throws Exception {
    Policy policy =
        with(
            """
            Turn()
            not ( Placement( $a : node ) and Placement( $b : node )
                  and Placement( node == "never" + $a + $b ) )
            """);
    assertThatThrownBy(() -> policy.decide(snapshot(400)))
        .isInstanceOf(RuleFailed.class)
        .hasMessageContaining("Z1 No job starts where three nodes")
        .hasMessageContaining("combinations of facts");
  }

  @Test
  void whatTheMemoryDoesNotHoldIsTheRulesFaultToo() throws Exception {
    Policy policy = with("Turn( request.gpus * 0 + \"never\".repeat( 2000000000 ).length() > 0 )");
    assertThatThrownBy(() -> policy.decide(snapshot(2)))
        .isInstanceOf(RuleFailed.class)
        .hasMessageContaining("Z1 No job starts where three nodes")
        .hasMessageContaining("needs more memory than there is");
  }
}
