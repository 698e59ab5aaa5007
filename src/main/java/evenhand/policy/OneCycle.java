package evenhand.policy;

import evenhand.facts.Backfill;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.Moment;
import evenhand.facts.NoRoom;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.facts.Turn;
import evenhand.facts.Yielding;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Fit;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Leaves;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Together;
import evenhand.outcomes.Unclaim;
import evenhand.outcomes.Veto;
import evenhand.outcomes.Wait;
import evenhand.outcomes.Yield;
import evenhand.policy.Firing.Concluded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.kie.api.runtime.rule.FactHandle;

/**
 * One decision: the loop that gives turns, and what outcomes change on the board. Whether anything
 * may happen is the rules' alone.
 */
final class OneCycle {
  private final Loaded loaded;
  private final Snapshot snapshot;
  private final AccountTree tree;
  private final MakingRoom room;
  private final Firing firing;
  private final Remembered remembered;
  private final Kept kept;
  private final WaitingLine queue;
  private final List<Decided> outcomes = new ArrayList<>();
  private final List<HoldingCost> accruals = new ArrayList<>();
  private final List<Yield> yields = new ArrayList<>();
  private final Map<String, Reservation> reservations = new LinkedHashMap<>();
  private final Map<Request, Asked> asked = new HashMap<>();
  private final Map<Request, int[]> fitting = new HashMap<>();
  private final Map<Judged, Judgement> judgements = new HashMap<>();
  private final Judging judging;
  private final boolean claims;
  private final Map<String, Job> jobs = new HashMap<>();
  private Claim claim;
  private final Refusing refusing;
  private Board board;
  private int starts;
  private String waiting;

  /**
   * @param kept what earlier cycles have left; nothing for a decision by itself
   * @param remembered what earlier cycles have found out, for a caller that does not need to know
   *     why jobs wait; null where every wait is told
   */
  OneCycle(Loaded loaded, Judging judging, Snapshot snapshot, Kept kept, Remembered remembered) {
    this.loaded = loaded;
    this.judging = judging;
    this.snapshot = snapshot;
    this.remembered = remembered;
    kept.begin(snapshot);
    this.kept = kept;
    this.firing = kept.firing();
    this.queue = kept.line();
    this.tree = queue.tree();
    this.claims = judging.claims();
    this.claim = snapshot.claims().isEmpty() ? null : snapshot.claims().get(0);
    if (claims || claim != null) {
      queue.jobs().forEach(j -> jobs.put(j.id(), j));
    }
    this.room =
        kept.has(Stage.PREEMPT)
            ? new MakingRoom(loaded, judging, snapshot, tree, kept.works())
            : null;
    this.refusing = judging.countsRefusing() ? new Refusing(snapshot) : null;
  }

  Decision decide() {
    firing.passing(new Moment(snapshot.now()));
    open();
    board = kept.board(snapshot, reservations.values());
    leaveNodes();
    if (room != null) {
      room.on(board);
    }
    if (claim != null) {
      board.claim(claim);
      backfill();
    }
    if (remembered != null) {
      remembered.cycle(snapshot.tiers(), kept.groups());
    }
    for (int i = 0; i < queue.size(); i++) {
      WaitingLine.Waiting waits = queue.at(i);
      try {
        if (remembered == null) {
          turn(waits.job, i == 0);
        } else {
          actingTurn(waits, i == 0);
        }
      } catch (RuleFailed e) {
        throw e.about(waits.job.id());
      }
    }
    return new Decision(
        snapshot.policy(), loaded.hash(), null, snapshot.now(), outcomes, accruals, yields);
  }

  private void open() {
    Opening opening = new Opening(loaded, snapshot, kept, claim);
    opening.run();
    outcomes.addAll(opening.outcomes());
    accruals.addAll(opening.accruals());
    reservations.putAll(opening.reservations());
    if (opening.claimEnds()) {
      claim = null;
    }
  }

  /** Tells the rules how long allocated work may be protected on claimed GPUs (G3). */
  private void backfill() {
    Duration left = Duration.between(snapshot.now(), claim.readyAt());
    firing.passing(new Backfill(claim.job(), Math.max(0, left.toNanos() / 1e9)));
  }

