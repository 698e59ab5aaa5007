package evenhand.policy;

import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.util.List;
import org.drools.base.base.ObjectType;
import org.drools.base.base.ValueResolver;
import org.drools.base.reteoo.BaseTuple;
import org.drools.base.rule.Pattern;
import org.drools.base.rule.constraint.BetaConstraint;
import org.drools.core.RuleBaseConfiguration;
import org.drools.core.common.BetaConstraints;
import org.drools.core.reteoo.BetaMemory;
import org.drools.core.reteoo.LeftTupleSource;
import org.drools.core.reteoo.Tuple;
import org.drools.core.reteoo.builder.BuildContext;
import org.drools.util.bitmask.BitMask;
import org.kie.api.definition.rule.Rule;
import org.kie.api.runtime.rule.FactHandle;

/**
 * The conditions between a fact and those before it in a rule, none where there are none: each time
 * they are asked is a combination tried, and is counted ({@link Effort}).
 */
final class CountedConstraints<C> implements BetaConstraints<C> {
  private final BetaConstraints<C> asked;
  private LeftTupleSource node;

  CountedConstraints(BetaConstraints<C> asked) {
    this.asked = asked;
  }

  /** The place in the engine's network where they are asked. */
  void at(LeftTupleSource place) {
    node = place;
  }

  /** Names of the rules that they belong to. */
  List<String> rules() {
    return node == null
        ? List.of()
        : List.of(node.getAssociatedRules()).stream().map(Rule::getName).sorted().toList();
  }

  @Override
  public boolean isAllowedCachedLeft(C context, FactHandle handle) {
    return Effort.tried(this, asked.isAllowedCachedLeft(context, handle));
  }

  @Override
  public boolean isAllowedCachedRight(BaseTuple tuple, C context) {
    return Effort.tried(this, asked.isAllowedCachedRight(tuple, context));
  }

  @Override
  public C createContext() {
    return asked.createContext();
  }

  @Override
  public void updateFromTuple(C context, ValueResolver resolver, Tuple tuple) {
    asked.updateFromTuple(context, resolver, tuple);
  }

  @Override
  public void updateFromFactHandle(C context, ValueResolver resolver, FactHandle handle) {
    asked.updateFromFactHandle(context, resolver, handle);
  }

  @Override
  public BetaConstraint[] getConstraints() {
    return asked.getConstraints();
  }

  @Override
  public BetaConstraints getOriginalConstraint() {
    return asked.getOriginalConstraint();
  }

  @Override
  public boolean isIndexed() {
    return asked.isIndexed();
  }

  @Override
  public int getIndexCount() {
    return asked.getIndexCount();
  }

  @Override
  public boolean isEmpty() {
    return asked.isEmpty();
  }

  @Override
  public BetaMemory createBetaMemory(RuleBaseConfiguration configuration, int kind) {
    return asked.createBetaMemory(configuration, kind);
  }

  @Override
  public void resetTuple(C context) {
    asked.resetTuple(context);
  }

  @Override
  public void resetFactHandle(C context) {
    asked.resetFactHandle(context);
  }

  @Override
  public BitMask getListenedPropertyMask(Pattern pattern, ObjectType type, List<String> settable) {
    return asked.getListenedPropertyMask(pattern, type, settable);
  }

  @Override
  public void init(BuildContext context, int kind) {
    asked.init(context, kind);
  }

  @Override
  public void initIndexes(int depth, int kind, RuleBaseConfiguration configuration) {
    asked.initIndexes(depth, kind, configuration);
  }

  /** It is in use nowhere else, but what it asks may be. */
  @Override
  @SuppressWarnings("unchecked")
  public <T> T cloneIfInUse() {
    BetaConstraints<C> own = asked.cloneIfInUse();
    return (T) (own == asked ? this : new CountedConstraints<>(own));
  }

  @Override
  public boolean isLeftUpdateOptimizationAllowed() {
    return asked.isLeftUpdateOptimizationAllowed();
  }

  @Override
  public void registerEvaluationContext(BuildContext context) {
    asked.registerEvaluationContext(context);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CountedConstraints<?> c && asked.equals(c.asked);
  }

  @Override
  public int hashCode() {
    return asked.hashCode();
  }

  @Override
  public void writeExternal(ObjectOutput out) {
    throw new UnsupportedOperationException("rule bases are compiled, never written");
  }

  @Override
  public void readExternal(ObjectInput in) {
    throw new UnsupportedOperationException("rule bases are compiled, never read");
  }
}
