package evenhand.policy;

import evenhand.facts.Candidate;
import evenhand.facts.Job;
import evenhand.facts.Placement;
import evenhand.facts.Request;
import evenhand.facts.Running;
import evenhand.facts.Setting;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Start;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Makes room for allocated jobs by ending running work (K4). Rules say which work may be ended for
 * a job, judging all of a kind alike ({@link Candidate}); {@link Victims} picks the cheapest set.
 */
final class MakingRoom {
  private final Loaded loaded;
  private final Instant now;
  private final AccountTree tree;
  private final double margin;
  private final double window;
  private final List<Running> running;
  private final List<Running> protectedOnes = new ArrayList<>();
  private final Set<String> gone = new HashSet<>();
  private List<Running> inOrder;
  private final Map<String, Map<String, Boolean>> behind = new HashMap<>();

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

  MakingRoom(Loaded loaded, Snapshot snapshot, AccountTree tree) {
    this.loaded = loaded;
    this.now = snapshot.now();
    this.tree = tree;
    this.margin = loaded.setting("preemption_margin").number();
    Setting slices = loaded.setting("preempt_window");
    this.window = slices.text().equals("always") ? Double.POSITIVE_INFINITY : slices.number();
    this.running = snapshot.running();
    for (Running r : snapshot.running()) {
      if (!r.leaving() && !r.unprotected(now)) {
        protectedOnes.add(r);
      }
    }
  }

  /** This one leaves already, for another reason: to be said before room is made for anybody. */
  void left(Running running) {
    gone.add(running.job());
  }

  /** Work that nothing but the job's own terms may protect, cheapest to end first. */
  private List<Running> mayBeEnded() {
    if (inOrder == null) {
      List<Running> open = new ArrayList<>();
      for (Running r : running) {
        if (!r.leaving() && r.unprotected(now) && !gone.contains(r.job())) {
          open.add(r);
        }
      }
      inOrder = loaded.victims().sort(open, now, tree);
    }
    return inOrder;
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
  private double minimumUsage(Job job, List<Placement> fitting) {
    double price = 0;
    for (Placement p : fitting) {
      price = Math.max(price, loaded.chargeUnit().price(p.tier()));
    }
    return minimumUsage(job) * price;
  }

  /**
   * Makes room, or says why there is none.
   *
   * @param fitting placements that fit and are up, with what is idle on each
   * @param judge by which rule work of each of these kinds may be ended; it may not where none is
   *     given
   * @param explain whether it matters why there is no room; else {@code byAnyone} means nothing
   */
  Found make(
      Request request,
      Job job,
      List<Placement> fitting,
      Function<Set<Candidate>, Map<Candidate, Rule>> judge,
      boolean explain) {
    List<Running> there = mayBeEnded();
    if (explain
        && Victims.choose(request.nodes(), request.numGpus(), fitting, there, loaded.preference())
            .isEmpty()) {
      return new Found(null, List.of(), List.of(), false, freeAt(fitting));
    }
    Set<Candidate> kinds = new LinkedHashSet<>();
    List<Candidate> kindOf = new ArrayList<>(there.size());
    Map<String, Standing> standings = new HashMap<>();
    double more = minimumUsage(job, fitting);
    for (Running r : there) {
      Candidate kind = candidate(r, job, more, standings);
      kinds.add(kind);
      kindOf.add(kind);
    }
    Map<Candidate, Rule> may = judge.apply(kinds);
    List<Running> allowed = new ArrayList<>();
    for (int i = 0; i < kindOf.size(); i++) {
      if (may.containsKey(kindOf.get(i))) {
        allowed.add(there.get(i));
      }
    }
    if (!explain && allowed.isEmpty()) {
      return new Found(null, List.of(), List.of(), true, null);
    }
    Optional<Victims.Room> room =
        Victims.choose(request.nodes(), request.numGpus(), fitting, allowed, loaded.preference());
    if (room.isEmpty() || room.get().victims().isEmpty()) {
      return new Found(null, List.of(), List.of(), true, explain ? freeAt(fitting) : null);
    }
    List<Decided> preempts = new ArrayList<>();
    for (Running victim : room.get().victims()) {
      inOrder.remove(victim);
      preempts.add(
          may.get(candidate(victim, job, more, standings))
              .decided(new Preempt(victim.job(), job.id())));
    }
    List<Share> on =
        room.get().on().stream()
            .map(p -> new Share(p.node(), p.tier(), request.numGpus()))
            .toList();
    Decided start =
        may.get(candidate(room.get().victims().get(0), job, more, standings))
            .decided(new Start(job.id(), on, request.allocated()));
    return new Found(start, preempts, room.get().victims(), true, null);
  }

  /** When the first protected job on any of these placements may be asked to leave. */
  private String freeAt(List<Placement> fitting) {
    Set<String> nodes = new HashSet<>();
    fitting.forEach(p -> nodes.add(p.node()));
    return protectedOnes.stream()
        .filter(r -> r.on().stream().anyMatch(s -> nodes.contains(s.node())))
        .map(Running::protectedUntil)
        .min(Instant::compareTo)
        .map(Instant::toString)
        .orElse(null);
  }

  /** How the account of running work stands to that of the job that wants its GPUs. */
  private record Standing(boolean same, boolean behind, boolean stillBehind) {}

  private Standing standing(String account, Job job, double more) {
    boolean same = account.equals(job.account());
    boolean isBehind =
        !same
            && behind
                .computeIfAbsent(job.account(), a -> new HashMap<>())
                .computeIfAbsent(account, b -> tree.behind(b, job.account()));
    return new Standing(
        same, isBehind, isBehind && tree.behindAfter(account, job.account(), more, margin));
  }

  private Candidate candidate(Running r, Job job, double more, Map<String, Standing> standings) {
    Standing its = standings.computeIfAbsent(r.account(), a -> standing(a, job, more));
    return new Candidate(
        r.allocated(),
        r.unprotected(now),
        its.same,
        its.behind,
        its.stillBehind,
        r.intoSlice(now) <= window);
  }
}
