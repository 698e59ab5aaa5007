package evenhand.simulator;

/**
 * One job of a job set, as it will be submitted.
 *
 * @param id as the job set names it; need not be a number
 * @param submitMicros when it is submitted, microseconds from the job set's zero
 * @param account null where the job set names none
 * @param nodes how many nodes
 * @param numGpus GPUs on each node
 * @param tier name of the tier asked for, null for any
 * @param runMicros how long it runs when nothing ends it, microseconds
 * @param minRuntimeSeconds protected run time it declares (K1)
 * @param resumable whether it is queued again when it is preempted (K6)
 * @param kind free word by which figures are grouped, e.g. {@code debug}; null for none
 * @param preemptible whether it consents to be preempted; read by policy {@code priority}
 * @param line where it stands in its file, from 1
 */
public record TraceJob(
    String id,
    long submitMicros,
    String account,
    String user,
    int nodes,
    int numGpus,
    String tier,
    long runMicros,
    long minRuntimeSeconds,
    boolean resumable,
    int priority,
    String kind,
    boolean preemptible,
    int line) {

  /** GPUs it asks for, all nodes together. */
  public int gpus() {
    return nodes * numGpus;
  }
}
