package evenhand.check;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.policy.ClauseView;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.Rule;
import evenhand.policy.RuleFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Every scenario under {@code fixtures/scenarios} goes as written, on the rules as they are, and
 * together they show every clause.
 */
class ScenariosTest {
  /** One where a clause decides, one at its boundary, one where it must not. */
  private static final int AT_LEAST = 3;

  private static final RuleFiles RULES = RuleFiles.of(Optional.empty());
  private final Check check = new Check(RULES);

  @TestFactory
  List<DynamicTest> all() {
    List<DynamicTest> tests = new ArrayList<>();
    for (Check.Text text : Check.texts(Optional.empty())) {
      tests.add(
          DynamicTest.dynamicTest(
              text.file(), () -> assertThat(check.run(text).differences()).isEmpty()));
    }
    return tests;
  }

  private static List<Scenario> scenarios() {
    return Check.texts(Optional.empty()).stream()
        .map(t -> ScenarioFile.read(t.file(), t.text()))
        .toList();
  }

  private static Policy policy(String name) throws PolicyFault {
    return Policies.load(RULES, name, Map.of());
  }

  @Test
  void everyClauseWithRulesIsShownThreeTimes() throws PolicyFault {
    Map<String, Integer> shown = new HashMap<>();
    for (Scenario scenario : scenarios()) {
      for (String clause : Set.copyOf(scenario.clauses())) {
        shown.merge(scenario.policy() + " " + clause, 1, Integer::sum);
      }
    }
    Map<String, Integer> tooFew = new TreeMap<>();
    for (ClauseView clause : policy("reservation").clauses()) {
      int times = shown.getOrDefault("reservation " + clause.clause(), 0);
      if (!clause.rules().isEmpty() && times < AT_LEAST) {
        tooFew.put(clause.clause(), times);
      }
    }
    for (String own : List.of("skip SK1", "fifo FF1")) {
      if (shown.getOrDefault(own, 0) < AT_LEAST) {
        tooFew.put(own, shown.getOrDefault(own, 0));
      }
    }
    assertThat(tooFew).as("clauses with fewer than %s scenarios", AT_LEAST).isEmpty();
  }

  @Test
  void scenariosNameClausesThatTheirPolicyStates() throws PolicyFault {
    Map<String, Set<String>> stated = new HashMap<>();
    for (String name : RULES.policies()) {
      stated.put(
          name,
          policy(name).clauses().stream().map(ClauseView::clause).collect(Collectors.toSet()));
    }
    for (Scenario scenario : scenarios()) {
      assertThat(scenario.clauses()).as(scenario.file()).isNotEmpty();
      assertThat(stated.get(scenario.policy())).as(scenario.file()).containsAll(scenario.clauses());
    }
  }

  @Test
  void titlesBeginWithTheScenarioOfTheNoteOrTheClauseTheyShow() {
    for (Scenario scenario : scenarios()) {
      String first = scenario.title().split(" ")[0];
      String named = scenario.file().split("-")[0].replaceFirst("^S0", "S");
      assertThat(named).as(scenario.file()).isEqualTo(first);
      assertThat(first.matches("S[0-9]+") || scenario.clauses().contains(first))
          .as("%s: %s is among its clauses", scenario.file(), first)
          .isTrue();
    }
  }

  @Test
  void everyRuleFileIsUsedByAPolicy() throws PolicyFault, IOException {
    Set<String> used = new TreeSet<>();
    for (String name : RULES.policies()) {
      policy(name).clauses().stream()
          .flatMap(c -> c.rules().stream())
          .map(Rule::file)
          .forEach(used::add);
    }
    Path folder = Path.of("rules");
    try (Stream<Path> files = Files.walk(folder)) {
      assertThat(
              files
                  .filter(f -> f.toString().endsWith(".drl"))
                  .map(f -> folder.relativize(f).toString()))
          .isSubsetOf(used);
    }
  }
}
