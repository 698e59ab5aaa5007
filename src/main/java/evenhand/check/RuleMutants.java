package evenhand.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Small wrong edits of a rule file, of the kinds people make: a rule, a condition or a constraint
 * lost, a comparison turned, a number off by one, a {@code not} forgotten.
 */
final class RuleMutants {
  private RuleMutants() {}

  /**
   * One wrong edit.
   *
   * @param file below the rules folder
   * @param what it does, unique among all edits
   * @param text of the whole file; null when the file is left out of the policy
   */
  record Mutant(String file, String what, String text) {
    String key() {
      return file + ": " + what;
    }
  }

  private static final Pattern RULE =
      Pattern.compile("^rule \"([^\"]*)\".*?^end\\s*$\\n?", Pattern.MULTILINE | Pattern.DOTALL);
  private static final Pattern PATTERN_HEAD = Pattern.compile("\\b[A-Z]\\w*\\(");
  private static final Pattern COMPARISON = Pattern.compile("(?<![=<>!])(==|!=|<=|>=|<|>)(?!=)");
  private static final Pattern INTEGER = Pattern.compile("(?<![\\w.$])\\d+(?![\\w.])");
  private static final Pattern BOUND =
      Pattern.compile("(\\$\\w+ : [\\w.]+) (?:==|!=|<=|>=|<|>) .*", Pattern.DOTALL);
  private static final Map<String, String> TURNED =
      Map.of("==", "!=", "!=", "==", ">=", ">", ">", ">=", "<=", "<", "<", "<=");

  /** All of a file, each changing one thing. */
  static List<Mutant> of(String file, String text) {
    return new OneFile(file, text).all();
  }

  private static final class OneFile {
    private final String file;
    private final String text;
    private final String code;
    private final Map<String, Mutant> found = new LinkedHashMap<>();
    private final Map<String, Integer> told = new LinkedHashMap<>();
    private String rule;
    private int rules;

    OneFile(String file, String text) {
      this.file = file;
      this.text = text;
      this.code = codeOnly(text);
    }

    List<Mutant> all() {
      Matcher m = RULE.matcher(text);
      while (m.find()) {
        rules++;
      }
      m.reset();
      int number = 0;
      while (m.find()) {
        rule = rules == 1 ? "" : "rule " + ++number + ", ";
        if (rules == 1) {
          found.put("", new Mutant(file, "left out", null));
        } else {
          edit(m.start(), m.end(), "", "rule lost");
        }
        int when = code.indexOf("\n  when\n", m.start()) + "\n  when\n".length();
        int then = code.indexOf("\n  then\n", m.start()) + 1;
        conditions(when, then);
        patterns(when, then);
        comparisons(when, m.end());
        integers(when, m.end());
        words(when, m.end());
      }
      return new ArrayList<>(found.values());
    }

    private void edit(int from, int to, String by, String what) {
      String mutated = text.substring(0, from) + by + text.substring(to);
      if (mutated.equals(text) || found.containsKey(mutated)) {
        return;
      }
      String name = rule + what;
      int before = told.merge(name, 1, Integer::sum);
      found.put(
          mutated, new Mutant(file, before == 1 ? name : name + " (" + before + ")", mutated));
    }

    private String shown(int from, int to) {
      return text.substring(from, to).strip().replaceAll("\\s+", " ");
    }

    /** Lines of the when-part, each with those that go on inside its brackets. */
    private void conditions(int when, int then) {
      int start = when;
      int depth = 0;
      for (int i = when; i < then; i++) {
        char c = code.charAt(i);
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == '\n' && depth == 0) {
          edit(start, i + 1, "", "condition lost: " + shown(start, i));
          start = i + 1;
        }
      }
    }

    private void patterns(int when, int then) {
      Matcher head = PATTERN_HEAD.matcher(code);
      head.region(when, then);
      while (head.find()) {
        String pattern = code.substring(head.start(), head.end() - 1);
        int end = closing(head.end());
        List<int[]> parts = split(head.end(), end, ',');
        for (int i = 0; i < parts.size(); i++) {
          int[] part = parts.get(i);
          int from = i == 0 ? part[0] : parts.get(i - 1)[1];
          int to = i == 0 && parts.size() > 1 ? parts.get(1)[0] : part[1];
          edit(from, to, "", "lost in " + pattern + ": " + shown(part[0], part[1]));
          Matcher bound = BOUND.matcher(text.substring(part[0], part[1]).strip());
          if (bound.matches()) {
            edit(
                part[0],
                part[1],
                " " + bound.group(1) + " ",
                "test lost in " + pattern + ": " + shown(part[0], part[1]));
          }
          alternatives(pattern, part);
        }
      }
    }

