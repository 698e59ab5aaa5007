package evenhand.facts;

/**
 * Running work as a job that wants its GPUs sees it: all that decides whether it may be ended for
 * that job (K2 to K8). Running jobs that agree in all of it are judged alike.
 *
 * @param allocated whether it is charged to a budget; unallocated work is always preemptible (N5)
 * @param unprotected whether its minimum run time is over (K2)
 * @param sameAccount whether it is the wanting job's own account's
 * @param behind whether its account ranks behind the wanting job's (Q3)
 * @param stillBehind whether it would still rank behind, by the margin of K5, after the wanting
 *     job's minimum run time
 * @param inSlice whether it is within {@code preempt_window} after a multiple of its minimum (K8)
 */
public record Candidate(
    boolean allocated,
    boolean unprotected,
    boolean sameAccount,
    boolean behind,
    boolean stillBehind,
    boolean inSlice) {}
