package evenhand.policy;

import evenhand.facts.Candidate;
import evenhand.facts.Claim;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
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

  /** What K5 adds to a job's account: the usage of its minimum run time, GPU-seconds. */
  static double minimumUsage(Job job) {
    return (double) job.nodes() * job.numGpus() * job.minRuntimeSeconds();
  }

  /**
   * Makes room, or says why there is none.
   *
   * @param fitting placements that fit and are up, with what is idle on each
   * @param judge by which rule work of each of these kinds may be ended; it may not where none is
   *     given
   * @param claim what the job has claimed, or null
   * @param explain whether it matters why there is no room; else {@code byAnyone} means nothing
   */
  Found make(
      Request request,
      Job job,
      List<Placement> fitting,
      Function<Set<Candidate>, Map<Candidate, Rule>> judge,
      Claim claim,
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
    for (Running r : there) {
      Candidate kind = candidate(r, job, standings, claim);
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
          may.get(candidate(victim, job, standings, claim))
              .decided(new Preempt(victim.job(), job.id())));
    }
    List<Share> on =
        room.get().on().stream()
            .map(p -> new Share(p.node(), p.tier(), request.numGpus()))
            .toList();
    Decided start =
        may.get(candidate(room.get().victims().get(0), job, standings, claim))
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

  private Standing standing(String account, Job job) {
    boolean same = account.equals(job.account());
    boolean isBehind =
        !same
            && behind
                .computeIfAbsent(job.account(), a -> new HashMap<>())
                .computeIfAbsent(account, b -> tree.behind(b, job.account()));
    return new Standing(
        same,
        isBehind,
        isBehind && tree.behindAfter(account, job.account(), minimumUsage(job), margin));
  }

  private Candidate candidate(Running r, Job job, Map<String, Standing> standings, Claim claim) {
    Standing its = standings.computeIfAbsent(r.account(), a -> standing(a, job));
    return new Candidate(
        r.allocated(),
        r.unprotected(now),
        its.same,
        its.behind,
        its.stillBehind,
        r.intoSlice(now) <= window,
        claim != null && claim.yields(r));
  }

  /**
   * When running work may be ended for a job by what is known now: the order of accounts, its
   * contract, its slices (K2 to K8); null where nobody knows.
   */
  private Instant endable(Running r, Job job, Map<String, Standing> standings) {
    if (r.leaving()) {
      return now;
    }
    Standing its = standings.computeIfAbsent(r.account(), a -> standing(a, job));
    if (its.same || r.allocated() && !its.stillBehind) {
      return null;
    }
    if (r.unprotected(now) && (!r.allocated() || r.intoSlice(now) <= window)) {
      return now;
    }
    if (!r.unprotected(now)) {
      return r.protectedUntil();
    }
    double left = r.minRuntimeSeconds() - r.intoSlice(now);
    return now.plusNanos(Math.round(left * 1e9));
  }

  private record Free(Instant at, int gpus, String job) {}

  private record Ready(Placement placement, Instant at, List<String> yields) {}

  /**
   * The placements that become free or unprotected soonest (G2), all of one tier; empty where that
   * is known of too few.
   *
   * @param fitting placements that fit and are up, with what is idle on each
   */
  Optional<Soonest> soonest(Request request, Job job, List<Placement> fitting) {
    Map<String, Standing> standings = new HashMap<>();
    Map<String, List<Free>> frees = new HashMap<>();
    for (Running r : running) {
      Instant at = gone.contains(r.job()) ? null : endable(r, job, standings);
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
      ready(p, request.numGpus(), frees.getOrDefault(p.node() + "\n" + p.tier().name(), List.of()))
          .ifPresent(r -> byTier.computeIfAbsent(p.tier().name(), t -> new ArrayList<>()).add(r));
    }
    Comparator<Ready> soonestFirst =
        Comparator.comparing(Ready::at).thenComparing(Ready::placement, loaded.preference());
    return byTier.values().stream()
        .filter(all -> all.size() >= request.nodes())
        .map(all -> all.stream().sorted(soonestFirst).limit(request.nodes()).toList())
        .min(
            Comparator.<List<Ready>, Instant>comparing(all -> all.get(all.size() - 1).at())
                .thenComparing(all -> -all.get(0).placement().tier().sortOrder())
                .thenComparing(all -> all.get(0).placement().tier().name()))
        .map(
            all ->
                new Soonest(
                    all.stream()
                        .map(
                            r ->
                                new Share(
                                    r.placement().node(), r.placement().tier(), request.numGpus()))
                        .toList(),
                    all.get(all.size() - 1).at(),
                    all.stream()
                        .flatMap(r -> r.yields().stream())
                        .distinct()
                        .sorted(Natural.IDS)
                        .toList()));
  }

  private Optional<Ready> ready(Placement p, int needed, List<Free> frees) {
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
