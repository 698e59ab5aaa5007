package evenhand.policy;

import evenhand.facts.Candidate;
import evenhand.outcomes.Preemptable;
import evenhand.policy.Firing.Concluded;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which kinds of running work rules let be ended for a job (K4), and by which rule. There are 64
 * kinds ({@link Candidate} is six yes or no), so a set of them is the bits of a number.
 */
final class Judgement {
  private static final Candidate[] KINDS = new Candidate[64];

  static {
    for (int bits = 0; bits < KINDS.length; bits++) {
      KINDS[bits] =
          new Candidate(
              (bits & 1) != 0,
              (bits & 2) != 0,
              (bits & 4) != 0,
              (bits & 8) != 0,
              (bits & 16) != 0,
              (bits & 32) != 0);
    }
  }

  private final Map<Candidate, Rule> may = new HashMap<>();
  private final long allowed;

  /** From what the rules concluded about some kinds. */
  Judgement(List<Concluded> concluded) {
    long bits = 0;
    for (Concluded c : concluded) {
      if (c.what() instanceof Preemptable preemptable) {
        may.put(preemptable.candidate(), c.by());
        bits |= 1L << number(preemptable.candidate());
      }
    }
    allowed = bits;
  }

  static Candidate kind(int number) {
    return KINDS[number];
  }

  static int number(Candidate kind) {
    return ofWork(kind.allocated(), kind.unprotected(), kind.inSlice())
        | ofAccount(kind.sameAccount(), kind.behind(), kind.stillBehind());
  }

  /** The part of a kind's number that comes from the running work itself. */
  static int ofWork(boolean allocated, boolean unprotected, boolean inSlice) {
    return (allocated ? 1 : 0) | (unprotected ? 2 : 0) | (inSlice ? 32 : 0);
  }

  /** The part that comes from how its account stands to the wanting job's. */
  static int ofAccount(boolean same, boolean behind, boolean stillBehind) {
    return (same ? 4 : 0) | (behind ? 8 : 0) | (stillBehind ? 16 : 0);
  }

  /** The kinds that may be ended, one bit each. */
  long allowed() {
    return allowed;
  }

  /** By which rule work of this kind may be ended. */
  Rule by(int kind) {
    return may.get(KINDS[kind]);
  }
}
