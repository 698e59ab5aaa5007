package evenhand.policy;

import org.drools.base.rule.Accumulate;
import org.drools.base.rule.From;
import org.drools.base.rule.accessor.DataProvider;
import org.drools.base.rule.constraint.AlphaNodeFieldConstraint;
import org.drools.core.common.BetaConstraints;
import org.drools.core.reteoo.AccumulateNode;
import org.drools.core.reteoo.BetaNode;
import org.drools.core.reteoo.ExistsNode;
import org.drools.core.reteoo.FromNode;
import org.drools.core.reteoo.JoinNode;
import org.drools.core.reteoo.LeftTupleSource;
import org.drools.core.reteoo.NotNode;
import org.drools.core.reteoo.ObjectSource;
import org.drools.core.reteoo.builder.BuildContext;
import org.drools.core.reteoo.builder.NodeFactory;
import org.drools.core.reteoo.builder.PhreakNodeFactory;
import org.drools.mvel.MVELCoreComponentFactory;

/**
 * Builds the engine's network such that it counts the combinations of facts it tries ({@link
 * Effort}). The engine finds this class by {@code META-INF/services}; nobody else needs it.
 */
public final class CountingNodes extends MVELCoreComponentFactory {
  private final NodeFactory nodes = new Nodes();

  /** Before the engine's own, which has 0. */
  @Override
  public int servicePriority() {
    return 1;
  }

  @Override
  public NodeFactory getNodeFactoryService() {
    return nodes;
  }

  private static final class Nodes extends PhreakNodeFactory {
    private static final long serialVersionUID = 1L;

    @Override
    public JoinNode buildJoinNode(
        int id,
        LeftTupleSource left,
        ObjectSource right,
        BetaConstraints conditions,
        BuildContext context) {
      return counted(super.buildJoinNode(id, left, right, counted(conditions), context));
    }

    @Override
    public NotNode buildNotNode(
        int id,
        LeftTupleSource left,
        ObjectSource right,
        BetaConstraints conditions,
        BuildContext context) {
      return counted(super.buildNotNode(id, left, right, counted(conditions), context));
    }

    @Override
    public ExistsNode buildExistsNode(
        int id,
        LeftTupleSource left,
        ObjectSource right,
        BetaConstraints conditions,
        BuildContext context) {
      return counted(super.buildExistsNode(id, left, right, counted(conditions), context));
    }

    @Override
    public AccumulateNode buildAccumulateNode(
        int id,
        LeftTupleSource left,
        ObjectSource right,
        AlphaNodeFieldConstraint[] ofResult,
        BetaConstraints conditions,
        BetaConstraints conditionsOfResult,
        Accumulate accumulate,
        BuildContext context) {
      return counted(
          super.buildAccumulateNode(
              id,
              left,
              right,
              ofResult,
              counted(conditions),
              conditionsOfResult,
              accumulate,
              context));
    }

    @Override
    public FromNode buildFromNode(
        int id,
        DataProvider provider,
        LeftTupleSource left,
        AlphaNodeFieldConstraint[] ofFact,
        BetaConstraints conditions,
        boolean tupleMemory,
        BuildContext context,
        From from) {
      CountedConstraints<?> counted = counted(conditions);
      FromNode node =
          super.buildFromNode(id, provider, left, ofFact, counted, tupleMemory, context, from);
      counted.at(node);
      return node;
    }

    private static CountedConstraints<?> counted(BetaConstraints<?> conditions) {
      return new CountedConstraints<>(conditions);
    }

    private static <N extends BetaNode> N counted(N node) {
      if (node.getRawConstraints() instanceof CountedConstraints<?> counting) {
        counting.at(node);
      }
      return node;
    }
  }
}
