package evenhand.simulator;

import java.util.Map;

/**
 * One policy's play of a job set, with its figures.
 *
 * @param name of the policy
 * @param summary the figures as {@code summary.json} has them
 * @param windowMicros the window of usage against budget
 */
public record Played(
    String name, Simulation.Result result, Map<String, Object> summary, long windowMicros) {

  /**
   * Works the figures out.
   *
   * @param windowMicros also the warm-up of the figures by account
   */
  public static Played of(Simulation.Result result, JobSet set, long windowMicros) {
    Figures figures = new Figures(result, set.trace(), windowMicros);
    Map<String, Object> summary = figures.summary();
    summary.put("seed", set.seed());
    summary.putAll(figures.timing());
    return new Played(result.policy().name(), result, summary, windowMicros);
  }
}
