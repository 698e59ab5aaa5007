package evenhand.cycle;

/**
 * Somebody else changed what this transaction was worked out from, or decides in this process's
 * stead: nothing of it was stored. Read anew and work it out again.
 */
public final class Overtaken extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public Overtaken(String message) {
    super(message);
  }
}
