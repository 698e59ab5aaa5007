package evenhand.service;

/**
 * Why the service does not start, in plain sentences, one a line: for a person, as they stand. What
 * lies behind it is the cause.
 */
public final class StartFault extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Where it can be mended. */
  public enum Where {
    /** In what the service was told: settings, files it names, rules. */
    SETTINGS,
    /** Outside: the database, a port, a disk. */
    OUTSIDE
  }

  private final Where where;

  private StartFault(Where where, String message, Throwable cause) {
    super(message, cause);
    this.where = where;
  }

  static StartFault ofSettings(String message) {
    return new StartFault(Where.SETTINGS, message, null);
  }

  static StartFault ofSettings(String message, Throwable cause) {
    return new StartFault(Where.SETTINGS, message, cause);
  }

  static StartFault outside(String message, Throwable cause) {
    return new StartFault(Where.OUTSIDE, message, cause);
  }

  public Where where() {
    return where;
  }
}
