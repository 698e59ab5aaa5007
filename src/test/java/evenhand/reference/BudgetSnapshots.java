package evenhand.reference;

import evenhand.facts.Account;
import evenhand.facts.Claim;
import evenhand.facts.Job;
import evenhand.facts.NodeState;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.reference.BudgetReading.Read;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Worlds for policy {@code budget}, made up from a seed: account trees one to three deep, accounts
 * without budget, usages that tie and usages that do not, GPUs mostly taken by running work that is
 * protected, unprotected or unallocated, on one node or on several, some of it exactly at a
 * multiple of its minimum, some of it on nodes that take no more work. On request with a claim that
 * stands: as one made by the policy stands some cycles later, or with something amiss.
 */
final class BudgetSnapshots {
  private static final Instant NOW = Instant.parse("2026-04-10T09:05:00Z");
  private static final List<String> NODES =
      List.of("n1", "n2", "n10", "n02", "N3", "gpu-a", "gpu-b");
  private static final double[] USAGES = {0, 3600, 7200, 10_800, 36_000, 86_400};
  private static final long[] MINIMA = {0, 900, 3600, 3600, 7200, 28_800};

  private final SplittableRandom random;
  private final List<Tier> tiers = new ArrayList<>();
  private final List<Placement> placements = new ArrayList<>();
  private final List<Account> accounts = new ArrayList<>();
  private final List<String> payers = new ArrayList<>();
  private final List<Job> jobs = new ArrayList<>();
  private final List<Running> running = new ArrayList<>();
  private final List<Claim> claims = new ArrayList<>();
  private final Set<String> workStays = new HashSet<>();
  private int nextRunning = 1000;
  private int leaving = 6;
  private int secondTier = 40;
  private int secondTiersNodes = 25;
  private int leastNodes = 1;
  private int leastTops = 1;
  private int least = 40;
  private int stillProtected = 0;
  private int onSameTerms = 0;
  private int onTerms = 70;
  private int leastJobs = 0;

