package evenhand.reference;

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
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Worlds made up from a seed, small enough to be read when they fail and crowded enough that every
 * clause gets its turn: ties in usage and time, tiers of equal rank, nodes draining or down,
 * reservations whose placement is gone.
 *
 * <p>One seed, one snapshot. Each is a snapshot that can be, with one exception made on purpose: a
 * reservation may be larger than what its placement has or has idle, so that R5 is met. Such a
 * reservation is then the only one on that placement.
 */
public final class RandomSnapshots {
  private static final Instant NOW = Instant.parse("2026-04-10T09:05:00Z");

  // Names whose order as text is not the order of their numbers, nor of their lower case.
  private static final List<String> NODES =
      List.of("n1", "n2", "n10", "n02", "N3", "gpu-a", "gpu-b", "n9");
  private static final List<String> TIERS = List.of("3080ti", "4090", "5090", "a100");
  private static final double[] TFLOPS = {34.1, 82.6, 104.8, 312};
  private static final List<String> LABS = List.of("BCG", "KDG", "lab-c", "LDS", "7", "quiet");
  private static final double[] USAGES = {0, 24_000, 28_000, 32_000.5};

  private final SplittableRandom random;
  private final List<Tier> tiers = new ArrayList<>();
  private final List<Placement> placements = new ArrayList<>();
  private final List<Account> accounts = new ArrayList<>();
  private final List<String> labs = new ArrayList<>();
  private final List<Job> jobs = new ArrayList<>();
  private final List<Reservation> reservations = new ArrayList<>();
  private final List<Running> running = new ArrayList<>();

