package evenhand.policy;

import evenhand.input.Spelling;
import evenhand.policy.PolicyFault.Fault;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.drools.drl.ast.descr.AccumulateDescr;
import org.drools.drl.ast.descr.AnnotationDescr;
import org.drools.drl.ast.descr.BaseDescr;
import org.drools.drl.ast.descr.ConditionalElementDescr;
import org.drools.drl.ast.descr.NotDescr;
import org.drools.drl.ast.descr.PackageDescr;
import org.drools.drl.ast.descr.PatternDescr;
import org.drools.drl.ast.descr.RuleDescr;
import org.drools.drl.parser.DrlParser;
import org.drools.drl.parser.DroolsError;
import org.kie.internal.builder.conf.LanguageLevelOption;

/**
 * Reads a rule file and holds it against the laws that keep rules readable and decisions
 * repeatable: one clause a file, named as its file; a name that begins with the clause; a stage; at
 * most 20 lines; consequences that insert conclusions and do nothing else; {@code not} and counting
 * only over what an earlier stage or the shell inserted; no salience, query, global, function or
 * import.
 */
final class Lint {
  static final int MAX_RULE_LINES = 20;

  private static final Pattern RULE_START = Pattern.compile("^\\s*rule\\s+\"([^\"]*)\"");
  private static final Pattern INSERT =
      Pattern.compile(
          "insert\\s*\\(\\s*new\\s+([A-Za-z]\\w*)\\s*\\(.*\\)\\s*\\)\\s*;", Pattern.DOTALL);
  private static final Pattern SETTING =
      Pattern.compile("Setting\\s*\\(\\s*name\\s*==\\s*\"([^\"]*)\"");
  private static final Pattern FORBIDDEN_TOP =
      Pattern.compile("^\\s*(package|import|global|query|function|declare|unit|dialect)\\b");

  /** Attributes a rule may carry. */
  private static final Set<String> ATTRIBUTES = Set.of("ruleflow-group", "enabled");

  private final String file;
  private final String text;
  private final Set<String> conclusions;
  private final Map<String, Set<Stage>> insertedIn;
  private final List<Fault> faults = new ArrayList<>();
  private final List<Rule> rules = new ArrayList<>();

  /**
   * @param file path below the rules folder
   * @param conclusions simple names of what rules may insert
   * @param insertedIn filled by {@link #collect}: in which stages each conclusion is inserted, over
   *     all files of the policy
   */
  Lint(String file, String text, Set<String> conclusions, Map<String, Set<Stage>> insertedIn) {
    this.file = file;
    this.text = text;
    this.conclusions = conclusions;
    this.insertedIn = insertedIn;
  }

  List<Fault> faults() {
    return faults;
  }

  List<Rule> rules() {
    return rules;
  }

  /** Names of the parameters the file's rules read. */
  static List<String> settings(String text) {
    List<String> names = new ArrayList<>();
    Matcher m = SETTING.matcher(text);
    while (m.find()) {
      names.add(m.group(1));
    }
    return names;
  }

  /** The first line that reads this parameter; 0 where none does. */
  static int lineOfSetting(String text, String name) {
    Matcher m = SETTING.matcher(text);
    while (m.find()) {
      if (m.group(1).equals(name)) {
        return 1 + (int) text.substring(0, m.start()).chars().filter(c -> c == '\n').count();
      }
    }
    return 0;
  }

  /** Rule text without comments and without what stands in quotes. */
  static String bare(String text) {
    StringBuilder out = new StringBuilder(text.length());
    int i = 0;
    while (i < text.length()) {
      char c = text.charAt(i);
      if (text.startsWith("//", i)) {
        while (i < text.length() && text.charAt(i) != '\n') {
          i++;
        }
      } else if (text.startsWith("/*", i)) {
        int end = text.indexOf("*/", i + 2);
        i = end < 0 ? text.length() : end + 2;
      } else if (c == '"') {
        i++;
        while (i < text.length() && text.charAt(i) != '"' && text.charAt(i) != '\n') {
          i += text.charAt(i) == '\\' ? 2 : 1;
        }
        i++;
        out.append("\"\"");
      } else {
        out.append(c);
        i++;
      }
    }
    return out.toString();
  }