  private boolean mine(String job) {
    return claim != null && claim.job().equals(job);
  }

  /**
   * What left its node leaves the board too (X2): a gang's GPUs on nodes that are up are idle, and
   * nobody is ended twice.
   */
  private void leaveNodes() {
    if (outcomes.stream().noneMatch(d -> d.outcome() instanceof Preempt)) {
      return;
    }
    Map<String, Running> running = new HashMap<>();
    snapshot.running().forEach(r -> running.put(r.job(), r));
    for (Decided decided : outcomes) {
      if (decided.outcome() instanceof Preempt preempt) {
        Running left = running.get(preempt.job());
        board.vacate(left, decided.rule());
        if (room != null) {
          room.left(left);
        }
      }
    }
  }

  private void turn(Job job, boolean first) {
    Request request = request(job);
    Reservation reservation = reservations.get(job.id());
    Showing showing = new Showing(job, request, first, reservation);
    if (first || reservation != null || mine(job.id())) {
      ask(showing, job, reservation, null);
      showing.end();
      return;
    }
    Asked alike = asked.computeIfAbsent(request, r -> new Asked());
    MakingRoom.Found found = null;
    if (alike.waited(board.version(), waiting)) {
      if (mayMakeRoom(request)) {
        found = makeRoom(job, request, showing);
        if (found.start() != null) {
          carryOut(found, showing);
          showing.end();
          return;
        }
      }
      Decided known = alike.told(noRoom(found));
      if (known != null) {
        answered(new Decided(at(known).to(job.id()), known.rule(), known.ruleName()));
        showing.end();
        return;
      }
    }
    String before = waiting;
    Decided verdict = ask(showing, job, reservation, found);
    showing.end();
    if (verdict.outcome() instanceof Wait) {
      alike.learn(board.version(), before, showing.noRoom, verdict);
    }
  }

  private static Wait at(Decided wait) {
    return (Wait) wait.outcome();
  }

  private static NoRoom noRoom(MakingRoom.Found found) {
    return found == null ? null : found.noRoom();
  }

  /**
   * What jobs of one request were told in this cycle. While nothing changes, another of them finds
   * nothing idle either; only whether room can be made for it depends on its account, and what it
   * is told on nothing but that.
   */
  private static final class Asked {
    private int version = -1;
    private String waiting;
    private final Map<Optional<NoRoom>, Decided> told = new HashMap<>();

    boolean waited(int nowVersion, String nowWaiting) {
      return version == nowVersion && Objects.equals(waiting, nowWaiting);
    }

    Decided told(NoRoom noRoom) {
      return told.get(Optional.ofNullable(noRoom));
    }

    void learn(int nowVersion, String nowWaiting, NoRoom noRoom, Decided wait) {
      if (!waited(nowVersion, nowWaiting)) {
        told.clear();
        version = nowVersion;
        waiting = nowWaiting;
      }
      told.put(Optional.ofNullable(noRoom), wait);
    }
  }

  /** Kinds of running work, one bit each, that were judged for jobs of one request. */
  private record Judged(Request request, long kinds) {}

  /** Whether a claim stands or may be made in this cycle: else no rule about claims comes true. */
  private boolean mayBeClaimed() {
    return claims || !snapshot.claims().isEmpty();
  }

  private Boolean allocatedAsSeen(Job job) {
    return loaded.looksAt().contains("allocated") ? (Boolean) allocated(tree, job) : null;
  }

  private Request request(Job job) {
    return request(loaded, job, allocatedAsSeen(job), mayBeClaimed());
  }

  /**
   * What a job asks for, as far as rules look at it.
   *
   * @param claimed whether rules about claims may come true
   */
  static Request request(Loaded loaded, Job job, Boolean allocated, boolean claimed) {
    return Request.of(job)
        .onTerms(allocated)
        .seen(claimed ? loaded.looksAt() : loaded.looksAtUnclaimed());
  }

