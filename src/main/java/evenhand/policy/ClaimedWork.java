package evenhand.policy;

import evenhand.facts.Claim;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What running work holds of a claim's placements (G3): by work that leaves for the claim once
 * nothing protects it, and by work that the claim cannot count on.
 */
final class ClaimedWork {
  private final Map<Place, Held> places = new HashMap<>();
  private final List<Running> yielding = new ArrayList<>();

  private record Place(String node, String tier) {}

  private static final class Held {
    private int yielding;
    private int firm;
  }

  /**
   * @param running work that has not left yet
   */
  ClaimedWork(Claim claim, List<Running> running) {
    claim.on().forEach(s -> places.put(place(s.node(), s.tier()), new Held()));
    for (Running r : running) {
      if (r.on().stream().noneMatch(s -> places.containsKey(place(s.node(), s.tier())))) {
        continue;
      }
      boolean yields = claim.yields(r);
      if (yields) {
        yielding.add(r);
      }
      for (Share s : r.on()) {
        Held held = places.get(place(s.node(), s.tier()));
        if (held != null) {
          held.yielding += yields ? s.gpus() : 0;
          held.firm += yields ? 0 : s.gpus();
        }
      }
    }
  }

  private static Place place(String node, Tier tier) {
    return new Place(node, tier.name());
  }

  /** The work that leaves for the claim. */
  List<Running> yielding() {
    return yielding;
  }

  /** GPUs of a claimed placement that work holds which leaves for the claim. */
  int yieldingOn(String node, Tier tier) {
    return places.get(place(node, tier)).yielding;
  }

  /** GPUs of a claimed placement that work holds which does not. */
  int firmOn(String node, Tier tier) {
    return places.get(place(node, tier)).firm;
  }
}
