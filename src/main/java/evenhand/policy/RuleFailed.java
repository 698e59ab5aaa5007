package evenhand.policy;

import java.util.Optional;

/** A rule failed while deciding. The message names the rule, the job and what went wrong. */
public final class RuleFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Rule rule;
  private final String job;

  public RuleFailed(String message) {
    this(message, null, null, null);
  }

  /**
   * @param rule the one that failed, or null where the engine does not name it
   */
  RuleFailed(String message, Throwable cause, Rule rule) {
    this(message, cause, rule, null);
  }

  private RuleFailed(String message, Throwable cause, Rule rule, String job) {
    super(message, cause);
    this.rule = rule;
    this.job = job;
  }

  /** The same, known to have happened when this job was decided on. */
  RuleFailed about(String itsJob) {
    return job == null ? new RuleFailed(getMessage(), this, rule, itsJob) : this;
  }

  /** The rule that failed, where the engine names it. */
  public Optional<Rule> rule() {
    return Optional.ofNullable(rule);
  }

  /** Id of the job that was decided on, where it was one. */
  public Optional<String> job() {
    return Optional.ofNullable(job);
  }
}
