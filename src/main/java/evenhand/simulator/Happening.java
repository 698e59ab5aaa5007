package evenhand.simulator;

/**
 * One line of what happened.
 *
 * @param atMicros when
 * @param what {@code submit}, {@code refuse}, {@code start}, {@code end}, {@code preempt}, {@code
 *     requeue}, {@code reserve}, {@code absorb}, {@code release}, {@code node}, {@code weight}
 * @param job id as the job set names it, or null
 * @param on the GPUs, {@code n1/0-3 n2/0-3}, or the node; null where it is about none
 * @param gpus how many
 * @param rule the clause by which, or null
 * @param detail in words: for whom, how it ended, why not; or null
 */
public record Happening(
    long atMicros,
    String what,
    String job,
    String account,
    String on,
    int gpus,
    String rule,
    String detail) {}
