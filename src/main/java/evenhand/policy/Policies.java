package evenhand.policy;

import evenhand.facts.Placement;
import evenhand.input.Spelling;
import evenhand.outcomes.Conclusion;
import evenhand.policy.PolicyFault.Fault;
import evenhand.policy.PolicyYaml.Choice;
import evenhand.policy.PolicyYaml.Parameter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Loads policies: read, hash, lint, compile. Faults name file, line, rule and what would be right.
 */
public final class Policies {
  private Policies() {}

  /** Parts of a request that are filled only where a rule of a turn names them. */
  private static final List<String> OPTIONAL_PARTS =
      List.of(
          "job",
          "account",
          "user",
          "priority",
          "minRuntimeSeconds",
          "resumable",
          "attempt",
          "allocated",
          "preemptible");

  /** A condition of its own, not one that is negated. */
  private static final Pattern NEEDS_CLAIM =
      Pattern.compile("^\\s*Backfill\\s*\\(", Pattern.MULTILINE);

  /** Stands before the name of what was set for once, among a policy's texts. */
  private static final String SET = "--set ";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

  /** Loads a policy from a folder, or from where {@link RuleFiles#of} finds rules. */
  public static Policy load(Optional<Path> folder, String name, Map<String, String> settings)
      throws PolicyFault {
    return load(RuleFiles.of(folder), name, settings);
  }

  /**
   * Loads a policy.
   *
   * @param settings parameters and choices changed for this once, by name; a choice as its keys
   *     with commas between
   */
  public static Policy load(RuleFiles files, String name, Map<String, String> settings)
      throws PolicyFault {
    return load(files, name, settings, new RuleBases());
  }

  /**
   * As {@link #load(RuleFiles, String, Map)}; what was compiled already from the same rules is not
   * compiled again.
   */
  public static Policy load(
      RuleFiles files, String name, Map<String, String> settings, RuleBases compiled)
      throws PolicyFault {
    return new DroolsPolicy(read(files, name, settings, compiled));
  }

  /**
   * Makes a policy of its texts again.
   *
   * @param texts as {@link Policy#texts} gave them
   * @throws PolicyFault when this version of the engine does not take them any more
   */
  public static Policy stored(Map<String, String> texts) throws PolicyFault {
    RuleFiles files = new RuleFiles.Stored(texts);
    Map<String, String> settings = set(texts);
    List<String> names = files.policies();
    if (names.size() != 1) {
      throw new PolicyFault(
          new Fault("policies", 0, null, "one policy is stored with its rules, not " + names));
    }
    return load(files, names.get(0), settings);
  }

  /** What was set for once in a policy of these texts, by name. */
  public static Map<String, String> set(Map<String, String> texts) {
    Map<String, String> settings = new LinkedHashMap<>();
    texts.forEach(
        (name, text) -> {
          if (name.startsWith(SET)) {
            settings.put(name.substring(SET.length()), text);
          }
        });
    return settings;
  }

  /**
   * Rule files that no policy lists: nobody reads them. Empty where some policy cannot be read, for
   * then nobody knows what it lists.
   */
  public static List<String> unlisted(RuleFiles files) throws PolicyFault {
    Set<String> rest = new LinkedHashSet<>(files.ruleFiles());
    for (String name : files.policies()) {
      String path = "policies/" + name + ".yaml";
      try {
        for (String module : PolicyText.read(path, files.read(path).orElse("")).modules()) {
          rest.remove(module + RuleFiles.ENDING_OF_RULES);
        }
      } catch (PolicyFault e) {
        return List.of(); // told where that policy is loaded
      }
    }
    return List.copyOf(rest);
  }

  static Loaded read(RuleFiles files, String name, Map<String, String> settings)
      throws PolicyFault {
    return read(files, name, settings, new RuleBases());
  }

