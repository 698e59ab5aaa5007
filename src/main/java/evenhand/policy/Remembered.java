package evenhand.policy;

import evenhand.facts.Job;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Tier;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What rules have answered in earlier cycles, for a caller that asks again and again and does not
 * need to know why jobs wait ({@link Policy#acting}).
 *
 * <p>Rules are pure: the same facts give the same answer. All that the rules of a turn can tell
 * apart is in the key under which an answer is kept: the request, the parts of the turn that they
 * name, and of each kind of placement how many there are. So what is kept is kept for good, and
 * only two things are: that nothing idle will do for a request, and which work may be ended for it.
 * Where a rule names something that no key holds, nothing is kept.
 */
final class Remembered {
  private static final int MOST = 500_000;

  private final Loaded loaded;
  private final boolean keeps;
  private final boolean turnsDiffer;
  private final boolean namesStarts;
  private final boolean namesWaiting;
  private final boolean namesFirstJob;
  private final Judging judging;

  private final Map<Job, Shape[]> shapes = new IdentityHashMap<>();
  private final Map<Asked, Shape> interned = new HashMap<>();
  private final Map<Map<Object, Integer>, Integer> boards = new HashMap<>();
  private final Set<Key> nothing = new java.util.HashSet<>();
  private final Map<Judged, Judgement> judgements = new HashMap<>();
  private final Map<Request, Set<PlacementGroup>> fits = new HashMap<>();
  private List<Tier> tiers = List.of();
  private Set<PlacementGroup> groups = Set.of();
  private int cycle;

  /** What was asked, by whom where that matters; {@code more} is what K5 adds to the usage. */
  private record Asked(Request request, String account, double more) {}

  private record Key(
      Shape request, boolean first, String firstJob, int starts, String waiting, int board) {}

  private record Judged(Key turn, long kinds) {}

  /** Jobs that get the same answer while nothing changes; compared by identity. */
  static final class Shape {
    final Request request;
    private Shape forRequest;
    private int cycle = -1;
    private int version;
    private String waiting;

    private Shape(Request request) {
      this.request = request;
    }
  }

  Remembered(Loaded loaded, Judging judging) {
    this.loaded = loaded;
    this.judging = judging;
    Set<String> named = loaded.names(s -> s.ofTurn() && s != Stage.WAIT && s != Stage.NOTIFY);
    // Facts that are there in a turn and in no key.
    keeps =
        !loaded.nodesMatter()
            && !loaded.claims()
            && List.of(
                    "Standing",
                    "Resident",
                    "Moment",
                    "alike",
                    "most_nodes",
                    "Account",
                    "refusingHeld")
                .stream()
                .noneMatch(named::contains);
    namesStarts = named.contains("startsBefore");
    namesWaiting = named.contains("waitingBefore");
    namesFirstJob = named.contains("firstJob");
    turnsDiffer = namesWaiting;
  }

  /** A new cycle begins. */
  void cycle(List<Tier> tiersNow, Set<PlacementGroup> groupsNow) {
    cycle++;
    if (!tiers.equals(tiersNow)) {
      tiers = tiersNow;
      nothing.clear();
      judgements.clear();
      fits.clear();
    }
    if (!groups.equals(groupsNow)) {
      groups = groupsNow;
      fits.clear();
    }
    if (nothing.size() + judgements.size() + boards.size() > MOST) {
      nothing.clear();
      judgements.clear();
      boards.clear();
    }
    if (shapes.size() > MOST) {
      shapes.clear();
    }
  }

  /** What a job asks for; {@code allocated} null where no rule looks at it. */
  Shape shape(Job job, Boolean allocated, boolean claimed, boolean makesRoom) {
    Shape[] known = shapes.computeIfAbsent(job, j -> new Shape[4]);
    boolean onTerms = Boolean.TRUE.equals(allocated);
    int which = (onTerms ? 1 : 0) + (claimed ? 2 : 0);
    if (known[which] == null) {
      Request request = OneCycle.request(loaded, job, allocated, claimed);
      Shape ofRequest =
          interned.computeIfAbsent(new Asked(request, null, 0), a -> new Shape(a.request));
      ofRequest.forRequest = ofRequest;
      known[which] = ofRequest;
      if (makesRoom && onTerms) {
        known[which] =
            interned.computeIfAbsent(
                new Asked(request, job.account(), MakingRoom.minimumUsage(job)),
                a -> new Shape(a.request));
        known[which].forRequest = ofRequest;
      }
    }
    return known[which];
  }

  /** Whether a job of this shape has waited in this cycle, and nothing has changed since. */
  boolean waits(Shape shape, int version, String waiting) {
    return shape.cycle == cycle
        && shape.version == version
        && (!turnsDiffer || java.util.Objects.equals(shape.waiting, waiting));
  }

  void waited(Shape shape, int version, String waitingBefore) {
    shape.cycle = cycle;
    shape.version = version;
    shape.waiting = waitingBefore;
  }

  /** All that a turn is told by; null where something tells turns apart that no key holds. */
  Key key(Shape shape, boolean first, String firstJob, int starts, String waiting, int board) {
    return keeps
        ? new Key(
            shape.forRequest,
            first,
            namesFirstJob ? firstJob : null,
            namesStarts ? starts : 0,
            namesWaiting ? waiting : null,
            board)
        : null;
  }

  /** The number of a board, the same for boards that rules cannot tell apart. */
  int board(Map<Object, Integer> kinds) {
    return boards.computeIfAbsent(kinds, k -> boards.size());
  }

  boolean nothingFor(Object key) {
    return nothing.contains(key);
  }

  void learnNothing(Object key) {
    nothing.add((Key) key);
  }

  Judgement judged(Object key, long kinds) {
    return judgements.get(new Judged(forJudging((Key) key), kinds));
  }

  void learn(Object key, long kinds, Judgement judged) {
    judgements.put(new Judged(forJudging((Key) key), kinds), judged);
  }

  /** Where the rules that judge running work look at no placement, the board is no part of it. */
  private Key forJudging(Key key) {
    return judging.seesPlacements()
        ? key
        : new Key(key.request, key.first, key.firstJob, key.starts, key.waiting, -1);
  }

  Set<PlacementGroup> fits(Request request) {
    return fits.get(request);
  }

  void learn(Request request, Set<PlacementGroup> fitting) {
    fits.put(request, fitting);
  }
}
