package evenhand.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** K4's cheapest set against all subsets of up to ten victims, on small random clusters. */
class VictimsTest {
  private static final long SEED = 20_261_009L;
  private static final Instant START = Instant.parse("2026-04-10T00:00:00Z");
  private static final Comparator<Placement> PREFERENCE =
      Choices.preference(List.of("tier_desc", "idle_asc", "node_asc"));
  private static final List<Tier> TIERS =
      List.of(
          new Tier("h100", 30, 989, 8, true, "h", "gpu:h100"),
          new Tier("a100", 20, 312, 8, true, "a", "gpu:a100"));

  /**
   * A job that wants room, and what there is.
   *
   * @param there all placements
   * @param placements those the job fits
   * @param work all that runs unprotected, cheapest first
   * @param left what of it leaves already
   * @param inOrder what of it may be ended for the job
   */
  private record Case(
      int nodes,
      int gpus,
      List<Placement> there,
      List<Placement> placements,
      List<Running> work,
      List<Running> left,
      List<Running> inOrder) {

    Victims victims() {
      Snapshot snapshot =
          new Snapshot(
              "p", START, "main", TIERS, there, List.of(), List.of(), List.of(), List.of());
      Board board = new Board(snapshot, List.of(), null, false, false);
      Victims victims =
          new Victims(
              board,
              new RunningWork().on(board, work),
              () -> IntStream.range(0, work.size()).toArray());
      left.forEach(running -> victims.left(work.indexOf(running)));
      return victims;
    }

    Optional<Victims.Room> room(Victims victims) {
      return victims.choose(
          nodes,
          gpus,
          placements.stream().mapToInt(there::indexOf).toArray(),
          victims.takers(i -> left.contains(work.get(i)) || inOrder.contains(work.get(i))),
          PREFERENCE);
    }
  }

  @Test
  void isTheFirstOfAllSetsThatMakeRoom() {
    int rooms = 0;
    int several = 0;
    for (int i = 0; i < 4000; i++) {
      Case one = of(SEED + i);
      Victims all = one.victims();
      Optional<Victims.Room> room = one.room(all);
      assertEquals(room, one.room(all), "asked twice"); // nothing is left of the first question
      Integer best = firstOfAll(one);
      String seed = "seed " + (SEED + i) + ": " + one;
      assertEquals(best != null, room.isPresent(), seed);
      if (best == null) {
        continue;
      }
      List<Running> victims = room.get().victims().stream().map(all::work).toList();
      assertEquals(subset(one.inOrder, best), victims, seed);
      for (Running spared : victims) {
        List<Running> others = new ArrayList<>(victims);
        others.remove(spared);
        assertTrue(!fits(one, others), seed + "\n" + spared.job() + " is ended in vain");
      }
      startsWhereItFits(one, room.get().on(), victims, seed);
      rooms++;
      several += victims.size() > 1 ? 1 : 0;
    }
    assertTrue(rooms > 1000 && several > 300, rooms + " with room, " + several + " of several");
  }

  private static void startsWhereItFits(
      Case one, List<Placement> on, List<Running> victims, String seed) {
    assertEquals(one.nodes, on.stream().map(Placement::node).distinct().count(), seed);
    assertEquals(1, on.stream().map(Placement::tier).distinct().count(), seed);
    for (Placement p : on) {
      assertTrue(p.idle() >= one.gpus, seed);
      assertEquals(idle(one, victims).get(p.node()), p.idle(), seed);
    }
  }

  /**
   * Of all subsets that make room the first: the costliest member cheapest, then the next, and so
   * on. Bit i stands for the i-th cheapest, so that is the smallest number; a set without members
   * it does not need is smaller than the same set with them. Null when none makes room.
   */
  private static Integer firstOfAll(Case one) {
    for (int bits = 0; bits < 1 << one.inOrder.size(); bits++) {
      if (fits(one, subset(one.inOrder, bits))) {
        return bits;
      }
    }
    return null;
  }

  private static List<Running> subset(List<Running> inOrder, int bits) {
    List<Running> subset = new ArrayList<>();
    for (int i = 0; i < inOrder.size(); i++) {
      if ((bits >> i & 1) == 1) {
        subset.add(inOrder.get(i));
      }
    }
    return subset;
  }

  private static Map<String, Integer> idle(Case one, List<Running> leaving) {
    Map<String, Integer> idle = new HashMap<>();
    one.placements.forEach(p -> idle.put(p.node(), p.idle()));
    for (Running run : leaving) {
      run.on().forEach(share -> idle.computeIfPresent(share.node(), (n, g) -> g + share.gpus()));
    }
    return idle;
  }

  private static boolean fits(Case one, List<Running> leaving) {
    Map<String, Integer> idle = idle(one, leaving);
    return TIERS.stream()
        .anyMatch(
            tier ->
                one.placements.stream()
                        .filter(p -> p.tier().equals(tier) && idle.get(p.node()) >= one.gpus)
                        .count()
                    >= one.nodes);
  }

  private static Case of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int nodes = random.nextInt(1, 5);
    Tier[] tierOf = new Tier[nodes];
    int[] free = new int[nodes];
    for (int n = 0; n < nodes; n++) {
      tierOf[n] = TIERS.get(random.nextInt(100) < 70 ? 0 : 1);
      free[n] = 8;
    }
    List<Running> running = new ArrayList<>();
    for (int i = random.nextInt(11); i > 0; i--) {
      List<Share> on = new ArrayList<>();
      int gpus = random.nextInt(1, 5);
      int wide = random.nextInt(100) < 30 ? 3 : 1;
      for (int n = random.nextInt(nodes); n < nodes && on.size() < wide; n++) {
        boolean alike = on.isEmpty() || on.get(0).tier().equals(tierOf[n]);
        if (free[n] >= gpus && alike) {
          free[n] -= gpus;
          on.add(new Share("n" + n, tierOf[n], gpus));
        }
      }
      if (!on.isEmpty()) {
        running.add(new Running("r" + i, "lab", on, START, START, true, true));
      }
    }
    List<Placement> there = new ArrayList<>();
    List<Placement> placements = new ArrayList<>();
    for (int n = 0; n < nodes; n++) {
      int held = random.nextInt(free[n] + 1); // the rest is held by work that is protected
      Placement p =
          new Placement(
              "n" + n, new PlacementGroup(tierOf[n], 8, NodeState.UP), free[n] - held, 0, null);
      there.add(p);
      if (random.nextInt(100) < 90) { // or the job does not fit there at all
        placements.add(p);
      }
    }
    List<Running> left = new ArrayList<>();
    List<Running> may = new ArrayList<>();
    for (Running run : running) {
      int lot = random.nextInt(100);
      if (lot < 80) {
        may.add(run);
      } else if (lot < 90) {
        left.add(run);
      }
    }
    return new Case(
        random.nextInt(100) < 60 ? 1 : random.nextInt(2, 4),
        random.nextInt(1, 9),
        there,
        placements,
        running,
        left,
        may);
  }
}
