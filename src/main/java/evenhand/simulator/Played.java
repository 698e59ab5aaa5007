package evenhand.simulator;

import java.util.Map;

/**
 * One policy's play of the job set, as a report tells it.
 *
 * @param name of the policy
 * @param summary the figures as {@code summary.json} has them
 * @param windowMicros the window of usage against budget
 */
public record Played(
    String name, Simulation.Result result, Map<String, Object> summary, long windowMicros) {}