  /** N5: it declares a minimum run time, and its account has a budget to pay it from. */
  static boolean allocated(AccountTree tree, Job job) {
    return job.minRuntimeSeconds() > 0 && (tree == null || tree.share(job.account()) > 0);
  }

  private void answered(Decided wait) {
    outcomes.add(wait);
    waits(wait.outcome().job());
  }

  private void waits(String job) {
    if (waiting == null) {
      waiting = job;
    }
  }

  /** A turn of which nobody asks why the job waits: rules are asked only what they never were. */
  private void actingTurn(WaitingLine.Waiting waits, boolean first) {
    Job job = waits.job;
    Remembered.Shape shape = waits.shape;
    if (shape == null || shape.claimed != mayBeClaimed()) {
      shape = remembered.shape(job, allocatedAsSeen(job), mayBeClaimed(), room != null);
      waits.shape = shape;
    }
    Reservation reservation = reservations.isEmpty() ? null : reservations.get(job.id());
    boolean alike = !first && reservation == null && !mine(job.id());
    if (alike && remembered.waits(shape, board.version(), waiting)) {
      waits(job.id());
      return;
    }
    String before = waiting;
    Showing showing = new Showing(job, shape.request, first, reservation);
    showing.shape = shape;
    showing.keyed = reservation == null && !claims && claim == null;
    showing.findKey();
    Decided verdict = null;
    if (showing.key == null || !showing.key.nothing) {
      verdict = ask(showing, job, reservation, null);
      if (verdict == null && showing.key != null && (room == null || !kept.has(Stage.RESERVE))) {
        showing.key.nothing = true;
      }
    } else if (mayMakeRoom(shape.request)) {
      MakingRoom.Found found = makeRoom(job, shape.request, showing);
      if (found.start() != null) {
        carryOut(found, showing);
        verdict = found.start();
      }
    }
    showing.end();
    if (verdict == null) {
      waits(job.id());
      if (alike) {
        remembered.waited(shape, board.version(), before);
      }
    }
  }

  /** What rules are shown for one turn: nothing before it is asked for, and gone when it ends. */
  private final class Showing {
    private final Job job;
    private final Request request;
    private final boolean first;
    private final Reservation reservation;
    private final List<FactHandle> shown = new ArrayList<>();
    private Turn turn;
    private NoRoom noRoom;

    /** Where answers are remembered: what is asked, and what the turn is told by. */
    private Remembered.Shape shape;

    private boolean keyed;
    private Remembered.Key key;

    Showing(Job job, Request request, boolean first, Reservation reservation) {
      this.job = job;
      this.request = request;
      this.first = first;
      this.reservation = reservation;
    }

    String about() {
      return "job " + job.id();
    }

    Turn turn() {
      if (turn == null) {
        turn =
            new Turn(
                job.id(),
                request,
                first,
                queue.at(0).job.id(),
                reservation,
                reservation == null ? null : board.at(reservation.node(), reservation.tier()),
                mine(job.id()) ? claim : null,
                starts,
                waiting,
                refusing == null ? 0 : refusing.held(job.account()));
        shown.add(firing.insert(turn));
        if (kept.isNew(request)) {
          firing.insert(request);
          firing.ask(Stage.FIT, about());
          firing.keep(); // what fits a request stays true all cycle
        }
      }
      return turn;
    }

    void findKey() {
      key =
          keyed ? remembered.key(shape, first, queue.at(0).job.id(), starts, waiting, board) : null;
    }

    void add(Object fact) {
      shown.add(firing.insert(fact));
    }

    void end() {
      if (turn != null) {
        firing.forget(0);
        shown.forEach(firing::delete);
      }
    }
  }

  private MakingRoom.Found makeRoom(Job job, Request request, Showing showing) {
    int[] fitting = fitting(request, showing);
    int[] open = fitting;
    if (claim != null && !mine(job.id())) {
      // On claimed placements room is made for the claimer alone (G3).
      open = Arrays.stream(fitting).filter(place -> !board.isClaimed(place)).toArray();
    }
    return room.make(
        request,
        job,
        fitting,
        open,
        kinds -> judge(kinds, request, showing),
        remembered == null,
        remembered == null ? new MakingRoom.Wanting() : remembered.wanting(showing.shape));
  }

