package evenhand.cli;

import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Loads a policy. */
@FunctionalInterface
public interface PolicySource {
  /**
   * @param rules the rules folder; empty for the rules at hand
   * @param settings parameters changed for this once
   */
  Policy load(Optional<Path> rules, String name, Map<String, String> settings) throws PolicyFault;
}
