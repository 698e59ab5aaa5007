package evenhand.policy;

import java.io.Serializable;
import java.util.Comparator;

/**
 * The function by which rules pick one of many: the first in a total order. It returns the fact
 * itself, so that a rule need not look for it again by a figure that others may share.
 */
public final class First<T> extends Pick<First.Best<T>> {
  private Class<T> type;
  private Comparator<T> order;

  /** For the engine only, which may want to read one from a stream; we never write one. */
  public First() {}

  First(Class<T> type, Comparator<T> order) {
    this.type = type;
    this.order = order;
  }

  /** The best so far. */
  public static final class Best<T> implements Serializable {
    private static final long serialVersionUID = 1L;
    private transient T fact;
  }

  @Override
  public Best<T> createContext() {
    return new Best<>();
  }

  @Override
  public void init(Best<T> best) {
    best.fact = null;
  }

  @Override
  public void accumulate(Best<T> best, Object value) {
    T fact = type.cast(value);
    if (best.fact == null || order.compare(fact, best.fact) < 0) {
      best.fact = fact;
    }
  }

  @Override
  public Object getResult(Best<T> best) {
    return best.fact;
  }

  @Override
  public Class<?> getResultType() {
    return type;
  }
}
