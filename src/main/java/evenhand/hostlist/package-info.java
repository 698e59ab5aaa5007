/**
 * Host lists as Slurm and cluster descriptions write them: {@code n[1-3,07-09],gpu-a}.
 *
 * <p>Contract: pure text in, node names out, in the order in which they stand. Nothing here knows
 * Slurm's commands; {@code slurm} and {@code simulator} may both use it. A list that cannot be read
 * is an {@link java.lang.IllegalArgumentException} with a sentence, never a part of the list.
 */
package evenhand.hostlist;
