package evenhand.policy;

import java.util.List;
import java.util.Locale;

/**
 * How much matching one decision may cost. Rules that join facts without a condition between them
 * multiply them: three kinds of a thousand facts are a thousand million combinations, and the
 * engine looks at all of them before it fires anything. So the combinations it tries are counted
 * where it tries them ({@link CountedConstraints}), and the rule that comes to the limit fails by
 * its name, as one that loops does. It is a number and not a time, so that the same snapshot and
 * rules come to the same end on every machine.
 */
final class Effort {
  /** Combinations of facts in one question to a stage. */
  static final int MOST_A_QUESTION = 2_000_000;

  /** Those of them that hold: each is kept until the question is answered, in some 200 bytes. */
  static final int MOST_HELD = 200_000;

  /** Combinations of facts in one decision, about 5 s of a processor. */
  static final long MOST_A_DECISION = 100_000_000;

  private static final ThreadLocal<Effort> UNDER_WAY = new ThreadLocal<>();

  private int inQuestion;
  private int held;
  private long inDecision;

  /** The limit is reached. */
  static final class Spent extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient List<String> rules;

    Spent(String message, List<String> rules) {
      super(message, null, false, false);
      this.rules = rules;
    }

    /** Names of the rules that were being matched; those that begin alike are matched together. */
    List<String> rules() {
      return rules;
    }
  }

  /** Another decision begins. */
  void begin() {
    inDecision = 0;
  }

  /** Counts what this thread tries from now on. */
  void asking() {
    inQuestion = 0;
    held = 0;
    UNDER_WAY.set(this);
  }

  /** The question is answered. */
  void answered() {
    inDecision += inQuestion;
    UNDER_WAY.remove();
  }

  /**
   * One more combination was tried.
   *
   * @param holds whether the conditions hold for it
   * @return the same
   * @throws Spent when that is one too many
   */
  static boolean tried(CountedConstraints<?> by, boolean holds) {
    Effort effort = UNDER_WAY.get();
    if (effort == null) {
      return holds;
    }
    int tried = ++effort.inQuestion;
    if (holds && ++effort.held > MOST_HELD) {
      throw new Spent(sentence("finds", MOST_HELD, "one question"), by.rules());
    }
    if (tried > MOST_A_QUESTION) {
      throw new Spent(sentence("tries", MOST_A_QUESTION, "one question"), by.rules());
    }
    if (effort.inDecision + tried > MOST_A_DECISION) {
      throw new Spent(sentence("tries", MOST_A_DECISION, "one decision"), by.rules());
    }
    return holds;
  }

  private static String sentence(String does, long most, String in) {
    return String.format(
        Locale.ROOT,
        "%s more than %,d combinations of facts in %s: it joins facts that no condition holds"
            + " together; let one name a part of the other, or pick one of them by accumulate",
        does,
        most,
        in);
  }
}