  /**
   * Of rule text without comments and quotes: what stands between {@code when} and {@code then}.
   */
  static String conditions(String bare) {
    Matcher m = Pattern.compile("\\bwhen\\b(.*?)\\bthen\\b", Pattern.DOTALL).matcher(bare);
    return m.find() ? m.group(1) : bare;
  }

  private PackageDescr parsed;

  /** What a rule may name besides its own variables: facts, conclusions, and arithmetic. */
  private static final Set<String> KNOWN =
      Set.of(
          "Account",
          "Backfill",
          "Candidate",
          "Claim",
          "ClaimStanding",
          "Ended",
          "Moment",
          "NoRoom",
          "NodeState",
          "Placement",
          "PlacementGroup",
          "Request",
          "Reservation",
          "Resident",
          "Run",
          "Running",
          "Setting",
          "Share",
          "Soonest",
          "Standing",
          "Tier",
          "Turn",
          "Yielding",
          "Math");

  /**
   * A name that begins like a class's; or what leads to one: its package, a name behind another
   * than a fact's, or the way from an object to its class.
   */
  private static final Pattern NAMED =
      Pattern.compile(
          "(?<![.$\\w])(?<name>[A-Z]\\w*)"
              + "|\\b(?<pack>(?:java|javax|jdk|sun|com|org|io|net|evenhand))\\s*\\."
              // Whole words, and never given back: a long one would else be tried from each letter.
              + "|(?<before>(?<![$\\w])[$\\w]++|[)\\]\"'])\\s*+\\.\\s*+(?<behind>[A-Z]\\w*+)"
              + "|\\b(?<reach>\\w*Class\\w*|class|forName|random|invoke\\w*|newInstance|exec|exit|halt"
              + "|getMethods?|getDeclared\\w*|getFields?|getConstructors?|getResource\\w*|getModule"
              + "|getRecordComponents|getProtectionDomain|currentTimeMillis|nanoTime)\\b");

  /** Where a rule asks for a regular expression, and the text that follows if one does. */
  private static final Pattern EXPRESSION =
      Pattern.compile(
          "\\b(?<by>matches|replaceAll|replaceFirst|split)\\b\\s*+\\(?+\\s*+"
              + "(?<quoted>\"(?<text>[^\"\n]*+)\"(?!\\s*+\\+))?+");

  /** Of a regular expression: escaped letters and sets of letters, each of which is one letter. */
  private static final Pattern ONE_LETTER =
      Pattern.compile("\\\\[^0-9k]|\\[\\^?\\]?(?:[^\\]\\\\]|\\\\.)*+\\]");

  /** A group that repeats, or one that is meant again, by number or by name. */
  private static final Pattern REPEATED_GROUP = Pattern.compile("\\)[*+{]|\\\\");

  /** What repeats a letter and never gives one back: it adds nothing to try. */
  private static final Pattern KEPT = Pattern.compile("(?:[*+?]|\\{[0-9,]++\\})\\+");

  /** What repeats a letter and may give some back. */
  private static final Pattern REPEATED = Pattern.compile("[*+]|\\{[0-9,]++\\}");

  /** So many of them in one expression try no more than the square of the text's length. */
  private static final int MOST_REPEATED = 2;

  /** Quotes as word processors make them. */
  private static final Pattern CURLY =
      Pattern.compile("[\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb]");

  private static final Pattern CLAUSE =
      Pattern.compile("@clause\\s*\\(\\s*[A-Z]{1,3}[0-9.]*(?![a-z])");