  private BudgetSnapshots(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** The snapshot of this seed. */
  static Snapshot of(long seed, String policy) {
    BudgetSnapshots world = new BudgetSnapshots(seed);
    world.makeTiers();
    world.makeAccounts();
    world.makePlacementsAndRunning();
    world.makeJobs();
    return RandomSnapshots.shuffled(world.snapshot(policy), seed);
  }

  /**
   * The snapshot of this seed, mostly with a claim, and with nodes that are closed and whose work
   * stays.
   */
  static Snapshot withClaim(long seed, String policy) {
    BudgetSnapshots world = new BudgetSnapshots(seed);
    world.leaving = world.chance(40) ? 20 : 0;
    world.leastNodes = 2;
    world.leastTops = 2;
    world.leastJobs = 3;
    world.makeTiers();
    world.makeAccounts();
    world.makePlacementsAndRunning();
    world.makeJobs();
    world.makeTakers();
    world.makeFirstLarge(policy);
    if (world.chance(90)) {
      world.makeClaim(policy);
    }
    for (Placement placement : world.placements) {
      if (placement.state() == NodeState.DRAINING && world.chance(25)) {
        world.workStays.add(placement.node());
      }
    }
    return RandomSnapshots.shuffled(world.snapshot(policy), seed);
  }

  /**
   * The snapshot of this seed, mostly with a first job that can claim and has a choice: of an
   * account that has used least, larger than what is idle, with work around that is protected for
   * some time yet, on nodes of two tiers.
   */
  static Snapshot claiming(long seed, String policy) {
    return RandomSnapshots.shuffled(worldOfClaimer(seed).snapshot(policy), seed);
  }

  /**
   * The snapshot of this seed as {@link #claiming} makes it, some minutes after the claim was made
   * that the plain reading makes there, with small jobs that come by: some may run on what is
   * claimed, some by a second not.
   */
  static Snapshot standing(long seed, String policy) {
    BudgetSnapshots world = worldOfClaimer(seed);
    Read read = ClaimReading.decide(world.snapshot(policy), null, 0, true, 0.05);
    for (Decided decided : read.outcomes()) {
      if (decided.outcome() instanceof Claimed c) {
        world.claims.add(
            new Claim(c.job(), c.on(), NOW.minusSeconds(300), c.readyAt(), c.yields()));
        world.makeBackfill(Duration.between(NOW, c.readyAt()).toSeconds());
      }
    }
    return RandomSnapshots.shuffled(world.snapshot(policy), seed);
  }

  private static BudgetSnapshots worldOfClaimer(long seed) {
    BudgetSnapshots world = new BudgetSnapshots(seed);
    world.leaving = world.chance(30) ? 15 : 0;
    world.secondTier = 85;
    world.secondTiersNodes = 90;
    world.leastNodes = 3;
    world.leastTops = 2;
    world.least = 85;
    world.stillProtected = world.chance(25) ? 40 : 85;
    world.onTerms = 88;
    world.onSameTerms = world.chance(50) ? 60 : 0;
    world.makeTiers();
    world.makeAccounts();
    world.makePlacementsAndRunning();
    world.makeJobs();
    world.makeLeanest();
    world.makeTakers();
    return world;
  }

  private Snapshot snapshot(String policy) {
    return new Snapshot(
        policy,
        NOW,
        "main",
        tiers,
        placements,
        accounts,
        jobs,
        List.of(),
        running,
        claims,
        workStays);
  }

  private void makeTiers() {
    tiers.add(new Tier("h100", 30, 989, 8, true, "gpuh100", "gpu:h100"));
    if (chance(secondTier)) {
      tiers.add(new Tier("a100", chance(20) ? 30 : 20, 312, 8, true, "gpua100", "gpu:a100"));
    }
  }

  private void makeAccounts() {
    int top = between(leastTops, 4);
    for (int i = 0; i < top; i++) {
      grow("p" + i, null, between(1, 3));
    }
  }

  private void grow(String id, String parent, int depth) {
    double weight = chance(8) ? 0 : chance(10) ? 0.1 : between(1, 4);
    boolean leaf = depth == 1 || chance(30);
    // Work of an account that has others below it is charged to it all the same.
    boolean pays = leaf || chance(25);
    double usage = 0;
    if (pays) {
      usage =
          chance(70)
              ? USAGES[random.nextInt(USAGES.length)] * (chance(30) ? weight : 1)
              : Math.rint(random.nextDouble() * 1e8) / 1e3;
      payers.add(id);
    }
    accounts.add(new Account(id, parent, weight, 0, usage));
    if (!leaf) {
      int children = between(1, 3);
      for (int i = 0; i < children; i++) {
        grow(id + "." + i, id, depth - 1);
      }
    }
  }

  private void makePlacementsAndRunning() {
    int count = between(leastNodes, NODES.size());
    boolean alike = chance(50); // clusters for gangs are mostly of equal nodes
    boolean allUp = chance(55);
    int[] capacities = {1, 2, 4, 8};
    int capacityOfAll = capacities[random.nextInt(capacities.length)];
    List<int[]> room = new ArrayList<>(); // GPUs not given to anybody yet
    List<Tier> tierOf = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      room.add(new int[] {alike ? capacityOfAll : capacities[random.nextInt(4)]});
      tierOf.add(chance(secondTiersNodes) ? pick(tiers) : tiers.get(0));
    }
    List<Integer> capacity = new ArrayList<>(room.stream().map(r -> r[0]).toList());
    for (int gangs = between(0, 2); gangs > 0; gangs--) {
      makeGang(tierOf, room);
    }
    int full = between(least, 100);
    for (int i = 0; i < count; i++) {
      while (room.get(i)[0] > 0 && chance(full)) {
        int gpus = Math.min(room.get(i)[0], chance(50) ? between(1, 2) : between(1, 8));
        room.get(i)[0] -= gpus;
        if (!chance(5)) { // else held by a job nobody follows
          run(List.of(new Share(NODES.get(i), tierOf.get(i), gpus)));
        }
      }
      NodeState state = allUp ? NodeState.UP : anyState();
      placements.add(
          new Placement(
              NODES.get(i),
              new PlacementGroup(tierOf.get(i), capacity.get(i), state),
              room.get(i)[0],
              0,
              null));
    }
  }

