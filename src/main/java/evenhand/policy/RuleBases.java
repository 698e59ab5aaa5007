package evenhand.policy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.drools.base.definitions.rule.impl.RuleImpl;
import org.drools.kiesession.rulebase.InternalKnowledgeBase;
import org.drools.kiesession.rulebase.KnowledgeBaseFactory;
import org.kie.api.KieBase;
import org.kie.api.definition.rule.Rule;
import org.kie.api.runtime.KieSession;

/**
 * Compiled rules, for one caller that loads policies several times: with other parameters, which
 * are no part of what is compiled, or with a file edited. Compiling is what takes the time. Not to
 * be shared between threads, and kept no longer than the caller needs it.
 */
public final class RuleBases {
  private static final int MOST_EDITED = 2;

  private final boolean edited;
  private final List<Made> made = new ArrayList<>();

  /** Compiles rule files into a base, beside those it has. */
  interface Compiling {
    void into(InternalKnowledgeBase base, Map<String, String> texts) throws PolicyFault;
  }

  /**
   * @param policy for which it was made
   * @param texts what is in it, by path
   */
  private record Made(
      InternalKnowledgeBase base, String policy, String orders, Map<String, String> texts) {

    /** Files that must be taken out of it or put into it to make it one of these texts. */
    Set<String> differing(Map<String, String> others) {
      Set<String> files = new HashSet<>(texts.keySet());
      files.addAll(others.keySet());
      files.removeIf(file -> others.containsKey(file) && others.get(file).equals(texts.get(file)));
      return files;
    }
  }

  /** Rules that stay as they are. */
  public RuleBases() {
    this(false);
  }

  private RuleBases(boolean edited) {
    this.edited = edited;
  }

  /**
   * Rules that are edited one file after another, as {@code RuleMutants} does. Of a file that
   * differs only that file is compiled; what was loaded of the same policy before must not be asked
   * any more.
   */
  public static RuleBases edited() {
    return new RuleBases(true);
  }

  /**
   * @param texts by path, in module order
   * @param orders what else goes into the compilation, in words
   */
  KieBase get(String policy, Map<String, String> texts, String orders, Compiling compiling)
      throws PolicyFault {
    for (Made one : made) {
      if (one.orders.equals(orders) && one.differing(texts).isEmpty()) {
        return one.base;
      }
    }
    for (Made one : made) {
      if (edited
          && one.policy.equals(policy)
          && one.orders.equals(orders)
          && one.differing(texts).size() <= MOST_EDITED) {
        edit(one, texts, compiling);
        return one.base;
      }
    }
    InternalKnowledgeBase base = KnowledgeBaseFactory.newKnowledgeBase();
    compiling.into(base, texts);
    made.add(new Made(base, policy, orders, new HashMap<>(texts)));
    return base;
  }

  private void edit(Made one, Map<String, String> texts, Compiling compiling) throws PolicyFault {
    List.copyOf(one.base.getKieSessions()).forEach(KieSession::dispose);
    for (String file : one.differing(texts)) {
      for (String rule : rulesOf(file, one.base)) {
        one.base.removeRule(RuleCompiler.PACKAGE, rule);
      }
      one.texts.remove(file);
      if (texts.containsKey(file)) {
        try {
          compiling.into(one.base, Map.of(file, texts.get(file)));
        } catch (PolicyFault e) {
          if (!rulesOf(file, one.base).isEmpty()) {
            made.remove(one); // it was half put together
          }
          throw e;
        }
        one.texts.put(file, texts.get(file));
      }
    }
  }

  private static List<String> rulesOf(String file, InternalKnowledgeBase base) {
    return base.getKiePackages().stream()
        .flatMap(p -> p.getRules().stream())
        .filter(rule -> file.equals(((RuleImpl) rule).getResource().getSourcePath()))
        .map(Rule::getName)
        .toList();
  }
}