  /** Room for the claimer on what it has claimed (G3); null when there is none yet. */
  private MakingRoom.Found claimedRoom(Job job, Showing showing) {
    List<FactHandle> shown = new ArrayList<>();
    for (Running r : new ClaimedWork(claim, snapshot.running()).yielding()) {
      if (!room.leaves(r)) {
        shown.add(firing.insert(new Yielding(r, r.unprotected(snapshot.now()))));
      }
    }
    Map<Running, Rule> leaves = new LinkedHashMap<>();
    for (Concluded c : firing.ask(Stage.PREEMPT, showing.about())) {
      if (c.what() instanceof Leaves l) {
        leaves.put(l.running(), c.by());
      }
    }
    shown.forEach(firing::delete);
    return room.makeForClaim(showing.turn().request(), job, board.claimed(), leaves);
  }

  /** Whether a rule forbids it: then nobody need work out what it would be. */
  private boolean vetoed(String what) {
    for (Object fact : firing.facts(Veto.class)) {
      if (((Veto) fact).what().equals(what)) {
        return true;
      }
    }
    return false;
  }

  /** Numbers of the placements that fit and are up: the same all cycle. */
  private int[] fitting(Request request, Showing showing) {
    int[] known = remembered == null ? fitting.get(request) : remembered.fitting(showing.shape);
    if (known == null) {
      known = board.of(groupsThatFit(request, showing));
      if (remembered == null) {
        fitting.put(request, known);
      } else {
        remembered.fits(showing.shape, known);
      }
    }
    return known;
  }

  private Set<PlacementGroup> groupsThatFit(Request request, Showing showing) {
    Set<PlacementGroup> groups = remembered == null ? null : remembered.fits(request);
    if (groups == null) {
      showing.turn();
      groups = new HashSet<>();
      for (Object fact : firing.facts(Fit.class)) {
        Fit fit = (Fit) fact;
        if (fit.request().equals(request) && fit.group().state() == NodeState.UP) {
          groups.add(fit.group());
        }
      }
      if (remembered != null) {
        remembered.learn(request, groups);
      }
    }
    return groups;
  }

  /** Which running work of these kinds, one bit each, may be ended for the job (K4). */
  private Judgement judge(long kinds, Request request, Showing showing) {
    Remembered.Key key = showing.key;
    Judged inThisCycle = judging.byRequest() ? new Judged(request, kinds) : null;
    Judgement known =
        key != null
            ? remembered.judged(key, kinds)
            : inThisCycle == null ? null : judgements.get(inThisCycle);
    if (known != null) {
      return known;
    }
    showing.turn();
    List<FactHandle> shown = new ArrayList<>();
    for (long left = kinds; left != 0; left &= left - 1) {
      shown.add(firing.insert(Judgement.kind(Long.numberOfTrailingZeros(left))));
    }
    firing.ask(Stage.SHIELD, showing.about());
    Judgement judged = new Judgement(firing.ask(Stage.PREEMPT, showing.about()));
    shown.forEach(firing::delete);
    if (key != null) {
      remembered.learn(key, kinds, judged);
    } else if (inThisCycle != null) {
      judgements.put(inThisCycle, judged);
    }
    return judged;
  }

  private void carryOut(MakingRoom.Found found, Showing showing) {
    showing.turn();
    found.preempts().forEach(outcomes::add);
    Runnable changes =
        () -> {
          found.victims().forEach(v -> board.vacate(v, found.start().rule()));
          started((Start) found.start().outcome(), found.start().rule(), null);
        };
    if (claim == null && !judging.countsStarts() && !judging.countsRefusing()) {
      board.asOne(changes); // who takes just what others left changes nothing for those that wait
    } else {
      changes.run();
    }
    outcomes.add(found.start());
    swapped(showing, found.start());
    notified(showing.about(), found.start(), showing);
  }

