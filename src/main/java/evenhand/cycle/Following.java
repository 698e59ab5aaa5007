package evenhand.cycle;

import evenhand.facts.Ended;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
import evenhand.facts.Request;
import evenhand.facts.Run;
import evenhand.facts.Tier;
import evenhand.policy.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Follows our attempts through the readings of the cluster: what one shows of them becomes changes
 * of jobs, of the ledger and of accounts.
 *
 * <p>An attempt is known by its token in the job's name and by having been submitted after it was
 * decided, never by its number alone. That it is missing from a reading proves nothing.
 */
final class Following {
  private static final int MOST_TOLD = 10_000;
  private static final String REFUSED = "refused by Slurm: ";
  private static final String PARKED = "held on the cluster by an administrator";

  private final String installation;
  private final CycleSettings settings;
  private final Map<Token, Missing> missing = new HashMap<>();
  private final Map<Token, Missing> waiting = new HashMap<>();
  private final Map<Token, Instant> lastSeen = new HashMap<>();
  private final Map<String, Token> strays = new LinkedHashMap<>();
  private final Set<String> told = new HashSet<>();

  private record Missing(Instant since, int readings) {}

  Following(String installation, CycleSettings settings) {
    this.installation = installation;
    this.settings = settings;
  }

  /** What the reading changes. Asks the cluster itself only about jobs that are long missing. */
  Changes follow(
      World world,
      Reading reading,
      Cluster cluster,
      Policy policy,
      Instant now,
      List<String> notes) {
    Changes changes = Changes.ofCycle(now);
    Map<Long, StoredJob> jobs = new HashMap<>();
    world.jobs().forEach(j -> jobs.put(j.id(), j));
    Map<Token, Attempt> open = new HashMap<>();
    for (Attempt attempt : world.attempts()) {
      open.put(new Token(installation, attempt.job(), attempt.attempt()), attempt);
    }
    missing.keySet().retainAll(open.keySet());
    waiting.keySet().retainAll(open.keySet());
    lastSeen.keySet().retainAll(open.keySet());
    Map<Token, SeenJob> shown = shown(reading, open, notes);
    for (Map.Entry<Token, Attempt> entry : open.entrySet()) {
      Token token = entry.getKey();
      Attempt attempt = entry.getValue();
      StoredJob job = jobs.get(attempt.job());
      if (job == null) {
        notes.add("attempt " + token.text() + " is open, but its job has ended");
        continue;
      }
      Step step = new Step(world, policy, now, notes, changes, token, job, attempt);
      SeenJob seen = shown.get(token);
      if (seen != null) {
        step.seen(seen, reading.at());
      } else if (attempt.clusterJob() != null) {
        step.missing(cluster, reading.at());
      }
    }
    new WaitingStarts(world, changes, installation, now, notes).follow();
    return changes;
  }

  /**
   * Jobs of the last reading that carry our names, were never released and never will be, since
   * their attempt runs, or ran, as another job: by number. They came of submissions that arrived
   * after they had been given up.
   */
  Map<String, Token> strays() {
    return Map.copyOf(strays);
  }

  private Map<Token, SeenJob> shown(Reading reading, Map<Token, Attempt> open, List<String> notes) {
    Map<Token, SeenJob> shown = new HashMap<>();
    strays.clear();
    for (SeenJob seen : reading.jobs()) {
      Optional<Token> read = Token.read(seen.name());
      if (read.isEmpty() || !read.get().installation().equals(installation)) {
        continue;
      }
      Token token = read.get();
      Attempt attempt = open.get(token);
      boolean known = attempt != null && seen.clusterJob().equals(attempt.clusterJob());
      boolean held = seen.state() == SeenJob.State.HELD;
      if (held && !known && (attempt == null || attempt.clusterJob() != null)) {
        // Only what is written down is ever released, so this has not run.
        strays.put(seen.clusterJob(), token);
        continue;
      }
      if (attempt == null) {
        if (!seen.state().ended()) {
          tellOnce(
              notes,
              "Slurm job "
                  + seen.clusterJob()
                  + " carries the name "
                  + token.text()
                  + " and is "
                  + seen.state()
                  + ", but that attempt has ended here; it is left alone and counts as a job from"
                  + " outside");
        }
        continue;
      }
      // A number that sbatch itself gave needs no other proof, whatever the clocks say.
      if (!known
          && seen.submittedAt() != null
          && seen.submittedAt().isBefore(attempt.decidedAt().minus(settings.slack()))) {
        continue;
      }
      SeenJob other = shown.get(token);
      if (other != null && !other.clusterJob().equals(seen.clusterJob())) {
        tellOnce(
            notes,
            "two Slurm jobs carry the name "
                + token.text()
                + ": "
                + other.clusterJob()
                + " and "
                + seen.clusterJob());
        if (!better(seen, other, attempt)) {
          continue;
        }
      }
      shown.put(token, seen);
    }
    return shown;
  }

