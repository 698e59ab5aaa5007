package evenhand.outcomes;

import evenhand.facts.Cost;
import evenhand.facts.Ended;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import java.time.Instant;

/**
 * GPUs of one placement that one job held over one stretch of time, and what that costs: reserved
 * (C1) or run (C2). These are the rows of the ledger. A stretch never ends before it begins: where
 * a clock stepped back in between, it is 0 s long.
 *
 * @param kind {@link #RESERVED}, {@link #RUN}, or {@link #UNALLOCATED}: run, and charged to nobody
 *     (N5)
 * @param gpus the count held during the stretch, not after it
 * @param tflopSeconds GPUs x seconds x TFLOPS
 */
public record HoldingCost(
    String kind,
    String job,
    String account,
    String node,
    Tier tier,
    int gpus,
    Instant from,
    Instant to,
    double tflopSeconds)
    implements Conclusion {
  public static final String RESERVED = "reserved";
  public static final String RUN = "run";
  public static final String UNALLOCATED = "unallocated";

  /** C1: what a reservation has cost since it was last accrued. */
  public HoldingCost(Reservation held, Instant now) {
    this(
        RESERVED,
        held.job(),
        held.account(),
        held.node(),
        held.tier(),
        held.gpus(),
        held.accruedAt(),
        now.isBefore(held.accruedAt()) ? held.accruedAt() : now,
        Cost.tflopSeconds(held.gpus(), held.accruedAt(), now, held.tier().tflops()));
  }

  /** C2: what a run has cost on one of its placements. */
  public HoldingCost(Ended ended, Share share) {
    this(
        ended.allocated() ? RUN : UNALLOCATED,
        ended.job(),
        ended.account(),
        share.node(),
        share.tier(),
        share.gpus(),
        ended.run().from(),
        ended.run().to().isBefore(ended.run().from()) ? ended.run().from() : ended.run().to(),
        Cost.tflopSeconds(
            share.gpus(), ended.run().from(), ended.run().to(), share.tier().tflops()));
  }
}
