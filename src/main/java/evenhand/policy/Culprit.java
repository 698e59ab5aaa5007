package evenhand.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.kie.api.runtime.rule.ConsequenceException;
import org.mvel2.CompileException;

/**
 * Finds the rule that failed, from what the engine throws: a condition is evaluated when the engine
 * finds it useful, often in an earlier stage than the rule's own, so that the stage asked says
 * little. A condition that several rules share fails for all of them.
 */
final class Culprit {
  private static final int DEEPEST = 20;
  private static final Pattern NAMED = Pattern.compile("\"([^\"\n]+)\"");
  private static final Pattern GENERATED =
      Pattern.compile("evenhand\\.rules\\.Rule_([A-Za-z0-9_$]+)");
  private static final Pattern CONDITION =
      Pattern.compile("Error evaluating constraint '(.*)' in \\[Rule \"", Pattern.DOTALL);

  private final List<Rule> rules = new ArrayList<>();
  private boolean inThenPart;
  private String condition;
  private Throwable root;

  private Culprit(Throwable thrown, Map<String, Rule> known) {
    root = thrown;
    for (int i = 0; i < DEEPEST && root != null; i++) {
      look(root, known);
      if (root.getCause() == null) {
        break;
      }
      root = root.getCause();
    }
    if (rules.isEmpty() && condition != null) {
      known.values().stream().filter(r -> lineIn(r) > 0).forEach(rules::add);
    }
  }

  /**
   * What is to be told: a sentence that names rule, file and line where they can be known.
   *
   * @param asked the stage that was asked, told where no rule is known
   * @param about what was being decided
   */
  static RuleFailed failure(Throwable thrown, Map<String, Rule> known, Stage asked, String about) {
    Culprit culprit = new Culprit(thrown, known);
    return new RuleFailed(
        culprit.sentence(asked, about),
        thrown,
        culprit.rules.isEmpty() ? null : culprit.rules.get(0));
  }

  private void look(Throwable e, Map<String, Rule> known) {
    if (e instanceof Effort.Spent spent) {
      spent.rules().forEach(name -> add(known.get(name)));
    }
    if (e instanceof ConsequenceException c && c.getRule() != null) {
      inThenPart = true;
      add(known.get(c.getRule().getName()));
    }
    String message = String.valueOf(e.getMessage());
    if (message.contains("[Rule \"")) {
      Matcher m = CONDITION.matcher(message);
      if (m.find()) {
        condition = m.group(1);
      }
      Matcher named = NAMED.matcher(message);
      while (named.find()) {
        add(known.get(named.group(1)));
      }
    }
    if (condition == null && e instanceof CompileException c && c.getExpr() != null) {
      condition = new String(c.getExpr()).trim();
    }
    if (rules.isEmpty()) {
      for (StackTraceElement frame : e.getStackTrace()) {
        Matcher m = GENERATED.matcher(frame.getClassName());
        if (m.find()) {
          String compiled = letters(m.group(1).replaceAll("\\$u\\d+\\$", ""));
          known.values().stream()
              .filter(r -> compiled.startsWith(letters(r.name())))
              .forEach(this::add);
          break;
        }
      }
    }
  }

  private void add(Rule rule) {
    if (rule != null && !rules.contains(rule)) {
      rules.add(rule);
    }
  }

  private static String letters(String name) {
    return name.replaceAll("[^A-Za-z0-9]", "");
  }

  private String sentence(Stage asked, String about) {
    String what = inThenPart ? "its then-part " : condition == null ? "it " : "its condition ";
    String why =
        (condition == null || inThenPart ? what : what + "\"" + shorten(condition) + "\" ")
            + why(root);
    if (rules.isEmpty()) {
      return "a rule, which the engine does not name, failed for "
          + about
          + " when stage \""
          + asked.word()
          + "\" was asked: "
          + why;
    }
    Rule first = rules.get(0);
    StringBuilder said = new StringBuilder();
    said.append(first.file())
        .append(':')
        .append(Math.max(first.line(), lineIn(first)))
        .append(": rule \"")
        .append(first.name())
        .append('"');
    for (Rule rule : rules.subList(1, rules.size())) {
      said.append(" (and \"").append(rule.name()).append("\" in ").append(rule.file()).append(')');
    }
    return said.append(" of stage \"")
        .append(first.stage().word())
        .append("\" failed for ")
        .append(about)
        .append(": ")
        .append(why)
        .toString();
  }

  /** The line of its file on which the condition stands in a rule; 0 where it does not. */
  private int lineIn(Rule rule) {
    String wanted = condition == null ? "" : condition.replaceAll("\\s", "");
    String[] lines = rule.text().split("\n", -1);
    for (int i = 0; i < lines.length && !wanted.isEmpty(); i++) {
      if (lines[i].replaceAll("\\s", "").contains(wanted)) {
        return rule.line() + i;
      }
    }
    return 0;
  }

  private static String why(Throwable root) {
    String message = root.getMessage() == null ? "" : root.getMessage().split("\n", 2)[0];
    if (root instanceof Effort.Spent) {
      return message;
    }
    if (root instanceof StackOverflowError) {
      return "is nested too deeply";
    }
    if (root instanceof OutOfMemoryError) {
      return "needs more memory than there is";
    }
    if (root instanceof NullPointerException) {
      return "asks for a part of something that is not there";
    }
    if (root instanceof ArithmeticException && message.contains("zero")) {
      return "divides by zero";
    }
    if (root instanceof NumberFormatException) {
      return "takes a text for a number: " + message;
    }
    if (root instanceof ClassCastException) {
      return "compares things of different kinds: " + message;
    }
    if (root instanceof IndexOutOfBoundsException) {
      return "goes beyond the end of a text: " + message;
    }
    return "cannot be worked out: "
        + root.getClass().getSimpleName()
        + (message.isEmpty() ? "" : ": " + shorten(message));
  }

  private static String shorten(String text) {
    String one = text.replaceAll("\\s+", " ").trim();
    return one.length() <= 200 ? one : one.substring(0, 199) + "…";
  }
}
