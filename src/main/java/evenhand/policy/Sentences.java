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
      Pattern.compile("unable to resolve method using strict-mode: ([\\w.]+)\\.(\\w+)\\(\\)");

  static String of(String message) {
    String m = message == null ? "" : message;
    Matcher type = UNKNOWN_TYPE.matcher(m);
    if (type.find()) {
      return "there is no fact or outcome called " + type.group(1);
    }
    Matcher field = UNKNOWN_FIELD.matcher(m);
    if (field.find()) {
      String owner = field.group(1);
      return owner.substring(owner.lastIndexOf('.') + 1) + " has nothing called " + field.group(2);
    }
    Matcher expression = EXPRESSION.matcher(m);
    if (expression.find()) {
      return "the condition \""
          + expression.group(1).trim()
          + "\" cannot be understood: "
          + oneLine(expression.group(2));
    }
    return "cannot be understood: " + oneLine(CODED.matcher(m).replaceFirst(""));
  }

  private static String oneLine(String text) {
    String one = text.replaceAll("\\s+", " ").trim();
    return one.length() <= 300 ? one : one.substring(0, 297) + "…";
  }
}
