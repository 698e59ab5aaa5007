package evenhand.cycle;

import evenhand.facts.Job;
import evenhand.facts.Snapshot;
import evenhand.policy.AccountTree;
import evenhand.policy.Ordering;
import evenhand.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * The queue as it stood a moment ago, and what has been submitted here since: enough to tell a new
 * job its place without reading ten thousand others for it.
 */
final class QueueSeen {
  /** A queue seen longer ago is read anew. */
  private static final Duration FRESH = Duration.ofSeconds(2);

  private final World world;
  private final Policy policy;
  private final Instant at;
  private final AccountTree tree;
  private final Ordering ordering;
  private final List<Job> jobs;
  private final List<Job> since = new ArrayList<>();

  QueueSeen(World world, Snapshot snapshot, Policy policy, Instant at) {
    this.world = world;
    this.policy = policy;
    this.at = at;
    this.tree = new AccountTree(snapshot.accounts(), List.of());
    this.ordering = policy.ordering(snapshot);
    this.jobs = ordering.jobs();
  }

  World world() {
    return world;
  }

  AccountTree tree() {
    return tree;
  }

  /** Whether it still tells what stands: seen under this policy, and not long ago. */
  boolean holds(Policy nowPolicy, Instant now) {
    return policy == nowPolicy && Duration.between(at, now).abs().compareTo(FRESH) < 0;
  }

  /**
   * A place in the queue.
   *
   * @param place 1 for the first
   * @param of how many wait
   */
  record Place(int place, int of) {}

  /** The place of a job that waits; it is among those that wait from now on. */
  synchronized Place place(Job job) {
    int before = 0;
    for (Job other : since) {
      if (other.id().equals(job.id())) {
        continue;
      }
      before += comesBefore(other, job) ? 1 : 0;
    }
    int low = 0;
    int high = jobs.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (!jobs.get(middle).id().equals(job.id()) && comesBefore(jobs.get(middle), job)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    boolean known =
        low < jobs.size() && jobs.get(low).id().equals(job.id())
            || since.stream().anyMatch(other -> other.id().equals(job.id()));
    if (!known) {
      since.add(job);
    }
    return new Place(low + before + 1, jobs.size() + since.size());
  }

  private boolean comesBefore(Job one, Job other) {
    return ordering.parting(one, other).first() == one;
  }
}
