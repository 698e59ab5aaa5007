package evenhand.cycle;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What is remembered of rules: their texts by the policy's hash, and how often they decided. */
public interface RuleHistory {

  /**
   * How often a rule decided.
   *
   * @param policyHash empty for what the end of a job brought (C2, C3)
   * @param rule its whole name where its clause has several; empty where the clause names it
   * @param outcomes how many outcomes it made
   * @param last the clock hour in which it last made one
   */
  record Count(String policyHash, String clause, String rule, long outcomes, Instant last) {}

  /** Counts of what was decided since then, by whole clock hours. */
  List<Count> counts(Instant since);

  /** The first clock hour of which anything is counted; null when there is none. */
  Instant countedSince();

  /** The texts of a policy that has decided, in their order; empty when they are not kept. */
  Map<String, String> texts(String policyHash);

  /** Hashes that begin so, at most this many: people write hashes short. */
  List<String> hashes(String beginning, int limit);
}
