package evenhand.policy;

import java.io.Serializable;
import java.math.BigDecimal;

/**
 * Adds costs up in decimals and rounds once: the sum is the same in whatever order the engine hands
 * them over, and the sum of none is 0.
 */
public final class Total extends Pick<Total.Sum> {

  /** The sum so far. */
  public static final class Sum implements Serializable {
    private static final long serialVersionUID = 1L;
    private BigDecimal value = BigDecimal.ZERO;
  }

  @Override
  public Sum createContext() {
    return new Sum();
  }

  @Override
  public void init(Sum sum) {
    sum.value = BigDecimal.ZERO;
  }

  @Override
  public void accumulate(Sum sum, Object value) {
    sum.value = sum.value.add(BigDecimal.valueOf(((Number) value).doubleValue()));
  }

  @Override
  public void reverse(Sum sum, Object value) {
    sum.value = sum.value.subtract(BigDecimal.valueOf(((Number) value).doubleValue()));
  }

  @Override
  public boolean supportsReverse() {
    return true;
  }

  @Override
  public Object getResult(Sum sum) {
    return sum.value.doubleValue();
  }

  @Override
  public Class<?> getResultType() {
    return Double.class;
  }
}
