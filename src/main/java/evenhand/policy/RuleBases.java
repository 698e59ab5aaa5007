package evenhand.policy;

import evenhand.facts.Placement;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.kie.api.KieBase;

/**
 * Rule bases that were compiled: policies of the same rules that differ in parameters alone share
 * one, for parameters are facts. Compiling is what takes the time where a policy is loaded again
 * and again.
 */
public final class RuleBases {
  private final Map<Key, KieBase> compiled = new HashMap<>();

  /**
   * All that a rule base depends on: the texts in their order, and the orders that rules pick by.
   */
  private record Key(List<Map.Entry<String, String>> texts, List<List<String>> orders) {}

  synchronized KieBase of(
      Map<String, String> texts,
      List<List<String>> orders,
      Map<String, Comparator<Placement>> functions,
      Comparator<Placement> preference)
      throws PolicyFault {
    Key key = new Key(List.copyOf(new LinkedHashMap<>(texts).entrySet()), orders);
    KieBase base = compiled.get(key);
    if (base == null) {
      base = RuleCompiler.compile(texts, functions, preference);
      compiled.put(key, base);
    }
    return base;
  }
}
