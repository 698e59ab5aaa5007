package evenhand.cycle;

import evenhand.cycle.accounts.GpuTime;
import evenhand.facts.Account;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.policy.Policy;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * One reading seen through the configured tiers: which placements there are, and how many GPUs of
 * each are held by jobs this service does not know.
 *
 * <p>GresUsed counts every job's GPUs, ours too, but shows one of ours only some time after it was
 * handed over. So ours are taken out of it where the reading shows them holding GPUs, and put back
 * as the store knows them, from the moment of the decision on.
 */
public final class Survey {
  private static final GpuTime NOTHING = new GpuTime();

  private final List<Tier> tiers;
  private final String installation;
  private final Map<Key, Stock> stock = new LinkedHashMap<>();
  private final Map<Key, Integer> used = new HashMap<>();
  private final Set<String> unknown = new TreeSet<>();
  private final Set<String> workStays = new TreeSet<>();
  private final Map<Token, List<Share>> holding = new HashMap<>();

  private record Key(String node, String tier) {}

  /**
   * @param reading null before the first: nothing is seen then, nothing held by others
   * @param installation the word of our own tokens
   * @param drains of nodes: those that were asked of us drain, whatever the cluster says
   */
  public Survey(Reading reading, List<Tier> tiers, String installation, List<NodeDrain> drains) {
    this.tiers = tiers;
    Map<String, NodeDrain> drained = new HashMap<>();
    drains.stream()
        .filter(d -> d.source() == NodeDrain.Source.EVENHAND)
        .forEach(d -> drained.put(d.node(), d));
    this.installation = installation;
    if (reading == null) {
      return;
    }
    for (Reading.Seen seen : reading.placements()) {
      Optional<Tier> tier = tierOf(seen.model(), seen.partitions());
      if (tier.isEmpty()) {
        unknown.add(seen.model() == null ? "GPUs without a type" : seen.model());
        continue;
      }
      Key key = new Key(seen.node(), tier.get().name());
      NodeDrain drain = drained.get(seen.node());
      boolean drainsHere = drain != null && seen.state() != NodeState.DOWN;
      if (seen.workStays() && !drainsHere) {
        workStays.add(seen.node());
      }
      Stock old = stock.get(key);
      stock.put(
          key,
          new Stock(
              seen.node(),
              tier.get(),
              seen.capacity() + (old == null ? 0 : old.capacity()),
              drainsHere ? NodeState.DRAINING : seen.state(),
              drainsHere
                  ? drain.reason() + " (drained by " + drain.by() + ")"
                  : seen.state() == NodeState.UP ? null : reasonOf(seen)));
      used.merge(key, seen.used(), Integer::sum);
    }
    for (SeenJob job : reading.jobs()) {
      if (job.state() == SeenJob.State.RUNNING) {
        Token.read(job.name())
            .filter(token -> token.installation().equals(installation))
            .ifPresent(token -> holding.put(token, shares(job)));
      }
    }
  }

  private static String reasonOf(Reading.Seen seen) {
    return seen.reason() == null ? seen.stateText() : seen.reason();
  }

  /** What the inventory shall remember. */
  public List<Stock> stock() {
    return List.copyOf(stock.values());
  }

  /** Models that the cluster has and no tier names: shown, not used. */
  public Set<String> unknownModels() {
    return unknown;
  }

  /**
   * The tier of a model: the one whose gres is {@code gpu:MODEL}, or whose name is the model, as
   * written. Untyped GPUs belong to a tier with the plain gres {@code gpu}. Where several tiers
   * fit, the one reached by a partition of the node is meant, then the lowest.
   *
   * @param model null for GPUs without a type
   */
  public Optional<Tier> tierOf(String model, List<String> partitions) {
    Tier best = null;
    for (Tier tier : tiers) {
      boolean matches =
          model == null
              ? "gpu".equals(tier.gres())
              : model.equals(tier.name()) || ("gpu:" + model).equals(tier.gres());
      if (matches
          && (best == null
              || !partitions.contains(best.partition()) && partitions.contains(tier.partition()))) {
        best = tier;
      }
    }
    return Optional.ofNullable(best);
  }

  private List<Share> shares(SeenJob job) {
    List<Share> shares = new ArrayList<>();
    for (SeenJob.On on : job.on()) {
      // Where the cluster does not say which GPUs it holds, they are the ones it was given.
      Optional<Tier> tier = tierOf(on.model(), List.of());
      if (tier.isPresent() && stock.containsKey(new Key(on.node(), tier.get().name()))) {
        shares.add(new Share(on.node(), tier.get(), on.gpus()));
      }
    }
    return shares;
  }

  /** GPUs that the reading shows in use beyond those of our own jobs that it shows. */
  private Map<Key, Integer> others(World world) {
    Map<Key, Integer> oursShown = new HashMap<>();
    for (Attempt attempt : world.attempts()) {
      List<Share> shown = holding.get(new Token(installation, attempt.job(), attempt.attempt()));
      if (shown != null) {
        for (Share share : shown.isEmpty() ? attempt.on() : shown) {
          oursShown.merge(new Key(share.node(), share.tier().name()), share.gpus(), Integer::sum);
        }
      }
    }
    Map<Key, Integer> others = new HashMap<>();
    used.forEach(
        (key, gpus) -> others.put(key, Math.max(0, gpus - oursShown.getOrDefault(key, 0))));
    return others;
  }

  /** GPUs that jobs which are not ours hold, as this reading shows them: sampled, not exact. */
  public List<Store.Outside> outside(World world) {
    List<Store.Outside> outside = new ArrayList<>();
    others(world)
        .forEach(
            (key, gpus) -> {
              if (gpus > 0) {
                outside.add(new Store.Outside(key.node(), key.tier(), gpus));
              }
            });
    return outside;
  }

