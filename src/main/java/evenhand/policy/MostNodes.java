package evenhand.policy;

import evenhand.facts.Placement;
import java.io.Serializable;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/** The function by which rules count the placements of the tier that has most of them. */
public final class MostNodes extends Pick<MostNodes.Counted> {

  /** Placements so far, by tier. */
  public static final class Counted implements Serializable {
    private static final long serialVersionUID = 1L;
    private final transient Map<String, Integer> ofTier = new HashMap<>();
  }

  @Override
  public Counted createContext() {
    return new Counted();
  }

  @Override
  public void init(Counted counted) {
    counted.ofTier.clear();
  }

  @Override
  public void accumulate(Counted counted, Object value) {
    Placement p = (Placement) value;
    counted.ofTier.merge(p.tier().name(), p.alike(), Integer::sum);
  }

  @Override
  public Object getResult(Counted counted) {
    return counted.ofTier.isEmpty() ? 0 : Collections.max(counted.ofTier.values());
  }

  @Override
  public Class<?> getResultType() {
    return Integer.class;
  }
}
