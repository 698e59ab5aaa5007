package evenhand.policy;

import evenhand.facts.Placement;
import evenhand.facts.Setting;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.kie.api.KieBase;

/**
 * A policy as loaded: its description for people and all that deciding needs.
 *
 * @param rules by name, in module order
 * @param looksAt parts of a request beyond the first four that some rule of a turn names
 * @param nodesMatter whether some rule of a turn names the node of a placement
 * @param explain wait codes, the one that is told first
 */
record Loaded(
    String name,
    String title,
    String hash,
    String where,
    List<ClauseView> clauses,
    Map<String, Rule> rules,
    List<Setting> settings,
    KieBase base,
    Choices.Order order,
    Comparator<Placement> preference,
    Set<String> looksAt,
    boolean nodesMatter,
    List<String> explain) {}
