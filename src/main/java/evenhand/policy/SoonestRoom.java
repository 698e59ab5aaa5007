package evenhand.policy;

import evenhand.facts.Placement;
import evenhand.facts.Request;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Soonest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Which placements become free or unprotected soonest for a job (G2): one total order. */
final class SoonestRoom {
  private SoonestRoom() {}

  private record Free(Instant at, int gpus, String job) {}

  private record Ready(Placement placement, Instant at, List<String> yields) {}

  /**
   * The placements of one tier on which the job could start soonest.
   *
   * @param fitting placements that fit and are up, with what is idle on each
   * @param endable when running work may be ended for the job; null where nobody knows
   * @return empty where that is known of too few placements
   */
  static Optional<Soonest> find(
      Request request,
      List<Placement> fitting,
      List<Running> running,
      Function<Running, Instant> endable,
      Instant now,
      Comparator<Placement> preference) {
    Map<String, List<Free>> frees = new HashMap<>();
    for (Running r : running) {
      Instant at = endable.apply(r);
      if (at != null) {
        for (Share share : r.on()) {
          frees
              .computeIfAbsent(share.node() + "\n" + share.tier().name(), k -> new ArrayList<>())
              .add(new Free(at, share.gpus(), r.job()));
        }
      }
    }
    Map<String, List<Ready>> byTier = new HashMap<>();
    for (Placement p : fitting) {
      List<Free> here = frees.getOrDefault(p.node() + "\n" + p.tier().name(), List.of());
      ready(p, request.numGpus(), here, now)
          .ifPresent(r -> byTier.computeIfAbsent(p.tier().name(), t -> new ArrayList<>()).add(r));
    }
    Comparator<Ready> soonestFirst =
        Comparator.comparing(Ready::at).thenComparing(Ready::placement, preference);
    return byTier.values().stream()
        .filter(all -> all.size() >= request.nodes())
        .map(all -> all.stream().sorted(soonestFirst).limit(request.nodes()).toList())
        // The tier that is complete first, by its last placement.
        .min(
            Comparator.<List<Ready>, Ready>comparing(all -> all.get(all.size() - 1), soonestFirst)
                .thenComparing(all -> all.get(0).placement().tier().name()))
        .map(all -> soonest(request, all));
  }

  private static Soonest soonest(Request request, List<Ready> all) {
    return new Soonest(
        all.stream()
            .map(r -> new Share(r.placement().node(), r.placement().tier(), request.numGpus()))
            .toList(),
        all.get(all.size() - 1).at(),
        all.stream().flatMap(r -> r.yields().stream()).distinct().sorted(Natural.IDS).toList());
  }

  private static Optional<Ready> ready(Placement p, int needed, List<Free> frees, Instant now) {
    int there = p.idle();
    Instant at = now;
    List<String> yields = new ArrayList<>();
    for (Free free :
        frees.stream()
            .sorted(Comparator.comparing(Free::at).thenComparing(Free::job, Natural.IDS))
            .toList()) {
      if (there >= needed) {
        break;
      }
      there += free.gpus();
      at = free.at();
      yields.add(free.job());
    }
    return there >= needed ? Optional.of(new Ready(p, at, yields)) : Optional.empty();
  }
}