  /**
   * The snapshot of this survey and what the store remembers, at {@code now}.
   *
   * @param policy the one that shall decide
   */
  public Snapshot snapshot(World world, Policy policy, CycleSettings settings, Instant now) {
    Map<Key, Integer> ours = new HashMap<>();
    Map<String, Tier> named = new LinkedHashMap<>();
    world.tiers().forEach(t -> named.put(t.name(), t));
    for (Attempt attempt : world.attempts()) {
      for (Share share : attempt.on()) {
        ours.merge(new Key(share.node(), share.tier().name()), share.gpus(), Integer::sum);
        named.putIfAbsent(share.tier().name(), share.tier());
      }
    }
    Map<Key, Integer> others = others(world);
    Map<PlacementGroup, PlacementGroup> groups = new HashMap<>();
    List<Placement> placements = new ArrayList<>(world.stock().size());
    for (Stock s : world.stock()) {
      Key key = new Key(s.node(), s.tier().name());
      int taken = others.getOrDefault(key, 0) + ours.getOrDefault(key, 0);
      int idle = Math.max(0, s.capacity() - taken);
      PlacementGroup group = new PlacementGroup(s.tier(), s.capacity(), s.state());
      placements.add(new Placement(s.node(), groups.computeIfAbsent(group, g -> g), idle, 0, null));
    }
    List<Job> queued = new ArrayList<>();
    List<Reservation> reservations = new ArrayList<>();
    Map<Long, StoredJob> jobs = new HashMap<>();
    for (StoredJob job : world.jobs()) {
      jobs.put(job.id(), job);
      if (job.state() == JobState.GLOBAL_QUEUE_WAIT) {
        queued.add(job.asks());
        if (job.reservation() != null) {
          reservations.add(job.reservation());
          named.putIfAbsent(job.reservation().tier().name(), job.reservation().tier());
        }
      }
    }
    List<Running> running = new ArrayList<>(world.attempts().size());
    for (Attempt attempt : world.attempts()) {
      StoredJob job = jobs.get(attempt.job());
      Instant since = attempt.startedAt() == null ? attempt.decidedAt() : attempt.startedAt();
      long minimum = job == null ? 0 : job.asks().minRuntimeSeconds();
      // Protection counts from the start (K2), which is still to come for what is dispatched.
      Instant counts = attempt.startedAt() == null ? now : since;
      running.add(
          new Running(
              Long.toString(attempt.job()),
              attempt.account(),
              attempt.on(),
              since,
              protectedUntil(attempt, job, policy, since, counts),
              attempt.allocated(),
              job == null || job.asks().resumable(),
              minimum,
              attempt.checkpointAt(),
              attempt.leaving(),
              job == null ? 0 : job.asks().priority(),
              job == null || job.asks().preemptible()));
    }
    return new Snapshot(
        policy.name(),
        now,
        settings.cluster(),
        // What is still held of a tier that is not configured any more has its price all the same.
        List.copyOf(named.values()),
        placements,
        accounts(world, policy, settings, now),
        queued,
        reservations,
        running,
        world.claim() == null ? List.of() : List.of(world.claim()),
        workStays);
  }

  /**
   * Until when nothing may preempt it. Work that nobody's budget pays for is protected by nothing
   * (N5); where minimum run times protect nothing, it is what the job consented to (PR3).
   *
   * @param since when it started, or was given its GPUs
   * @param counts from when its protection counts
   */
  private static Instant protectedUntil(
      Attempt attempt, StoredJob job, Policy policy, Instant since, Instant counts) {
    if (!attempt.allocated()) {
      return since;
    }
    if (job == null) {
      return counts;
    }
    if (policy.minimumProtects()) {
      return counts.plusSeconds(job.asks().minRuntimeSeconds());
    }
    // When one that does not consent ends nobody knows before its time limit.
    return job.asks().preemptible() || job.timeLimitSeconds() == null
        ? since
        : counts.plusSeconds(job.timeLimitSeconds());
  }

  /**
   * The accounts with what ended runs and running ones have used within the policy's window (A3): a
   * job of a week must not be free until it ends.
   *
   * @param world loaded with the window that ends at {@code now}
   */
  public static List<Account> accounts(
      World world, Policy policy, CycleSettings settings, Instant now) {
    return settings
        .window(policy)
        .map(
            window -> {
              Map<String, GpuTime> used = used(world, now.minus(window), now);
              return world.accounts().stream()
                  .map(
                      a ->
                          new Account(
                              a.id(),
                              a.parent(),
                              a.weight(),
                              a.cumulativeUsage(),
                              used.getOrDefault(a.id(), NOTHING).in(policy.chargeUnit())))
                  .toList();
            })
        .orElse(world.accounts());
  }

  private static Map<String, GpuTime> used(World world, Instant window, Instant now) {
    Map<String, GpuTime> used = new HashMap<>();
    world.used().forEach((account, time) -> used.put(account, time.copy()));
    for (Attempt attempt : world.attempts()) {
      if (attempt.allocated() && attempt.startedAt() != null) {
        Instant from = attempt.startedAt().isAfter(window) ? attempt.startedAt() : window;
        if (from.isBefore(now)) {
          long micros = ChronoUnit.MICROS.between(from, now);
          GpuTime time = used.computeIfAbsent(attempt.account(), a -> new GpuTime());
          attempt.on().forEach(s -> time.add(s.tier().tflops(), s.gpus() * micros));
        }
      }
    }
    return used;
  }
}
