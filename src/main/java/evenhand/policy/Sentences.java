package evenhand.policy;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Turns the engine's messages into plain sentences. */
final class Sentences {
  private Sentences() {}

  private static final Pattern CODED =
      Pattern.compile("^\\[ERR \\d+\\]\\s*(?:Line \\d+:\\d+\\s*)?");
  private static final Pattern EXPRESSION =
      Pattern.compile(
          "Unable to Analyse Expression\\s*(.*?):\\s*\\[Error: (.*?)\\]", Pattern.DOTALL);
  private static final Pattern UNKNOWN_TYPE =
      Pattern.compile("Unable to resolve ObjectType '([^']*)'");
  private static final Pattern UNKNOWN_FIELD =
      Pattern.compile("unable to resolve method using strict-mode: ([\\w.]+)\\.([$\\w]+)\\(\\)");
  private static final Pattern UNREADABLE =
      Pattern.compile("Field Reader does not exist for declaration '[^']*' in '([^']*)'");
  private static final Pattern UNKNOWN_FUNCTION =
      Pattern.compile("Unknown accumulate function: '([^']*)'");
  private static final Pattern IN_RULE = Pattern.compile("\\s*in (pattern in )?rule \".*\"$");
  private static final String CONSEQUENCE = "Rule Compilation error";

  static String of(String message) {
    String m = message == null ? "" : message;
    Matcher function = UNKNOWN_FUNCTION.matcher(m);
    if (function.find()) {
      return "there is no function called "
          + function.group(1)
          + "; there are "
          + RuleCompiler.FUNCTIONS;
    }
    Matcher type = UNKNOWN_TYPE.matcher(m);
    if (type.find()) {
      return "there is no fact or outcome called " + type.group(1);
    }
    Matcher field = UNKNOWN_FIELD.matcher(m);
    if (field.find()) {
      String owner = field.group(1);
      return field.group(2).startsWith("$")
          ? field.group(2) + " is not known here: no pattern before it gives anything that name"
          : owner.substring(owner.lastIndexOf('.') + 1) + " has nothing called " + field.group(2);
    }
    Matcher binding = UNREADABLE.matcher(m);
    if (binding.find()) {
      return "there is nothing to be named by \""
          + oneLine(binding.group(1))
          + "\": the fact has no such part; rules/README.md lists the parts of each";
    }
    Matcher expression = EXPRESSION.matcher(m);
    if (expression.find()) {
      return "the condition \""
          + expression.group(1).trim()
          + "\" cannot be understood: "
          + oneLine(expression.group(2));
    }
    String plain = oneLine(CODED.matcher(m).replaceFirst(""));
    if (plain.startsWith(CONSEQUENCE)) {
      return "its then-part cannot be compiled: " + plain.substring(CONSEQUENCE.length()).trim();
    }
    return "cannot be understood: " + IN_RULE.matcher(plain).replaceFirst("");
  }

  /** What the engine threw, in one line. */
  static String thrown(Throwable e) {
    Throwable root = e;
    for (int i = 0; i < 20 && root.getCause() != null; i++) {
      root = root.getCause();
    }
    return root instanceof StackOverflowError
        ? "it is nested too deeply"
        : oneLine(root.getClass().getSimpleName() + ": " + root.getMessage());
  }

  /** Whether a message may only follow from another fault in the same rule. */
  static boolean secondary(String message) {
    return message != null && message.startsWith(CONSEQUENCE);
  }

  /** The piece of the rule's text that a message is about, or null. */
  static String piece(String message) {
    Matcher expression = EXPRESSION.matcher(message == null ? "" : message);
    return expression.find() ? expression.group(1).trim() : null;
  }

  private static String oneLine(String text) {
    String one = text.replaceAll("\\s+", " ").trim();
    return one.length() <= 300 ? one : one.substring(0, 297) + "…";
  }
}
