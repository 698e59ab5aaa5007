package evenhand.explain;

import evenhand.outcomes.Outcome;
import evenhand.policy.ClauseView;
import evenhand.policy.Policy;
import evenhand.policy.Rule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A policy as a document: each clause with its sentence, its text, its rules, its parameters, the
 * scenarios that show it, and how often it decided.
 *
 * @param counts what the numbers rest on, in a sentence
 * @param neverFired rules that make outcomes and made none in the time counted; empty where nothing
 *     is counted
 */
public record PolicyDoc(
    String policy,
    String title,
    String hash,
    String from,
    String counts,
    List<Clause> clauses,
    List<String> neverFired) {
  private static final Pattern SOURCE = Pattern.compile("\\s{2,}Source: (.*?)\\.?\\s*(?:\\n|$)");

  /** Conclusions that stand in decisions, so that they can be counted. */
  private static final Set<String> COUNTED =
      java.util.stream.Stream.concat(
              Arrays.stream(Outcome.class.getPermittedSubclasses()).map(Class::getSimpleName),
              java.util.stream.Stream.of("Together", "Preemptable", "Leaves", "Unclaim"))
          .collect(Collectors.toUnmodifiableSet());

  public PolicyDoc {
    clauses = List.copyOf(clauses);
    neverFired = List.copyOf(neverFired);
  }

  /**
   * A clause.
   *
   * @param sentence what it says, as its first rule is named
   * @param source where it comes from, as its file says; null when it does not
   * @param text what stands above its rules
   * @param kept why no rule is needed for it, or null
   * @param lastDay outcomes it made in the last 24 hours; null where nothing is counted
   */
  public record Clause(
      String clause,
      String sentence,
      String source,
      String text,
      List<RuleDoc> rules,
      List<ClauseView.Figure> figures,
      String kept,
      List<ShownCase> scenarios,
      Long lastDay) {
    public Clause {
      rules = List.copyOf(rules);
      figures = List.copyOf(figures);
      scenarios = List.copyOf(scenarios);
    }
  }

  /**
   * A rule.
   *
   * @param stage when it is asked, and {@code settles} what rules of that stage settle
   * @param reads the facts and conclusions it looks at, {@code makes} what it concludes
   * @param lastDay outcomes it made in the last 24 hours, {@code lastMonth} in the last 30 days;
   *     null where nothing is counted, and for one whose conclusions stand in no decision
   */
  public record RuleDoc(
      String name,
      String stage,
      String settles,
      String file,
      int line,
      String text,
      List<String> reads,
      List<String> makes,
      Long lastDay,
      Long lastMonth) {
    public RuleDoc {
      reads = List.copyOf(reads);
      makes = List.copyOf(makes);
    }
  }

  /** How often rules decided. */
  public interface Counts {
    /** Outcomes of a rule since then; null where nothing is counted. */
    Long since(Instant from, Rule rule);

    /** What the numbers rest on, in a sentence. */
    String basis();

    /** Counts nothing. */
    static Counts none(String why) {
      return new Counts() {
        @Override
        public Long since(Instant from, Rule rule) {
          return null;
        }

        @Override
        public String basis() {
          return why;
        }
      };
    }
  }

  /**
   * The document of a policy.
   *
   * @param cases all scenarios at hand; those of this policy are shown with their clauses
   * @param day the instant a day before now, {@code month} 30 days before
   */
  public static PolicyDoc of(
      Policy policy, List<ShownCase> cases, Counts counts, Instant day, Instant month) {
    List<Clause> clauses = new ArrayList<>();
    List<String> never = new ArrayList<>();
    for (ClauseView view : policy.clauses()) {
      List<RuleDoc> rules = new ArrayList<>();
      Long ofClause = null;
      for (Rule rule : view.rules()) {
        boolean counted = rule.makes().stream().anyMatch(COUNTED::contains);
        Long lastDay = counted ? counts.since(day, rule) : null;
        Long lastMonth = counted ? counts.since(month, rule) : null;
        if (lastDay != null) {
          ofClause = (ofClause == null ? 0 : ofClause) + lastDay;
        }
        if (lastMonth != null && lastMonth == 0) {
          never.add(rule.name());
        }
        rules.add(
            new RuleDoc(
                rule.name(),
                rule.stage().word(),
                rule.stage().meaning(),
                rule.file(),
                rule.line(),
                rule.text(),
                rule.reads(),
                rule.makes(),
                lastDay,
                lastMonth));
      }
      Matcher source = SOURCE.matcher(view.text());
      clauses.add(
          new Clause(
              view.clause(),
              view.rules().isEmpty() ? null : view.rules().get(0).name(),
              source.find() ? source.group(1) : null,
              SOURCE.matcher(view.text()).replaceAll("\n").strip(),
              rules,
              view.figures(),
              view.kept(),
              cases.stream()
                  .filter(c -> c.policy().equals(policy.name()))
                  .filter(c -> c.clauses().contains(view.clause()))
                  .toList(),
              ofClause));
    }
    return new PolicyDoc(
        policy.name(),
        policy.title(),
        policy.hash(),
        policy.where(),
        counts.basis(),
        clauses,
        never);
  }

  /** The document as a tree of maps and lists, for JSON; {@code markdown} is the whole as text. */
  public Map<String, Object> tree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("policy", policy);
    tree.put("title", title);
    tree.put("hash", hash);
    tree.put("from", from);
    tree.put("counts", counts);
    tree.put("never_fired", neverFired);
    tree.put("clauses", clauses.stream().map(PolicyDoc::tree).toList());
    tree.put("markdown", markdown());
    return tree;
  }

  private static Map<String, Object> tree(Clause c) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("clause", c.clause());
    tree.put("sentence", c.sentence());
    tree.put("source", c.source());
    tree.put("text", c.text());
    tree.put("kept", c.kept());
    tree.put("decided_last_day", c.lastDay());
    tree.put(
        "settings",
        c.figures().stream()
            .map(f -> Map.of("name", f.name(), "value", f.value(), "meaning", f.meaning()))
            .toList());
    tree.put("rules", c.rules().stream().map(PolicyDoc::tree).toList());
    tree.put("scenarios", c.scenarios().stream().map(PolicyDoc::tree).toList());
    return tree;
  }

  private static Map<String, Object> tree(RuleDoc r) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("name", r.name());
    tree.put("stage", r.stage());
    tree.put("settles", r.settles());
    tree.put("file", r.file());
    tree.put("line", r.line());
    tree.put("text", r.text());
    tree.put("reads", r.reads());
    tree.put("makes", r.makes());
    tree.put("decided_last_day", r.lastDay());
    tree.put("decided_last_month", r.lastMonth());
    return tree;
  }

  private static Map<String, Object> tree(ShownCase s) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("file", s.file());
    tree.put("title", s.title());
    tree.put("settings", s.settings());
    tree.put("there_is", s.stage());
    tree.put(
        "rows",
        s.rows().stream()
            .map(r -> Map.of("at", r.at(), "given", r.given(), "expected", r.expected()))
            .toList());
    return tree;
  }

  /** The document as Markdown. */
  public String markdown() {
    StringBuilder md = new StringBuilder();
    md.append("# Policy ").append(policy).append(": ").append(title).append("\n\n");
    md.append("`").append(hash).append("`, rules of ").append(from).append(".\n");
    md.append(counts).append("\n");
    if (!neverFired.isEmpty()) {
      md.append("\nRules that decided nothing in 30 days, or since counting began:\n\n");
      neverFired.forEach(name -> md.append("- ").append(name).append('\n'));
    }
    clauses.forEach(c -> clause(md, c));
    return md.toString();
  }

  private static void clause(StringBuilder md, Clause c) {
    String sentence = c.sentence() == null ? c.clause() : c.sentence();
    md.append("\n## ").append(sentence).append("\n");
    if (!c.text().isEmpty()) {
      md.append('\n');
      c.text().lines().forEach(line -> md.append("> ").append(line.stripLeading()).append('\n'));
    }
    if (c.source() != null) {
      md.append("\nSource: ").append(c.source()).append(".\n");
    }
    if (c.lastDay() != null) {
      md.append("\nDecided ")
          .append(c.lastDay() == 1 ? "once" : c.lastDay() + " times")
          .append(" in the last day.\n");
    }
    if (c.kept() != null) {
      md.append("\nNo rule is needed: ").append(c.kept()).append(".\n");
    }
    if (!c.figures().isEmpty()) {
      md.append("\n| setting | value | meaning |\n|---|---|---|\n");
      for (ClauseView.Figure f : c.figures()) {
        md.append("| `")
            .append(cell(f.name()))
            .append("` | `")
            .append(cell(f.value()))
            .append("` | ")
            .append(cell(f.meaning()))
            .append(" |\n");
      }
    }
    for (RuleDoc r : c.rules()) {
      md.append("\n### Rule \"").append(r.name()).append("\"\n\n");
      md.append("Stage `")
          .append(r.stage())
          .append("` (")
          .append(r.settles())
          .append("); ")
          .append(r.file())
          .append(":")
          .append(r.line())
          .append(".\n");
      md.append("Reads ").append(names(r.reads())).append("; makes ").append(names(r.makes()));
      if (r.lastMonth() != null) {
        md.append("; decided ")
            .append(r.lastDay())
            .append(" times in the last day, ")
            .append(r.lastMonth())
            .append(" in 30 days");
      }
      md.append(".\n\n```\n").append(r.text().strip()).append("\n```\n");
    }
    c.scenarios().forEach(s -> scenario(md, s));
  }

  private static String names(List<String> names) {
    return names.isEmpty()
        ? "nothing"
        : names.stream().map(n -> "`" + n + "`").collect(Collectors.joining(", "));
  }

  private static void scenario(StringBuilder md, ShownCase s) {
    md.append("\n### Scenario: ").append(s.title()).append("\n\n`").append(s.file()).append("`");
    if (!s.settings().isEmpty()) {
      md.append(", with `").append(String.join("`, `", s.settings())).append("`");
    }
    md.append(". There are ").append(String.join("; ", s.stage())).append(".\n");
    md.append("\n| at | given | expected |\n|---|---|---|\n");
    for (ShownCase.Row row : s.rows()) {
      md.append("| ")
          .append(cell(row.at()))
          .append(" | ")
          .append(cells(row.given()))
          .append(" | ")
          .append(cells(row.expected()))
          .append(" |\n");
    }
  }

  private static String cells(List<String> texts) {
    return texts.stream().map(PolicyDoc::cell).collect(Collectors.joining("<br>"));
  }

  private static String cell(String text) {
    return text.replace("|", "\\|").replace("\n", " ");
  }
}