  private static Loaded read(
      RuleFiles files, String name, Map<String, String> settings, RuleBases compiled)
      throws PolicyFault {
    String path = "policies/" + name + ".yaml";
    Optional<String> found = NAME.matcher(name).matches() ? files.read(path) : Optional.empty();
    if (found.isEmpty()) {
      throw new PolicyFault(
          new Fault(
              path,
              0,
              null,
              "there is no policy of that name in "
                  + files.where()
                  + "; there are "
                  + files.policies()));
    }
    PolicyYaml yaml = PolicyText.read(path, found.get());
    List<Fault> faults = new ArrayList<>();
    if (!name.equals(yaml.policy())) {
      faults.add(
          yaml.fault("policy", "says policy: " + yaml.policy() + "; the file's name says " + name));
    }
    Map<String, Choice> choices = new LinkedHashMap<>(yaml.choices());
    Map<String, Parameter> parameters = new LinkedHashMap<>(yaml.parameters());
    Parameters.override(yaml, settings, choices, parameters, faults);
    Parameters.check(yaml, settings, parameters, faults);

    Map<String, String> texts = new LinkedHashMap<>();
    for (int i = 0; i < yaml.modules().size(); i++) {
      String module = yaml.modules().get(i);
      String file = module + ".drl";
      Optional<String> text = files.read(file);
      if (text.isEmpty()) {
        faults.add(
            yaml.fault(
                "modules[" + i + "]",
                "lists "
                    + module
                    + ", but there is no "
                    + file
                    + Spelling.nearest(file, files.ruleFiles())
                        .map(near -> "; did you mean " + near.replaceFirst("\\.drl$", "") + "?")
                        .orElse("")));
      } else if (texts.put(file, text.get()) != null) {
        faults.add(yaml.fault("modules[" + i + "]", "lists " + module + " twice; keep one"));
      }
    }
    Map<String, Rule> rules = lint(texts, faults);
    Parameters.used(yaml, texts, parameters, faults);

    Map<String, Comparator<Placement>> functions = new HashMap<>();
    functions.put("most_idle", Choices.MOST_IDLE);
    functions.put("most_promised", Choices.MOST_PROMISED);
    Comparator<Placement> preference = preference(yaml, choices, "preference", faults);
    functions.put("preferred", preference);
    functions.put(
        "preferred_to_reserve",
        choices.containsKey("reserve_preference")
            ? preference(yaml, choices, "reserve_preference", faults)
            : preference);
    Choices.Order order = order(yaml, choices, faults);
    Choices.VictimOrder victims = victims(yaml, choices, order, rules, parameters, faults);
    if (!faults.isEmpty()) {
      throw new PolicyFault(faults);
    }
    Set<String> looksAt = new HashSet<>();
    Set<String> looksAtUnclaimed = new HashSet<>();
    boolean countAlike = false;
    // Of nodes alike in all else the board shows the first by name; a preference may want the last.
    boolean nodesMatter =
        choices.values().stream().anyMatch(choice -> choice.keys().contains("node_desc"));
    for (Rule rule : rules.values()) {
      if (rule.stage().ofTurn()) {
        String bare = Lint.bare(rule.text());
        List<String> parts = OPTIONAL_PARTS.stream().filter(part -> word(bare, part)).toList();
        looksAt.addAll(parts);
        if (!needsClaim(Lint.conditions(bare))) {
          looksAtUnclaimed.addAll(parts);
        }
        nodesMatter |= word(Lint.conditions(bare), "node");
        countAlike |= word(Lint.conditions(bare), "gang");
        countAlike |= word(Lint.conditions(bare), "most_nodes");
      }
    }
    Map<String, String> parts = new LinkedHashMap<>(texts);
    for (String choice : List.of("preference", "reserve_preference")) {
      if (choices.containsKey(choice)) {
        parts.put(choice, String.join(",", choices.get(choice).keys()));
      }
    }
    Map<String, String> all = new LinkedHashMap<>();
    all.put(path, found.get());
    all.putAll(texts);
    new TreeMap<>(settings).forEach((set, value) -> all.put(SET + set, value));
    return new Loaded(
        name,
        yaml.title(),
        hash(all),
        Collections.unmodifiableMap(all),
        files.where(),
        clauses(choices, parameters, yaml.keptBy(), rules),
        rules,
        parameters.entrySet().stream()
            .map(e -> Parameters.setting(e.getKey(), e.getValue()))
            .toList(),
        compiled.get(hash(parts), () -> RuleCompiler.compile(texts, functions, preference)),
        order,
        preference,
        Set.copyOf(looksAt),
        Set.copyOf(looksAtUnclaimed),
        nodesMatter,
        countAlike,
        victims,
        choices.containsKey("explain") ? choices.get("explain").keys() : List.of());
  }

  /** Whether a rule can come true only while a claim stands. */
  private static boolean needsClaim(String conditions) {
    return NEEDS_CLAIM.matcher(conditions).find() && !word(conditions, "or");
  }

  private static boolean word(String text, String word) {
    return Pattern.compile("\\b" + word + "\\b").matcher(text).find();
  }

  private static Map<String, Rule> lint(Map<String, String> texts, List<Fault> faults) {
    Set<String> conclusions = conclusions();
    Map<String, Set<Stage>> insertedIn = new HashMap<>();
    List<Lint> lints =
        texts.entrySet().stream()
            .map(e -> new Lint(e.getKey(), e.getValue(), conclusions, insertedIn))
            .toList();
    lints.forEach(Lint::collect);
    lints.forEach(Lint::laws);
    lints.forEach(l -> faults.addAll(l.faults()));
    List<Rule> all = lints.stream().flatMap(l -> l.rules().stream()).toList();
    faults.addAll(Lint.twice(all));
    faults.addAll(Lint.unasked(all));
    Map<String, Rule> byName = new LinkedHashMap<>();
    all.forEach(r -> byName.putIfAbsent(r.name(), r));
    return byName;
  }

  /** Simple names of all that rules may insert. */
  private static Set<String> conclusions() {
    Set<String> names = new HashSet<>();
    for (Class<?> c : Conclusion.class.getPermittedSubclasses()) {
      if (c.isInterface()) {
        for (Class<?> o : c.getPermittedSubclasses()) {
          names.add(o.getSimpleName());
        }
      } else {
        names.add(c.getSimpleName());
      }
    }
    return names;
  }