  private void makeGang(List<Tier> tierOf, List<int[]> room) {
    Tier tier = pick(tiers);
    int gpus = between(1, 4);
    int nodes = between(2, 4);
    List<Share> on = new ArrayList<>();
    List<Integer> at = new ArrayList<>();
    for (int i = 0; i < room.size() && on.size() < nodes; i++) {
      if (tierOf.get(i).equals(tier) && room.get(i)[0] >= gpus && chance(80)) {
        on.add(new Share(NODES.get(i), tier, gpus));
        at.add(i);
      }
    }
    if (on.size() > 1) {
      at.forEach(i -> room.get(i)[0] -= gpus);
      run(on);
    }
  }

  private void run(List<Share> on) {
    boolean allocated = chance(onTerms);
    long minimum = MINIMA[random.nextInt(MINIMA.length)];
    if (allocated && minimum == 0) {
      minimum = 3600;
    }
    Instant started;
    int roll = random.nextInt(100);
    if (minimum > 0 && chance(onSameTerms)) {
      minimum = 3600;
      started = NOW.minusSeconds(900);
    } else if (minimum > 0 && chance(stillProtected)) {
      started = NOW.minusSeconds(Math.min(minimum - 1, 900L * between(0, 3)));
    } else if (roll < 25 && minimum > 0) {
      started = NOW.minusSeconds(minimum * between(1, 3)); // at a multiple, to the second
    } else if (roll < 40 && minimum > 0) {
      started = NOW.minusSeconds(minimum * between(1, 3) + between(-1, 1) + 1800L * between(0, 1));
    } else {
      started = NOW.minusSeconds(300L * between(0, 120));
    }
    Instant protectedUntil = allocated ? started.plusSeconds(minimum) : started;
    Instant checkpoint = chance(15) ? NOW.minusSeconds(60L * between(0, 30)) : null;
    running.add(
        new Running(
            "" + nextRunning++,
            pick(payers),
            on,
            started,
            protectedUntil,
            allocated,
            chance(50),
            minimum,
            checkpoint,
            chance(leaving)));
  }

  private void makeJobs() {
    int count = leastJobs + (chance(50) ? between(0, 3) : between(0, 12));
    for (int i = 0; i < count; i++) {
      int nodes = chance(70) ? 1 : between(2, 4);
      int roll = random.nextInt(100);
      int numGpus = roll < 35 ? 1 : roll < 60 ? 2 : roll < 80 ? 4 : roll < 92 ? 8 : between(1, 8);
      Instant queuedAt = NOW.minusSeconds(60L * between(0, 4));
      jobs.add(
          new Job(
              chance(50) ? "" + (i + 1) : "job" + (i + 1),
              pick(payers),
              pick(List.of("kim", "lee")),
              nodes,
              numGpus,
              chance(15) ? pick(tiers).name() : null,
              chance(85) ? 0 : between(20, 31),
              between(0, 2),
              queuedAt,
              chance(75) ? MINIMA[between(1, MINIMA.length - 1)] : 0,
              chance(50),
              between(1, 3)));
    }
  }

