package evenhand.cycle;

/** The life of a job. */
public enum JobState {
  GLOBAL_QUEUE_WAIT,
  DISPATCHING,
  RUNNING,
  COMPLETED,
  FAILED,
  CANCELLED,
  PREEMPTED,
  TIMEOUT;

  /** Whether it is over for good. */
  public boolean ended() {
    return ordinal() >= COMPLETED.ordinal();
  }
}
