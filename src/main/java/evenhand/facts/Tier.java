package evenhand.facts;

import java.util.Objects;

/**
 * One GPU model.
 *
 * @param name the model's name, as jobs ask for it
 * @param sortOrder rank among tiers; higher is better
 * @param tflops price of one GPU for one second, in TFLOP-seconds
 * @param maxGpus most GPUs of this tier one job may ask for on one node (N1)
 * @param autoAssign whether the service sends jobs there at all; where it does not, the tier fits
 *     no job, named or not (F1)
 * @param partition the Slurm partition it is reached by
 * @param gres the Slurm gres it is reached by, without a count, e.g. {@code gpu:4090}
 */
public record Tier(
    String name,
    int sortOrder,
    double tflops,
    int maxGpus,
    boolean autoAssign,
    String partition,
    String gres) {
  /** No two tiers of a cluster have one name. */
  @Override
  public int hashCode() {
    return Objects.hashCode(name);
  }
}
