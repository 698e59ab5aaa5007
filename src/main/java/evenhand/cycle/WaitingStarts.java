package evenhand.cycle;

import evenhand.facts.NodeState;
import evenhand.facts.Share;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Starts that wait for others to leave (K4, K6): a state of its own, between the decision and the
 * cluster. The GPUs belong to the job that waits, so nobody else is given them. The state ends when
 * all have left; when one is still there at the end of the time, or a node is up no more, the start
 * is undone, the job is back in the queue, and whatever of the GPUs is free is anybody's.
 *
 * <p>Nothing here can go round for ever: who did not leave is not asked a second time, and a start
 * that is undone counts as one of the attempts that a job has.
 */
final class WaitingStarts {
  private final World world;
  private final Changes changes;
  private final String installation;
  private final Instant now;
  private final List<String> notes;
  private final Map<Long, StoredJob> jobs = new HashMap<>();
  private final Map<Attempt.Victim, Attempt> changed = new HashMap<>();
  private final Map<String, Stock> notUp = new HashMap<>();

  /**
   * @param changes what the reading has changed so far; what follows of it is added
   */
  WaitingStarts(
      World world, Changes changes, String installation, Instant now, List<String> notes) {
    this.world = world;
    this.changes = changes;
    this.installation = installation;
    this.now = now;
    this.notes = notes;
    world.jobs().forEach(j -> jobs.put(j.id(), j));
    changes.attempts().forEach(a -> changed.put(a.asVictim(), a));
    world.stock().stream()
        .filter(s -> s.state() != NodeState.UP)
        .forEach(s -> notUp.putIfAbsent(s.node(), s));
  }

  void follow() {
    Set<Attempt.Victim> there = new HashSet<>();
    for (Attempt read : world.attempts()) {
      if (now(read).endedAt() == null) {
        there.add(read.asVictim());
      }
    }
    for (Attempt read : world.attempts()) {
      Attempt attempt = now(read);
      StoredJob stored = jobs.get(attempt.job());
      if (attempt.waitsUntil() == null || attempt.endedAt() != null || stored == null) {
        continue;
      }
      StoredJob job = changes.now(stored);
      List<Attempt.Victim> left = attempt.waitsFor().stream().filter(there::contains).toList();
      Optional<String> undone = broken(attempt, left);
      if (undone.isPresent() && !attempt.leaving()) {
        undo(job, attempt, undone.get());
      } else if (left.size() < attempt.waitsFor().size()) {
        String because =
            attempt.leaving()
                ? job.stateReason()
                : left.isEmpty() ? null : Effects.waits(left, attempt.waitsUntil());
        changes.put(job.to(job.state(), because), attempt.waiting(left, attempt.waitsUntil()));
      }
    }
  }

  private Attempt now(Attempt read) {
    return changed.getOrDefault(read.asVictim(), read);
  }

  /** Why the start cannot be kept, or nothing. */
  private Optional<String> broken(Attempt attempt, List<Attempt.Victim> left) {
    for (Share share : attempt.on()) {
      Stock stock = notUp.get(share.node());
      if (stock != null) {
        return Optional.of(
            "its start on "
                + share.node()
                + " is undone: the node is "
                + stock.state().word()
                + (stock.reason() == null ? "" : ", " + stock.reason()));
      }
    }
    if (!left.isEmpty() && now.isAfter(attempt.waitsUntil())) {
      return Optional.of(
          "its start on "
              + attempt.on().stream().map(Share::node).collect(Collectors.joining(", "))
              + " is undone: job "
              + left.stream().map(v -> Long.toString(v.job())).collect(Collectors.joining(", "))
              + " had not left by "
              + attempt.waitsUntil());
    }
    return Optional.empty();
  }

  private void undo(StoredJob job, Attempt attempt, String because) {
    Token token = new Token(installation, attempt.job(), attempt.attempt());
    notes.add("job " + job.id() + ": " + because);
    changes.put(job.to(job.state(), because), attempt.waiting(List.of(), null).toRecall(because));
    if (attempt.clusterJob() == null) {
      changes.hurry(token); // whoever carries the order out finds that it is not to be
    } else {
      changes.finish(token, Order.Kind.SUBMIT, because);
    }
    changes.write(Order.cancel(token, now));
  }
}
