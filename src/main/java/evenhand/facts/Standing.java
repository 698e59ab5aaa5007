package evenhand.facts;

/**
 * How a reservation stands when a cycle starts, before any job is taken.
 *
 * @param first whether its job is the first of the queue (R3)
 * @param state the state of its node now; {@code DOWN} when the placement is gone from the
 *     inventory
 * @param capacity GPUs its placement has now; 0 when it is gone
 * @param unheld GPUs of its placement that no job holds, reserved ones among them; less than what
 *     is reserved when a job from outside has taken them (R5)
 */
public record Standing(
    Reservation reservation, boolean first, NodeState state, int capacity, int unheld) {}
