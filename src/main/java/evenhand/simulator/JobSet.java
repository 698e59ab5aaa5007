package evenhand.simulator;

/**
 * A job set with what it is played on.
 *
 * @param seed from which it was generated, or null where it was not, or nobody knows
 */
public record JobSet(ClusterPlan cluster, AccountPlan accounts, Trace trace, Long seed) {
  /** A job set that is made when it is needed: many at once would fill the memory. */
  public record Source(Long seed, java.util.function.Supplier<JobSet> make) {}
}
