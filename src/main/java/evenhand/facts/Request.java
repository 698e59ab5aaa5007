package evenhand.facts;

import java.util.Set;

/**
 * What a job asks for, as far as the policy's rules look at it. Jobs that ask for the same are one
 * request, and while nothing changes on the cluster they get the same answer, so it is worked out
 * once.
 *
 * <p>The first four parts are always filled. Each of the others is filled only where some rule of
 * the policy names it; otherwise it is null or 0, so that no rule can depend on what does not tell
 * requests apart.
 *
 * @param nodes how many nodes
 * @param numGpus GPUs on each node
 * @param tier the tier named, null for any
 * @param minimumTierSortOrder the lowest tier accepted
 * @param role the submitter's role; told at submission only, and no ground for a limit (N3)
 * @param allocated whether it declares a minimum run time and its account has a budget to pay it
 *     from (N5); null where no rule looks at it
 * @param preemptible whether it consents to make room for others (PR3); true where no rule looks at
 *     it
 */
public record Request(
    int nodes,
    int numGpus,
    String tier,
    int minimumTierSortOrder,
    String job,
    String account,
    String user,
    String role,
    int priority,
    long minRuntimeSeconds,
    boolean resumable,
    int attempt,
    Boolean allocated,
    boolean preemptible) {

  /** One of which nobody has said whether it is allocated. */
  public Request(
      int nodes,
      int numGpus,
      String tier,
      int minimumTierSortOrder,
      String job,
      String account,
      String user,
      String role,
      int priority,
      long minRuntimeSeconds,
      boolean resumable,
      int attempt) {
    this(
        nodes,
        numGpus,
        tier,
        minimumTierSortOrder,
        job,
        account,
        user,
        role,
        priority,
        minRuntimeSeconds,
        resumable,
        attempt,
        null,
        true);
  }

  /** All that a queued job asks for, whatever rules look at; its submitter's role is not kept. */
  public static Request of(Job job) {
    return new Request(
        job.nodes(),
        job.numGpus(),
        job.tier(),
        job.minimumTierSortOrder(),
        job.id(),
        job.account(),
        job.user(),
        null,
        job.priority(),
        job.minRuntimeSeconds(),
        job.resumable(),
        job.attempt(),
        null,
        job.preemptible());
  }

  /** The same, asked by no job in particular. */
  public Request ofNoJob() {
    return with(minimumTierSortOrder, null, attempt, allocated);
  }

  /** The same, asked once more and of no lower tier than this. */
  public Request again(int leastSortOrder) {
    return with(leastSortOrder, job, attempt + 1, allocated);
  }

  /** The same, with what its account's budget says to it (N5); null where nobody looks at that. */
  public Request onTerms(Boolean isAllocated) {
    return with(minimumTierSortOrder, job, attempt, isAllocated);
  }

  private Request with(int leastSortOrder, String asker, int tries, Boolean isAllocated) {
    return new Request(
        nodes,
        numGpus,
        tier,
        leastSortOrder,
        asker,
        account,
        user,
        role,
        priority,
        minRuntimeSeconds,
        resumable,
        tries,
        isAllocated,
        preemptible);
  }

  /**
   * What is seen of it by who looks at these of its parts only, by name: requests that differ in
   * other parts alone are one. GPUs, tiers, role and terms are always seen.
   */
  public Request seen(Set<String> parts) {
    return new Request(
        nodes,
        numGpus,
        tier,
        minimumTierSortOrder,
        parts.contains("job") ? job : null,
        parts.contains("account") ? account : null,
        parts.contains("user") ? user : null,
        role,
        parts.contains("priority") ? priority : 0,
        parts.contains("minRuntimeSeconds") ? minRuntimeSeconds : 0,
        parts.contains("resumable") && resumable,
        parts.contains("attempt") ? attempt : 0,
        allocated,
        !parts.contains("preemptible") || preemptible);
  }

  /** GPUs of all its nodes together. */
  public int gpus() {
    return nodes * numGpus;
  }

  /** What is asked, in words: {@code 2 GPUs of sort_order >= 20 on one node}. */
  public String asked() {
    String gpus = numGpus == 1 ? "1 GPU" : numGpus + " GPUs";
    String which =
        tier != null
            ? " of tier " + tier
            : minimumTierSortOrder > 0 ? " of sort_order >= " + minimumTierSortOrder : "";
    return gpus + which + (nodes == 1 ? " on one node" : " on each of " + nodes + " nodes");
  }
}
