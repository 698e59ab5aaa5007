package evenhand.store;

import evenhand.cycle.Attempt;
import evenhand.cycle.Changes;
import evenhand.cycle.JobState;
import evenhand.cycle.NodeDrain;
import evenhand.cycle.Stock;
import evenhand.cycle.StoredJob;
import evenhand.cycle.accounts.AccountChange;
import evenhand.cycle.events.Event;
import evenhand.facts.Claim;
import evenhand.facts.NodeState;
import evenhand.facts.Reservation;
import evenhand.facts.Share;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Release;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Which events the changes of one transaction are, told by what stood before. */
final class EventsOfChanges {
  private final Changes changes;
  private final Map<Long, JobBefore> jobs;
  private final Map<Attempt.Victim, AttemptBefore> attempts;
  private final Map<Long, DrainBefore> drains;
  private final List<Event> events = new ArrayList<>();

  /** A job as its row has it until now. */
  record JobBefore(String state, int reserved, String node) {}

  /** An attempt that is open until now. */
  record AttemptBefore(Instant startedAt, String preemptFor) {}

  /** A drain as its row has it until now. */
  record DrainBefore(String reason, boolean empty, boolean ended) {}

  EventsOfChanges(
      Changes changes,
      Map<Long, JobBefore> jobs,
      Map<Attempt.Victim, AttemptBefore> attempts,
      Map<Long, DrainBefore> drains) {
    this.changes = changes;
    this.jobs = jobs;
    this.attempts = attempts;
    this.drains = drains;
  }

  /** What ended comes before what that made possible. */
  List<Event> events() {
    changes.drains().forEach(this::drain);
    changes.attempts().forEach(this::attempt);
    changes.jobs().forEach(this::job);
    changes.charges().forEach(this::charge);
    if (changes.claimEnd() != null) {
      Changes.ClaimEnd end = changes.claimEnd();
      add(
          Event.Kind.CLAIM_ENDED,
          Long.toString(end.job()),
          null,
          null,
          "The claim of job " + end.job() + " is over: " + end.because(),
          data("rule", end.rule()));
    }
    changes.begun().forEach(this::begun);
    changes.jobs().forEach(this::reservation);
    if (changes.claim() != null) {
      Claim claim = changes.claim();
      add(
          Event.Kind.CLAIMED,
          claim.job(),
          null,
          null,
          "Job "
              + claim.job()
              + " claims "
              + gpus(claim.on())
              + " and has all of them not later than "
              + claim.readyAt(),
          data("on", on(claim.on()), "ready_at", text(claim.readyAt())));
    }
    return events;
  }

  static Event submitted(StoredJob job) {
    int nodes = job.asks().nodes();
    int gpus = job.asks().numGpus();
    return new Event(
        0,
        job.submittedAt(),
        Event.Kind.SUBMITTED,
        job.asks().id(),
        job.asks().account(),
        null,
        job.asks().user()
            + " submits job "
            + job.id()
            + " ("
            + job.name()
            + "): "
            + (nodes == 1 ? "" : nodes + " nodes x ")
            + count(gpus),
        data(
            "name",
            job.name(),
            "user",
            job.asks().user(),
            "nodes",
            nodes,
            "num_gpus",
            gpus,
            "tier",
            job.asks().tier(),
            "min_runtime_s",
            job.asks().minRuntimeSeconds()));
  }

  static Event weight(AccountChange change) {
    return new Event(
        0,
        change.at(),
        Event.Kind.WEIGHTS_CHANGED,
        null,
        change.account(),
        null,
        change.by()
            + " sets the weight of account "
            + change.account()
            + (change.was() == null ? "" : " from " + change.was())
            + " to "
            + change.weightBecame()
            + ": "
            + change.reason(),
        data(
            "was",
            change.was() == null ? null : change.weightWas(),
            "became",
            change.weightBecame(),
            "by",
            change.by(),
            "reason",
            change.reason()));
  }

  /** A node that is away, or there again. */
  static Event node(Instant at, Stock stock) {
    boolean down = stock.state() == NodeState.DOWN;
    return new Event(
        0,
        at,
        down ? Event.Kind.NODE_DOWN : Event.Kind.NODE_UP,
        null,
        null,
        stock.node(),
        "Node "
            + stock.node()
            + (down ? " is down" : " is back")
            + (stock.reason() == null ? "" : ": " + stock.reason()),
        data("reason", stock.reason(), "state", stock.state().word()));
  }