  /** What stays as it is for hours is worth one line in the log, not one every cycle. */
  private void tellOnce(List<String> notes, String note) {
    if (told.size() > MOST_TOLD) {
      told.clear();
    }
    if (told.add(note)) {
      notes.add(note);
    }
  }

  private static boolean better(SeenJob a, SeenJob b, Attempt attempt) {
    if (b.clusterJob().equals(attempt.clusterJob())) {
      return false;
    }
    return a.clusterJob().equals(attempt.clusterJob()) || b.state().ended() && !a.state().ended();
  }

  /** One attempt in one reading. */
  private final class Step {
    private final World world;
    private final Policy policy;
    private final Instant now;
    private final List<String> notes;
    private final Changes changes;
    private final Token token;
    private StoredJob job;
    private Attempt attempt;

    Step(
        World world,
        Policy policy,
        Instant now,
        List<String> notes,
        Changes changes,
        Token token,
        StoredJob job,
        Attempt attempt) {
      this.world = world;
      this.policy = policy;
      this.now = now;
      this.notes = notes;
      this.changes = changes;
      this.token = token;
      this.job = job;
      this.attempt = attempt;
    }

    void seen(SeenJob seen, Instant at) {
      Following.this.missing.remove(token);
      if (!seen.clusterJob().equals(attempt.clusterJob())) {
        attempt = attempt.known(seen.clusterJob());
        changes.put(job, attempt);
        changes.hurry(token);
      }
      if (seen.state().ended()) {
        chargeEarlierRun(seen);
        ended(seen);
        return;
      }
      if (seen.state() != SeenJob.State.RUNNING) {
        if (attempt.state() == JobState.RUNNING) {
          chargeRun("REQUEUED", attempt.startedAt(), lastSeen());
          requeuedOutside(seen);
        }
        pending(seen, at);
        return;
      }
      waiting.remove(token);
      if (attempt.recalled() != null) {
        attempt = attempt.toRecall(null);
        changes.put(job, attempt);
        if (attempt.cancelBy() == null && attempt.preemptFor() == null) {
          changes.finish(token, Order.Kind.CANCEL, "it has started after all");
        }
      }
      chargeEarlierRun(seen);
      Instant since = seen.startedAt() != null ? seen.startedAt() : attempt.startedAt();
      if (since == null) {
        since = now;
      }
      lastSeen.put(token, at);
      if (attempt.state() != JobState.RUNNING || !since.equals(attempt.startedAt())) {
        attempt = attempt.running(since, at, seen.restarts());
        job = job.running(since);
        changes.put(job, attempt);
        changes.finish(token, Order.Kind.SUBMIT, "runs on the cluster as " + seen.clusterJob());
      } else if (attempt.lastSeenAt() == null
          || Duration.between(attempt.lastSeenAt(), at).compareTo(Duration.ofMinutes(1)) >= 0) {
        // Once a minute is enough for a restart of this service; in between, memory knows better.
        attempt = attempt.seen(at);
        changes.put(job, attempt);
      }
    }

    /** Takes back what the cluster will not start, or has not for long: once, and not if held. */
    private void pending(SeenJob seen, Instant at) {
      if (seen.state() == SeenJob.State.HELD) {
        waiting.remove(token);
        return;
      }
      if (seen.state() == SeenJob.State.PARKED) {
        waiting.remove(token);
        if (!PARKED.equals(job.stateReason())) {
          job = job.to(job.state(), PARKED);
          changes.put(job, attempt);
        }
        return;
      }
      Missing before = waiting.get(token);
      Missing w =
          before == null ? new Missing(at, 1) : new Missing(before.since, before.readings + 1);
      waiting.put(token, w);
      if (attempt.waitsUntil() != null && seen.state() != SeenJob.State.REFUSED) {
        waiting.remove(token); // its time on the cluster counts from when its GPUs are free
        return;
      }
      if (attempt.leaving()) {
        return;
      }
      String because;
      if (seen.state() == SeenJob.State.REFUSED) {
        because = REFUSED + seen.reason();
      } else if (w.readings >= settings.goneReadings()
          && Duration.between(w.since, at).compareTo(settings.pendingLimit()) >= 0) {
        because =
            "Slurm did not start it in "
                + Duration.between(w.since, at).toSeconds()
                + " s"
                + (seen.reason() == null ? "" : " (" + seen.reason() + ")");
      } else {
        return;
      }
      notes.add("job " + job.id() + " is taken back from the cluster: " + because);
      attempt = attempt.toRecall(because);
      job = job.to(job.state(), because);
      changes.put(job, attempt);
      changes.finish(token, Order.Kind.SUBMIT, because);
      changes.write(Order.cancel(token, now));
    }