  /** One account has used nothing, nor has any beside or below the accounts above it. */
  private void makeLeanest() {
    String leanest = pick(payers);
    String top = leanest.contains(".") ? leanest.substring(0, leanest.indexOf('.')) : leanest;
    for (int i = 0; i < accounts.size(); i++) {
      Account a = accounts.get(i);
      boolean ofIt = a.id().equals(top) || a.id().startsWith(top + ".");
      double used = ofIt ? 0 : a.windowUsage() + (a.parent() == null ? 3e6 : 0);
      accounts.set(i, new Account(a.id(), a.parent(), ofIt ? 1 : a.weight(), 0, used));
    }
    Placement as = pick(placements);
    int numGpus = between(as.capacity() < 4 ? 1 : as.capacity() / 2, as.capacity());
    long alike =
        placements.stream()
            .filter(p -> p.tier().equals(as.tier()) && p.capacity() >= numGpus)
            .count();
    int nodes = chance(50) ? 1 : (int) Math.min(alike, between(2, 3));
    jobs.add(
        new Job(
            "lean",
            leanest,
            "kim",
            nodes,
            numGpus,
            null,
            0,
            2,
            NOW.minusSeconds(600),
            MINIMA[between(1, MINIMA.length - 1)],
            true,
            1));
  }

  /** Small jobs, of which some end their minimum before the ready time. */
  private void makeBackfill(long left) {
    for (int i = between(2, 6); i > 0; i--) {
      long minimum = pick(List.of(0L, left + between(-1, 1), 900L, 28_800L));
      jobs.add(
          new Job(
              "small" + i,
              pick(payers),
              "kim",
              chance(85) ? 1 : 2,
              between(1, 2),
              null,
              0,
              0,
              NOW.minusSeconds(60),
              Math.max(0, minimum),
              true,
              1));
    }
  }

  /** Starts that wait for those that leave: they hold the same GPUs already. */
  private void makeTakers() {
    for (Running run : List.copyOf(running)) {
      if (run.leaving() && chance(50)) {
        Share share = run.on().get(0);
        long minimum = MINIMA[between(1, MINIMA.length - 1)];
        running.add(
            new Running(
                "" + nextRunning++,
                pick(payers),
                List.of(new Share(share.node(), share.tier(), between(1, share.gpus()))),
                NOW.minusSeconds(5),
                NOW.plusSeconds(minimum),
                true,
                true,
                minimum,
                null,
                false));
      }
    }
  }

  /** The first job of the queue mostly asks for more than is idle: else nobody would claim. */
  private void makeFirstLarge(String policy) {
    List<Job> queue = new BudgetReading.BudgetTree(snapshot(policy)).queue();
    if (queue.isEmpty() || chance(30)) {
      return;
    }
    Job first = queue.get(0);
    int nodes = chance(50) ? 1 : between(2, 3);
    int numGpus = pick(List.of(1, 2, 4, 4, 8));
    jobs.set(jobs.indexOf(first), asking(first, nodes, numGpus));
  }

  private static Job asking(Job job, int nodes, int numGpus) {
    return new Job(
        job.id(),
        job.account(),
        job.user(),
        nodes,
        numGpus,
        job.tier(),
        job.minimumTierSortOrder(),
        job.priority(),
        job.queuedAt(),
        job.minRuntimeSeconds(),
        job.resumable(),
        job.attempt());
  }

