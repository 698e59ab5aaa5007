package evenhand.policy;

import evenhand.facts.Job;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Tier;
import evenhand.outcomes.Available;
import evenhand.policy.Firing.Concluded;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What rules have answered in earlier cycles, for a caller that asks again and again and does not
 * need to know why jobs wait ({@link Policy#acting}).
 *
 * <p>Rules are pure: the same facts give the same answer. All that the rules of a turn can tell
 * apart is in the key under which an answer is kept: the request, the parts of the turn that they
 * name, and of each kind of placement how many there are, or of those alone that are available
 * where rules judge each kind by itself ({@link Matching#availableAlone}). So what is kept is kept
 * for good, and only three things are: which kinds of placement are available to a request, that
 * nothing idle will do for it, and which work may be ended for it. Where a rule names something
 * that no key holds, nothing is kept.
 */
final class Remembered {
  private static final int MOST = 500_000;
  private static final int MOST_KINDS = 10_000;

  private final Loaded loaded;
  private final boolean keeps;
  private final boolean turnsDiffer;
  private final boolean namesStarts;
  private final boolean namesWaiting;
  private final boolean namesFirstJob;
  private final boolean usesTree;
  private final Judging judging;
  private boolean availableAlone;

  private final Map<Asked, Shape> interned = new HashMap<>();
  private final Map<Map<Object, Integer>, Integer> boards = new HashMap<>();
  private final Map<Object, Integer> kinds = new HashMap<>();
  private int numbering;
  private final Map<Turns, Key> keys = new HashMap<>();
  private final Map<Judged, Judgement> judgements = new HashMap<>();
  private final Map<Request, Set<PlacementGroup>> fits = new HashMap<>();
  private List<Tier> tiers = List.of();
  private Set<PlacementGroup> groups = Set.of();
  private int cycle;

  /**
   * What was asked, by whom where that matters; {@code more} is what K5 adds to the usage, and
   * {@code urgency} the class of priority that counts where there is no tree of accounts (PR2).
   */
  private record Asked(
      Request request, boolean claimed, String account, double more, int urgency) {}

  /** All that a turn is told by. */
  static final class Key {
    private final Turns turns;

    /** Whether nothing came of such turns: nothing idle will do. */
    boolean nothing;

    private Key(Turns turns) {
      this.turns = turns;
    }
  }

  private record Turns(
      Shape request, boolean first, String firstJob, int starts, String waiting, int board) {}

  private record Judged(Turns turn, long kinds) {}

  /** Jobs that get the same answer while nothing changes; compared by identity. */
  static final class Shape {
    final Request request;

    /** Whether rules about claims may come true. */
    final boolean claimed;

    private Shape forRequest;
    private int cycle = -1;
    private int version;
    private String waiting;
    private int wantingIn = -1;
    private MakingRoom.Wanting wanting;

    // Of the request alone, in forRequest.
    private int fittingIn = -1;
    private int[] fitting;
    private byte[] available = {};
    private int keyIn = -1;
    private int keyAt;
    private Key key;
    private final Map<Long, Judgement> judgements = new HashMap<>();

    private Shape(Request request, boolean claimed) {
      this.request = request;
      this.claimed = claimed;
    }
  }

  Remembered(Loaded loaded, Judging judging, Matching matching) {
    this.loaded = loaded;
    this.usesTree = loaded.order().usesTree();
    this.availableAlone = matching.availableAlone();
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
      keys.clear();
      judgements.clear();
      fits.clear();
      interned.values().forEach(shape -> shape.judgements.clear());
      forgetAvailable();
    }
    if (!groups.equals(groupsNow)) {
      groups = groupsNow;
      fits.clear();
      forgetAvailable();
    }
    if (keys.size() + judgements.size() + boards.size() > MOST) {
      keys.clear();
      judgements.clear();
      boards.clear();
    }
    if (kinds.size() > MOST_KINDS) {
      forgetAvailable();
    }
  }

  private void forgetAvailable() {
    numbering++;
    kinds.clear();
    boards.clear();
    keys.clear();
    judgements.clear();
    interned.values().forEach(shape -> shape.available = new byte[0]);
  }

  /** What a job asks for; {@code allocated} null where no rule looks at it. */
  Shape shape(Job job, Boolean allocated, boolean claimed, boolean makesRoom) {
    Request request = OneCycle.request(loaded, job, allocated, claimed);
    Shape ofRequest =
        interned.computeIfAbsent(
            new Asked(request, claimed, null, 0, 0), a -> new Shape(a.request, claimed));
    ofRequest.forRequest = ofRequest;
    if (!makesRoom || Boolean.FALSE.equals(allocated)) {
      return ofRequest;
    }
    Shape shape =
        interned.computeIfAbsent(
            new Asked(
                request,
                claimed,
                job.account(),
                usesTree ? MakingRoom.minimumUsage(job) : 0,
                usesTree ? 0 : Urgency.of(job.priority())),
            a -> new Shape(a.request, claimed));
    shape.forRequest = ofRequest;
    return shape;
  }

  /** What was found in this cycle about running work and jobs of this shape. */
  MakingRoom.Wanting wanting(Shape shape) {
    if (shape.wantingIn != cycle) {
      shape.wantingIn = cycle;
      shape.wanting = new MakingRoom.Wanting();
    }
    return shape.wanting;
  }

  /** Numbers of the placements that fit a request in this cycle, null before they are known. */
  int[] fitting(Shape shape) {
    return shape.forRequest.fittingIn == cycle ? shape.forRequest.fitting : null;
  }

  void fits(Shape shape, int[] fitting) {
    shape.forRequest.fitting = fitting;
    shape.forRequest.fittingIn = cycle;
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

  /**
   * All that a turn is told by; null where something tells turns apart that no key holds, or where
   * rules were not yet asked about some placement that is there.
   */
  Key key(Shape shape, boolean first, String firstJob, int starts, String waiting, Board board) {
    if (!keeps) {
      return null;
    }
    Shape request = shape.forRequest;
    boolean alike = !first && !namesStarts && !namesWaiting;
    if (alike && request.keyIn == cycle && request.keyAt == board.version()) {
      return request.key;
    }
    int number =
        availableAlone
            ? available(request, board)
            : board(board.kinds(loaded.countAlike() ? shape.request.nodes() : 1));
    if (number < 0) {
      return null;
    }
    Turns turns =
        new Turns(
            request,
            first,
            namesFirstJob ? firstJob : null,
            namesStarts ? starts : 0,
            namesWaiting ? waiting : null,
            number);
    Key key = keys.computeIfAbsent(turns, Key::new);
    if (alike) {
      request.key = key;
      request.keyIn = cycle;
      request.keyAt = board.version();
    }
    return key;
  }

  /** The number of a board, the same for boards that rules cannot tell apart. */
  private int board(Map<Object, Integer> kindsThere) {
    return boards.computeIfAbsent(kindsThere, k -> boards.size());
  }

  /**
   * The number of what is available for a request, the same where rules cannot tell it apart; -1
   * where they were not yet asked about some kind of placement.
   */
  private int available(Shape request, Board board) {
    Map<Object, Integer> there = null;
    for (Board.Members of : board.kinds()) {
      int kind = of.number(this::kindNumber, numbering);
      byte known = kind < request.available.length ? request.available[kind] : 0;
      if (known == 0) {
        return -1;
      }
      if (known > 0) {
        there = there == null ? new HashMap<>() : there;
        there.put(kind, loaded.countAlike() ? Math.min(request.request.nodes(), of.size()) : 1);
      }
    }
    return board(there == null ? Map.of() : there);
  }

  private int kindNumber(Object kind) {
    return kinds.computeIfAbsent(kind, k -> kinds.size());
  }

  /** Rules were asked what is available for a request, of all placements there are. */
  void learnAvailable(Shape shape, Board board, List<Concluded> concluded) {
    if (!availableAlone) {
      return;
    }
    Set<Object> available = java.util.Collections.newSetFromMap(new java.util.IdentityHashMap<>());
    for (Concluded c : concluded) {
      if (c.what() instanceof Available one) {
        available.add(one.placement());
      } else {
        availableAlone = false; // they say other things here, which no key would hold
        cycle++;
        boards.clear();
        keys.clear();
        judgements.clear();
        return;
      }
    }
    Shape request = shape.forRequest;
    for (Board.Members of : board.kinds()) {
      int kind = of.number(this::kindNumber, numbering);
      if (kind >= request.available.length) {
        request.available = Arrays.copyOf(request.available, kind + 16);
      }
      request.available[kind] = (byte) (available.contains(of.shown()) ? 1 : -1);
    }
  }

  Judgement judged(Key key, long kinds) {
    return judging.byRequest()
        ? key.turns.request.judgements.get(kinds)
        : judgements.get(new Judged(forJudging(key.turns), kinds));
  }

  void learn(Key key, long kinds, Judgement judged) {
    if (judging.byRequest()) {
      key.turns.request.judgements.put(kinds, judged);
    } else {
      judgements.put(new Judged(forJudging(key.turns), kinds), judged);
    }
  }

  /** Where the rules that judge running work look at no placement, the board is no part of it. */
  private Turns forJudging(Turns turns) {
    return judging.seesPlacements()
        ? turns
        : new Turns(turns.request, turns.first, turns.firstJob, turns.starts, turns.waiting, -1);
  }

  Set<PlacementGroup> fits(Request request) {
    return fits.get(request);
  }

  void learn(Request request, Set<PlacementGroup> fitting) {
    fits.put(request, fitting);
  }
}