    private void requeuedOutside(SeenJob seen) {
      notes.add("job " + job.id() + " was queued again on the cluster, not through evenhand");
      attempt = attempt.pendingAgain(attempt.lastSeenAt(), seen.restarts());
      job = job.to(JobState.DISPATCHING, "queued again on the cluster, not through evenhand");
      changes.put(job, attempt);
    }

    /** A run that ended unseen because the cluster started the job again between two readings. */
    private void chargeEarlierRun(SeenJob seen) {
      if (attempt.startedAt() != null
          && seen.restarts() > attempt.restarts()
          && !attempt.startedAt().equals(seen.startedAt())) {
        Instant until = lastSeen();
        if (seen.startedAt() != null && seen.startedAt().isBefore(until)) {
          until = seen.startedAt();
        }
        chargeRun("REQUEUED", attempt.startedAt(), until);
        requeuedOutside(seen);
      }
    }

    private Instant lastSeen() {
      Instant last = lastSeen.get(token);
      if (last == null) {
        last = attempt.lastSeenAt();
      }
      return last == null || last.isBefore(attempt.startedAt()) ? attempt.startedAt() : last;
    }

    private void chargeRun(String how, Instant from, Instant to) {
      Run run = from == null ? null : new Run(attempt.on(), from, to.isBefore(from) ? from : to);
      Ended ended = job.ended(how, run, attempt.allocated());
      job = changes.settle(job, attempt.attempt(), policy.settle(ended, now));
    }

    private void ended(SeenJob seen) {
      Instant from = seen.startedAt() != null ? seen.startedAt() : attempt.startedAt();
      Instant to = seen.endedAt();
      if (to == null) {
        to = from == null ? now : lastSeen();
      }
      JobState how;
      String because;
      switch (seen.state()) {
        case COMPLETED -> {
          over(JobState.COMPLETED, null, from, to, seen.exitCode());
          return;
        }
        case TIMEOUT -> {
          over(JobState.TIMEOUT, "reached its time limit", from, to, seen.exitCode());
          return;
        }
        default -> {}
      }
      if (attempt.cancelBy() != null) {
        over(JobState.CANCELLED, "cancelled by " + attempt.cancelBy(), from, to, seen.exitCode());
        return;
      }
      if (attempt.preemptFor() != null) {
        because =
            attempt.preemptFor().equals(Attempt.ITS_NODE)
                ? "left its node, which was draining"
                : "made room for " + taker(attempt.preemptFor());
        // One that never ran has lost nothing, and goes back whatever it says of itself.
        if (job.asks().resumable() || from == null) {
          // However often: the contract says so, and it is no fault of the job (K6).
          queueAgain(
              JobState.PREEMPTED,
              because,
              job.asks().minimumTierSortOrder(),
              0,
              from,
              to,
              seen.exitCode());
        } else {
          over(JobState.PREEMPTED, because, from, to, seen.exitCode());
        }
        return;
      }
      if (seen.state() == SeenJob.State.CANCELLED && attempt.recalled() != null) {
        if (attempt.recalled().startsWith(REFUSED)) {
          over(JobState.FAILED, attempt.recalled(), from, to, seen.exitCode());
        } else {
          again(
              attempt.recalled(), job.asks().minimumTierSortOrder(), 0, from, to, seen.exitCode());
        }
        return;
      }
      switch (seen.state()) {
        case OUT_OF_MEMORY -> outOfMemory(seen, from, to);
        case NODE_FAIL -> {
          because = "its node failed" + (seen.reason() == null ? "" : ": " + seen.reason());
          if (job.nodeFailures() >= settings.maxNodeFailures()) {
            over(
                JobState.FAILED,
                because + "; it was queued again " + job.nodeFailures() + " times for that before",
                from,
                to,
                seen.exitCode());
          } else {
            again(because, job.asks().minimumTierSortOrder(), 1, from, to, seen.exitCode());
          }
        }
        case PREEMPTED -> {
          because = "preempted by Slurm, not through evenhand";
          if (job.asks().resumable()) {
            again(because, job.asks().minimumTierSortOrder(), 0, from, to, seen.exitCode());
          } else {
            over(JobState.PREEMPTED, because, from, to, seen.exitCode());
          }
        }
        case CANCELLED ->
            over(
                JobState.CANCELLED,
                "cancelled on the cluster, not through evenhand",
                from,
                to,
                seen.exitCode());
        default -> {
          how = JobState.FAILED;
          over(how, failure(seen), from, to, seen.exitCode());
        }
      }
    }

    private String taker(String id) {
      return Effects.taker(
          id, world.jobs().stream().filter(j -> j.asks().id().equals(id)).findFirst().orElse(null));
    }

