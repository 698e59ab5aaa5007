package evenhand.policy;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Turns the parser's messages into plain sentences: what was found, and what belongs there. */
final class Syntax {
  private static final Pattern FOUND =
      Pattern.compile(
          "(?:\\[ERR \\d+\\] )?Line (\\d+):(\\d+) (?:mismatched input|no viable alternative at input"
              + "|unexpected token|unexpected exception at input|extraneous input) '(.*?)'",
          Pattern.DOTALL);
  private static final Pattern RULE = Pattern.compile("^\\s*rule\\b.*");
  private static final Pattern WHOLE_RULE = Pattern.compile("^\\s*rule\\s+\"[^\"]*\"\\s*(//.*)?$");

  private Syntax() {}

  /**
   * The sentence.
   *
   * @param lines of the file
   */
  static String sentence(String message, String[] lines) {
    Matcher m = FOUND.matcher(message == null ? "" : message);
    if (!m.find()) {
      return Sentences.of(message);
    }
    int line = Math.min(Integer.parseInt(m.group(1)), lines.length);
    // before the first line stands what every file has
    int column = Integer.parseInt(m.group(2)) - (line == 1 ? RuleCompiler.HEADER.length() : 0);
    String token = m.group(3).replaceAll("\\s+", " ").trim();
    boolean atEnd = token.isEmpty() || token.equals("<eof>");
    int start = line;
    while (start > 0 && !RULE.matcher(lines[start - 1]).matches()) {
      start--;
    }
    if (start > 0 && !WHOLE_RULE.matcher(lines[start - 1]).matches()) {
      return "a rule begins with its name in quotes, alone on its line, as in rule \"D4 A job …\";"
          + " line "
          + start
          + " is: "
          + shown(lines[start - 1]);
    }
    String expected =
        token.equals(")") || token.equals(",")
            ? "a value or a name, such as 2, \"up\" or $job,"
            : token.equals("=")
                ? "\"==\", which compares,"
                : expected(lines, start, line, column, atEnd || token.equals("end"));
    return (atEnd ? "the file ends" : "found \"" + token + "\"")
        + " where "
        + expected
        + " is expected"
        + (atEnd || line < 1 ? "" : "; the line is: " + shown(lines[line - 1]));
  }

  private static String expected(String[] lines, int start, int line, int column, boolean over) {
    if (start < 1) {
      return "rule \"…\", the beginning of a rule,";
    }
    boolean when = false;
    boolean then = false;
    Deque<Integer> open = new ArrayDeque<>();
    for (int i = start; i <= line; i++) {
      String text = lines[i - 1];
      if (i == line && column >= 0 && column <= text.length()) {
        text = text.substring(0, column);
      }
      String bare = Lint.bare(text);
      when |= bare.matches(".*\\bwhen\\b.*");
      then |= bare.matches(".*\\bthen\\b.*");
      for (char c : bare.toCharArray()) {
        if (c == '(') {
          open.push(i);
        } else if (c == ')' && !open.isEmpty()) {
          open.pop();
        }
      }
    }
    if (!open.isEmpty()) {
      return "\")\" or \",\" (the \"(\" on line " + open.peek() + " is not closed)";
    }
    if (then) {
      return "\"end\" on a line of its own";
    }
    if (!when) {
      return "\"@clause( … )\", \"ruleflow-group\" with a stage in quotes, or \"when\"";
    }
    return over ? "\"then\"" : "a condition such as Placement( idle > 0 ), or \"then\",";
  }

  private static String shown(String line) {
    String text = line.strip();
    return text.length() <= 100 ? text : text.substring(0, 99) + "…";
  }
}