  /**
   * Asks the stages of a turn until one gives the verdict, and carries it out on the board.
   *
   * @param tried what came of making room, where that was tried already
   * @return null when it waits and nobody asks why
   */
  private Decided ask(Showing showing, Job job, Reservation reservation, MakingRoom.Found tried) {
    Turn turn = showing.turn();
    if (turn.claim() == null) {
      return askOn(showing, turn, job, reservation, tried);
    }
    board.claimersTurn(true);
    Decided verdict = askOn(showing, turn, job, reservation, tried);
    if (claim != null) {
      board.claimersTurn(false);
    }
    return verdict;
  }

  private Decided askOn(
      Showing showing, Turn turn, Job job, Reservation reservation, MakingRoom.Found tried) {
    String about = showing.about();
    List<Concluded> available = firing.ask(Stage.AVAILABLE, about);
    if (showing.keyed && showing.key == null) {
      remembered.learnAvailable(showing.shape, board, available);
      showing.findKey();
    }
    firing.ask(Stage.PERMISSION, about);
    Decided verdict = verdict(firing.ask(Stage.START, about), about);
    if (verdict != null) {
      started((Start) verdict.outcome(), verdict.rule(), null);
      outcomes.add(verdict);
      swapped(showing, verdict);
      notified(about, verdict, showing);
      return verdict;
    }
    verdict = verdict(firing.ask(Stage.ABSORB, about), about);
    if (verdict == null && mayMakeRoom(turn.request())) {
      MakingRoom.Found found = tried != null ? tried : makeRoom(job, turn.request(), showing);
      if (found.start() == null && turn.claim() != null) {
        MakingRoom.Found onClaimed = claimedRoom(job, showing);
        found = onClaimed == null ? found : onClaimed;
      }
      if (found.start() != null) {
        carryOut(found, showing);
        return found.start();
      }
      showing.noRoom = found.noRoom();
      showing.add(showing.noRoom);
    }
    if (verdict == null && claims && room != null && claim == null && !vetoed(Veto.CLAIM)) {
      room.soonest(turn.request(), job, fitting(turn.request(), showing)).ifPresent(showing::add);
      verdict = verdict(firing.ask(Stage.CLAIM, about), about);
    }
    if (verdict == null) {
      verdict = verdict(firing.ask(Stage.RESERVE, about), about);
    }
    if (verdict == null && remembered != null) {
      return null;
    }
    if (verdict == null) {
      verdict = dominant(firing.ask(Stage.WAIT, about), about);
      answered(verdict);
      return verdict;
    }
    outcomes.add(verdict);
    if (verdict.outcome() instanceof Start start) {
      started(start, verdict.rule(), reservation);
      notified(about, verdict, showing);
    } else if (verdict.outcome() instanceof Reserve r) {
      hold(r.job(), r.node(), r.tier(), r.gpus(), verdict.rule());
    } else if (verdict.outcome() instanceof Absorb a) {
      hold(a.job(), a.node(), a.tier(), a.gpus(), verdict.rule());
    } else if (verdict.outcome() instanceof Claimed c) {
      claim = new Claim(c.job(), c.on(), snapshot.now(), c.readyAt(), c.yields());
      board.claim(claim);
      backfill();
    }
    return verdict;
  }

  /**
   * Unallocated work never makes others leave (K4); asking for it would be work for nothing. Where
   * no rule looks at that, none is unallocated.
   */
  private boolean mayMakeRoom(Request request) {
    return room != null && !Boolean.FALSE.equals(request.allocated());
  }

  /** The one verdict among what a stage concluded, null when it concluded none. */
  private Decided verdict(List<Concluded> concluded, String about) {
    Decided verdict = null;
    for (Concluded c : concluded) {
      Outcome one =
          c.what() instanceof Together together
              ? new Start(
                  together.job(),
                  board.expand(together.gang(), together.gpus(), loaded.preference()),
                  together.allocated())
              : c.what() instanceof Start
                      || c.what() instanceof Reserve
                      || c.what() instanceof Claimed
                      || c.what() instanceof Absorb
                  ? (Outcome) c.what()
                  : null;
      if (one != null && verdict != null) {
        throw new RuleFailed(
            "two verdicts for " + about + ": by " + verdict.rule() + " and by " + name(c),
            null,
            c.by());
      }
      verdict = one == null ? verdict : c.by().decided(one);
    }
    return verdict;
  }

