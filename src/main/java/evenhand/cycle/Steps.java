package evenhand.cycle;

/**
 * Told each step of a cycle between which the process could die, by name. The service leaves it at
 * {@link #UNWATCHED}; the crash tests end the process there.
 */
public interface Steps {
  Steps UNWATCHED = step -> {};

  /** Every step, in the order of a cycle that has something to do. */
  enum Step {
    BEGUN,
    READ,
    SEEN,
    BEFORE_FOLLOWING,
    AFTER_FOLLOWING,
    BEFORE_DECIDING,
    BEFORE_DECISION,
    AFTER_DECISION,
    BEFORE_ORDER,
    AFTER_ORDER_BEGUN,
    AFTER_SBATCH,
    AFTER_NUMBER,
    AFTER_RELEASE,
    AFTER_RELEASE_RECORDED,
    AFTER_CANCEL_BEGUN,
    AFTER_SCANCEL,
    AFTER_CANCEL_RECORDED,
    ENDED
  }

  void reached(Step step);
}