  private static Fault wrongChoice(PolicyYaml yaml, String name, Choice choice, String why) {
    // what was set for once stands on no line of the file
    boolean written = choice != null && choice.equals(yaml.choices().get(name));
    String place = written ? "choices." + name + ".keys" : choice == null ? "choices" : "";
    return yaml.fault(place, "choices." + name + ": " + why);
  }

  private static Comparator<Placement> preference(
      PolicyYaml yaml, Map<String, Choice> choices, String name, List<Fault> faults) {
    Choice choice = choices.get(name);
    try {
      if (choice == null || choice.keys().isEmpty()) {
        throw new IllegalArgumentException("it is missing; e.g. [tier_desc, idle_desc, node_asc]");
      }
      return Choices.preference(choice.keys());
    } catch (IllegalArgumentException e) {
      faults.add(wrongChoice(yaml, name, choice, e.getMessage()));
      return Choices.MOST_IDLE;
    }
  }

  private static Choices.Order order(
      PolicyYaml yaml, Map<String, Choice> choices, List<Fault> faults) {
    Choice choice = choices.get("order");
    try {
      if (choice == null || choice.keys().isEmpty()) {
        throw new IllegalArgumentException("it is missing; e.g. [queued_at_asc, id_asc]");
      }
      return new Choices.Order(choice.keys());
    } catch (IllegalArgumentException e) {
      faults.add(wrongChoice(yaml, "order", choice, e.getMessage()));
      return new Choices.Order(List.of("id_asc"));
    }
  }

  /** A policy that ends running work must say in which order, and know its accounts as a tree. */
  private static Choices.VictimOrder victims(
      PolicyYaml yaml,
      Map<String, Choice> choices,
      Choices.Order order,
      Map<String, Rule> rules,
      Map<String, Parameter> parameters,
      List<Fault> faults) {
    if (rules.values().stream().noneMatch(r -> r.stage() == Stage.PREEMPT)) {
      return null;
    }
    if (!order.usesTree() && !order.usesClasses()) {
      faults.add(
          yaml.fault(
              "choices.order.keys",
              "choices.order: rules of stage preempt need account_tree or priority_class among its"
                  + " keys"));
    }
    // Without a tree of accounts, classes of priority say who ranks behind whom.
    List<String> all =
        order.usesTree()
            ? List.of("lookback", "preemption_margin", "preempt_window", "grace")
            : List.of("grace");
    for (String needed : all) {
      if (!parameters.containsKey(needed)) {
        faults.add(
            yaml.fault(
                "parameters", "rules of stage preempt need the parameter \"" + needed + "\""));
      }
    }
    Choice choice = choices.get("victims");
    try {
      if (choice == null || choice.keys().isEmpty()) {
        throw new IllegalArgumentException("it is missing; e.g. [allocated_asc, lost_work_asc]");
      }
      return new Choices.VictimOrder(choice.keys());
    } catch (IllegalArgumentException e) {
      faults.add(wrongChoice(yaml, "victims", choice, e.getMessage()));
      return null;
    }
  }

  private static List<ClauseView> clauses(
      Map<String, Choice> choices,
      Map<String, Parameter> parameters,
      Map<String, String> keptBy,
      Map<String, Rule> rules) {
    Map<String, List<Rule>> byClause =
        rules.values().stream()
            .collect(Collectors.groupingBy(Rule::clause, LinkedHashMap::new, Collectors.toList()));
    Map<String, List<ClauseView.Figure>> figures = new LinkedHashMap<>();
    choices.forEach(
        (name, c) ->
            figures
                .computeIfAbsent(String.valueOf(c.clause()), k -> new ArrayList<>())
                .add(new ClauseView.Figure(name, String.join(", ", c.keys()), c.meaning())));
    parameters.forEach(
        (name, p) ->
            figures
                .computeIfAbsent(String.valueOf(p.clause()), k -> new ArrayList<>())
                .add(
                    new ClauseView.Figure(
                        name, p.value() + (p.unit() == null ? "" : " " + p.unit()), p.meaning())));
    Set<String> all = new LinkedHashSet<>(byClause.keySet());
    all.addAll(figures.keySet());
    all.addAll(keptBy.keySet());
    return all.stream()
        .map(
            clause -> {
              List<Rule> of = byClause.getOrDefault(clause, List.of());
              return new ClauseView(
                  clause,
                  of.isEmpty() ? "" : of.get(0).comment(),
                  of,
                  figures.getOrDefault(clause, List.of()),
                  keptBy.get(clause));
            })
        .toList();
  }

  /** {@code sha256:…} over texts in their order: what {@link Policy#hash} is of its texts. */
  public static String hash(Map<String, String> texts) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      texts.forEach((name, text) -> feed(digest, name, text));
      return "sha256:" + HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static void feed(MessageDigest digest, String name, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    digest.update((name + "\n" + bytes.length + "\n").getBytes(StandardCharsets.UTF_8));
    digest.update(bytes);
  }
}
