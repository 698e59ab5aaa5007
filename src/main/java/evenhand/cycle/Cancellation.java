package evenhand.cycle;

/** What came of ending a job on the cluster. */
public sealed interface Cancellation {

  /** The cluster took the order, or the job had ended already. */
  record Done() implements Cancellation {}

  /** Not done, or not known to be done: to be tried again. */
  record Failed(String because) implements Cancellation {}
}