    private static String failure(SeenJob seen) {
      String exit = seen.exitCode() == null ? "failed" : "failed with exit code " + seen.exitCode();
      return seen.reason() == null || seen.reason().equals("NonZeroExitCode")
          ? exit
          : exit + ": " + seen.reason();
    }

    /** S10: queued again for a better tier, where there is one that could ever run it. */
    private void outOfMemory(SeenJob seen, Instant from, Instant to) {
      Tier ranOn = attempt.on().get(0).tier();
      int minimum = job.asks().minimumTierSortOrder();
      Optional<Tier> better =
          world.tiers().stream()
              .filter(t -> t.sortOrder() > ranOn.sortOrder())
              .min(Comparator.comparingInt(Tier::sortOrder));
      String because = "out of memory on tier " + ranOn.name();
      if (job.asks().tier() != null) {
        because += "; it asks for tier " + job.asks().tier() + " by name, so for no better one";
      } else if (better.isEmpty()) {
        because += ", and no tier is better";
      } else if (!couldRun(better.get().sortOrder())) {
        because += ", and no placement of a better tier could ever run it";
      } else {
        minimum = Math.max(minimum, better.get().sortOrder());
        again(
            because + "; from now on it waits for tier " + better.get().name() + " or better",
            minimum,
            0,
            from,
            to,
            seen.exitCode());
        return;
      }
      over(JobState.FAILED, because, from, to, seen.exitCode());
    }

    private boolean couldRun(int minimum) {
      Request request = Request.of(job.asks()).again(minimum);
      List<Placement> inventory = inventory(world);
      return policy.admit(request, world.accounts(), world.tiers(), inventory).accepted();
    }

    /** Over for good. */
    private void over(JobState how, String because, Instant from, Instant to, Integer exit) {
      chargeRun(how.name(), from, to);
      attempt = attempt.over(how, from, to);
      job = job.over(how, because, to, exit);
      changes.put(job, attempt);
      changes.finish(token, null, "the attempt has ended");
      forget();
    }

    /** Queued again by the system, at its old place. */
    private void again(
        String because, int minimum, int nodeFailures, Instant from, Instant to, Integer exit) {
      if (attempt.attempt() >= settings.maxAttempts()) {
        over(
            JobState.FAILED,
            because + "; it was started " + attempt.attempt() + " times and is not started again",
            from,
            to,
            exit);
        return;
      }
      queueAgain(JobState.FAILED, because, minimum, nodeFailures, from, to, exit);
    }

    private void queueAgain(
        JobState how,
        String because,
        int minimum,
        int nodeFailures,
        Instant from,
        Instant to,
        Integer exit) {
      chargeRun("REQUEUED", from, to);
      attempt = attempt.over(how, from, to);
      job = job.queuedAgain(minimum, job.nodeFailures() + nodeFailures, exit, because);
      changes.put(job, attempt);
      changes.finish(token, null, "the attempt has ended");
      forget();
    }

    private void forget() {
      lastSeen.remove(token);
      waiting.remove(token);
      Following.this.missing.remove(token);
    }

    /** Not in this reading: which says nothing, until it was missing long and is asked for. */
    void missing(Cluster cluster, Instant at) {
      Missing before = Following.this.missing.get(token);
      Missing m =
          before == null ? new Missing(at, 1) : new Missing(before.since, before.readings + 1);
      Following.this.missing.put(token, m);
      if (m.readings < settings.goneReadings()
          || Duration.between(m.since, at).compareTo(settings.goneAfter()) < 0) {
        return;
      }
      Optional<SeenJob> found;
      try {
        found = cluster.find(token, attempt.decidedAt().minus(settings.slack()));
        if (found.isEmpty() && attempt.startedAt() != null) {
          found = cluster.findStarted(token, attempt.clusterJob(), attempt.startedAt());
        }
      } catch (Cluster.ReadingFailed e) {
        notes.add("job " + job.id() + " is missing and could not be looked up: " + e.getMessage());
        return;
      }
      if (found.isPresent()) {
        seen(found.get(), at);
        return;
      }
      over(
          attempt.cancelBy() != null ? JobState.CANCELLED : JobState.FAILED,
          cluster.forgotten(),
          attempt.startedAt(),
          attempt.startedAt() == null ? now : lastSeen(),
          null);
      notes.add("job " + job.id() + " (" + token.text() + "): " + cluster.forgotten());
    }
  }

  /** The whole inventory as placements, for the question whether something could ever run. */
  static List<Placement> inventory(World world) {
    return world.stock().stream()
        .filter(s -> s.capacity() > 0)
        .map(
            s ->
                new Placement(
                    s.node(), new PlacementGroup(s.tier(), s.capacity(), s.state()), 0, 0, null))
        .toList();
  }
}
