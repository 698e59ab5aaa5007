package evenhand.policy;

import evenhand.facts.Placement;
import evenhand.outcomes.Available;
import evenhand.outcomes.Gang;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The function by which rules pick the nodes of a gang: as many available placements of one tier as
 * the job asks for, those the policy prefers; null when no tier has as many.
 */
public final class GangOf extends Pick<GangOf.Found> {
  private Comparator<Placement> preference;

  /** For the engine only, which may want to read one from a stream; we never write one. */
  public GangOf() {}

  GangOf(Comparator<Placement> preference) {
    this.preference = preference;
  }

  /** What is available so far. */
  public static final class Found implements Serializable {
    private static final long serialVersionUID = 1L;
    private final transient List<Available> all = new ArrayList<>();
  }

  @Override
  public Found createContext() {
    return new Found();
  }

  @Override
  public void init(Found found) {
    found.all.clear();
  }

  @Override
  public void accumulate(Found found, Object value) {
    found.all.add((Available) value);
  }

  @Override
  public Object getResult(Found found) {
    if (found.all.isEmpty()) {
      return null;
    }
    int nodes = found.all.get(0).request().nodes();
    Map<String, List<Placement>> byTier = new LinkedHashMap<>();
    found.all.stream()
        .map(Available::placement)
        .sorted(preference)
        .forEach(p -> byTier.computeIfAbsent(p.tier().name(), t -> new ArrayList<>()).add(p));
    for (List<Placement> kinds : byTier.values()) {
      if (kinds.stream().mapToInt(Placement::alike).sum() >= nodes) {
        return new Gang(kinds, nodes);
      }
    }
    return null;
  }

  @Override
  public Class<?> getResultType() {
    return Gang.class;
  }
}
