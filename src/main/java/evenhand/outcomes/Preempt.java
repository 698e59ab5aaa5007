package evenhand.outcomes;

import evenhand.facts.Running;

/**
 * A running job gives its GPUs up.
 *
 * @param forJob the job it makes room for (K4), or null when it must leave its node (X2)
 */
public record Preempt(String job, String forJob) implements Outcome {

  /** It must leave the node it is on. */
  public Preempt(Running leaving) {
    this(leaving.job(), null);
  }
}
