package evenhand.explain;

import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import evenhand.policy.Policy;
import evenhand.policy.Stage;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What of the cluster is no place for a job, and why: every placement is in one row. Whether a
 * placement fits, and what keeps running work there, is asked of the policy with a small snapshot
 * of that placement and the job alone; only counting idle GPUs is done here.
 *
 * <p>Keeps what it was told about kinds of placements, for all jobs that ask for the same. Not to
 * be shared between threads.
 */
public final class Elimination {
  /** Most placements of which is asked one by one what keeps running work there, for one job. */
  private static final int MOST_ASKED = 16;

  /** Order of the rows: what misses by least comes first. */
  private static final List<String> NEAREST =
      List.of("free", "ahead", "reserved", "", "few_idle", "draining", "down");

  private static final List<String> FARTHEST = List.of("too_small", "tier", "not_allowed");

  private final Policy policy;
  private final Snapshot snapshot;
  private final boolean makesRoom;
  private final Map<String, List<Running>> runningAt = new HashMap<>();
  private final Map<String, Placement> at = new HashMap<>();
  private final Map<String, Account> accounts = new HashMap<>();
  private final Map<Asked, Unfit> fits = new HashMap<>();

  private record Asked(
      Tier tier, int capacity, int gpus, String named, int minimum, String account, boolean paid) {}

  /**
   * @param condition null where it fits
   * @param said the clause that told it to wait there
   */
  private record Unfit(String condition, String said) {}

  public Elimination(Policy policy, Snapshot snapshot) {
    this.policy = policy;
    this.snapshot = snapshot;
    this.makesRoom = policy.has(Stage.PREEMPT);
    snapshot.accounts().forEach(a -> accounts.put(a.id(), a));
    snapshot.placements().forEach(p -> at.put(place(p.node(), p.tier()), p));
    if (makesRoom) {
      for (Running r : snapshot.running()) {
        for (Share s : r.on()) {
          runningAt.computeIfAbsent(place(s.node(), s.tier()), p -> new ArrayList<>()).add(r);
        }
      }
    }
  }

  private static String place(String node, Tier tier) {
    return node + "\n" + tier.name();
  }

  /** GPUs of one placement that are kept for others, and for whom; a claim keeps its room too. */
  private record Kept(int gpus, String holder, boolean claimed) {}

  /** One placement and what it fails at. */
  private record Missed(Placement placement, String condition, Kept kept, String said) {
    int free() {
      return placement.idle() - kept.gpus();
    }
  }

  /**
   * The rows for one job, the nearest miss first.
   *
   * @param job as it asks
   * @param first whether nobody is ahead of it in the queue
   */
  public List<Miss> of(Job job, boolean first) {
    Map<String, Kept> kept = kept(job);
    Map<PlacementGroup, List<Placement>> groups =
        snapshot.placements().stream()
            .collect(
                Collectors.groupingBy(Placement::group, LinkedHashMap::new, Collectors.toList()));
    Map<List<Object>, List<Missed>> rows = new LinkedHashMap<>();
    List<Missed> few = new ArrayList<>();
    groups.forEach(
        (group, placements) -> {
          Unfit unfit = unfit(job, group);
          for (Placement p : placements) {
            Kept here = kept.getOrDefault(place(p.node(), p.tier()), new Kept(0, null, false));
            String condition =
                unfit != null
                    ? unfit.condition()
                    : group.state() != NodeState.UP
                        ? group.state().word()
                        : p.idle() - here.gpus() >= job.numGpus()
                            ? first || job.nodes() > 1 ? "free" : "ahead"
                            : p.idle() >= job.numGpus() ? "reserved" : "few_idle";
            Missed missed = new Missed(p, condition, here, unfit == null ? null : unfit.said());
            if (makesRoom && condition.equals("few_idle")) {
              few.add(missed);
            } else {
              put(rows, missed);
            }
          }
        });
    few.sort(
        Comparator.comparingInt((Missed m) -> -m.free()).thenComparing(m -> m.placement().node()));
    for (int i = 0; i < few.size(); i++) {
      put(rows, i < MOST_ASKED ? asked(job, few.get(i)) : few.get(i));
    }
    return rows.values().stream()
        .map(of -> row(job, of))
        .sorted(
            Comparator.<Miss>comparingInt(m -> rank(m.condition()))
                .thenComparingInt(m -> m.needed() - m.idle() + m.reserved())
                .thenComparing(Miss::tier)
                .thenComparing(Comparator.comparingInt(Miss::capacity).reversed()))
        .toList();
  }

