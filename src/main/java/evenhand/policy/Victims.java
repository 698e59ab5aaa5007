package evenhand.policy;

import evenhand.facts.Placement;
import evenhand.facts.Running;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.function.Supplier;

/**
 * Which work makes room for a job (K4): the cheapest set, by one total order over victims.
 *
 * <p>Victims are taken in their order, cheapest first, until the job fits; then each that turns out
 * not to be needed is spared, the costliest first. So of all sets that make room, this is the one
 * whose costliest member is cheapest, then the next, and so on; and every member is needed.
 *
 * <p>Asked for thousands of jobs in one cycle, it counts in arrays: work by a number of its own,
 * placements by their number on the {@link Board}.
 */
final class Victims {
  private final Board board;
  private final List<RunningWork.One> work;
  private final Supplier<int[]> sorting;
  private int[] inOrder;
  private final BitSet gone = new BitSet();
  private final List<Takers> takers = new ArrayList<>();
  private int changes;

  // Of the job at hand.
  private final int[] idle;
  private final int[] enoughOfTier;
  private int nodesWanted;
  private int gpusWanted;
  private int tiersWithEnough;

  /**
   * @param work what may ever be ended
   * @param sorting gives the numbers of {@code work}, cheapest first; asked when first somebody can
   *     be made room for, which is seldom
   */
  Victims(Board board, List<RunningWork.One> work, Supplier<int[]> sorting) {
    this.board = board;
    this.work = work;
    this.sorting = sorting;
    this.idle = new int[board.size()];
    this.enoughOfTier = new int[board.tiers()];
  }

  /**
   * @param on where the job starts, one placement a node, as they stand when the victims have left
   * @param victims the numbers of those that must go, cheapest first
   */
  record Room(List<Placement> on, List<Integer> victims) {}

  int size() {
    return work.size();
  }

  Running work(int number) {
    return work.get(number).running();
  }

  /** It leaves already, and can't make room for anybody else. */
  void left(int number) {
    if (!gone.get(number)) {
      gone.set(number);
      changes++;
      takers.stream().filter(t -> t.may.test(number)).forEach(t -> count(t, number, -1));
    }
  }

  /** Those for whom the same work may be ended: how many GPUs that would free, by placement. */
  static final class Takers {
    private final IntPredicate may;
    private final int[] freeable;

    /** By number of GPUs: how many placements of one tier at most have, or would have, as many. */
    private int[] most;

    private int[] mostOf;
    private int mostAtVersion;
    private int mostAtChanges;

    private Takers(IntPredicate may, int placements) {
      this.may = may;
      this.freeable = new int[placements];
    }
  }

  /**
   * @param may which work may be ended for them, by its number; the same all cycle
   */
  Takers takers(IntPredicate may) {
    Takers some = new Takers(may, idle.length);
    for (int i = 0; i < work.size(); i++) {
      if (!gone.get(i) && may.test(i)) {
        count(some, i, 1);
      }
    }
    takers.add(some);
    return some;
  }

  private void count(Takers some, int victim, int sign) {
    int[] places = work.get(victim).places();
    for (int k = 0; k < places.length; k++) {
      if (places[k] >= 0) {
        some.freeable[places[k]] += sign * work.get(victim).gpus()[k];
      }
    }
  }

  /** Whether all of it together would make room, were what is claimed there anybody's. */
  boolean possible(int nodes, int gpus, int[] fitting, Takers some) {
    if (some.most == null
        || some.mostOf != fitting
        || some.mostAtVersion != board.version()
        || some.mostAtChanges != changes) {
      some.most = most(fitting, some);
      some.mostOf = fitting;
      some.mostAtVersion = board.version();
      some.mostAtChanges = changes;
    }
    return gpus < some.most.length && some.most[gpus] >= nodes;
  }

  private int[] most(int[] fitting, Takers some) {
    int largest = 0;
    for (int place : fitting) {
      largest = Math.max(largest, room(place, some));
    }
    int[][] exactly = new int[board.tiers()][largest + 1];
    for (int place : fitting) {
      exactly[board.tier(place)][room(place, some)]++;
    }
    int[] most = new int[largest + 1];
    for (int[] ofTier : exactly) {
      int atLeast = 0;
      for (int gpus = largest; gpus >= 0; gpus--) {
        atLeast += ofTier[gpus];
        most[gpus] = Math.max(most[gpus], atLeast);
      }
    }
    return most;
  }

  private int room(int place, Takers some) {
    Placement here = board.at(place);
    return here.idle() + here.claimed() + some.freeable[place];
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
    if (inOrder == null) {
      inOrder = sorting.get();
    }
    begin(nodes, gpus, fitting);
    int taken = 0;
    for (; tiersWithEnough == 0; taken++) {
      int victim = inOrder[taken];
      if (!gone.get(victim) && some.may.test(victim)) {
        free(victim, 1);
      }
    }
    List<Integer> kept = new ArrayList<>();
    for (int i = taken - 1; i >= 0; i--) {
      int victim = inOrder[i];
      if (gone.get(victim) || !some.may.test(victim)) {
        continue;
      }
      free(victim, -1);
      if (tiersWithEnough == 0) {
        free(victim, 1);
        kept.add(0, victim);
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
    int[] places = work.get(victim).places();
    for (int k = 0; k < places.length; k++) {
      int place = places[k];
      if (place < 0 || idle[place] < 0) {
        continue;
      }
      int before = idle[place];
      int after = before + sign * work.get(victim).gpus()[k];
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
      for (int place : work.get(victim).places()) {
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
