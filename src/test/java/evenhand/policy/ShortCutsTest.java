package evenhand.policy;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.facts.Snapshot;
import evenhand.outcomes.Decision;
import evenhand.reference.RandomSnapshots;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The engine asks jobs that ask for the same only once, and shows rules one placement of each kind.
 * Both must change nothing but the time it takes.
 */
class ShortCutsTest {
  private static final int SNAPSHOTS = Integer.getInteger("evenhand.random.count", 500);
  private static final Set<String> ALL_PARTS =
      Set.of("job", "account", "user", "priority", "minRuntimeSeconds", "resumable", "attempt");

  @Test
  void decisionsAreTheSameWithoutThem() throws Exception {
    Loaded quick = Policies.read(RuleFiles.of(Optional.empty()), "reservation", Map.of());
    Loaded slow =
        new Loaded(
            quick.name(),
            quick.title(),
            quick.hash(),
            quick.texts(),
            quick.where(),
            quick.clauses(),
            quick.rules(),
            quick.settings(),
            quick.base(),
            quick.order(),
            quick.preference(),
            ALL_PARTS,
            ALL_PARTS,
            true,
            quick.countAlike(),
            quick.victims(),
            quick.explain());
    assertThat(quick.looksAt()).as("no rule of a turn needs to tell jobs apart").isEmpty();
    assertThat(quick.nodesMatter()).isFalse();
    for (long seed = 1; seed <= SNAPSHOTS; seed++) {
      Snapshot snapshot = RandomSnapshots.of(seed);
      Decision withThem = new DroolsPolicy(quick).decide(snapshot);
      Decision without = new DroolsPolicy(slow).decide(snapshot);
      assertThat(withThem).as("seed " + seed).isEqualTo(without);
    }
  }

  @Test
  void whatRulesNameIsFound() throws Exception {
    String bare =
        Lint.bare("// account\nwhen Request( user == \"priority\" ) /* job */ then x end");
    assertThat(bare).contains("user").doesNotContain("account").doesNotContain("priority");
    assertThat(bare).doesNotContain("job");
    assertThat(Lint.conditions("rule \"\" when A( node ) then insert( node2 ); end"))
        .contains("node")
        .doesNotContain("node2");
  }
}