  /**
   * Rule text in which comments and what stands in quotes are blank, of the same length and lines:
   * what the engine runs, whatever is written around it.
   */
  static String blank(String text) {
    StringBuilder out = new StringBuilder(text);
    int i = 0;
    while (i < text.length()) {
      int end = i + 1;
      int from = i;
      char c = text.charAt(i);
      if (text.startsWith("//", i)) {
        end = text.indexOf('\n', i);
      } else if (text.startsWith("/*", i)) {
        end = text.indexOf("*/", i + 2) + 2;
        end = end < 2 ? text.length() : end;
      } else if (c == '"' || c == '\'') {
        from = i + 1;
        end = from;
        while (end < text.length() && text.charAt(end) != c && text.charAt(end) != '\n') {
          end += text.charAt(end) == '\\' ? 2 : 1;
        }
      } else {
        from = end;
      }
      end = end < 0 || end > text.length() ? text.length() : end;
      for (int k = from; k < end; k++) {
        if (text.charAt(k) != '\n') {
          out.setCharAt(k, ' ');
        }
      }
      boolean quoted = c == '"' || c == '\'';
      i = quoted ? end + 1 : end;
    }
    return out.toString();
  }

  /**
   * A rule that could reach anything but facts and outcomes could read a clock or run a program.
   */
  private void onlyKnownNames(String[] lines) {
    int escape = text.indexOf("\\u");
    if (escape >= 0) {
      // Java reads such a letter before it sees where quotes and comments end.
      int line = line(text, escape);
      fault(line, ruleAt(lines, line), "holds \\u and a number; write the letter itself");
      return;
    }
    String code = blank(text);
    Matcher curly = CURLY.matcher(code);
    if (curly.find()) {
      int line = line(code, curly.start());
      fault(
          line,
          ruleAt(lines, line),
          "has the quote " + curly.group() + "; a text stands between two straight ones, \"…\"");
      return;
    }
    Matcher clause = CLAUSE.matcher(code);
    code = clause.replaceAll(m -> " ".repeat(m.group().length()));
    Matcher m = NAMED.matcher(code);
    while (m.find()) {
      String name = m.group("name");
      boolean known = name != null && isKnown(name);
      if (m.group("behind") != null) {
        name = m.group("behind");
        known = isKnown(m.group("before"));
      }
      if (name == null) {
        name = m.group("pack") != null ? m.group("pack") : m.group("reach");
      }
      if (!known) {
        int line = line(code, m.start());
        fault(
            line,
            ruleAt(lines, line),
            "there is no fact or outcome called "
                + name
                + "; a rule names facts and outcomes and nothing else: no class, clock or program");
      }
      if (m.group("before") != null) {
        // What stands before it may itself be one of these.
        m.region(m.end("before"), code.length());
      }
    }
  }

  /**
   * What an expression costs is not counted while it is asked ({@link Effort}), and some never come
   * to an end on a text that somebody may submit: those that repeat what repeats, or repeat much,
   * are refused. What is left costs the square of the text's length, times the ways to choose among
   * alternatives, which the rule itself spells out.
   */
  private void onlyQuickExpressions(String[] lines) {
    String code = blank(text);
    Matcher m = EXPRESSION.matcher(text);
    while (m.find()) {
      if (!code.startsWith(m.group("by"), m.start())) {
        continue; // in a comment or a text
      }
      String why = null;
      if (m.group("quoted") == null) {
        why = "its expression must stand there as one text in quotes";
      } else {
        // A backslash is written twice in a text.
        String expression = m.group("text").replace("\\\\", "\\");
        String letters = ONE_LETTER.matcher(expression).replaceAll("x");
        if (REPEATED_GROUP.matcher(letters).find()) {
          why = "no group in it may be repeated or meant again; repeat single letters or [sets]";
        } else if (REPEATED.matcher(KEPT.matcher(letters).replaceAll("")).results().count()
            > MOST_REPEATED) {
          why =
              "at most "
                  + MOST_REPEATED
                  + " of its *, + and {n} may give back what they took; write *+ and ++ for those"
                  + " that need not";
        }
      }
      if (why != null) {
        int line = line(text, m.start());
        fault(
            line,
            ruleAt(lines, line),
            "asks " + m.group("by") + ", which may take for ever on a long text: " + why);
      }
    }
  }