  private RandomSnapshots(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** The snapshot of this seed. */
  public static Snapshot of(long seed) {
    RandomSnapshots world = new RandomSnapshots(seed);
    world.makeTiers();
    world.makePlacements();
    world.makeAccounts();
    world.makeJobs();
    world.makeFirstLarge();
    world.makeReservations();
    world.makeRunning();
    return shuffled(world.snapshot(), seed);
  }

  /** The same snapshot with every list in another order. */
  static Snapshot shuffled(Snapshot snapshot, long seed) {
    Random order = new Random(seed);
    return new Snapshot(
        snapshot.policy(),
        snapshot.now(),
        snapshot.cluster(),
        shuffled(snapshot.tiers(), order),
        shuffled(snapshot.placements(), order),
        shuffled(snapshot.accounts(), order),
        shuffled(snapshot.jobs(), order),
        shuffled(snapshot.reservations(), order),
        shuffled(snapshot.running(), order),
        snapshot.claims(),
        snapshot.workStays());
  }

  private static <T> List<T> shuffled(List<T> list, Random order) {
    List<T> other = new ArrayList<>(list);
    Collections.shuffle(other, order);
    return other;
  }

  private Snapshot snapshot() {
    return new Snapshot(
        "reservation", NOW, "main", tiers, placements, accounts, jobs, reservations, running);
  }

  private void makeTiers() {
    int count = between(1, TIERS.size());
    List<Integer> ranks = new ArrayList<>(List.of(10, 20, 30, 40));
    Collections.shuffle(ranks, new Random(random.nextLong()));
    for (int i = 0; i < count; i++) {
      int rank = i > 0 && chance(25) ? tiers.get(i - 1).sortOrder() : ranks.get(i);
      String name = TIERS.get(i);
      // F1 does not look at max_gpus: it is a limit at submission (N1).
      int maxGpus = chance(20) ? 4 : 8;
      boolean autoAssign = !chance(8);
      tiers.add(new Tier(name, rank, TFLOPS[i], maxGpus, autoAssign, "gpu" + name, "gpu:" + name));
    }
  }

  private void makePlacements() {
    int count = between(1, NODES.size());
    boolean allUp = chance(50);
    boolean crowded = chance(60);
    int[] capacities = {1, 2, 4, 4, 8, 8};
    for (int i = 0; i < count; i++) {
      NodeState state = allUp ? NodeState.UP : anyState();
      Tier one = pick(tiers);
      placeOn(NODES.get(i), one, state, capacities, crowded);
      Tier other = pick(tiers);
      if (chance(30) && !other.equals(one)) {
        placeOn(NODES.get(i), other, state, capacities, crowded);
      }
    }
  }

  private NodeState anyState() {
    int roll = random.nextInt(100);
    return roll < 65 ? NodeState.UP : roll < 85 ? NodeState.DRAINING : NodeState.DOWN;
  }

  private void placeOn(String node, Tier tier, NodeState state, int[] capacities, boolean crowded) {
    int capacity = chance(70) ? capacities[random.nextInt(capacities.length)] : between(1, 8);
    int idle = chance(25) ? 0 : between(0, crowded ? Math.min(3, capacity) : capacity);
    placements.add(new Placement(node, new PlacementGroup(tier, capacity, state), idle, 0, null));
  }

  private void makeAccounts() {
    String root = chance(50) ? "org" : null;
    if (root != null) {
      accounts.add(new Account(root, null, 1, chance(50) ? 0 : 90_000, 0));
    }
    int count = between(1, LABS.size());
    for (int i = 0; i < count; i++) {
      double usage =
          chance(70) ? USAGES[random.nextInt(USAGES.length)] : random.nextDouble() * 60_000;
      accounts.add(new Account(LABS.get(i), root, between(1, 3), usage, random.nextInt(1000)));
      labs.add(LABS.get(i));
    }
  }

  private void makeJobs() {
    int count = chance(35) ? between(0, 4) : between(0, 25);
    Set<String> ids = new LinkedHashSet<>();
    while (ids.size() < count) {
      // Numbers of different lengths, and names of which one is the beginning of another.
      ids.add(
          chance(50) ? "" + between(1, 300) : pick(List.of("job", "job-", "J")) + between(1, 30));
    }
    for (String id : ids) {
      int roll = random.nextInt(100);
      int numGpus = roll < 35 ? 1 : roll < 65 ? 2 : roll < 80 ? 4 : between(1, 8);
      String tier = chance(20) ? pick(tiers).name() : null;
      int minimum = chance(60) ? 0 : pick(tiers).sortOrder() + between(-1, 1);
      Instant queuedAt = NOW.minusSeconds(60L * between(0, 5));
      if (chance(20)) {
        queuedAt = queuedAt.plusMillis(between(-500, 0));
      }
      jobs.add(
          new Job(
              id,
              pick(labs),
              pick(List.of("kim", "lee", "park")),
              1,
              numGpus,
              tier,
              minimum,
              between(0, 3),
              queuedAt,
              chance(50) ? 0 : 900L * between(1, 32),
              chance(50),
              between(1, 3)));
    }
  }

  /**
   * Most that is worth seeing happens to the first job of the queue: mostly it is a large one that
   * takes any tier, and so is worth a reservation.
   */
  private void makeFirstLarge() {
    if (jobs.isEmpty() || chance(30)) {
      return;
    }
    Job first = PlainReading.queue(snapshot()).get(0);
    jobs.set(
        jobs.indexOf(first),
        new Job(
            first.id(),
            first.account(),
            first.user(),
            first.nodes(),
            between(2, 8),
            null,
            0,
            first.priority(),
            first.queuedAt(),
            first.minRuntimeSeconds(),
            first.resumable(),
            first.attempt()));
  }

  private void makeReservations() {
    List<Job> holders = new ArrayList<>();
    for (Job job : PlainReading.queue(snapshot())) {
      if (job.numGpus() >= 2) { // R1
        holders.add(job);
      }
    }
    int roll = random.nextInt(100);
    int count = roll < 25 ? 0 : roll < 75 ? 1 : 2;
    Set<Placement> tooSmall = new LinkedHashSet<>();
    for (int i = 0; i < count && !holders.isEmpty(); i++) {
      // The first of them is often the first of the queue, which alone may keep what it holds.
      Job holder = holders.remove(chance(75) ? 0 : random.nextInt(holders.size()));
      int kind = random.nextInt(100);
      if (kind < 8) {
        reserveOnVanished(holder);
      } else if (kind < 20) {
        reserveTooMuch(holder, tooSmall);
      } else {
        reserveSome(holder, tooSmall);
      }
    }
  }

  /** On a node that is not in the inventory, or on one that lacks the tier. */
  private void reserveOnVanished(Job holder) {
    Tier tier = pick(tiers);
    String node = pick(placements).node();
    if (chance(50) || placementAt(node, tier) != null) {
      node = "vanished";
    }
    hold(holder, node, tier, between(1, holder.numGpus() - 1));
  }

  /** More than the placement has idle, perhaps more than it has. */
  private void reserveTooMuch(Job holder, Set<Placement> tooSmall) {
    for (Placement placement : shuffled(placements, new Random(random.nextLong()))) {
      if (reservedOn(placement) == 0 && placement.idle() < holder.numGpus() - 1) {
        tooSmall.add(placement);
        int gpus = between(placement.idle() + 1, holder.numGpus() - 1);
        hold(holder, placement.node(), placement.tier(), gpus);
        return;
      }
    }
  }

  /** Part of what the job asks for, mostly where it fits, all of it idle. */
  private void reserveSome(Job holder, Set<Placement> tooSmall) {
    boolean anywhere = chance(10);
    for (Placement placement : shuffled(placements, new Random(random.nextLong()))) {
      int free = placement.idle() - reservedOn(placement);
      if (free > 0
          && !tooSmall.contains(placement)
          && (anywhere || PlainReading.fits(placement, holder))) {
        int most = Math.min(free, holder.numGpus() - 1);
        int gpus = chance(50) ? 1 : between(1, most); // often some is left to absorb (D2)
        hold(holder, placement.node(), placement.tier(), gpus);
        return;
      }
    }
  }

  private void hold(Job holder, String node, Tier tier, int gpus) {
    Instant since = NOW.minusMillis(between(0, 3_600_000));
    Instant accruedAt = since;
    double accrued = 0;
    if (chance(50)) {
      accruedAt = NOW.minusSeconds(5);
      accrued = between(1, 3000) * tier.tflops();
    }
    if (chance(3)) {
      accruedAt = NOW.plusSeconds(2); // the clock stepped back: no cost, never a negative one
    }
    reservations.add(
        new Reservation(
            holder.id(), holder.account(), node, tier, gpus, since, accrued, accruedAt));
  }

  /** Jobs on all GPUs that are not idle. */
  private void makeRunning() {
    int number = 1000; // above all queued jobs' numbers
    for (Placement placement : placements) {
      int held = placement.capacity() - placement.idle();
      while (held > 0) {
        int gpus = between(1, held);
        held -= gpus;
        Instant started = NOW.minusSeconds(between(1, 7200));
        running.add(
            new Running(
                "" + number++,
                pick(labs),
                List.of(new Share(placement.node(), placement.tier(), gpus)),
                started,
                started.plusSeconds(900L * between(0, 8)),
                chance(80),
                chance(50)));
      }
    }
  }

  private Placement placementAt(String node, Tier tier) {
    for (Placement placement : placements) {
      if (placement.node().equals(node) && placement.tier().equals(tier)) {
        return placement;
      }
    }
    return null;
  }

  private int reservedOn(Placement placement) {
    int sum = 0;
    for (Reservation reservation : reservations) {
      if (reservation.node().equals(placement.node())
          && reservation.tier().equals(placement.tier())) {
        sum += reservation.gpus();
      }
    }
    return sum;
  }

  private int between(int low, int high) {
    return random.nextInt(low, high + 1);
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private <T> T pick(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }
}
