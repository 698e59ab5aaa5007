package evenhand.policy;

import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.io.Serializable;
import org.kie.api.runtime.rule.AccumulateFunction;

/**
 * What the functions of rules have in common: they count anew rather than take back, and they are
 * made with their rule base and never stored.
 *
 * @param <C> what is counted so far
 */
public abstract class Pick<C extends Serializable> implements AccumulateFunction<C> {

  @Override
  public void reverse(C counted, Object value) {
    throw new UnsupportedOperationException("the engine counts anew, see supportsReverse");
  }

  @Override
  public boolean supportsReverse() {
    return false;
  }

  @Override
  public void writeExternal(ObjectOutput out) {
    throw new UnsupportedOperationException("rule bases are compiled anew, never stored");
  }

  @Override
  public void readExternal(ObjectInput in) {
    throw new UnsupportedOperationException("rule bases are compiled anew, never stored");
  }
}
