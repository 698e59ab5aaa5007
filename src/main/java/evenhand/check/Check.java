package evenhand.check;

import evenhand.input.InputFault;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleBases;
import evenhand.policy.RuleFailed;
import evenhand.policy.RuleFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/**
 * The check of a set of rules: every policy is read, linted and compiled, then every scenario is
 * run against the policy it names.
 */
public final class Check {
  private static final Pattern OF_POLICY =
      Pattern.compile("^policy:[ \\t]*([a-z-]+)[ \\t]*(?:#.*)?$", Pattern.MULTILINE);

  private final RuleFiles rules;
  private final Map<String, Policy> loaded = new HashMap<>();
  private final Map<String, PolicyFault> broken = new HashMap<>();
  private final RuleBases compiled = new RuleBases();

  public Check(RuleFiles rules) {
    this.rules = rules;
  }

  /** What came of one line of a check. */
  public enum State {
    /** It is right. */
    OK,
    /** It is not right. */
    FAIL,
    /**
     * A scenario whose policy cannot be loaded: as bad as one that fails, but told once for all.
     */
    NOT_RUN,
    /** Nothing is wrong, but somebody should know. */
    NOTE
  }

  /**
   * One line of a check.
   *
   * @param name what was checked: a policy, a rule file, or a scenario's file
   * @param title of the policy or scenario
   * @param differences why it is not right
   */
  public record Result(String name, String title, State state, List<String> differences) {
    public Result {
      differences = List.copyOf(differences);
    }

    Result(String name, String title, List<String> differences) {
      this(name, title, differences.isEmpty() ? State.OK : State.FAIL, differences);
    }

    public boolean passed() {
      return state == State.OK || state == State.NOTE;
    }
  }

  /**
   * Checks policies and scenarios.
   *
   * @param scenarios a folder; else {@code fixtures/scenarios} below the current folder; else those
   *     in the jar
   * @param told each result as soon as it is there
   * @return how many failed
   * @throws InputFault when there are no scenarios to be found
   */
  public int run(Optional<Path> scenarios, Consumer<Result> told) {
    int failed = 0;
    List<Text> texts = texts(scenarios);
    List<String> names;
    try {
      names = rules.policies();
    } catch (PolicyFault e) {
      told.accept(new Result("policies", "policies of " + rules.where(), faults(e)));
      return 1;
    }
    for (String name : names) {
      Result result;
      try {
        Policy policy = policy(name, Map.of());
        result = new Result("policies/" + name, policy.title(), List.of());
      } catch (PolicyFault e) {
        result = new Result("policies/" + name, "cannot be loaded", faults(e));
      }
      failed += result.passed() ? 0 : 1;
      told.accept(result);
    }
    for (String file : unlisted()) {
      told.accept(
          new Result(
              file,
              "is listed by no policy, so nothing reads it; list it under modules, or take it away",
              State.NOTE,
              List.of()));
    }
    for (Text text : texts) {
      Result result = run(text);
      failed += result.passed() ? 0 : 1;
      told.accept(result);
    }
    return failed;
  }

  private List<String> unlisted() {
    try {
      return Policies.unlisted(rules);
    } catch (PolicyFault e) {
      return List.of(); // what cannot be listed was told where policies were loaded
    }
  }

  /**
   * A policy that may go live: loaded, and all scenarios that are about it go as written. Running
   * them also warms the rules up, so that the first cycle is not a slow one.
   *
   * @throws PolicyFault when it cannot be loaded or a scenario fails, with each difference
   */
  public Policy passed(String name, Optional<Path> scenarios) throws PolicyFault {
    Policy policy = loaded(name);
    List<PolicyFault.Fault> faults = failing(name, scenarios);
    if (!faults.isEmpty()) {
      throw new PolicyFault(faults);
    }
    return policy;
  }

  /** A policy of these rules, as its scenarios are run against it. */
  public Policy loaded(String name) throws PolicyFault {
    return policy(name, Map.of());
  }

  /** In what the scenarios that are about a policy differ; empty when all go as written. */
  public List<PolicyFault.Fault> failing(String name, Optional<Path> scenarios) {
    List<PolicyFault.Fault> faults = new ArrayList<>();
    for (Text text : texts(scenarios)) {
      if (text.fault() != null) {
        faults.add(new PolicyFault.Fault("scenario " + text.file(), 0, null, text.fault()));
        continue;
      }
      if (isOfAnother(name, text.text())) {
        continue;
      }
      try {
        if (ScenarioFile.read(text.file(), text.text()).policy().equals(name)) {
          for (String difference : run(text).differences()) {
            faults.add(new PolicyFault.Fault("scenario " + text.file(), 0, null, difference));
          }
        }
      } catch (InputFault e) {
        e.faults()
            .forEach(
                f ->
                    faults.add(
                        new PolicyFault.Fault(
                            "scenario " + text.file(), f.line(), null, f.message())));
      }
    }
    return faults;
  }

