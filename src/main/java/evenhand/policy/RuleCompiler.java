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

  /**
   * @param texts by path below the rules folder, in module order
   * @param choices the policy's orders, by the name of the function that picks by them
   */
  static KieBase compile(Map<String, String> texts, Map<String, Comparator<Placement>> choices)
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
    KnowledgeBuilder builder = KnowledgeBuilderFactory.newKnowledgeBuilder(conf);
    texts.forEach(
        (path, text) ->
            builder.add(
                ResourceFactory.newByteArrayResource(
                        (HEADER + text).getBytes(java.nio.charset.StandardCharsets.UTF_8))
                    .setSourcePath(path),
                ResourceType.DRL));
    if (builder.hasErrors()) {
      List<Fault> faults = new ArrayList<>();
      for (KnowledgeBuilderError error : builder.getErrors()) {
        String path = error.getResource() == null ? "" : error.getResource().getSourcePath();
        int line = error.getLines().length > 0 ? error.getLines()[0] : 0;
        String text = texts.getOrDefault(path, "");
        faults.add(
            new Fault(
                path,
                line,
                Lint.ruleAt(text.split("\n", -1), line),
                Sentences.of(error.getMessage())));
      }
      throw new PolicyFault(faults);
    }
    InternalKnowledgeBase base = KnowledgeBaseFactory.newKnowledgeBase();
    base.addPackages(builder.getKnowledgePackages());
    return base;
  }
}
