package evenhand.cycle;

import evenhand.facts.Share;
import java.util.List;
import java.util.Map;

/**
 * One attempt of a job to be given to the cluster.
 *
 * @param on where, one entry a node; all of one tier, all with the same number of GPUs
 * @param timeLimitSeconds null for the partition's own limit
 * @param script the batch script, whole, starting with {@code #!}
 * @param environment variables the job is given besides the cluster's own
 * @param workdir null for the service's default
 * @param resumed how many earlier attempts of the job have run
 */
public record SubmitOrder(
    Token token,
    String jobName,
    String account,
    String user,
    List<Share> on,
    Long timeLimitSeconds,
    String script,
    List<String> arguments,
    Map<String, String> environment,
    String workdir,
    int resumed) {

  /** The first run of a job. */
  public SubmitOrder(
      Token token,
      String jobName,
      String account,
      String user,
      List<Share> on,
      Long timeLimitSeconds,
      String script,
      List<String> arguments,
      Map<String, String> environment,
      String workdir) {
    this(
        token,
        jobName,
        account,
        user,
        on,
        timeLimitSeconds,
        script,
        arguments,
        environment,
        workdir,
        0);
  }

  public SubmitOrder {
    on = List.copyOf(on);
    arguments = List.copyOf(arguments);
    environment = Map.copyOf(environment);
  }
}
