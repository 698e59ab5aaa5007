package evenhand.cycle;

import java.util.List;
import java.util.Map;

/**
 * A submission, its form already checked.
 *
 * @param account null for the one that the user is attached to
 * @param role the submitter's role as it is known, or null; no ground for a limit (N3)
 * @param tier name of the tier asked for, null for any
 * @param minimumTier name of the lowest tier accepted, null for any
 * @param minRuntimeSeconds protected run time it declares (K1), 0 for none
 * @param timeLimitSeconds null for the partition's own limit
 * @param workdir null for the service's default
 * @param preemptible whether it consents to be preempted; only the baseline {@code priority} asks
 */
public record NewJob(
    String name,
    String account,
    String user,
    String role,
    int nodes,
    int numGpus,
    String tier,
    String minimumTier,
    long minRuntimeSeconds,
    boolean resumable,
    int priority,
    Long timeLimitSeconds,
    String script,
    List<String> arguments,
    Map<String, String> environment,
    String workdir,
    boolean preemptible) {

  /** One that consents to be preempted. */
  public NewJob(
      String name,
      String account,
      String user,
      String role,
      int nodes,
      int numGpus,
      String tier,
      String minimumTier,
      long minRuntimeSeconds,
      boolean resumable,
      int priority,
      Long timeLimitSeconds,
      String script,
      List<String> arguments,
      Map<String, String> environment,
      String workdir) {
    this(
        name,
        account,
        user,
        role,
        nodes,
        numGpus,
        tier,
        minimumTier,
        minRuntimeSeconds,
        resumable,
        priority,
        timeLimitSeconds,
        script,
        arguments,
        environment,
        workdir,
        true);
  }

  /** The same job, charged to this account. */
  NewJob of(String charged) {
    return by(user, charged);
  }

  /** The same job of this user, charged to this account. */
  public NewJob by(String submitter, String charged) {
    return new NewJob(
        name,
        charged,
        submitter,
        role,
        nodes,
        numGpus,
        tier,
        minimumTier,
        minRuntimeSeconds,
        resumable,
        priority,
        timeLimitSeconds,
        script,
        arguments,
        environment,
        workdir,
        preemptible);
  }
}
