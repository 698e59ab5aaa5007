package evenhand.cycle;

import evenhand.facts.Ended;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.Request;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.HoldingCost;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Refuse;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Settlement;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.outcomes.Yield;
import evenhand.policy.ClauseView;
import evenhand.policy.Policy;
import evenhand.policy.Rule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A policy in plain Java for tests of the shell: in order of submission, starts on the first
 * placement with room, and the first job of the queue gathers GPUs by reservation.
 */
class PlainPolicy implements Policy {
  /** Running jobs to be preempted in the next decision, and for which job. */
  final Map<String, String> preempt = new LinkedHashMap<>();

  @Override
  public String name() {
    return "plain";
  }

  @Override
  public String title() {
    return "plain";
  }

  @Override
  public String where() {
    return "here";
  }

  @Override
  public List<ClauseView> clauses() {
    return List.of();
  }

  @Override
  public Optional<Rule> rule(String name) {
    return Optional.empty();
  }

  @Override
  public String hash() {
    return "sha256:plain";
  }

  @Override
  public Decision decide(Snapshot s) {
    List<Decided> outcomes = new ArrayList<>();
    List<HoldingCost> accruals = new ArrayList<>();
    List<Yield> yields = new ArrayList<>();
    Map<String, Integer> idle = new HashMap<>();
    Map<String, Placement> placements = new LinkedHashMap<>();
    for (Placement p : s.placements()) {
      String key = p.node() + "/" + p.tier().name();
      placements.put(key, p);
      idle.put(key, p.state() == NodeState.UP ? p.idle() : 0);
    }
    Map<String, Reservation> held = new HashMap<>();
    for (Reservation r : s.reservations()) {
      accruals.add(new HoldingCost(r, s.now()));
      String key = r.node() + "/" + r.tier().name();
      if (!placements.containsKey(key) || placements.get(key).state() != NodeState.UP) {
        outcomes.add(new Decided(new Release(r), "R5"));
        double cost = r.accruedTflopSeconds() + accruals.get(accruals.size() - 1).tflopSeconds();
        outcomes.add(new Decided(new Charge(r.account(), r.job(), cost), "C4"));
      } else {
        held.put(r.job(), r);
        idle.merge(key, -r.gpus(), Integer::sum);
      }
    }
    preempt.forEach((job, by) -> outcomes.add(new Decided(new Preempt(job, by), "K4")));
    preempt.clear();
    boolean first = true;
    for (Job job : order(s)) {
      Reservation mine = held.get(job.id());
      String start = null;
      String best = null;
      for (Map.Entry<String, Placement> e : placements.entrySet()) {
        Placement p = e.getValue();
        if (p.capacity() < job.numGpus() || p.tier().sortOrder() < job.minimumTierSortOrder()) {
          continue;
        }
        if (start == null && idle.get(e.getKey()) >= job.numGpus()) {
          start = e.getKey();
        }
        if (best == null && idle.get(e.getKey()) > 0) {
          best = e.getKey();
        }
      }
      String own = mine == null ? null : mine.node() + "/" + mine.tier().name();
      if (start != null) {
        if (mine != null) {
          outcomes.add(new Decided(new Release(mine), "W1"));
          idle.merge(own, mine.gpus(), Integer::sum);
        }
        start(job, placements.get(start), "D1", outcomes, yields);
        idle.merge(start, -job.numGpus(), Integer::sum);
      } else if (mine != null && mine.gpus() + idle.get(own) >= job.numGpus()) {
        idle.merge(own, mine.gpus() - job.numGpus(), Integer::sum);
        start(job, placements.get(own), "D2", outcomes, yields);
      } else if (mine != null && idle.get(own) > 0) {
        outcomes.add(
            new Decided(new Absorb(job.id(), mine.node(), mine.tier(), idle.get(own)), "D2"));
        idle.put(own, 0);
      } else if (mine == null && first && job.numGpus() > 1 && best != null) {
        Placement p = placements.get(best);
        outcomes.add(new Decided(new Reserve(job.id(), p.node(), p.tier(), idle.get(best)), "D3"));
        idle.put(best, 0);
      } else {
        outcomes.add(new Decided(new Wait(job.id(), "NO_IDLE", null, "all GPUs are in use"), "D4"));
      }
      first = false;
    }
    return new Decision(name(), hash(), "sha256:s", s.now(), outcomes, accruals, yields);
  }

  private static void start(
      Job job, Placement on, String rule, List<Decided> outcomes, List<Yield> yields) {
    Share share = new Share(on.node(), on.tier(), job.numGpus());
    outcomes.add(new Decided(new Start(job.id(), List.of(share)), rule));
    yields.add(new Yield(job.id(), on.node(), on.tier().name(), job.numGpus()));
  }

  @Override
  public Admission admit(Request request, List<Tier> tiers, List<Placement> placements) {
    boolean fits =
        placements.stream()
            .anyMatch(
                p ->
                    p.capacity() >= request.numGpus()
                        && p.tier().sortOrder() >= request.minimumTierSortOrder()
                        && (request.tier() == null || request.tier().equals(p.tier().name())));
    return fits
        ? new Admission(null, null, List.of())
        : new Admission(
            new Refuse("NO_FIT_PLACEMENT", "num_gpus", "nothing has " + request.asked()),
            "N2",
            List.of());
  }

  @Override
  public Settlement settle(Ended ended, Instant now) {
    List<Decided> outcomes = new ArrayList<>();
    List<HoldingCost> held = new ArrayList<>();
    double total = ended.carriedTflopSeconds();
    if (ended.reservation() != null) {
      outcomes.add(new Decided(new Release(ended.reservation()), "R4"));
      held.add(new HoldingCost(ended.reservation(), now));
    }
    if (ended.run() != null) {
      for (Share share : ended.run().on()) {
        held.add(
            new HoldingCost(
                HoldingCost.RUN,
                ended.job(),
                ended.account(),
                share.node(),
                share.tier(),
                share.gpus(),
                ended.run().from(),
                ended.run().to(),
                evenhand.facts.Cost.tflopSeconds(
                    share.gpus(), ended.run().from(), ended.run().to(), share.tier().tflops())));
      }
    }
    for (HoldingCost cost : held) {
      total += cost.tflopSeconds();
    }
    if (total > 0) {
      outcomes.add(new Decided(new Charge(ended.account(), ended.job(), total), "C3"));
    }
    return new Settlement(outcomes, held);
  }

  @Override
  public List<Job> order(Snapshot snapshot) {
    return snapshot.jobs().stream()
        .sorted(Comparator.comparingLong(j -> Long.parseLong(j.id())))
        .toList();
  }

  @Override
  public Map<String, Object> figures(Job job, Snapshot snapshot) {
    return Map.of("id", Long.parseLong(job.id()));
  }

  @Override
  public String ruleName(String clause) {
    return clause + " in words";
  }

  /** So that a test can say what the snapshot must show. */
  static int idle(Snapshot snapshot, String node) {
    return snapshot.placements().stream()
        .filter(p -> p.node().equals(node))
        .findFirst()
        .orElseThrow()
        .idle();
  }

  static List<String> running(Snapshot snapshot) {
    return snapshot.running().stream().map(Running::job).toList();
  }
}
