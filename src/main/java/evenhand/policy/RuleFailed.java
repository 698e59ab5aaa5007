package evenhand.policy;

/** A rule failed while deciding. The message names the rule, the job and what went wrong. */
public final class RuleFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public RuleFailed(String message) {
    super(message);
  }

  public RuleFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
