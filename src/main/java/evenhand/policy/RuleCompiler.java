package evenhand.policy;

import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.policy.PolicyFault.Fault;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.drools.kiesession.rulebase.InternalKnowledgeBase;
import org.drools.kiesession.rulebase.KnowledgeBaseFactory;
import org.kie.api.KieBase;
import org.kie.api.io.ResourceType;
import org.kie.internal.builder.KnowledgeBuilder;
import org.kie.internal.builder.KnowledgeBuilderConfiguration;
import org.kie.internal.builder.KnowledgeBuilderError;
import org.kie.internal.builder.KnowledgeBuilderFactory;
import org.kie.internal.builder.conf.AccumulateFunctionOption;
import org.kie.internal.io.ResourceFactory;

/**
 * Compiles rule texts into a rule base. Each call makes a new one; nothing is kept between calls.
 */
final class RuleCompiler {
  private RuleCompiler() {}

  /**
   * Stands before every rule file, on its first line so that line numbers stay true: rules know the
   * facts and outcomes without an import.
   */
  static final String HEADER =
      "package evenhand.rules; import evenhand.facts.*; import evenhand.outcomes.*; ";

  /** The functions by which rules pick one of many, or add up. */
  static final List<String> FUNCTIONS =
      List.of(
          "preferred",
          "preferred_to_reserve",
          "most_idle",
          "most_promised",
          "largest",
          "total",
          "gang",
          "most_nodes");

  /**
   * @param texts by path below the rules folder, in module order
   * @param choices the policy's orders, by the name of the function that picks by them
   */
  static KieBase compile(
      Map<String, String> texts,
      Map<String, Comparator<Placement>> choices,
      Comparator<Placement> preference)
      throws PolicyFault {
    KnowledgeBuilderConfiguration conf = KnowledgeBuilderFactory.newKnowledgeBuilderConfiguration();
    choices.forEach(
        (name, order) ->
            conf.setOption(
                AccumulateFunctionOption.get(name, new First<>(Placement.class, order))));
    conf.setOption(
        AccumulateFunctionOption.get(
            "largest",
            new First<>(
                PlacementGroup.class,
                Comparator.comparingInt(PlacementGroup::capacity)
                    .thenComparingInt(g -> g.tier().sortOrder())
                    .reversed()
                    .thenComparing(g -> g.tier().name())
                    .thenComparing(PlacementGroup::state))));
    conf.setOption(AccumulateFunctionOption.get("total", new Total()));
    conf.setOption(AccumulateFunctionOption.get("gang", new GangOf(preference)));
    conf.setOption(AccumulateFunctionOption.get("most_nodes", new MostNodes()));
    KnowledgeBuilder builder = KnowledgeBuilderFactory.newKnowledgeBuilder(conf);
    for (Map.Entry<String, String> file : texts.entrySet()) {
      add(builder, file.getKey(), file.getValue());
    }
    if (builder.hasErrors()) {
      throw new PolicyFault(faults(builder, texts));
    }
    try {
      InternalKnowledgeBase base = KnowledgeBaseFactory.newKnowledgeBase();
      base.addPackages(builder.getKnowledgePackages());
      return base;
    } catch (RuntimeException e) {
      throw new PolicyFault(
          new Fault("rules", 0, null, "cannot be put together: " + Sentences.thrown(e)));
    }
  }

  private static void add(KnowledgeBuilder builder, String path, String text) throws PolicyFault {
    try {
      builder.add(
          ResourceFactory.newByteArrayResource(
                  (HEADER + text).getBytes(java.nio.charset.StandardCharsets.UTF_8))
              .setSourcePath(path),
          ResourceType.DRL);
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      // some texts make the engine's compiler itself fail
      throw new PolicyFault(new Fault(path, 0, null, "cannot be compiled: " + Sentences.thrown(e)));
    }
  }

  /** Every error once; errors in a then-part only where nothing else is wrong with that file. */
  private static List<Fault> faults(KnowledgeBuilder builder, Map<String, String> texts) {
    List<Fault> faults = new ArrayList<>();
    List<Fault> secondary = new ArrayList<>();
    for (KnowledgeBuilderError error : builder.getErrors()) {
      String path = error.getResource() == null ? "" : error.getResource().getSourcePath();
      String[] lines = texts.getOrDefault(path, "").split("\n", -1);
      int line = error.getLines().length > 0 ? error.getLines()[0] : 0;
      String piece = Sentences.piece(error.getMessage());
      for (int i = 0; line <= 0 && piece != null && i < lines.length; i++) {
        if (lines[i].contains(piece)) {
          line = i + 1;
        }
      }
      Fault fault =
          new Fault(
              path, Math.max(line, 0), Lint.ruleAt(lines, line), Sentences.of(error.getMessage()));
      (Sentences.secondary(error.getMessage()) ? secondary : faults).add(fault);
    }
    secondary.removeIf(s -> faults.stream().anyMatch(f -> f.file().equals(s.file())));
    faults.addAll(secondary);
    return faults;
  }
}