  private static void put(Map<List<Object>, List<Missed>> rows, Missed missed) {
    rows.computeIfAbsent(
            List.of(missed.placement().group(), missed.condition()), k -> new ArrayList<>())
        .add(missed);
  }

  private static int rank(String condition) {
    int far = FARTHEST.indexOf(condition);
    int near = NEAREST.indexOf(condition);
    return far >= 0 ? NEAREST.size() + far : near >= 0 ? near : NEAREST.indexOf("");
  }

  private Map<String, Kept> kept(Job job) {
    Map<String, Kept> kept = new HashMap<>();
    for (Reservation r : snapshot.reservations()) {
      if (!r.job().equals(job.id())) {
        kept.merge(
            place(r.node(), r.tier()),
            new Kept(r.gpus(), r.job(), false),
            (a, b) -> new Kept(a.gpus() + b.gpus(), a.holder(), false));
      }
    }
    for (Claim claim : snapshot.claims()) {
      if (claim.job().equals(job.id())) {
        continue;
      }
      for (Share s : claim.on()) {
        Placement p = at.get(place(s.node(), s.tier()));
        if (p != null) {
          kept.merge(
              place(s.node(), s.tier()),
              new Kept(Math.min(p.idle(), s.gpus()), claim.job(), true),
              (a, b) -> new Kept(a.gpus() + b.gpus(), a.holder(), true));
        }
      }
    }
    return kept;
  }

  private Miss row(Job job, List<Missed> of) {
    Missed nearest =
        of.stream()
            .min(
                Comparator.comparingInt((Missed m) -> -m.free())
                    .thenComparing(m -> m.placement().node()))
            .orElseThrow();
    Placement p = nearest.placement();
    Instant until = null;
    if (rank(nearest.condition()) == NEAREST.indexOf("")) {
      for (Missed m : of) {
        for (Running r :
            runningAt.getOrDefault(place(m.placement().node(), m.placement().tier()), List.of())) {
          if (!r.unprotected(snapshot.now())
              && (until == null || r.protectedUntil().isBefore(until))) {
            until = r.protectedUntil();
          }
        }
      }
    }
    return new Miss(
        p.tier().name(),
        p.capacity(),
        p.state().word(),
        nearest.condition(),
        of.size(),
        p.node(),
        p.idle(),
        nearest.kept().gpus(),
        job.numGpus(),
        nearest.kept().holder(),
        until,
        sentence(job, nearest, until));
  }

  private String sentence(Job job, Missed m, Instant until) {
    Placement p = m.placement();
    String node = p.node();
    String kept =
        m.kept().gpus() == 0 ? "" : ", " + m.kept().gpus() + " kept for job " + m.kept().holder();
    return switch (m.condition()) {
      case "free" ->
          m.free()
              + " are free on "
              + node
              + (job.nodes() > 1
                  ? "; it needs " + job.numGpus() + " on each of " + job.nodes() + " nodes"
                  : "; the next cycle looks at it");
      case "ahead" -> m.free() + " are free on " + node + "; jobs ahead of it come first";
      case "reserved" -> p.idle() + " are idle on " + node + kept;
      case "few_idle" -> p.idle() + " idle of " + job.numGpus() + " needed on " + node + kept;
      case "draining" -> node + " is draining or closed: no new work";
      case "down" -> node + " is down";
      case "too_small" -> node + " has " + p.capacity() + ", " + job.numGpus() + " are needed";
      case "tier" ->
          job.tier() != null && !job.tier().equals(p.tier().name())
              ? "it asks for tier " + job.tier()
              : "sort_order "
                  + p.tier().sortOrder()
                  + " is below its minimum, "
                  + job.minimumTierSortOrder();
      case "not_allowed" ->
          p.tier().autoAssign()
              ? "a rule keeps it from these: " + m.said()
              : "jobs are not assigned to tier " + p.tier().name();
      default ->
          p.idle()
              + " idle of "
              + job.numGpus()
              + " needed on "
              + node
              + kept
              + (m.said() == null ? "" : ": " + m.said())
              + (until == null
                  ? ""
                  : "; the first protection ends at " + until.truncatedTo(ChronoUnit.SECONDS));
    };
  }

