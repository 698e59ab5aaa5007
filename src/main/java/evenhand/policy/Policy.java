package evenhand.policy;

import evenhand.facts.Ended;
import evenhand.facts.Job;
import evenhand.facts.Placement;
import evenhand.facts.Request;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Settlement;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * One policy, ready to decide: immutable, pure, safe to share between threads. The live service,
 * the simulator, {@code decide}, {@code check} and replay all call these three and nothing else.
 */
public interface Policy {

  /** Its name, as in {@code rules/policies/NAME.yaml}. */
  String name();

  /** {@code sha256:…} over its rule texts, their order, and every parameter's value. */
  String hash();

  /**
   * Decides one cycle: reservations that must end, then every queued job's verdict, in queue order.
   *
   * @throws RuleFailed when a rule throws, loops, or the rules leave a job without exactly one
   *     verdict; the message names rule and job, and nothing was decided
   */
  Decision decide(Snapshot snapshot);

  /**
   * Answers a submission (N1 to N6): placements are the whole inventory, down and drained ones too.
   */
  Admission admit(Request request, List<Tier> tiers, List<Placement> placements);

  /** What the end of a job, or of one attempt of it, brings (R4, C1 to C3), at this moment. */
  Settlement settle(Ended ended, Instant now);

  /** The queue of this snapshot in this policy's order (Q1 to Q4), the first to be taken first. */
  List<Job> order(Snapshot snapshot);

  /**
   * What orders this job: each key of the policy's order by name, e.g. {@code account_usage}, and
   * the job's value of it, in the order in which they count.
   */
  Map<String, Object> figures(Job job, Snapshot snapshot);

  /** The whole sentence of the rule with this clause; the clause itself when there is none. */
  String ruleName(String clause);
}
