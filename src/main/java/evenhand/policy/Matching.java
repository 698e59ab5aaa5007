package evenhand.policy;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.drools.base.definitions.rule.impl.RuleImpl;
import org.drools.base.rule.Accumulate;
import org.drools.base.rule.From;
import org.drools.base.rule.GroupElement;
import org.drools.base.rule.Pattern;
import org.drools.base.rule.RuleConditionElement;
import org.kie.api.KieBase;

/**
 * Which facts of the working memory the rules match, as the engine has compiled them. What was
 * found out once may be used again only where nothing that rules look at can say otherwise by then;
 * the answers here err towards asking again.
 *
 * @param reusable whether a working memory may be used again for another decision: no rule comes
 *     true of nothing but its settings
 * @param settingsStay whether the settings may stay in a working memory that is used again: each
 *     rule matches something else besides
 * @param cyclesGoOn whether one working memory may serve one cycle after another, with what is
 *     known of placements and requests left in it: each rule of a cycle matches something that is
 *     inserted anew, and what fits a request hangs on nothing that changes
 * @param availableAlone whether rules judge each placement by itself when they say what is
 *     available, and rules after them look at no placement but those
 */
record Matching(
    boolean reusable, boolean settingsStay, boolean cyclesGoOn, boolean availableAlone) {
  private static final Set<String> SETTINGS = Set.of("Setting");
  private static final Set<String> STAYING =
      Set.of("Setting", "Tier", "PlacementGroup", "Placement", "Request", "Fit");
  private static final Set<String> FOR_FIT = Set.of("Setting", "Tier", "PlacementGroup", "Request");
  private static final Set<String> FOR_AVAILABLE =
      Set.of(
          "Setting", "Tier", "PlacementGroup", "Placement", "Request", "Fit", "Turn", "Backfill");

  /** Parts of a turn that may differ between two turns of one request. */
  private static final Set<String> OF_TURNS =
      Set.of("first", "firstJob", "startsBefore", "waitingBefore", "refusingHeld");

  /** What one rule matches, by the facts' simple names. */
  private static final class Facts {
    /** Facts that it matches one by one; those within not, exists or accumulate are not. */
    private final Set<String> alone = new HashSet<>();

    private final Set<String> all = new HashSet<>();
    private int placements;
    private boolean understood = true;

    boolean matchesBeside(Set<String> others) {
      return !others.containsAll(alone);
    }

    boolean matchesOnly(Set<String> these) {
      return understood && these.containsAll(all);
    }

    private void visit(RuleConditionElement condition, boolean oneByOne) {
      if (condition instanceof Pattern pattern && pattern.getSource() == null) {
        String name = pattern.getObjectType().getClassName();
        String simple = name.substring(name.lastIndexOf('.') + 1);
        all.add(simple);
        if (oneByOne) {
          alone.add(simple);
        }
        // One that is counted or negated is not judged by itself.
        placements += simple.equals("Placement") ? oneByOne ? 1 : 2 : 0;
      } else if (condition instanceof Pattern pattern) {
        // Objects that come from a fact stand for nothing in the working memory.
        understood &=
            pattern.getSource() instanceof Accumulate || pattern.getSource() instanceof From;
        visitAll(pattern.getNestedElements(), false);
      } else if (condition instanceof GroupElement group) {
        visitAll(group.getChildren(), oneByOne && group.isAnd());
      } else {
        understood &= condition instanceof Accumulate || condition instanceof From;
        visitAll(condition.getNestedElements(), false);
      }
    }

    private void visitAll(Collection<? extends RuleConditionElement> conditions, boolean oneByOne) {
      conditions.forEach(c -> visit(c, oneByOne));
    }
  }

  static Matching of(Loaded loaded) {
    Map<String, Facts> facts = facts(loaded.base());
    Predicate<Predicate<Facts>> all = test -> facts.values().stream().allMatch(test);
    boolean settingsStay = all.test(f -> f.matchesBeside(SETTINGS));
    boolean cyclesGoOn =
        settingsStay
            && of(loaded, facts, s -> s == Stage.FIT).stream().allMatch(f -> f.matchesOnly(FOR_FIT))
            && of(loaded, facts, Matching::ofCycle).stream()
                .allMatch(f -> f.matchesBeside(STAYING) && !f.all.contains("Request"));
    boolean availableAlone =
        of(loaded, facts, s -> s == Stage.AVAILABLE).stream()
                .allMatch(f -> f.matchesOnly(FOR_AVAILABLE) && f.placements <= 1)
            && of(loaded, facts, Matching::afterAvailable).stream()
                .allMatch(f -> f.understood && !f.all.contains("Placement"))
            && loaded.names(s -> s == Stage.AVAILABLE).stream().noneMatch(OF_TURNS::contains);
    return new Matching(
        all.test(f -> f.matchesBeside(Set.of())), settingsStay, cyclesGoOn, availableAlone);
  }

  /** Whether it is asked in a cycle, for a turn or before the first of them; {@code FIT} apart. */
  private static boolean ofCycle(Stage stage) {
    return !Set.of(Stage.END, Stage.CHARGE, Stage.ADMISSION, Stage.FIT).contains(stage);
  }

  /** Whether it is asked in a turn to find out whether anything comes of it. */
  private static boolean afterAvailable(Stage stage) {
    return stage.ofTurn()
        && !Set.of(Stage.FIT, Stage.AVAILABLE, Stage.SWAP, Stage.WAIT, Stage.NOTIFY)
            .contains(stage);
  }

  private static List<Facts> of(Loaded loaded, Map<String, Facts> facts, Predicate<Stage> stages) {
    return loaded.rules().values().stream()
        .filter(r -> stages.test(r.stage()))
        .map(r -> facts.get(r.name()))
        .toList();
  }

  private static Map<String, Facts> facts(KieBase base) {
    Map<String, Facts> facts = new HashMap<>();
    base.getKiePackages().stream()
        .flatMap(p -> p.getRules().stream())
        .forEach(
            rule -> {
              Facts matched = new Facts();
              matched.visit(((RuleImpl) rule).getLhs(), true);
              facts.put(rule.getName(), matched);
            });
    return facts;
  }
}
