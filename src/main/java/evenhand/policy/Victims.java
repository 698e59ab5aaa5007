package evenhand.policy;

import evenhand.facts.Placement;
import evenhand.facts.Running;
import evenhand.facts.Share;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Which work makes room for a job (K4): the cheapest set, by one total order over victims.
 *
 * <p>Victims are taken in their order, cheapest first, until the job fits; then each that turns out
 * not to be needed is spared, the costliest first. So of all sets that make room, this is the one
 * whose costliest member is cheapest, then the next, and so on; and every member is needed.
 */
final class Victims {
  private Victims() {}

  /**
   * @param on where the job starts, one placement a node, as they stand when the victims have left
   * @param victims those that must go, cheapest first
   */
  record Room(List<Placement> on, List<Running> victims) {}

  /**
   * Makes room.
   *
   * @param nodes how many placements of one tier the job needs, each with {@code gpus} idle
   * @param fitting placements the job may run on, with what is idle for it
   * @param inOrder work that may be ended for it, cheapest first
   * @param preference which placements are taken when more would do
   * @return empty when all of it together makes no room; no victims when none is needed
   */
  static Optional<Room> choose(
      int nodes,
      int gpus,
      List<Placement> fitting,
      List<Running> inOrder,
      Comparator<Placement> preference) {
    Count count = new Count(nodes, gpus, fitting);
    int taken = 0;
    while (!count.enough() && taken < inOrder.size()) {
      count.free(inOrder.get(taken++), 1);
    }
    if (!count.enough()) {
      return Optional.empty();
    }
    List<Running> kept = new ArrayList<>();
    for (int i = taken - 1; i >= 0; i--) {
      Running victim = inOrder.get(i);
      count.free(victim, -1);
      if (!count.enough()) {
        count.free(victim, 1);
        kept.add(0, victim);
      }
    }
    return Optional.of(new Room(count.chosen(kept, preference), kept));
  }

  private record Key(String node, String tier) {}

  /** What is idle where, and how many placements of each tier have enough. */
  private static final class Count {
    private final int nodes;
    private final int gpus;
    private final Map<Key, Placement> placements = new HashMap<>();
    private final Map<Key, Integer> idle = new HashMap<>();
    private final Map<String, Integer> enoughOfTier = new HashMap<>();
    private int tiersWithEnough;

    Count(int nodes, int gpus, List<Placement> fitting) {
      this.nodes = nodes;
      this.gpus = gpus;
      for (Placement p : fitting) {
        Key key = new Key(p.node(), p.tier().name());
        placements.put(key, p);
        idle.put(key, p.idle());
        if (p.idle() >= gpus) {
          placementsWithEnough(p.tier().name(), 1);
        }
      }
    }

    boolean enough() {
      return tiersWithEnough > 0;
    }

    private void placementsWithEnough(String tier, int by) {
      int before = enoughOfTier.getOrDefault(tier, 0);
      enoughOfTier.put(tier, before + by);
      if (before < nodes && before + by >= nodes) {
        tiersWithEnough++;
      } else if (before >= nodes && before + by < nodes) {
        tiersWithEnough--;
      }
    }

    /** A victim leaves ({@code sign} 1) or stays after all (-1). */
    void free(Running victim, int sign) {
      for (Share share : victim.on()) {
        Key key = new Key(share.node(), share.tier().name());
        Integer before = idle.get(key);
        if (before == null) {
          continue;
        }
        int after = before + sign * share.gpus();
        idle.put(key, after);
        if (before < gpus && after >= gpus) {
          placementsWithEnough(key.tier(), 1);
        } else if (before >= gpus && after < gpus) {
          placementsWithEnough(key.tier(), -1);
        }
      }
    }

    /** Placements with enough, of one tier: those that victims leave first, then by preference. */
    List<Placement> chosen(List<Running> victims, Comparator<Placement> preference) {
      Set<Key> vacated = new HashSet<>();
      for (Running victim : victims) {
        victim.on().forEach(s -> vacated.add(new Key(s.node(), s.tier().name())));
      }
      List<Placement> candidates = new ArrayList<>();
      placements.forEach(
          (key, p) -> {
            if (idle.get(key) >= gpus && enoughOfTier.get(key.tier()) >= nodes) {
              candidates.add(p.withIdle(idle.get(key)));
            }
          });
      candidates.sort(
          Comparator.<Placement>comparingInt(
                  p -> vacated.contains(new Key(p.node(), p.tier().name())) ? 0 : 1)
              .thenComparing(preference));
      String tier = candidates.get(0).tier().name();
      return candidates.stream().filter(p -> p.tier().name().equals(tier)).limit(nodes).toList();
    }
  }
}
