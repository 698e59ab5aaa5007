package evenhand.policy;

import evenhand.facts.Job;
import evenhand.facts.Placement;
import evenhand.facts.Request;
import evenhand.facts.Running;
import evenhand.facts.Setting;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Soonest;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Start;
import java.nio.IntBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.LongFunction;

/**
 * Makes room for allocated jobs by ending running work (K4). Rules say which work may be ended for
 * a job, judging all of a kind alike ({@link Judgement}); {@link Victims} picks the cheapest set.
 *
 * <p>What running work is, and how its account stands to a wanting job's, is worked out once a
 * cycle for each account that wants, not for each job.
 */
final class MakingRoom {
  private final Loaded loaded;
  private final Judging judging;
  private final Instant now;
  private final AccountTree tree;
  private final double margin;
  private final double window;
  private final ChargeUnit unit;
  private final List<Running> running;
  private final RunningWork works;
  private final Set<String> gone = new HashSet<>();
  private final Map<IntBuffer, Optional<String>> freeAt = new HashMap<>();
  private final Map<Taker, Standing> standings = new HashMap<>();
  private final Map<IntBuffer, Standing> alike = new HashMap<>();
  private final Map<String, AccountTree.Rivals> rivals = new HashMap<>();
  private Board board;
  private Victims victims;
  private Victims.Takers anyone;
  private int[] ofWork;
  private int[] partyOf;
  private List<Party> parties;

  /**
   * What came of it.
   *
   * @param start by which clause it starts, or null when no room could be made
   * @param byAnyone whether room could be made if all unprotected work, whoever's, were ended
   * @param freeAt when the first protection in its way ends; null where none is
   */
  record Found(
      Decided start,
      List<Decided> preempts,
      List<Running> victims,
      boolean byAnyone,
      String freeAt) {}

  /** Who wants: the account, what K5 adds to its usage, and its class of priority. */
  private record Taker(String account, double more, int urgency) {}

  /**
   * Whose running work is: its account's, and where no tree of accounts ranks it, of this class of
   * priority (PR2).
   */
  private record Party(String account, int urgency) {}

  /**
   * How running work stands to a taker; the same one for all takers to whom it stands alike.
   *
   * @param ofAccount the part of its kind that comes from its account, by number of the account
   * @param present the kinds there are, one bit each
   * @param takers by the kinds that may be ended
   */
  private record Standing(int[] ofAccount, long present, Map<Long, Victims.Takers> takers) {}

  /**
   * How running work stands to those who want the same by the same right, and which of it may be
   * ended for them.
   */
  static final class Wanting {
    private Standing standing;
    private Judgement judged;
  }

  MakingRoom(
      Loaded loaded, Judging judging, Snapshot snapshot, AccountTree tree, RunningWork works) {
    this.works = works;
    this.loaded = loaded;
    this.judging = judging;
    this.now = snapshot.now();
    this.tree = tree;
    this.margin = tree == null ? 0 : loaded.setting("preemption_margin").number();
    Setting slices = tree == null ? null : loaded.setting("preempt_window");
    this.window =
        slices == null || slices.text().equals("always")
            ? Double.POSITIVE_INFINITY
            : slices.number();
    this.unit = loaded.chargeUnit();
    this.running = snapshot.running();
  }

  /** This one leaves in this cycle already, for its node's sake (X2) or for another job. */
  void left(Running leaving) {
    gone.add(leaving.job());
  }

  /** Whether it has been told to leave, before this cycle or in it. */
  boolean leaves(Running work) {
    return work.leaving() || gone.contains(work.job());
  }

  /** The board on which room is made, from now on. */
  void on(Board here) {
    board = here;
  }