  /**
   * A claim on placements with enough GPUs, idle or of work it counts on. Now and then its job is
   * not queued any more, a node of it is not up, it counts on too few, or something has begun there
   * that stays too long.
   */
  private void makeClaim(String policy) {
    List<Job> queue = new BudgetReading.BudgetTree(snapshot(policy)).queue();
    Job claimer =
        queue.isEmpty() || chance(5)
            ? new Job(
                "ended", pick(payers), "kim", between(1, 2), 2, null, 0, 0, NOW, 3600, true, 1)
            : queue.get(chance(65) ? 0 : between(0, queue.size() - 1));
    boolean mayBeBad = chance(10);
    List<Placement> fitting = new ArrayList<>(placements);
    Tier tier = pick(tiers);
    fitting.removeIf(
        p ->
            !p.tier().equals(tier)
                || !BudgetReading.fits(p, claimer)
                || !mayBeBad && p.state() != NodeState.UP);
    if (fitting.size() < claimer.nodes()) {
      return;
    }
    Collections.shuffle(fitting, new Random(random.nextLong()));
    Instant since = NOW.minusSeconds(chance(30) ? 5 : 300L * between(1, 48));
    List<Share> on = new ArrayList<>();
    List<String> yields = new ArrayList<>();
    Instant ready = NOW.minusSeconds(60L * between(0, 2));
    for (Placement placement : fitting.subList(0, claimer.nodes())) {
      on.add(new Share(placement.node(), tier, claimer.numGpus()));
      int comes = placement.idle();
      for (Running run : running) {
        int there = gpusOn(run, placement);
        if (there > 0 && (comes < claimer.numGpus() || chance(10)) && !chance(3)) {
          comes += there;
          yields.add(run.job());
          ready = run.protectedUntil().isAfter(ready) ? run.protectedUntil() : ready;
        }
      }
    }
    int roll = random.nextInt(100);
    Instant readyAt =
        roll < 35
            ? ready
            : roll < 55
                ? NOW.plusSeconds(pick(List.of(900L, 3600L, 7200L)) + between(-1, 1))
                : roll < 75
                    ? NOW.plusSeconds(between(-1, 1))
                    : NOW.plusSeconds(60L * between(-60, 240));
    for (int i = 0; i < running.size(); i++) {
      Running run = running.get(i);
      boolean there = fitting.stream().anyMatch(p -> gpusOn(run, p) > 0);
      if (there && chance(20)) {
        running.set(i, begunSince(run, since, readyAt));
      }
    }
    claims.add(new Claim(claimer.id(), on, since, readyAt, yields));
    if (!queue.isEmpty() && chance(40)) {
      bringToTheMargin(queue.get(0).account(), claimer.account());
    }
  }

  /** The same work, begun since the claim was made; its minimum ends at about the ready time. */
  private Running begunSince(Running run, Instant since, Instant readyAt) {
    Instant started = since.plusSeconds(chance(30) ? 0 : chance(30) ? -1 : 5L * between(1, 60));
    if (started.isAfter(NOW)) {
      started = since;
    }
    long minimum = Math.max(1, Duration.between(started, readyAt).toSeconds() + between(-1, 1));
    return new Running(
        run.job(),
        run.account(),
        run.on(),
        started,
        run.allocated() ? started.plusSeconds(minimum) : started,
        run.allocated(),
        run.resumable(),
        minimum,
        null,
        run.leaving());
  }

  /** The claimer has used what the first job's account has, and about a twentieth more. */
  private void bringToTheMargin(String ofFirst, String ofClaimer) {
    Account first = null;
    int at = -1;
    for (int i = 0; i < accounts.size(); i++) {
      first = accounts.get(i).id().equals(ofFirst) ? accounts.get(i) : first;
      at = accounts.get(i).id().equals(ofClaimer) ? i : at;
    }
    Account own = accounts.get(at);
    if (first.weight() > 0) {
      double level = first.windowUsage() * own.weight() / first.weight();
      double used = Math.rint(level * 1.05 * 1e3) / 1e3 + between(-1, 1);
      accounts.set(at, new Account(own.id(), own.parent(), own.weight(), 0, Math.max(0, used)));
    }
  }

  private static int gpusOn(Running run, Placement placement) {
    int gpus = 0;
    for (Share share : run.on()) {
      if (share.node().equals(placement.node()) && share.tier().equals(placement.tier())) {
        gpus += share.gpus();
      }
    }
    return gpus;
  }

  private NodeState anyState() {
    int roll = random.nextInt(100);
    return roll < 65 ? NodeState.UP : roll < 88 ? NodeState.DRAINING : NodeState.DOWN;
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
