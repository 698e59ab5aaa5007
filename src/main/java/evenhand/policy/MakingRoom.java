package evenhand.policy;

import evenhand.facts.Candidate;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.Request;
import evenhand.facts.Running;
import evenhand.facts.Setting;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Turn;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Fit;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Preemptable;
import evenhand.outcomes.Start;
import evenhand.policy.Firing.Concluded;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.kie.api.runtime.rule.FactHandle;

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
  private final List<Running> inOrder;
  private final List<Running> protectedOnes = new ArrayList<>();
  private final Set<String> gone = new HashSet<>();
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
    this.inOrder =
        snapshot.running().stream()
            .filter(r -> !r.leaving() && r.unprotected(now))
            .sorted(loaded.victims().comparator(now, tree))
            .toList();
    for (Running r : snapshot.running()) {
      if (!r.leaving() && !r.unprotected(now)) {
        protectedOnes.add(r);
      }
    }
  }

  /** This one leaves already, for another reason. */
  void left(Running running) {
    gone.add(running.job());
  }

  /** What K5 adds to a job's account: the usage of its minimum run time, GPU-seconds. */
  static double minimumUsage(Job job) {
    return (double) job.nodes() * job.numGpus() * job.minRuntimeSeconds();
  }

  Found make(Board board, Firing firing, Turn turn, Job job, String about) {
    Request request = turn.request();
    List<Placement> fitting = fitting(board, firing, request);
    List<Running> there = inOrder.stream().filter(r -> !gone.contains(r.job())).toList();
    if (Victims.choose(request.nodes(), request.numGpus(), fitting, there, loaded.preference())
        .isEmpty()) {
      return new Found(null, List.of(), List.of(), false, freeAt(fitting));
    }
    Map<Candidate, List<Running>> kinds = new LinkedHashMap<>();
    for (Running r : there) {
      kinds.computeIfAbsent(candidate(r, job), k -> new ArrayList<>()).add(r);
    }
    List<FactHandle> shown = new ArrayList<>();
    kinds.keySet().forEach(k -> shown.add(firing.insert(k)));
    firing.ask(Stage.SHIELD, about);
    Map<Candidate, Rule> may = new HashMap<>();
    for (Concluded c : firing.ask(Stage.PREEMPT, about)) {
      if (c.what() instanceof Preemptable preemptable) {
        may.put(preemptable.candidate(), c.by());
      }
    }
    shown.forEach(firing::delete);
    List<Running> allowed = there.stream().filter(r -> may.containsKey(candidate(r, job))).toList();
    Optional<Victims.Room> room =
        Victims.choose(request.nodes(), request.numGpus(), fitting, allowed, loaded.preference());
    if (room.isEmpty() || room.get().victims().isEmpty()) {
      return new Found(null, List.of(), List.of(), true, freeAt(fitting));
    }
    List<Decided> preempts = new ArrayList<>();
    for (Running victim : room.get().victims()) {
      gone.add(victim.job());
      preempts.add(may.get(candidate(victim, job)).decided(new Preempt(victim.job(), job.id())));
    }
    List<Share> on =
        room.get().on().stream()
            .map(p -> new Share(p.node(), p.tier(), request.numGpus()))
            .toList();
    Decided start =
        may.get(candidate(room.get().victims().get(0), job))
            .decided(new Start(job.id(), on, request.allocated()));
    return new Found(start, preempts, room.get().victims(), true, null);
  }

  /** Placements that fit and are up, with what is idle on each. */
  private static List<Placement> fitting(Board board, Firing firing, Request request) {
    Set<Object> groups = new HashSet<>();
    for (Object fact : firing.facts(Fit.class)) {
      Fit fit = (Fit) fact;
      if (fit.request().equals(request) && fit.group().state() == NodeState.UP) {
        groups.add(fit.group());
      }
    }
    return board.all().stream().filter(p -> groups.contains(p.group())).toList();
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

  private Candidate candidate(Running r, Job job) {
    boolean sameAccount = r.account().equals(job.account());
    boolean isBehind =
        !sameAccount
            && behind
                .computeIfAbsent(job.account(), a -> new HashMap<>())
                .computeIfAbsent(r.account(), b -> tree.behind(b, job.account()));
    return new Candidate(
        r.allocated(),
        r.unprotected(now),
        sameAccount,
        isBehind,
        isBehind && tree.behindAfter(r.account(), job.account(), minimumUsage(job), margin),
        r.intoSlice(now) <= window);
  }
}
