package evenhand.check;

import evenhand.check.Scenario.Expected;
import evenhand.check.Scenario.Step;
import evenhand.check.Scenario.Submit;
import evenhand.explain.ShownCase;
import evenhand.input.Durations;
import evenhand.input.InputFault;
import evenhand.policy.Policies;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Scenarios as tables for people: what is given, what is expected. */
public final class ScenarioTables {
  private ScenarioTables() {}

  /**
   * All scenarios of a folder, or those at hand.
   *
   * @throws InputFault when there are none; one that cannot be read is left out, {@code check}
   *     tells of it
   */
  public static List<ShownCase> all(Optional<Path> folder) {
    return of(Check.texts(folder));
  }

  /** Tables that are kept until one of the scenarios' texts is another. */
  public static final class Kept {
    private String hash;
    private List<ShownCase> cases;

    /** The same as {@link ScenarioTables#all}. */
    public synchronized List<ShownCase> all(Optional<Path> folder) {
      List<Check.Text> texts = Check.texts(folder);
      Map<String, String> byFile = new LinkedHashMap<>();
      for (Check.Text t : texts) {
        byFile.put(byFile.size() + " " + t.file(), t.fault() == null ? t.text() : "");
      }
      String now = Policies.hash(byFile);
      if (!now.equals(hash)) {
        cases = of(texts);
        hash = now;
      }
      return cases;
    }
  }

  private static List<ShownCase> of(List<Check.Text> texts) {
    List<ShownCase> cases = new ArrayList<>();
    for (Check.Text text : texts) {
      if (text.fault() != null) {
        continue;
      }
      try {
        cases.add(of(ScenarioFile.read(text.file(), text.text())));
      } catch (InputFault e) {
        // told by the check
      }
    }
    return List.copyOf(cases);
  }

  static ShownCase of(Scenario s) {
    if (s.situation() != null) {
      return SituationTable.of(s);
    }
    List<String> stage = new ArrayList<>();
    s.nodes()
        .forEach(
            (node, gpus) ->
                stage.add(
                    node
                        + " with "
                        + gpus.entrySet().stream()
                            .map(g -> g.getValue() + " x " + g.getKey())
                            .collect(Collectors.joining(", "))));
    s.accounts()
        .forEach(
            a ->
                stage.add(
                    "account "
                        + a.id()
                        + (a.cumulativeUsage() == 0 ? "" : ", used " + plain(a.cumulativeUsage()))
                        + (a.windowUsage() == 0
                            ? ""
                            : ", in the window " + plain(a.windowUsage()))));
    return new ShownCase(
        s.file(),
        s.title(),
        s.policy(),
        s.clauses(),
        settings(s),
        stage,
        s.steps().stream().map(ScenarioTables::row).toList());
  }

  static List<String> settings(Scenario s) {
    return s.settings().entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList();
  }

  private static String plain(double number) {
    return java.math.BigDecimal.valueOf(number).stripTrailingZeros().toPlainString();
  }

  private static ShownCase.Row row(Step step) {
    List<String> given = new ArrayList<>();
    gpus(given, "there is ", step.inventory());
    step.node().forEach((node, state) -> given.add(node + " is " + state));
    gpus(given, "others free ", step.free());
    gpus(given, "others hold ", step.hold());
    step.charge().forEach((a, t) -> given.add(a + " is charged " + plain(t)));
    step.submit().forEach(s -> given.add(job(s) + " is submitted"));
    step.finish().forEach(j -> given.add(j + " ends"));
    step.fail().forEach((j, how) -> given.add(j + " fails: " + how));
    step.cancel().forEach(j -> given.add(j + " is cancelled"));
    step.refuse().forEach(s -> given.add(job(s) + " is submitted"));
    if (given.isEmpty()) {
      given.add(step.cycles() == 1 ? "a cycle" : step.cycles() + " cycles");
    }
    List<String> expected = new ArrayList<>();
    step.refuse()
        .forEach(
            s ->
                expected.add(
                    s.job()
                        + " is refused"
                        + (s.code() == null ? "" : ": " + s.code())
                        + (s.by() == null ? "" : " by " + s.by())));
    outcomes(expected, step.expect());
    outcomes(expected, step.waits());
    outcomes(expected, step.yields());
    each(step.accounts(), (a, u) -> expected.add(a + " has used " + plain(u)));
    each(step.states(), (j, state) -> expected.add(j + " is " + state));
    gpus(expected, "idle: ", step.idle() == null ? Map.of() : step.idle());
    if (step.expect() != null && step.expect().isEmpty()) {
      expected.add(0, "nothing is decided but waiting");
    }
    return new ShownCase.Row(Durations.text(step.at().toSeconds()), given, expected);
  }

  private static <K, V> void each(Map<K, V> of, java.util.function.BiConsumer<K, V> what) {
    if (of != null) {
      of.forEach(what);
    }
  }

  static void outcomes(List<String> to, List<Expected> expected) {
    if (expected != null) {
      expected.forEach(e -> to.add(e.toString()));
    }
  }

  private static void gpus(
      List<String> to, String before, Map<String, Map<String, Integer>> byNode) {
    byNode.forEach(
        (node, gpus) ->
            gpus.forEach(
                (tier, n) ->
                    to.add(
                        before
                            + (n == Scenario.ALL_HELD ? "all" : n)
                            + " x "
                            + tier
                            + " on "
                            + node)));
  }

  private static String job(Submit s) {
    List<String> parts = new ArrayList<>();
    parts.add((s.nodes() > 1 ? s.nodes() + " x " : "") + s.numGpus() + " GPUs");
    if (s.account() != null) {
      parts.add("account " + s.account());
    }
    if (s.tier() != null) {
      parts.add("tier " + s.tier());
    }
    if (s.minimumTier() != null) {
      parts.add("at least " + s.minimumTier());
    }
    if (s.minRuntimeSeconds() > 0) {
      parts.add("protected " + Durations.text(s.minRuntimeSeconds()));
    }
    if (s.priority() != 0) {
      parts.add("priority " + s.priority());
    }
    return s.job() + " (" + String.join(", ", parts) + ")";
  }
}
