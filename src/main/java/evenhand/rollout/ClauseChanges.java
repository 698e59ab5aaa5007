package evenhand.rollout;

import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import evenhand.policy.ClauseView;
import evenhand.policy.Policy;
import evenhand.policy.Rule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What is written otherwise in one policy than in another. */
final class ClauseChanges {
  private static final int CONTEXT = 2;

  private ClauseChanges() {}

  static PlanReport.Changes between(Policy was, Policy becomes) {
    return new PlanReport.Changes(clauses(was, becomes), files(was.texts(), becomes.texts()));
  }

  private static List<PlanReport.Clause> clauses(Policy was, Policy becomes) {
    Map<String, ClauseView> before = byId(was);
    Map<String, ClauseView> after = byId(becomes);
    Set<String> ids = new LinkedHashSet<>(before.keySet());
    ids.addAll(after.keySet());
    List<PlanReport.Clause> changed = new ArrayList<>();
    for (String id : ids) {
      ClauseView one = before.get(id);
      ClauseView other = after.get(id);
      if (one == null || other == null) {
        changed.add(
            new PlanReport.Clause(
                id,
                one == null ? "added" : "removed",
                one == null ? List.of() : one.sentences(),
                other == null ? List.of() : other.sentences()));
      } else if (!texts(one).equals(texts(other)) || !one.sentences().equals(other.sentences())) {
        changed.add(
            new PlanReport.Clause(
                id,
                "changed",
                without(one.sentences(), other.sentences()),
                without(other.sentences(), one.sentences())));
      }
    }
    return changed;
  }

  /** Names of the choices and parameters that stand otherwise, or are new. */
  static List<String> settings(Policy was, Policy becomes) {
    return without(figures(becomes), figures(was)).stream().map(ClauseView.Figure::name).toList();
  }

  private static List<ClauseView.Figure> figures(Policy policy) {
    return policy.clauses().stream().flatMap(c -> c.figures().stream()).toList();
  }

  private static Map<String, ClauseView> byId(Policy policy) {
    Map<String, ClauseView> clauses = new LinkedHashMap<>();
    policy.clauses().forEach(c -> clauses.put(c.clause(), c));
    return clauses;
  }

  private static List<String> texts(ClauseView clause) {
    List<String> texts = new ArrayList<>(clause.rules().stream().map(Rule::text).toList());
    texts.add(clause.text());
    return texts;
  }

  private static <T> List<T> without(List<T> all, List<T> others) {
    return all.stream().filter(f -> !others.contains(f)).toList();
  }

  private static List<PlanReport.File> files(Map<String, String> was, Map<String, String> becomes) {
    Set<String> names = new LinkedHashSet<>(was.keySet());
    names.addAll(becomes.keySet());
    List<PlanReport.File> files = new ArrayList<>();
    for (String name : names) {
      String one = was.get(name);
      String other = becomes.get(name);
      if (one == null || !one.equals(other)) {
        files.add(
            new PlanReport.File(
                name,
                one == null ? "added" : other == null ? "removed" : "changed",
                diff(name, lines(one), lines(other))));
      }
    }
    return files;
  }

  private static List<String> lines(String text) {
    return text == null ? List.of() : text.lines().toList();
  }

  private static String diff(String name, List<String> was, List<String> becomes) {
    return String.join(
        "\n",
        UnifiedDiffUtils.generateUnifiedDiff(
            "in force/" + name, "planned/" + name, was, DiffUtils.diff(was, becomes), CONTEXT));
  }
}