  /**
   * Whether a scenario says so plainly that it is about another policy that it need not be read.
   */
  private static boolean isOfAnother(String name, String text) {
    Matcher m = OF_POLICY.matcher(text);
    return m.find() && !m.group(1).equals(name) && !m.find();
  }

  /** Runs one scenario. */
  public Result run(Text text) {
    if (text.fault() != null) {
      return new Result(text.file(), "cannot be read", List.of(text.file() + ": " + text.fault()));
    }
    try {
      Scenario scenario = ScenarioFile.read(text.file(), text.text());
      if (broken.containsKey(scenario.policy() + Map.of())) {
        return new Result(text.file(), scenario.title(), State.NOT_RUN, List.of());
      }
      try {
        return new Result(text.file(), scenario.title(), run(scenario));
      } catch (PolicyFault e) {
        return new Result(text.file(), scenario.title(), faults(e));
      } catch (RuleFailed e) {
        return new Result(text.file(), scenario.title(), List.of(e.getMessage()));
      }
    } catch (InputFault e) {
      return new Result(
          text.file(), "cannot be read", e.faults().stream().map(Object::toString).toList());
    }
  }

  private List<String> run(Scenario scenario) throws PolicyFault {
    return new ScenarioRun(scenario, policy(scenario.policy(), scenario.settings())).differences();
  }

  private Policy policy(String name, Map<String, String> settings) throws PolicyFault {
    String key = name + settings;
    Policy known = loaded.get(key);
    if (broken.containsKey(key)) {
      throw broken.get(key);
    }
    if (known == null) {
      try {
        known = Policies.load(rules, name, settings, compiled);
      } catch (PolicyFault e) {
        broken.put(key, e);
        throw e;
      }
      loaded.put(key, known);
    }
    return known;
  }

  private static List<String> faults(PolicyFault e) {
    return e.faults().stream().map(Object::toString).toList();
  }

  /**
   * A scenario's file, read but not understood.
   *
   * @param fault why there is no text of it; else null
   */
  public record Text(String file, String text, String fault) {
    public Text(String file, String text) {
      this(file, text, null);
    }
  }

  /** The largest scenario that is read, bytes. */
  private static final long LARGEST = 16 << 20;

  private static Text text(Path folder, Path file, IOException failed) {
    String name = folder.relativize(file).toString();
    try {
      if (failed != null) {
        throw failed;
      }
      if (!Files.isRegularFile(file)) {
        return new Text(name, null, "is no file that can be read");
      }
      if (Files.size(file) > LARGEST) {
        return new Text(name, null, "is larger than " + (LARGEST >> 20) + " MiB");
      }
      return new Text(name, Files.readString(file));
    } catch (CharacterCodingException e) {
      return new Text(name, null, "is not text in UTF-8");
    } catch (AccessDeniedException e) {
      return new Text(name, null, "may not be read");
    } catch (IOException e) {
      return new Text(name, null, "cannot be read: " + e.getMessage());
    }
  }

  /** Every file of that ending, and every folder that cannot be looked into. */
  private static List<Text> textsOf(Path folder) throws IOException {
    List<Text> texts = new ArrayList<>();
    Files.walkFileTree(
        folder,
        EnumSet.of(FileVisitOption.FOLLOW_LINKS),
        Integer.MAX_VALUE,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().matches("(?s).*\\.ya?ml")
                && !RuleFiles.isEditors(file.getFileName().toString())) {
              texts.add(text(folder, file, null));
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failed) {
            texts.add(text(folder, file, failed));
            return FileVisitResult.CONTINUE;
          }
        });
    return texts;
  }

  /** All scenario files of a folder, or those that travel in the jar, by name. */
  public static List<Text> texts(Optional<Path> folder) {
    Path here = Path.of("fixtures", "scenarios");
    Optional<Path> from =
        folder.isPresent()
            ? folder
            : Files.isDirectory(here) ? Optional.of(here) : Optional.empty();
    List<Text> texts = new ArrayList<>();
    try {
      if (from.isPresent()) {
        if (!Files.isDirectory(from.get())) {
          throw new InputFault(from.get().toString(), 0, "", "is no folder of scenarios");
        }
        texts.addAll(textsOf(from.get()));
      } else {
        for (Resource resource :
            new PathMatchingResourcePatternResolver(Check.class.getClassLoader())
                .getResources("classpath:scenarios/**/*.yaml")) {
          try (InputStream in = resource.getInputStream()) {
            texts.add(
                new Text(
                    resource.getFilename(), new String(in.readAllBytes(), StandardCharsets.UTF_8)));
          }
        }
      }
    } catch (IOException e) {
      throw new InputFault(
          from.map(Path::toString).orElse("the jar"), 0, "", "cannot be read: " + e.getMessage());
    }
    if (texts.isEmpty()) {
      throw new InputFault(
          from.map(Path::toString).orElse("the jar"), 0, "", "holds no scenario (*.yaml, *.yml)");
    }
    texts.sort(Comparator.comparing(Text::file));
    return texts;
  }
}
