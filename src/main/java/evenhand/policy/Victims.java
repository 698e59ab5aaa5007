package evenhand.policy;

import evenhand.facts.Placement;
import evenhand.facts.Running;
import evenhand.facts.Share;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * Which work makes room for a job (K4): the cheapest set, by one total order over victims.
 *
 * <p>Victims are taken in their order, cheapest first, until the job fits; then each that turns out
 * not to be needed is spared, the costliest first. So of all sets that make room, this is the one
 * whose costliest member is cheapest, then the next, and so on; and every member is needed.
 *
 * <p>Asked for thousands of jobs in one cycle, it counts in arrays: work by its place in the order,
 * placements by their number on the {@link Board}.
 */
final class Victims {
  private final Board board;
  private final List<Running> inOrder;
  private final int[][] places;
  private final int[][] gpus;
  private final BitSet gone = new BitSet();
  private final List<Takers> takers = new ArrayList<>();

  // Of the job at hand.
  private final int[] idle;
  private final int[] enoughOfTier;
  private int nodesWanted;
  private int gpusWanted;
  private int tiersWithEnough;

  /**
   * @param inOrder work that may ever be ended, cheapest first
   */
  Victims(Board board, List<Running> inOrder) {
    this.board = board;
    this.inOrder = List.copyOf(inOrder);
    this.places = new int[inOrder.size()][];
    this.gpus = new int[inOrder.size()][];
    for (int i = 0; i < places.length; i++) {
      List<Share> on = this.inOrder.get(i).on();
      places[i] = new int[on.size()];
      gpus[i] = new int[on.size()];
      for (int k = 0; k < on.size(); k++) {
        places[i][k] = board.number(on.get(k).node(), on.get(k).tier());
        gpus[i][k] = on.get(k).gpus();
      }
    }
    this.idle = new int[board.size()];
    this.enoughOfTier = new int[board.tiers()];
  }

  /**
   * @param on where the job starts, one placement a node, as they stand when the victims have left
   * @param victims those that must go, by their place in the order, cheapest first
   */
  record Room(List<Placement> on, List<Integer> victims) {}

  int size() {
    return places.length;
  }

  Running work(int number) {
    return inOrder.get(number);
  }

  /** It leaves already, and can't make room for anybody else. */
  void left(int number) {
    if (!gone.get(number)) {
      gone.set(number);
      takers.stream().filter(t -> t.may.test(number)).forEach(t -> count(t, number, -1));
    }
  }

  /** Those for whom the same work may be ended: how many GPUs that would free, by placement. */
  static final class Takers {
    private final IntPredicate may;
    private final int[] freeable;

    private Takers(IntPredicate may, int placements) {
      this.may = may;
      this.freeable = new int[placements];
    }
  }

  /**
   * @param may which work may be ended for them, by its place in the order; the same all cycle
   */
  Takers takers(IntPredicate may) {
    Takers some = new Takers(may, idle.length);
    for (int i = 0; i < places.length; i++) {
      if (!gone.get(i) && may.test(i)) {
        count(some, i, 1);
      }
    }
    takers.add(some);
    return some;
  }

  private void count(Takers some, int victim, int sign) {
    for (int k = 0; k < places[victim].length; k++) {
      if (places[victim][k] >= 0) {
        some.freeable[places[victim][k]] += sign * gpus[victim][k];
      }
    }
  }

  /** Whether all of it together would make room, were what is claimed there anybody's. */
  boolean possible(int nodes, int gpus, int[] fitting, Takers some) {
    Arrays.fill(enoughOfTier, 0);
    for (int place : fitting) {
      Placement here = board.at(place);
      if (here.idle() + here.claimed() + some.freeable[place] >= gpus
          && ++enoughOfTier[board.tier(place)] >= nodes) {
        return true;
      }
    }
    return false;
  }

  /**
   * Makes room.
   *
   * @param nodes how many placements of one tier the job needs, each with {@code gpus} idle
   * @param fitting numbers of the placements the job may run on
   * @param some whose work may be ended for it
   * @param preference which placements are taken when more would do
   * @return empty when all of it together makes no room; no victims when none is needed
   */
  Optional<Room> choose(
      int nodes, int gpus, int[] fitting, Takers some, Comparator<Placement> preference) {
    if (!possible(nodes, gpus, fitting, some)) {
      return Optional.empty();
    }
    begin(nodes, gpus, fitting);
    int taken = 0;
    while (tiersWithEnough == 0) {
      if (!gone.get(taken) && some.may.test(taken)) {
        free(taken, 1);
      }
      taken++;
    }
    List<Integer> kept = new ArrayList<>();
    for (int i = taken - 1; i >= 0; i--) {
      if (gone.get(i) || !some.may.test(i)) {
        continue;
      }
      free(i, -1);
      if (tiersWithEnough == 0) {
        free(i, 1);
        kept.add(0, i);
      }
    }
    return Optional.of(new Room(chosen(fitting, kept, preference), kept));
  }

  private void begin(int nodes, int gpus, int[] fitting) {
    nodesWanted = nodes;
    gpusWanted = gpus;
    tiersWithEnough = 0;
    Arrays.fill(enoughOfTier, 0);
    Arrays.fill(idle, -1); // the job does not fit there
    for (int place : fitting) {
      idle[place] = board.at(place).idle();
      if (idle[place] >= gpus) {
        enough(place, 1);
      }
    }
  }

  private void enough(int place, int by) {
    int tier = board.tier(place);
    int before = enoughOfTier[tier];
    enoughOfTier[tier] += by;
    if (before < nodesWanted && before + by >= nodesWanted) {
      tiersWithEnough++;
    } else if (before >= nodesWanted && before + by < nodesWanted) {
      tiersWithEnough--;
    }
  }

  /** A victim leaves ({@code sign} 1) or stays after all (-1). */
  private void free(int victim, int sign) {
    for (int k = 0; k < places[victim].length; k++) {
      int place = places[victim][k];
      if (place < 0 || idle[place] < 0) {
        continue;
      }
      int before = idle[place];
      int after = before + sign * gpus[victim][k];
      idle[place] = after;
      if (before < gpusWanted && after >= gpusWanted) {
        enough(place, 1);
      } else if (before >= gpusWanted && after < gpusWanted) {
        enough(place, -1);
      }
    }
  }

  /** Placements with enough, of one tier: those that victims leave first, then by preference. */
  private List<Placement> chosen(
      int[] fitting, List<Integer> victims, Comparator<Placement> preference) {
    BitSet vacated = new BitSet();
    for (int victim : victims) {
      for (int place : places[victim]) {
        if (place >= 0) {
          vacated.set(place);
        }
      }
    }
    List<Integer> candidates = new ArrayList<>();
    Placement[] then = new Placement[idle.length];
    for (int place : fitting) {
      if (idle[place] >= gpusWanted && enoughOfTier[board.tier(place)] >= nodesWanted) {
        candidates.add(place);
        then[place] = board.at(place).withIdle(idle[place]);
      }
    }
    candidates.sort(
        Comparator.<Integer>comparingInt(place -> vacated.get(place) ? 0 : 1)
            .thenComparing(place -> then[place], preference));
    int tier = board.tier(candidates.get(0));
    return candidates.stream()
        .filter(place -> board.tier(place) == tier)
        .limit(nodesWanted)
        .map(place -> then[place])
        .toList();
  }
}