    private void alternatives(String pattern, int[] part) {
      List<int[]> either = split(part[0], part[1], '|');
      for (int i = 0; i < either.size() && either.size() > 1; i++) {
        int from = i == 0 ? either.get(0)[0] : either.get(i - 1)[1];
        int to = i == 0 ? either.get(1)[0] : either.get(i)[1];
        edit(
            from,
            to,
            " ",
            "alternative lost in " + pattern + ": " + shown(either.get(i)[0], either.get(i)[1]));
      }
    }

    private int closing(int from) {
      int depth = 1;
      int i = from;
      while (depth > 0) {
        char c = code.charAt(i++);
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      }
      return i - 1;
    }

    /** Parts between commas, or between double bars, outside inner brackets. */
    private List<int[]> split(int from, int to, char at) {
      List<int[]> parts = new ArrayList<>();
      int start = from;
      int depth = 0;
      for (int i = from; i < to; i++) {
        char c = code.charAt(i);
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == at && depth == 0 && (at != '|' || code.charAt(i + 1) == '|')) {
          parts.add(new int[] {start, i});
          start = at == '|' ? i + 2 : i + 1;
          i = start - 1;
        }
      }
      parts.add(new int[] {start, to});
      return parts;
    }

    private void comparisons(int from, int to) {
      Matcher m = COMPARISON.matcher(code);
      m.region(from, to);
      m.useTransparentBounds(true);
      while (m.find()) {
        String other = TURNED.get(m.group(1));
        edit(m.start(), m.end(), other, around(m) + " turned to " + other);
      }
    }

    private void integers(int from, int to) {
      Matcher m = INTEGER.matcher(code);
      m.region(from, to);
      m.useTransparentBounds(true);
      while (m.find()) {
        int n = Integer.parseInt(m.group());
        edit(m.start(), m.end(), Integer.toString(n + 1), at(m) + " off by +1");
        edit(m.start(), m.end(), Integer.toString(n - 1), at(m) + " off by -1");
      }
    }

    private void words(int from, int to) {
      Matcher m = Pattern.compile("\\b(not |exists |true\\b|false\\b)").matcher(code);
      m.region(from, to);
      while (m.find()) {
        switch (m.group(1)) {
          case "not " -> edit(m.start(), m.end(), "", "not lost: " + lineAt(m.start()));
          case "exists " ->
              edit(m.start(), m.end(), "not ", "exists turned to not: " + lineAt(m.start()));
          case "true" -> edit(m.start(), m.end(), "false", at(m) + " turned");
          default -> edit(m.start(), m.end(), "true", at(m) + " turned");
        }
      }
    }

    private String lineAt(int at) {
      int end = text.indexOf('\n', at);
      return shown(at, end);
    }

    /** A number or flag, with what it is compared to. */
    private String at(Matcher m) {
      Matcher before =
          Pattern.compile("[\\w.$()]+\\s*[=!<>]+\\s*$").matcher(text.substring(0, m.start()));
      return shown(before.find() ? before.start() : m.start(), m.end());
    }

    /** A word or two on each side, so that people see which one is meant. */
    private String around(Matcher m) {
      Matcher before = Pattern.compile("[\\w.$()]+\\s*$").matcher(text.substring(0, m.start()));
      Matcher after = Pattern.compile("^\\s*[\\w.$\"]+").matcher(text.substring(m.end()));
      int from = before.find() ? before.start() : m.start();
      int to = m.end() + (after.find() ? after.end() : 0);
      return shown(from, to);
    }
  }

  /** The text with comments and what stands in quotes blanked, every place kept. */
  private static String codeOnly(String text) {
    char[] code = text.toCharArray();
    boolean quoted = false;
    for (int i = 0; i < code.length; i++) {
      if (!quoted && text.startsWith("//", i)) {
        while (i < code.length && code[i] != '\n') {
          code[i++] = ' ';
        }
      } else if (code[i] == '"') {
        quoted = !quoted;
      } else if (quoted) {
        code[i] = '_';
      }
    }
    return new String(code);
  }
}
