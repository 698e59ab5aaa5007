package evenhand.slurm.text;

import java.util.List;

/**
 * All GPUs of one model on one node, as Slurm sees them. A node without GPUs is one placement with
 * model null and capacity 0.
 *
 * @param node the node's name
 * @param model the gres type, null when untyped
 * @param capacity GPUs configured
 * @param used GPUs that cannot be given whole: in use, or with shards in use; null when the answer
 *     does not tell
 * @param idle capacity less used, not below 0; a count only, {@code state} and {@code placeable}
 *     say whether they may be used; null when used is
 * @param state {@code up}, {@code draining} or {@code down}, as in a snapshot
 * @param placeable {@code yes}, {@code no} or {@code policy}: may a new job be placed here now
 * @param base Slurm's base state, null when the answer has no state
 * @param flags Slurm's flags
 * @param reason why it is drained or down, with who and when where Slurm says it, or null
 * @param partitions where it can be reached; null when the answer does not tell
 * @param cpusIdle processors left, null when the answer does not tell
 * @param error why {@code used} is unknown, else null
 */
public record Placement(
    String node,
    String model,
    long capacity,
    Long used,
    Long idle,
    String state,
    String placeable,
    String base,
    List<String> flags,
    String reason,
    List<String> partitions,
    Long cpusIdle,
    String error) {}
