package evenhand.check;

import evenhand.check.RuleMutants.Mutant;
import evenhand.input.InputFault;
import evenhand.policy.ClauseView;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.Rule;
import evenhand.policy.RuleBases;
import evenhand.policy.RuleFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * Which parts of rules no scenario guards: each rule file is edited wrongly in many small ways, and
 * an edit that every scenario passes could be made by mistake without anybody noticing.
 */
public final class MutantCheck {
  static final String NOT_LOADED = "does not load: ";
  private static final int THREADS = 2;

  private final RuleFiles rules;
  private final List<Scenario> scenarios;

  MutantCheck(RuleFiles rules, List<Scenario> scenarios) {
    this.rules = rules;
    this.scenarios = scenarios;
  }

  /**
   * Over scenarios of a folder, or those at hand.
   *
   * @throws InputFault when one of them cannot be read
   */
  public MutantCheck(RuleFiles rules, Optional<Path> scenarios) {
    this(rules, read(scenarios));
  }

  private static List<Scenario> read(Optional<Path> folder) {
    List<Scenario> read = new ArrayList<>();
    for (Check.Text text : Check.texts(folder)) {
      if (text.fault() != null) {
        throw new InputFault(text.file(), 0, "", text.fault());
      }
      read.add(ScenarioFile.read(text.file(), text.text()));
    }
    return read;
  }

  /** The rules with one file changed, or left out of every policy. */
  private record Changed(RuleFiles rules, Mutant mutant) implements RuleFiles {
    @Override
    public Optional<String> read(String path) throws PolicyFault {
      if (path.equals(mutant.file())) {
        return Optional.ofNullable(mutant.text());
      }
      Optional<String> text = rules.read(path);
      if (mutant.text() == null && path.startsWith("policies/")) {
        String module = mutant.file().replace(".drl", "");
        return text.map(t -> t.replaceFirst("(?m)^  - " + module + "\\b.*\\n", ""));
      }
      return text;
    }

    @Override
    public List<String> policies() throws PolicyFault {
      return rules.policies();
    }

    @Override
    public List<String> ruleFiles() throws PolicyFault {
      return rules.ruleFiles();
    }

    @Override
    public String where() {
      return rules.where();
    }
  }

  /**
   * The first scenario that fails, or why the rules do not load; null when all go as written. Those
   * that name the clause are asked first.
   *
   * @param byAll whether the others are asked too
   */
  String caughtBy(Mutant mutant, Set<String> policies, boolean byAll) {
    String clause = mutant.file().replaceFirst(".*/", "").replace(".drl", "");
    RuleFiles changed = new Changed(rules, mutant);
    RuleBases compiled = new RuleBases();
    Map<String, Policy> loaded = new HashMap<>();
    for (Scenario scenario :
        scenarios.stream()
            .filter(s -> policies.contains(s.policy()))
            .filter(s -> byAll || s.clauses().contains(clause))
            .sorted(
                Comparator.comparing((Scenario s) -> !s.clauses().contains(clause))
                    .thenComparing(s -> !s.settings().isEmpty())
                    .thenComparing(s -> !s.policy().equals("reservation")))
            .toList()) {
      try {
        String key = scenario.policy() + scenario.settings();
        Policy policy = loaded.get(key);
        if (policy == null) {
          policy = Policies.load(changed, scenario.policy(), scenario.settings(), compiled);
          loaded.put(key, policy);
        }
        List<String> differences = new ScenarioRun(scenario, policy).differences();
        if (!differences.isEmpty()) {
          return differences.get(0);
        }
      } catch (PolicyFault e) {
        return NOT_LOADED + e.faults().get(0);
      } catch (RuntimeException e) {
        return scenario.file() + ": " + e;
      }
    }
    return null;
  }

  /**
   * What came of one wrong edit.
   *
   * @param edit what it does, e.g. {@code condition lost: not Veto( what == "start" )}
   * @param noticedBy the first difference or fault; null when nothing notices it
   * @param done how many edits are done, of {@code of}
   */
  public record Finding(String file, String edit, String noticedBy, int done, int of) {}

  /**
   * Makes the edits of one policy's rule files, or of all, and tells what came of each.
   *
   * @param policy its name; empty for all: an edit is then run against every policy that uses it
   * @param most how many edits are made at most; files come in their order
   * @param told each finding as soon as it is there, in order
   * @return how many edits there are in all
   * @throws PolicyFault when the rules as they are do not load, or fail a scenario
   */
  public int run(Optional<String> policy, int most, Consumer<Finding> told) throws PolicyFault {
    List<String> names = policy.isPresent() ? List.of(policy.get()) : rules.policies();
    for (String name : names) {
      Policies.load(rules, name, Map.of());
    }
    String already = caughtBy(new Mutant("", "nothing changed", ""), Set.copyOf(names), true);
    if (already != null) {
      throw new PolicyFault(
          new PolicyFault.Fault(
              "scenarios",
              0,
              null,
              "the rules as they are fail: " + already + "; mend that first"));
    }
    Map<Mutant, Set<String>> edits = new java.util.LinkedHashMap<>();
    for (Map.Entry<String, Set<String>> file : files(rules, names).entrySet()) {
      for (Mutant mutant : RuleMutants.of(file.getKey(), rules.read(file.getKey()).orElseThrow())) {
        edits.put(mutant, file.getValue());
      }
    }
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      Map<Mutant, Future<String>> asked = new java.util.LinkedHashMap<>();
      for (Map.Entry<Mutant, Set<String>> edit : edits.entrySet()) {
        if (asked.size() < most) {
          Callable<String> run = () -> caughtBy(edit.getKey(), edit.getValue(), true);
          asked.put(edit.getKey(), pool.submit(run));
        }
      }
      int done = 0;
      for (Map.Entry<Mutant, Future<String>> one : asked.entrySet()) {
        String by = one.getValue().get();
        told.accept(
            new Finding(one.getKey().file(), one.getKey().what(), by, ++done, asked.size()));
      }
      return edits.size();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return edits.size();
    } finally {
      pool.shutdownNow();
    }
  }

  /** Rule files of these policies, each with those of them that use it. */
  static Map<String, Set<String>> files(RuleFiles rules, List<String> policies) throws PolicyFault {
    Map<String, Set<String>> files = new TreeMap<>();
    for (String name : policies) {
      for (ClauseView clause : Policies.load(rules, name, Map.of()).clauses()) {
        for (Rule rule : clause.rules()) {
          files.computeIfAbsent(rule.file(), f -> new LinkedHashSet<>()).add(name);
        }
      }
    }
    return files;
  }
}
