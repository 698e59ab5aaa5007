package evenhand.policy;

import evenhand.facts.Placement;
import evenhand.facts.Setting;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.kie.api.KieBase;

/**
 * A policy as loaded: its description for people and all that deciding needs.
 *
 * @param texts all that the hash is over, by name and in its order
 * @param rules by name, in module order
 * @param looksAt parts of a request beyond the first four that some rule of a turn names
 * @param looksAtUnclaimed those of them that are named by a rule which needs no claim
 * @param nodesMatter whether some rule of a turn names the node of a placement
 * @param countAlike whether some rule picks a gang, and so asks how many placements are alike
 * @param victims which running work makes room first (K4)
 * @param explain wait codes, the one that is told first
 */
record Loaded(
    String name,
    String title,
    String hash,
    Map<String, String> texts,
    String where,
    List<ClauseView> clauses,
    Map<String, Rule> rules,
    List<Setting> settings,
    KieBase base,
    Choices.Order order,
    Comparator<Placement> preference,
    Set<String> looksAt,
    Set<String> looksAtUnclaimed,
    boolean nodesMatter,
    boolean countAlike,
    Choices.VictimOrder victims,
    List<String> explain) {

  /** Whether the first job may claim GPUs (G1). */
  boolean claims() {
    return settings.stream()
        .anyMatch(s -> s.name().equals("gang_reservation") && s.text().equals("claim"));
  }

  /** Every word that stands in the rules of these stages, comments and texts apart. */
  Set<String> names(Predicate<Stage> stages) {
    Set<String> names = new HashSet<>();
    for (Rule rule : rules.values()) {
      if (stages.test(rule.stage())) {
        names.addAll(List.of(Lint.bare(rule.text()).split("\\W+")));
      }
    }
    return names;
  }

  /**
   * What usage within the window is counted in; policies stored before this was a choice: GPU_S.
   */
  ChargeUnit chargeUnit() {
    return settings.stream()
        .filter(s -> s.name().equals("charge_unit"))
        .findFirst()
        .map(s -> ChargeUnit.of(s.text()))
        .orElse(ChargeUnit.GPU_S);
  }

  /** A parameter's value. */
  Setting setting(String parameter) {
    return settings.stream()
        .filter(s -> s.name().equals(parameter))
        .findFirst()
        .orElseThrow(() -> new RuleFailed("policy " + name + " gives no parameter " + parameter));
  }
}
