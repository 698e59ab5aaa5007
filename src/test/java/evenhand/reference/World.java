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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A snapshot written by hand, in the order in which a scenario is told. Jobs queue up one second
 * after another unless their time is given; GPUs that are not idle are held by jobs nobody follows.
 */
final class World {
  static final Instant NOW = Instant.parse("2026-04-10T09:05:00Z");

  private final Map<String, Tier> tiers = new LinkedHashMap<>();
  private final List<Placement> placements = new ArrayList<>();
  private final List<Account> accounts = new ArrayList<>();
  private final List<Job> jobs = new ArrayList<>();
  private final List<Reservation> reservations = new ArrayList<>();
  private final List<Running> running = new ArrayList<>();
  private Instant nextArrival = NOW.minusSeconds(3600);

  World tier(String name, int sortOrder, double tflops) {
    return tier(name, sortOrder, tflops, true);
  }

  World tier(String name, int sortOrder, double tflops, boolean autoAssign) {
    tiers.put(name, new Tier(name, sortOrder, tflops, 8, autoAssign, "gpu" + name, "gpu:" + name));
    return this;
  }

  World place(String node, String tier, int capacity, int idle) {
    return place(node, tier, capacity, idle, NodeState.UP);
  }

  World place(String node, String tier, int capacity, int idle, NodeState state) {
    placements.add(
        new Placement(node, new PlacementGroup(tiers.get(tier), capacity, state), idle, 0, null));
    return this;
  }

  World account(String id, double usage) {
    accounts.add(new Account(id, null, 1, usage, 0));
    return this;
  }

  World job(String id, String account, int numGpus) {
    nextArrival = nextArrival.plusSeconds(1);
    return job(id, account, numGpus, nextArrival);
  }

  World job(String id, String account, int numGpus, Instant queuedAt) {
    return job(id, account, numGpus, queuedAt, null, 0);
  }

  /** A job that names a tier. */
  World jobOn(String tier, String id, String account, int numGpus) {
    nextArrival = nextArrival.plusSeconds(1);
    return job(id, account, numGpus, nextArrival, tier, 0);
  }

  /** A job that accepts tiers of this sort order and above. */
  World jobFrom(int minimumTierSortOrder, String id, String account, int numGpus) {
    nextArrival = nextArrival.plusSeconds(1);
    return job(id, account, numGpus, nextArrival, null, minimumTierSortOrder);
  }

  private World job(
      String id, String account, int numGpus, Instant queuedAt, String tier, int minimum) {
    jobs.add(new Job(id, account, "kim", 1, numGpus, tier, minimum, 0, queuedAt, 0, true, 1));
    return this;
  }

  /** A reservation that began this many seconds ago and was not accrued since. */
  World holds(String job, String node, String tier, int gpus, long secondsAgo) {
    return holds(job, node, tier, gpus, NOW.minusSeconds(secondsAgo), 0);
  }

  World holds(
      String job, String node, String tier, int gpus, Instant accruedAt, double accruedTflopS) {
    String account = null;
    for (Job queued : jobs) {
      if (queued.id().equals(job)) {
        account = queued.account();
      }
    }
    reservations.add(
        new Reservation(
            job,
            account,
            node,
            tiers.get(tier),
            gpus,
            NOW.minusSeconds(300),
            accruedTflopS,
            accruedAt));
    return this;
  }

  World running(String job, String account, String node, String tier, int gpus) {
    running.add(
        new Running(
            job,
            account,
            List.of(new Share(node, tiers.get(tier), gpus)),
            NOW.minusSeconds(3600),
            NOW.minusSeconds(3600),
            true,
            true));
    return this;
  }

  Snapshot snapshot() {
    return new Snapshot(
        "reservation",
        NOW,
        "main",
        List.copyOf(tiers.values()),
        placements,
        accounts,
        jobs,
        reservations,
        running);
  }
}