  /** Puts work that nothing but the job's own terms may protect in order, once a cycle. */
  private Victims victims() {
    if (victims != null) {
      return victims;
    }
    List<RunningWork.One> open = new ArrayList<>();
    for (RunningWork.One one : works.on(board, running)) {
      Running r = one.running();
      // Without a tree of accounts minimum run times protect nothing; consent is the rules' matter.
      boolean mayBe = tree == null || r.unprotected(now);
      if (!r.leaving() && mayBe && !gone.contains(r.job())) {
        open.add(one);
      }
    }
    victims = victims(open);
    ofWork = new int[open.size()];
    partyOf = new int[open.size()];
    parties = new ArrayList<>();
    int[] numbers = new int[works.accounts() * Urgency.CLASSES];
    boolean always = window == Double.POSITIVE_INFINITY;
    for (int i = 0; i < open.size(); i++) {
      Running r = open.get(i).running();
      boolean unprotected = tree != null || r.preemptible();
      boolean inSlice = always || r.intoSlice(now) <= window;
      ofWork[i] = Judgement.ofWork(r.allocated(), unprotected, inSlice);
      int urgency = tree == null ? Urgency.of(r.priority()) : 0;
      int party = open.get(i).account() * Urgency.CLASSES + urgency - Urgency.LEAST;
      if (numbers[party] == 0) {
        parties.add(new Party(r.account(), urgency));
        numbers[party] = parties.size();
      }
      partyOf[i] = numbers[party] - 1;
    }
    return victims;
  }

  private Victims victims(List<RunningWork.One> work) {
    return new Victims(
        board,
        work,
        () ->
            loaded
                .victims()
                .order(work.stream().map(RunningWork.One::running).toList(), now, tree));
  }

  /** The GPU-seconds of a job's minimum run time. */
  static double minimumUsage(Job job) {
    return (double) job.nodes() * job.numGpus() * job.minRuntimeSeconds();
  }

  /**
   * What K5 adds to a job's account: the usage of its minimum run time, in the unit of the window.
   * Where tiers cost different amounts and the job may run on several, the dearest counts: a job
   * that is given less than it was taken to cost preempts nobody it should not have.
   */
  private double minimumUsage(Job job, int[] fitting) {
    double price = 1;
    if (unit != ChargeUnit.GPU_S) {
      price = 0;
      for (int place : fitting) {
        price = Math.max(price, unit.price(board.at(place).tier()));
      }
    }
    return minimumUsage(job) * price;
  }

  /**
   * Makes room, or says why there is none.
   *
   * @param fitting numbers of the placements that fit and are up
   * @param judge which work of these kinds may be ended, and by which rule
   * @param explain whether it matters why there is no room; else {@code byAnyone} means nothing
   * @param wanting what was found in this cycle for others like it, and learns what is found now
   */
  Found make(
      Request request,
      Job job,
      int[] fitting,
      LongFunction<Judgement> judge,
      boolean explain,
      Wanting wanting) {
    Victims all = victims();
    if (explain) {
      anyone = anyone == null ? all.takers(i -> true) : anyone;
      if (!all.possible(request.nodes(), request.numGpus(), fitting, anyone)) {
        return none(false, freeAt(fitting));
      }
    }
    if (wanting.standing == null) {
      wanting.standing =
          standings.computeIfAbsent(
              new Taker(
                  job.account(),
                  minimumUsage(job, fitting),
                  tree == null ? Urgency.of(job.priority()) : 0),
              t -> standing(job, t));
    }
    Standing standing = wanting.standing;
    Judgement judged = wanting.judged != null ? wanting.judged : judge.apply(standing.present());
    wanting.judged = judging.byRequest() ? judged : null;
    long allowed = judged.allowed();
    Victims.Takers takers =
        standing
            .takers()
            .computeIfAbsent(
                allowed, bits -> all.takers(i -> (allowed >>> kind(i, standing) & 1) != 0));
    Optional<Victims.Room> room =
        all.choose(request.nodes(), request.numGpus(), fitting, takers, loaded.preference());
    if (room.isEmpty() || room.get().victims().isEmpty()) {
      return none(true, explain ? freeAt(fitting) : null);
    }
    room.get().victims().forEach(all::left);
    Found made = found(request, job, all, room.get(), victim -> judged.by(kind(victim, standing)));
    made.victims().forEach(this::left);
    return made;
  }

  /** The start that room was made for, and who leaves, by the rule that lets each be ended. */
  private static Found found(
      Request request, Job job, Victims of, Victims.Room room, IntFunction<Rule> by) {
    List<Running> ended = room.victims().stream().map(of::work).toList();
    List<Decided> preempts =
        room.victims().stream()
            .map(victim -> by.apply(victim).decided(new Preempt(of.work(victim).job(), job.id())))
            .toList();
    List<Share> on =
        room.on().stream().map(p -> new Share(p.node(), p.tier(), request.numGpus())).toList();
    Decided start =
        by.apply(room.victims().get(0)).decided(new Start(job.id(), on, request.allocated()));
    return new Found(start, preempts, ended, true, null);
  }

