package evenhand.cycle;

import java.time.Instant;
import java.util.List;

/**
 * A recorded decision in a list.
 *
 * @param said by which clauses it had something new to say; empty where that was not noted
 */
public record DecisionFound(
    String id, Instant at, String policy, String policyHash, List<Said> said) {

  /**
   * @param jobs about how many jobs
   * @param of the first few of them
   */
  public record Said(String clause, int jobs, List<String> of) {}
}