  /** The reason that is told, by the policy's {@code explain} order. */
  private Decided dominant(List<Concluded> concluded, String about) {
    Decided best = null;
    int bestRank = Integer.MAX_VALUE;
    for (Concluded c : concluded) {
      if (c.what() instanceof Wait wait) {
        int rank = loaded.explain().indexOf(wait.code());
        if (rank < 0) {
          throw new RuleFailed(
              "rule \""
                  + name(c)
                  + "\" gives wait code "
                  + wait.code()
                  + ", which the policy's explain order does not list",
              null,
              c.by());
        }
        if (rank < bestRank) {
          best = c.by().decided(wait);
          bestRank = rank;
        }
      }
    }
    if (best == null) {
      throw new RuleFailed("no rule gives " + about + " a verdict: not even a reason to wait");
    }
    return best;
  }

  private static String name(Concluded c) {
    return c.by().name() + " (" + c.by().file() + ")";
  }

  /**
   * @param completed the reservation that ends by this start, or null where it is not used (D1)
   */
  private void started(Start start, String rule, Reservation completed) {
    if (mine(start.job())) {
      board.unclaim();
    }
    boolean yields = claim != null && !mine(start.job()) && yields(start);
    for (Share share : start.on()) {
      Placement p = board.at(share.node(), share.tier());
      if (p == null || p.state() != NodeState.UP) {
        throw new RuleFailed(
            "rule " + rule + " starts job " + start.job() + " on " + share.node() + ", not up");
      }
      if (completed == null && yields) {
        board.takeYielding(share.node(), share.tier(), share.gpus(), rule);
      } else if (completed == null) {
        board.take(share.node(), share.tier(), share.gpus(), rule);
      } else {
        board.complete(
            share.node(),
            share.tier(),
            completed.gpus(),
            share.gpus() - completed.gpus(),
            start.job(),
            rule);
        reservations.remove(start.job());
      }
    }
    if (refusing != null) {
      refusing.started(start);
    }
    starts++;
  }

  /** Whether work that starts now leaves for the claim when that needs its GPUs (G3, K7). */
  private boolean yields(Start start) {
    Job job = jobs.get(start.job());
    return !Boolean.TRUE.equals(start.allocated())
        || !snapshot.now().plusSeconds(job.minRuntimeSeconds()).isAfter(claim.readyAt());
  }

  /** What a job that starts gives back: its reservation (W1), or its claim (G4). */
  private void swapped(Showing showing, Decided verdict) {
    Start start = (Start) verdict.outcome();
    if (!firing.holds(start)) {
      showing.add(start);
    }
    for (Concluded c : firing.ask(Stage.SWAP, showing.about())) {
      if (c.what() instanceof Release release) {
        released(release, c.by());
      } else if (c.what() instanceof Unclaim unclaim) {
        outcomes.addAll(Opening.released(unclaim.claim(), c.by()));
        claim = null;
      }
    }
  }

  private void hold(String job, String node, Tier tier, int gpus, String rule) {
    board.reserve(node, tier, gpus, job, rule);
  }

  private void released(Release release, Rule by) {
    board.release(release.node(), release.tier(), release.gpus(), release.job(), by.clause());
    reservations.remove(release.job());
    outcomes.add(by.decided(release));
  }

  /**
   * A start that the shell put together is shown to the rules, as those that rules conclude are.
   */
  private void notified(String about, Decided verdict, Showing showing) {
    Start start = (Start) verdict.outcome();
    if (!firing.holds(start)) {
      showing.add(start);
    }
    for (Concluded c : firing.ask(Stage.NOTIFY, about)) {
      if (c.what() instanceof Yield yield) {
        yields.add(yield);
      }
    }
  }
}