  /**
   * Makes room for the claimer on what it has claimed (G3): by ending work that leaves for it.
   *
   * @param leaves by which rule each of them may be ended
   * @return null when that does not make room
   */
  Found makeForClaim(Request request, Job job, int[] claimed, Map<Running, Rule> leaves) {
    Victims counted = victims(new RunningWork().on(board, List.copyOf(leaves.keySet())));
    Optional<Victims.Room> found =
        counted.choose(
            request.nodes(),
            request.numGpus(),
            claimed,
            counted.takers(i -> true),
            loaded.preference());
    if (found.isEmpty() || found.get().victims().isEmpty()) {
      return null;
    }
    Found made =
        found(request, job, counted, found.get(), victim -> leaves.get(counted.work(victim)));
    Victims all = victims();
    for (int i = 0; i < all.size(); i++) {
      if (made.victims().contains(all.work(i))) {
        all.left(i);
      }
    }
    return made;
  }

  /**
   * When running work may be ended for a job by what is known now: the order of accounts, its
   * contract, its slices (K2 to K8); null where nobody knows.
   */
  private Instant endable(Running r, Job job, double more) {
    if (leaves(r)) {
      return null; // whoever it leaves for has its GPUs
    }
    if (r.account().equals(job.account())
        || r.allocated()
            && !(tree.behind(r.account(), job.account())
                && tree.behindAfter(r.account(), job.account(), more, margin))) {
      return null;
    }
    if (!r.unprotected(now)) {
      return r.protectedUntil();
    }
    if (!r.allocated() || r.intoSlice(now) <= window) {
      return now;
    }
    return now.plusNanos(Math.round((r.minRuntimeSeconds() - r.intoSlice(now)) * 1e9));
  }

  /** What the job could claim (G2); empty where too little is known. */
  Optional<Soonest> soonest(Request request, Job job, int[] fitting) {
    double more = minimumUsage(job, fitting);
    List<Placement> placements = new ArrayList<>();
    for (int place : fitting) {
      placements.add(board.at(place));
    }
    return SoonestRoom.find(
        request, placements, running, r -> endable(r, job, more), now, loaded.preference());
  }

  private static Found none(boolean byAnyone, String freeAt) {
    return new Found(null, List.of(), List.of(), byAnyone, freeAt);
  }

  private int kind(int victim, Standing standing) {
    return ofWork[victim] | standing.ofAccount()[partyOf[victim]];
  }

  /** When the first protected job on any of these placements may be asked to leave. */
  private String freeAt(int[] fitting) {
    return freeAt
        .computeIfAbsent(
            IntBuffer.wrap(fitting),
            f -> {
              Set<String> nodes = new HashSet<>();
              for (int place : fitting) {
                nodes.add(board.at(place).node());
              }
              return running.stream()
                  .filter(r -> tree != null && !r.leaving() && !r.unprotected(now))
                  .filter(p -> p.on().stream().anyMatch(s -> nodes.contains(s.node())))
                  .map(Running::protectedUntil)
                  .min(Instant::compareTo)
                  .map(Instant::toString);
            })
        .orElse(null);
  }

  private Standing standing(Job job, Taker taker) {
    int[] ofAccount = new int[parties.size()];
    AccountTree.Rivals to =
        tree == null
            ? null
            : rivals.computeIfAbsent(
                job.account(), a -> tree.rivals(a, parties.stream().map(Party::account).toList()));
    for (int i = 0; i < ofAccount.length; i++) {
      boolean same = parties.get(i).account().equals(job.account());
      boolean behind =
          to == null ? parties.get(i).urgency() < taker.urgency() : !same && to.behind(i);
      boolean still = behind && (to == null || to.behindAfter(i, taker.more(), margin));
      ofAccount[i] = Judgement.ofAccount(same, behind, still);
    }
    return alike.computeIfAbsent(
        IntBuffer.wrap(ofAccount),
        a -> {
          long present = 0;
          for (int i = 0; i < ofWork.length; i++) {
            present |= 1L << (ofWork[i] | ofAccount[partyOf[i]]);
          }
          return new Standing(ofAccount, present, new HashMap<>());
        });
  }
}
