package evenhand.explain;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.policy.ClauseView;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.Rule;
import evenhand.policy.RuleFiles;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The rules are the policy: every clause of it is stated by some policy, and no rule has none. */
class ClausesTest {
  private static final RuleFiles RULES = RuleFiles.of(Optional.empty());

  private static final Map<String, Policy> POLICIES = new TreeMap<>();

  @BeforeAll
  static void load() throws PolicyFault {
    for (String name : RULES.policies()) {
      POLICIES.put(name, Policies.load(RULES, name, Map.of()));
    }
  }

  /** Every clause of the policy, by its id. */
  private static final List<String> ALL =
      List.of(
          ("N1 N2 N3 N4 N5 N6 N6.1 Q1 Q2 Q3 Q4 F1 V1 D1 D2 D3 D4 D5 W1 R1 R2 R3 R4 R5"
                  + " C1 C2 C3 C4 C5 C6 B1 B2 B3 A1 A2 A3 A4 A5 K1 K2 K3 K4 K5 K6 K7 K8 GA G1 G2"
                  + " G3 G4 X1 X2 X3 SK1 FF1 PR1 PR2 PR3 PR4")
              .split(" "));

  @Test
  void everyClauseIsStatedAndEveryRuleHasOne() {
    Set<String> stated = new TreeSet<>();
    for (String name : POLICIES.keySet()) {
      Policy policy = POLICIES.get(name);
      for (ClauseView clause : policy.clauses()) {
        assertThat(clause.rules().isEmpty() && clause.sentences().isEmpty())
            .as(name + ": " + clause.clause() + " says nothing")
            .isFalse();
        stated.add(clause.clause());
        for (Rule rule : clause.rules()) {
          assertThat(ALL)
              .as(rule.file() + ": rule \"" + rule.name() + "\"")
              .contains(rule.clause());
          assertThat(rule.name()).startsWith(rule.clause() + " ");
        }
      }
    }
    assertThat(stated).containsAll(ALL);
    assertThat(ALL).containsAll(stated);
  }

  @Test
  void theDocumentHasEveryRuleWithTextFactsAndOutcomes() {
    for (String name : POLICIES.keySet()) {
      Policy policy = POLICIES.get(name);
      PolicyDoc doc =
          PolicyDoc.of(
              policy,
              List.of(),
              PolicyDoc.Counts.none("Nothing is counted."),
              java.time.Instant.EPOCH,
              java.time.Instant.EPOCH);
      String markdown = doc.markdown();
      int rules = 0;
      for (PolicyDoc.Clause clause : doc.clauses()) {
        assertThat(clause.lastDay()).isNull();
        if (!clause.rules().isEmpty()) {
          assertThat(clause.source()).as(name + " " + clause.clause()).isNotBlank();
        }
        for (PolicyDoc.RuleDoc rule : clause.rules()) {
          rules++;
          assertThat(rule.reads()).as(rule.name()).isNotEmpty();
          assertThat(rule.makes()).as(rule.name()).isNotEmpty();
          assertThat(markdown).contains(rule.name()).contains(rule.text().strip());
        }
        for (ClauseView.Figure figure : clause.figures()) {
          assertThat(figure.meaning()).as(figure.name()).isNotBlank();
          assertThat(markdown).contains("| `" + figure.name() + "` | `" + figure.value() + "` |");
        }
      }
      assertThat(rules).isGreaterThan(5);
      assertThat(doc.neverFired()).isEmpty();
    }
  }

  @Test
  void figuresAreWrittenInOneWayEverywhere() {
    List<ClauseView> clauses = POLICIES.get("budget").clauses();
    assertThat(clauses)
        .filteredOn(c -> c.clause().equals("K5"))
        .flatExtracting(ClauseView::sentences)
        .anyMatch(s -> s.matches("preemption_margin = [^(]+ \\(.+\\)"));
    assertThat(clauses)
        .filteredOn(c -> c.kept() != null)
        .isNotEmpty()
        .allSatisfy(c -> assertThat(c.sentences()).contains("kept: " + c.kept()));
  }
}