  private void drain(NodeDrain drain) {
    DrainBefore before = drains.get(drain.id());
    Map<String, Object> data =
        data(
            "reason",
            drain.reason(),
            "by",
            drain.by(),
            "source",
            drain.source().name().toLowerCase(Locale.ROOT));
    boolean told = before == null || !before.reason().equals(drain.reason());
    if (drain.endedAt() == null && told) {
      add(
          Event.Kind.NODE_DRAINING,
          null,
          null,
          drain.node(),
          "Node " + drain.node() + " is drained by " + drain.by() + ": " + drain.reason(),
          data);
    }
    if (drain.endedAt() == null
        && drain.emptySince() != null
        && (before == null || !before.empty())) {
      add(
          Event.Kind.NODE_DRAINED,
          null,
          null,
          drain.node(),
          "Node " + drain.node() + " is drained: nothing runs there any more",
          data);
    }
    if (drain.endedAt() != null && (before == null || !before.ended())) {
      add(
          Event.Kind.NODE_UP,
          null,
          null,
          drain.node(),
          "Node " + drain.node() + " is used again, says " + drain.endedBy(),
          data("by", drain.endedBy()));
    }
  }

  private void attempt(Attempt now) {
    AttemptBefore before = attempts.get(now.asVictim());
    if (before == null) {
      return; // the write itself will be refused
    }
    if (before.startedAt() == null && now.startedAt() != null) {
      add(
          Event.Kind.STARTED,
          Long.toString(now.job()),
          now.account(),
          firstNode(now.on()),
          "Job " + now.job() + " runs on " + gpus(now.on()),
          data(
              "attempt",
              now.attempt(),
              "on",
              on(now.on()),
              "cluster_job",
              now.clusterJob(),
              "started_at",
              text(now.startedAt()),
              "allocated",
              now.allocated()));
    }
    if (before.preemptFor() == null && now.preemptFor() != null && now.endedAt() == null) {
      add(
          Event.Kind.PREEMPT_SOON,
          Long.toString(now.job()),
          now.account(),
          firstNode(now.on()),
          "Job "
              + now.job()
              + " is told to "
              + (now.preemptFor().equals(Attempt.ITS_NODE)
                  ? "leave its node, which is draining"
                  : "make room for job " + now.preemptFor())
              + "; it is ended at "
              + now.endBy()
              + " if it has not left before",
          data(
              "attempt",
              now.attempt(),
              "on",
              on(now.on()),
              "for",
              now.preemptFor(),
              "until",
              text(now.endBy())));
    }
  }

  private void job(StoredJob now) {
    JobBefore before = jobs.get(now.id());
    if (before == null || before.state().equals(now.state().name())) {
      return;
    }
    String because = now.stateReason() == null ? "" : ": " + now.stateReason();
    String job = "Job " + now.id();
    Attempt ended =
        changes.attempts().stream()
            .filter(a -> a.job() == now.id() && a.endedAt() != null)
            .findFirst()
            .orElse(null);
    boolean again = now.state() == JobState.GLOBAL_QUEUE_WAIT;
    if (now.state() == JobState.PREEMPTED
        || again && ended != null && ended.state() == JobState.PREEMPTED) {
      add(
          Event.Kind.PREEMPTED,
          now,
          job + (again ? " has left its GPUs" : " is ended") + because,
          data(
              "final",
              !again,
              "for",
              ended == null ? null : ended.preemptFor(),
              "reason",
              now.stateReason()));
    }
    if (again) {
      add(
          Event.Kind.REQUEUED,
          now,
          job + " is back in the queue at its old place" + because,
          data("attempt", now.asks().attempt(), "reason", now.stateReason()));
    } else if (now.state() == JobState.CANCELLED) {
      add(Event.Kind.CANCELLED, now, job + " is cancelled" + because, end(now));
    } else if (now.state().ended() && now.state() != JobState.PREEMPTED) {
      add(Event.Kind.FINISHED, now, job + " is " + now.state() + because, end(now));
    }
  }

  private static Map<String, Object> end(StoredJob job) {
    return data(
        "state",
        job.state().name(),
        "exit_code",
        job.exitCode(),
        "reason",
        job.stateReason(),
        "attempt",
        job.asks().attempt());
  }

