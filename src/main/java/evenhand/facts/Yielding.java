package evenhand.facts;

/**
 * Running work on GPUs that the job whose turn it is has claimed, by a contract that the claim
 * counts on (G3).
 *
 * @param unprotected whether its minimum run time is over, or it never had one
 */
public record Yielding(Running running, boolean unprotected) {}
