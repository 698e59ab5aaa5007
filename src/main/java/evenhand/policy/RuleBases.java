package evenhand.policy;

import java.util.HashMap;
import java.util.Map;
import org.kie.api.KieBase;

/**
 * Compiled rules, for one caller that loads a policy several times with other parameters: these are
 * no part of what is compiled, and compiling is what takes the time. To be kept no longer than the
 * caller needs it.
 */
public final class RuleBases {
  private final Map<String, KieBase> made = new HashMap<>();

  interface Compiling {
    KieBase compile() throws PolicyFault;
  }

  /**
   * @param of names all that goes into the compilation
   */
  synchronized KieBase get(String of, Compiling compiling) throws PolicyFault {
    KieBase known = made.get(of);
    if (known == null) {
      known = compiling.compile();
      made.put(of, known);
    }
    return known;
  }
}