  private void charge(Changes.Charged charged) {
    if (charged.charge().tflopSeconds() == 0) {
      return; // what never ran and held nothing costs nothing
    }
    add(
        Event.Kind.CHARGED,
        charged.charge().job(),
        charged.charge().account(),
        null,
        String.format(
            Locale.ROOT,
            "Account %s is charged %,.1f TFLOP-s for job %s",
            charged.charge().account(),
            charged.charge().tflopSeconds(),
            charged.charge().job()),
        data("tflop_s", charged.charge().tflopSeconds(), "rule", charged.rule()));
  }

  private void begun(Attempt attempt) {
    boolean waits = attempt.waitsUntil() != null;
    add(
        Event.Kind.DISPATCHED,
        Long.toString(attempt.job()),
        attempt.account(),
        firstNode(attempt.on()),
        "Job "
            + attempt.job()
            + " is given "
            + gpus(attempt.on())
            + (waits
                ? "; it waits for "
                    + attempt.waitsFor().stream()
                        .map(v -> "job " + v.job())
                        .collect(Collectors.joining(", "))
                    + " to leave"
                : ""),
        data(
            "attempt",
            attempt.attempt(),
            "on",
            on(attempt.on()),
            "allocated",
            attempt.allocated(),
            "waits_for",
            attempt.waitsFor().stream().map(v -> Long.toString(v.job())).toList(),
            "waits_until",
            text(attempt.waitsUntil()),
            "rule",
            ruleOf(Long.toString(attempt.job()), evenhand.outcomes.Start.class)));
  }

  private void reservation(StoredJob now) {
    JobBefore before = jobs.get(now.id());
    Reservation held = now.reservation();
    if (before == null) {
      return;
    }
    boolean elsewhere = held != null && before.node() != null && !before.node().equals(held.node());
    if (before.reserved() > 0 && (held == null || elsewhere)) {
      add(
          Event.Kind.RESERVATION_ENDED,
          now.asks().id(),
          now.asks().account(),
          before.node(),
          "The reservation of job "
              + now.id()
              + " on "
              + before.node()
              + " is over: "
              + count(before.reserved())
              + (now.state() == JobState.DISPATCHING ? ", as the job starts" : ""),
          data("gpus", before.reserved(), "rule", ruleOf(now.asks().id(), Release.class)));
    }
    if (held != null && (elsewhere || held.gpus() > before.reserved())) {
      add(
          Event.Kind.RESERVED,
          now.asks().id(),
          now.asks().account(),
          held.node(),
          "Job "
              + now.id()
              + " holds "
              + held.gpus()
              + " of the "
              + count(now.asks().numGpus())
              + " it needs on "
              + held.node()
              + " ("
              + held.tier().name()
              + ")",
          data("gpus", held.gpus(), "of", now.asks().numGpus(), "tier", held.tier().name()));
    }
  }

  /** The clause of the decision in these changes that concluded such an outcome, or null. */
  private String ruleOf(String job, Class<?> outcome) {
    if (changes.decision() == null) {
      return null;
    }
    for (Decided decided : changes.decision().decision().outcomes()) {
      if (outcome.isInstance(decided.outcome()) && job.equals(decided.outcome().job())) {
        return decided.rule();
      }
    }
    return null;
  }

  private void add(Event.Kind kind, StoredJob job, String message, Map<String, Object> data) {
    add(kind, job.asks().id(), job.asks().account(), null, message, data);
  }

  private void add(
      Event.Kind kind,
      String job,
      String account,
      String node,
      String message,
      Map<String, Object> data) {
    events.add(new Event(0, changes.at(), kind, job, account, node, message, data));
  }

  /** Names and values in turn; null values are left out. */
  private static Map<String, Object> data(Object... parts) {
    Map<String, Object> data = new LinkedHashMap<>();
    for (int i = 0; i < parts.length; i += 2) {
      if (parts[i + 1] != null) {
        data.put((String) parts[i], parts[i + 1]);
      }
    }
    return data;
  }

  private static String text(Instant at) {
    return at == null ? null : at.toString();
  }

  private static String firstNode(List<Share> on) {
    return on.size() == 1 ? on.get(0).node() : null;
  }

  private static List<Map<String, Object>> on(List<Share> on) {
    return on.stream()
        .map(s -> data("node", s.node(), "tier", s.tier().name(), "gpus", s.gpus()))
        .toList();
  }

  private static String count(int gpus) {
    return gpus == 1 ? "1 GPU" : gpus + " GPUs";
  }

  private static String gpus(List<Share> on) {
    return on.stream()
        .map(s -> count(s.gpus()) + " of " + s.node() + " (" + s.tier().name() + ")")
        .collect(Collectors.joining(", "));
  }
}
