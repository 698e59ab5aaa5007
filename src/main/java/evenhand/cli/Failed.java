package evenhand.cli;

/** Ends a command with a sentence on standard error and an exit status. */
public final class Failed extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final int status;

  /**
   * @param status one of {@link Exit}
   * @param message whole sentences, one a line
   */
  public Failed(int status, String message) {
    super(message);
    this.status = status;
  }

  public int status() {
    return status;
  }
}
