package evenhand.cycle;

import evenhand.explain.Elimination;
import evenhand.explain.Miss;
import evenhand.explain.SmallestChanges;
import evenhand.explain.WhatIf;
import evenhand.facts.Job;
import evenhand.facts.Reservation;
import evenhand.facts.Snapshot;
import evenhand.policy.Ordering;
import evenhand.policy.Policy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * All that questions about waiting jobs are answered from, of one moment: what the store held then,
 * and the snapshot a cycle would have decided on. What was found out about one job is kept for the
 * next who asks.
 */
final class Scene {
  private final Policy policy;
  private final World world;
  private final Snapshot snapshot;
  private final Ordering ordering;
  private final Map<String, Integer> places = new HashMap<>();
  private final Map<String, StoredJob> jobs = new HashMap<>();
  private final Map<String, SmallestChanges> changes = new HashMap<>();
  private Elimination elimination;
  private WhatIf whatIf;

  /**
   * @param world null for a recorded snapshot
   */
  Scene(Policy policy, World world, Snapshot snapshot) {
    this.policy = policy;
    this.world = world;
    this.snapshot = snapshot;
    this.ordering = policy.ordering(snapshot);
    List<Job> order = ordering.jobs();
    for (int i = 0; i < order.size(); i++) {
      places.put(order.get(i).id(), i);
    }
    if (world != null) {
      world.jobs().forEach(j -> jobs.put(j.asks().id(), j));
    }
  }

  Policy policy() {
    return policy;
  }

  World world() {
    return world;
  }

  Snapshot snapshot() {
    return snapshot;
  }

  Ordering ordering() {
    return ordering;
  }

  /** Its place in the queue, 0 for the first; null when it is not in the queue. */
  Integer place(String job) {
    return places.get(job);
  }

  /** Null for a job that is not there, and in a recorded snapshot. */
  StoredJob job(String id) {
    return jobs.get(id);
  }

  /** Those that were not over, by id. */
  Map<String, StoredJob> jobs() {
    return jobs;
  }

  /** What the job holds, or null. */
  Reservation reservation(String job) {
    for (Reservation held : snapshot.reservations()) {
      if (held.job().equals(job)) {
        return held;
      }
    }
    return null;
  }

  /** Works out what every question needs. */
  synchronized void prepare() {
    if (elimination == null) {
      elimination = new Elimination(policy, snapshot);
    }
  }

  synchronized List<Miss> eliminated(Job job) {
    prepare();
    return elimination.of(job, place(job.id()) == 0);
  }

  synchronized SmallestChanges changes(String job) {
    SmallestChanges known = changes.get(job);
    if (known == null) {
      if (whatIf == null) {
        whatIf = new WhatIf(policy, snapshot);
      }
      known = SmallestChanges.of(whatIf, job);
      changes.put(job, known);
    }
    return known;
  }
}
