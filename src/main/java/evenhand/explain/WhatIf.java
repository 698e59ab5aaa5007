package evenhand.explain;

import evenhand.facts.Job;
import evenhand.facts.Request;
import evenhand.facts.Snapshot;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Start;
import evenhand.policy.Policy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One snapshot, asked again and again with one queued job changed: would it start? The whole queue
 * is decided each time, for those ahead of it take their GPUs first. Not to be shared between
 * threads.
 */
public final class WhatIf {
  private final Policy policy;
  private final Snapshot snapshot;
  private final Policy.Acting acting;
  private final Policy.Admitting admitting;
  private final Map<String, Integer> places = new HashMap<>();
  private int asked;

  public WhatIf(Policy policy, Snapshot snapshot) {
    this.policy = policy;
    this.snapshot = snapshot;
    this.acting = policy.acting();
    this.admitting = policy.admitting();
    for (int i = 0; i < snapshot.jobs().size(); i++) {
      places.put(snapshot.jobs().get(i).id(), i);
    }
  }

  /**
   * A start that would be given.
   *
   * @param ends running jobs that would be told to make room for it
   */
  public record Given(Start start, List<String> ends) {}

  Policy policy() {
    return policy;
  }

  Snapshot snapshot() {
    return snapshot;
  }

  /** The queued job of this id as the snapshot has it; null when it is not in the queue. */
  public Job job(String id) {
    Integer place = places.get(id);
    return place == null ? null : snapshot.jobs().get(place);
  }

  /** How many decisions were made for answers so far. */
  int asked() {
    return asked;
  }

  /** The start that this job would be given in place of the one of its id; null when none. */
  Given given(Job changed) {
    return given(changed, snapshot.now());
  }

  /** The same at another moment, with nothing else changed by then. */
  Given given(Job changed, Instant now) {
    List<Job> jobs = new ArrayList<>(snapshot.jobs());
    jobs.set(places.get(changed.id()), changed);
    asked++;
    Snapshot then =
        new Snapshot(
            snapshot.policy(),
            now,
            snapshot.cluster(),
            snapshot.tiers(),
            snapshot.placements(),
            snapshot.accounts(),
            jobs,
            snapshot.reservations(),
            snapshot.running(),
            snapshot.claims(),
            snapshot.workStays());
    try {
      return given(changed.id(), acting.decide(then));
    } finally {
      acting.close(); // nobody knows whether there will be another question
    }
  }

  private static Given given(String job, Decision decision) {
    Start start = null;
    List<String> ends = new ArrayList<>();
    for (Decided decided : decision.outcomes()) {
      if (decided.outcome() instanceof Start s && s.job().equals(job)) {
        start = s;
      } else if (decided.outcome() instanceof Preempt p && job.equals(p.forJob())) {
        ends.add(p.job());
      }
    }
    return start == null ? null : new Given(start, ends);
  }

  /** Whether it would be accepted were it submitted so (N1 to N6). */
  boolean admitted(Job changed) {
    return admitting
        .admit(Request.of(changed), snapshot.accounts(), snapshot.tiers(), snapshot.placements())
        .accepted();
  }
}