  /** Why no placement of this group could ever run it, if it were up and empty; else null. */
  private Unfit unfit(Job job, PlacementGroup group) {
    Asked asked =
        new Asked(
            group.tier(),
            group.capacity(),
            job.numGpus(),
            job.tier(),
            job.minimumTierSortOrder(),
            job.account(),
            job.minRuntimeSeconds() > 0);
    Unfit known = fits.get(asked);
    if (known == null) {
      known = new Unfit(null, null);
      Decided verdict = empty(job, group, job.numGpus(), job.tier(), job.minimumTierSortOrder());
      if (!starts(verdict)) {
        boolean otherTier = starts(empty(job, group, job.numGpus(), null, Integer.MIN_VALUE));
        boolean fewer =
            starts(empty(job, group, 1, job.tier(), job.minimumTierSortOrder()))
                || starts(empty(job, group, 1, null, Integer.MIN_VALUE));
        known =
            new Unfit(
                otherTier ? "tier" : fewer ? "too_small" : "not_allowed",
                verdict == null ? null : policy.ruleName(verdict.rule()));
      }
      fits.put(asked, known);
    }
    return known.condition() == null ? null : known;
  }

  private static boolean starts(Decided verdict) {
    return verdict != null && verdict.outcome() instanceof Start;
  }

  /** The verdict on it were there but one such node, up and empty, and nobody else. */
  private Decided empty(Job job, PlacementGroup group, int gpus, String tier, int minimum) {
    Placement empty =
        new Placement(
            "node",
            new PlacementGroup(group.tier(), group.capacity(), NodeState.UP),
            group.capacity(),
            0,
            null);
    return alone(
        job.asking(1, gpus, tier, minimum),
        List.of(empty),
        List.of(),
        Set.of(),
        above(job.account()));
  }

  /** An account and those above it: on an empty node nobody else's usage matters. */
  private List<Account> above(String account) {
    List<Account> path = new ArrayList<>();
    Account next = accounts.get(account);
    while (next != null && path.size() <= accounts.size()) {
      path.add(next);
      next = next.parent() == null ? null : accounts.get(next.parent());
    }
    return path;
  }

  /** The policy's verdict on the job if there were nothing else. */
  private Decided alone(
      Job job,
      List<Placement> placements,
      List<Running> running,
      Set<String> workStays,
      List<Account> payers) {
    Decided verdict = null;
    for (Decided decided :
        policy
            .decide(
                new Snapshot(
                    snapshot.policy(),
                    snapshot.now(),
                    snapshot.cluster(),
                    snapshot.tiers(),
                    placements,
                    payers,
                    List.of(job),
                    List.of(),
                    running,
                    List.of(),
                    workStays))
            .outcomes()) {
      if (job.id().equals(decided.outcome().job())) {
        verdict = decided;
      }
    }
    return verdict;
  }

  /** What keeps the running work on one placement, told by the policy. */
  private Missed asked(Job job, Missed missed) {
    Placement p = missed.placement();
    List<Running> here = runningAt.getOrDefault(place(p.node(), p.tier()), List.of());
    if (here.isEmpty()) {
      return missed;
    }
    // Where those that run here run elsewhere too, there is no other place to start on.
    Map<String, Placement> shown = new LinkedHashMap<>();
    Set<String> stays = new HashSet<>();
    for (Running r : here) {
      for (Share s : r.on()) {
        Placement other = at.get(place(s.node(), s.tier()));
        if (other != null && other != p) {
          shown.put(
              place(s.node(), s.tier()),
              new Placement(
                  other.node(),
                  new PlacementGroup(other.tier(), other.capacity(), NodeState.DRAINING),
                  other.idle(),
                  0,
                  null));
          stays.add(other.node());
        }
      }
    }
    shown.put(
        place(p.node(), p.tier()),
        new Placement(p.node(), p.group(), Math.max(0, missed.free()), 0, null));
    Decided verdict =
        alone(
            job.asking(1, job.numGpus(), job.tier(), job.minimumTierSortOrder()),
            List.copyOf(shown.values()),
            here,
            stays,
            snapshot.accounts());
    if (starts(verdict) && missed.kept().claimed()) {
      return new Missed(
          p,
          "held_by_reservation",
          missed.kept(),
          "others leave there for job " + missed.kept().holder() + " alone, which has claimed it");
    }
    if (starts(verdict)) {
      return new Missed(p, job.nodes() > 1 ? "free" : "ahead", missed.kept(), null);
    }
    if (verdict != null
        && verdict.outcome() instanceof Wait wait
        && !wait.code().equals("NO_IDLE")) {
      return new Missed(
          p, wait.code().toLowerCase(Locale.ROOT), missed.kept(), policy.ruleName(verdict.rule()));
    }
    return missed;
  }
}
