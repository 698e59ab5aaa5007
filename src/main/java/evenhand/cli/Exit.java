package evenhand.cli;

/** Exit statuses. */
public final class Exit {
  public static final int DONE = 0;

  /** The answer is no: a check failed, a job was refused. */
  public static final int NO = 1;

  /** Wrong use, or input that cannot be read. */
  public static final int WRONG_USE = 2;

  /** Something outside failed: the service does not answer, a file cannot be written. */
  public static final int OUTSIDE = 3;

  private Exit() {}
}
