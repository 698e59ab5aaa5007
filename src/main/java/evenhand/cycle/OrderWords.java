package evenhand.cycle;

import evenhand.facts.Job;
import evenhand.policy.AccountTree;
import evenhand.policy.Ordering;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** Why one waiting job comes before another, in sentences (Q2, Q3). */
final class OrderWords {
  private OrderWords() {}

  static String sentence(Ordering.Parting p) {
    Job first = p.first();
    Job second = p.second();
    String before = "Job " + first.id() + " comes before job " + second.id() + ". ";
    return before
        + switch (p.key()) {
          case "allocated" -> allocated(first, second);
          case "account_tree" -> fork(p.fork());
          case "account_usage" -> usage(p);
          case "priority", "priority_class" ->
              level(p)
                  + "job "
                  + first.id()
                  + " has priority "
                  + p.ofFirst()
                  + ", job "
                  + second.id()
                  + " "
                  + p.ofSecond()
                  + ".";
          case "queued_at" ->
              level(p)
                  + "job "
                  + first.id()
                  + " has waited since "
                  + p.ofFirst()
                  + ", job "
                  + second.id()
                  + " since "
                  + p.ofSecond()
                  + ".";
          default -> level(p) + "they came at the same moment, and the lower number comes first.";
        };
  }

  private static String allocated(Job first, Job second) {
    return "Job "
        + first.id()
        + " is allocated: it declares a minimum run time, and its account "
        + first.account()
        + " has a budget. Job "
        + second.id()
        + " is not, as "
        + (second.minRuntimeSeconds() > 0
            ? "its account " + second.account() + " has no budget"
            : "it declares no minimum run time")
        + "; such work comes after all that is allocated.";
  }

  /** What does not tell them apart. */
  private static String level(Ordering.Parting p) {
    return p.first().account().equals(p.second().account())
        ? "Both are of account " + p.first().account() + "; "
        : "Nothing that comes first in the order tells them apart; ";
  }

  private static String usage(Ordering.Parting p) {
    double first = (Double) p.ofFirst();
    double second = (Double) p.ofSecond();
    return "Account "
        + p.first().account()
        + " was charged "
        + number(first)
        + " TFLOP-s so far, account "
        + p.second().account()
        + " "
        + number(second)
        + ": "
        + number(second - first)
        + " more. The account that has used least comes first.";
  }

  private static String fork(AccountTree.Fork f) {
    if (f.cause() == AccountTree.Cause.ABOVE) {
      return "Account "
          + f.first().account()
          + " lies above "
          + f.second().account()
          + "; an account's own jobs come before those of accounts below it.";
    }
    String where =
        "Their accounts part "
            + (f.above() == null ? "at the top of the tree" : "below " + f.above())
            + ": ";
    return where
        + switch (f.cause()) {
          case RATIO ->
              used(f.first())
                  + "; "
                  + used(f.second())
                  + ". The least served comes first: "
                  + f.first().account()
                  + " is ahead by "
                  + number(f.second().ratio() - f.first().ratio())
                  + ".";
          case LONGEST_WAITING ->
              alike(f)
                  + ", and a job of "
                  + f.first().account()
                  + " waits since "
                  + f.earliest()
                  + (f.secondEarliest() == null
                      ? "."
                      : ", longer than any of "
                          + f.second().account()
                          + ", the first of which came at "
                          + f.secondEarliest()
                          + ".");
          default ->
              alike(f)
                  + ", and their longest waiting jobs came at the same moment; the lower name comes"
                  + " first.";
        };
  }

  private static String used(AccountTree.Step s) {
    return s.account()
        + " has "
        + percent(s.usageShare())
        + " of what was used there in the window and "
        + percent(s.weightShare())
        + " of the weight, ratio "
        + number(s.ratio());
  }

  private static String alike(AccountTree.Fork f) {
    return f.first().account()
        + " and "
        + f.second().account()
        + " are served alike, both at ratio "
        + number(f.first().ratio());
  }

  private static String percent(double part) {
    return number(part * 100) + " %";
  }

  /** At most six digits that count, without an exponent: a small lead must not read as none. */
  static String number(double value) {
    if (value == 0) {
      return "0";
    }
    if (!Double.isFinite(value)) {
      return "infinite";
    }
    BigDecimal exact = new BigDecimal(value);
    return Math.abs(value) >= 1e6
        ? String.format(Locale.ROOT, "%.0f", value)
        : exact
            .round(new MathContext(6, RoundingMode.HALF_EVEN))
            .stripTrailingZeros()
            .toPlainString();
  }
}