  private boolean isKnown(String name) {
    return KNOWN.contains(name) || conclusions.contains(name);
  }

  private static int line(String text, int at) {
    return 1 + (int) text.substring(0, at).chars().filter(c -> c == '\n').count();
  }

  /** First pass: parses, finds rules, and notes what each inserts in which stage. */
  void collect() {
    String[] lines = text.split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      Matcher m = FORBIDDEN_TOP.matcher(lines[i]);
      if (m.find()) {
        fault(
            i + 1,
            null,
            "a rule file holds rules only; \""
                + m.group(1)
                + "\" is not allowed (facts and outcomes are known to every rule without an import)");
      }
    }
    onlyKnownNames(lines);
    onlyQuickExpressions(lines);
    DrlParser parser = new DrlParser(LanguageLevelOption.DRL6);
    try {
      parsed = parser.parse(false, RuleCompiler.HEADER + text);
    } catch (Exception e) {
      fault(1, null, "cannot be read as rules: " + e.getMessage());
      return;
    } catch (StackOverflowError e) {
      fault(1, null, "cannot be read as rules: it is nested too deeply");
      return;
    }
    if (parser.hasErrors()) {
      // only the first, by line: what the parser cannot read after it mostly follows from it
      parser.getErrors().stream()
          .min(Comparator.comparingInt(Lint::line))
          .ifPresent(
              e ->
                  fault(
                      Math.min(line(e), lines.length),
                      ruleAt(lines, line(e)),
                      Syntax.sentence(e.getMessage(), lines)));
      return;
    }
    if (parsed == null) {
      fault(0, null, "holds no rule; a file states one clause in one or more rules");
      return;
    }
    String clause = clauseOfFile();
    for (RuleDescr rule : parsed.getRules()) {
      readRule(rule, clause, lines);
    }
    if (parsed.getRules().isEmpty() && faults.isEmpty()) {
      fault(0, null, "holds no rule; a file states one clause in one or more rules");
    }
  }

  private static int line(DroolsError error) {
    return error.getLines().length > 0 ? Math.max(0, error.getLines()[0]) : 0;
  }

  private void readRule(RuleDescr rule, String clause, String[] lines) {
    String name = rule.getName();
    int line = lineOf(lines, name, rule.getLine());
    if (!name.startsWith(clause + " ")) {
      fault(
          line,
          name,
          "the name must begin with the file's clause and go on as a sentence, e.g. \""
              + clause
              + " Only the first job may …\"");
    }
    AnnotationDescr annotation = rule.getAnnotation("clause");
    String told = annotation == null ? null : String.valueOf(annotation.getValue());
    if (told == null || !told.replace("\"", "").trim().equals(clause)) {
      fault(line, name, "must carry @clause( " + clause + " ), the clause its file is named by");
    }
    for (String attribute : rule.getAttributes().keySet()) {
      if (!ATTRIBUTES.contains(attribute)) {
        fault(
            line,
            name,
            "carries \"" + attribute + "\"; order comes from stages alone (ruleflow-group)");
      }
    }
    String group =
        rule.getAttributes().containsKey("ruleflow-group")
            ? rule.getAttributes().get("ruleflow-group").getValue()
            : null;
    Stage stage = group == null ? null : Stage.of(group).orElse(null);
    if (stage == null) {
      fault(
          line,
          name,
          (group == null
                  ? "belongs to no stage: it needs ruleflow-group"
                  : "\"" + group + "\" is no stage; ruleflow-group must be")
              + " one of "
              + Stage.words());
      return;
    }
    int end = endOf(lines, line);
    if (end - line + 1 > MAX_RULE_LINES) {
      fault(
          line,
          name,
          "is " + (end - line + 1) + " lines long; a rule has at most " + MAX_RULE_LINES);
    }
    for (String inserted : consequence(rule, line, name)) {
      insertedIn.computeIfAbsent(inserted, k -> new HashSet<>()).add(stage);
    }
    rules.add(
        new Rule(
            clause,
            name,
            stage,
            file,
            line,
            parsed.getRules().size() == 1,
            String.join("\n", List.of(lines).subList(line - 1, end)),
            commentAbove(lines)));
  }

  /** What the consequence inserts; a fault for anything else it does. */
  private List<String> consequence(RuleDescr rule, int line, String name) {
    List<String> inserted = new ArrayList<>();
    String body = String.valueOf(rule.getConsequence());
    List<String> statements = statements(body);
    if (statements.isEmpty()) {
      fault(line, name, "concludes nothing; its then-part must insert an outcome");
    }
    for (String statement : statements) {
      Matcher m = INSERT.matcher(statement);
      if (INSERT.matcher(statement + ";").matches()) {
        fault(
            line, name, "its then-part lacks a \";\" at the end of \"" + shorten(statement) + "\"");
      } else if (!m.matches()) {
        fault(
            line,
            name,
            "its then-part may only insert outcomes, as in insert( new Wait( … ) ); not \""
                + shorten(statement)
                + "\"");
      } else if (!conclusions.contains(m.group(1))) {
        fault(
            line,
            name,
            "inserts "
                + m.group(1)
                + ", which is no outcome; there are "
                + conclusions.stream().sorted().toList());
      } else {
        inserted.add(m.group(1));
      }
    }
    return inserted;
  }

  private static List<String> statements(String body) {
    List<String> statements = new ArrayList<>();
    StringBuilder current = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < body.length(); i++) {
      char c = body.charAt(i);
      if (!quoted && body.startsWith("//", i)) {
        int eol = body.indexOf('\n', i);
        i = eol < 0 ? body.length() : eol;
        continue;
      }
      if (c == '"' && (i == 0 || body.charAt(i - 1) != '\\')) {
        quoted = !quoted;
      }
      current.append(c);
      if (c == ';' && !quoted) {
        statements.add(current.toString().trim());
        current.setLength(0);
      }
    }
    if (!current.toString().isBlank()) {
      statements.add(current.toString().trim());
    }
    return statements;
  }

  /** Second pass, when it is known which stages insert what: the law of {@code not}. */
  void laws() {
    if (parsed == null) {
      return;
    }
    String[] lines = text.split("\n", -1);
    Map<String, Stage> stages = new HashMap<>();
    rules.forEach(r -> stages.put(r.name(), r.stage()));
    for (RuleDescr rule : parsed.getRules()) {
      Stage stage = stages.get(rule.getName());
      if (stage != null) {
        walk(rule.getLhs(), false, stage, rule, lineOf(lines, rule.getName(), rule.getLine()));
      }
    }
  }

  private void walk(BaseDescr node, boolean closed, Stage stage, RuleDescr rule, int line) {
    if (node instanceof PatternDescr pattern) {
      if (closed) {
        Set<Stage> inserting = insertedIn.getOrDefault(pattern.getObjectType(), Set.of());
        if (inserting.contains(stage)) {
          fault(
              line,
              rule.getName(),
              "asks that there be no "
                  + pattern.getObjectType()
                  + " or counts over it, yet rules of its own stage \""
                  + stage.word()
                  + "\" insert one: the answer would depend on which fires first; ask in a later stage");
        }
      }
      if (pattern.getSource() instanceof AccumulateDescr accumulate) {
        walk(accumulate, true, stage, rule, line);
      }
    } else if (node instanceof AccumulateDescr accumulate) {
      walk(accumulate.getInput(), true, stage, rule, line);
    } else if (node instanceof ConditionalElementDescr element) {
      boolean within = closed || node instanceof NotDescr;
      for (Object child : element.getDescrs()) {
        if (child instanceof BaseDescr descr) {
          walk(descr, within, stage, rule, line);
        }
      }
    }
  }

  private String clauseOfFile() {
    String last = file.substring(file.lastIndexOf('/') + 1);
    return last.endsWith(".drl") ? last.substring(0, last.length() - 4) : last;
  }

  private static int lineOf(String[] lines, String name, int otherwise) {
    for (int i = 0; i < lines.length; i++) {
      Matcher m = RULE_START.matcher(lines[i]);
      if (m.find() && m.group(1).equals(name)) {
        return i + 1;
      }
    }
    return Math.max(1, otherwise);
  }

  private static int endOf(String[] lines, int from) {
    for (int i = from; i < lines.length; i++) {
      if (lines[i].trim().equals("end")) {
        return i + 1;
      }
    }
    return lines.length;
  }

  /** The name of the rule that holds a line, or null. */
  static String ruleAt(String[] lines, int line) {
    for (int i = Math.min(line, lines.length) - 1; i >= 0; i--) {
      Matcher m = RULE_START.matcher(lines[i]);
      if (m.find()) {
        return m.group(1);
      }
    }
    return null;
  }

  private static String commentAbove(String[] lines) {
    StringBuilder comment = new StringBuilder();
    for (String line : lines) {
      String t = line.trim();
      if (t.startsWith("//")) {
        comment.append(t.substring(2).stripTrailing()).append('\n');
      } else if (!t.isEmpty()) {
        break;
      }
    }
    return comment.toString().stripTrailing().stripIndent();
  }

  private static String shorten(String statement) {
    String one = statement.replaceAll("\\s+", " ");
    return one.length() <= 80 ? one : one.substring(0, 77) + "…";
  }

  private void fault(int line, String rule, String sentence) {
    faults.add(new Fault(file, line, rule, sentence));
  }

  private static final Pattern VETO = Pattern.compile("new\\s+Veto\\s*\\(\\s*\"([^\"]*)\"");
  private static final Pattern VETO_ASKED =
      Pattern.compile("\\bVeto\\s*\\([^)]*?\\bwhat\\s*==\\s*\"([^\"]*)\"");

  /** What rules of the policies that are at hand may forbid, whether this one asks or not. */
  private static final List<String> VETOED = List.of("start", "reserve", "claim");

  /** Faults over all files of one policy: a veto of something that no rule asks for. */
  static List<Fault> unasked(List<Rule> rules) {
    Set<String> asked = new TreeSet<>(VETOED);
    for (Rule rule : rules) {
      Matcher m = VETO_ASKED.matcher(rule.text());
      while (m.find()) {
        asked.add(m.group(1));
      }
    }
    List<Fault> faults = new ArrayList<>();
    for (Rule rule : rules) {
      Matcher m = VETO.matcher(rule.text());
      while (m.find()) {
        if (!asked.contains(m.group(1))) {
          faults.add(
              new Fault(
                  rule.file(),
                  rule.line() + line(rule.text(), m.start()) - 1,
                  rule.name(),
                  "forbids \""
                      + m.group(1)
                      + "\", which no rule asks about, so that it would forbid nothing; "
                      + Spelling.hint(m.group(1), asked)));
        }
      }
    }
    return faults;
  }

  /** Faults over all files of one policy: two rules of one name. */
  static List<Fault> twice(List<Rule> rules) {
    List<Fault> faults = new ArrayList<>();
    Map<String, Rule> seen = new LinkedHashMap<>();
    for (Rule rule : rules) {
      Rule first = seen.putIfAbsent(rule.name(), rule);
      if (first != null) {
        faults.add(
            new Fault(
                rule.file(),
                rule.line(),
                rule.name(),
                "has the same name as a rule in " + first.file() + " line " + first.line()));
      }
    }
    return faults;
  }
}
