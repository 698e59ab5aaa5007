package evenhand.cycle;

import evenhand.outcomes.Absorb;
import evenhand.outcomes.Charge;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Outcome;
import evenhand.outcomes.Preempt;
import evenhand.outcomes.Release;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Start;
import evenhand.outcomes.Wait;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * What became of a job, from the decisions that were recorded about it and from the ledger: queued,
 * waited and why, reserved, swapped, started, made room for whom, ended, charged what.
 */
final class Story {
  /** Most decisions that are read for one story; of a longer one the middle is left out. */
  private static final int MOST_DECISIONS = 80;

  private static final int MOST_ROWS = 500;

  private final Store store;
  private final Recorder recorder;

  Story(Store store, Recorder recorder) {
    this.store = store;
    this.recorder = recorder;
  }

  /** An event with its place among those of one instant. */
  private record Event(int order, Desk.Told told) {}

  /** All of it, oldest first. */
  List<Desk.Told> of(StoredJob job) {
    List<Event> events = new ArrayList<>();
    put(events, 0, job.submittedAt(), "queued", null, "it was queued", null);
    decisions(job, events);
    ledger(job, events);
    if (job.endedAt() != null) {
      put(
          events,
          5,
          job.endedAt(),
          "ended",
          null,
          "it was "
              + job.state()
              + (job.stateReason() == null ? "" : ": " + job.stateReason())
              + (job.exitCode() == null ? "" : ", exit code " + job.exitCode()),
          null);
    }
    return events.stream()
        .sorted(Comparator.comparing((Event e) -> e.told().at()).thenComparingInt(Event::order))
        .map(Event::told)
        .toList();
  }

  private static void put(
      List<Event> events,
      int order,
      Instant at,
      String what,
      String rule,
      String message,
      String decision) {
    events.add(new Event(order, new Desk.Told(at, what, rule, message, decision)));
  }

  private void decisions(StoredJob job, List<Event> events) {
    List<Desk.DecisionView> views = store.decisions(job.id(), 1000, Long.MAX_VALUE);
    int skipped = Math.max(0, views.size() - MOST_DECISIONS);
    for (int i = 0; i < views.size(); i++) {
      boolean left = skipped > 0 && i >= MOST_DECISIONS / 2 && i < MOST_DECISIONS / 2 + skipped;
      Desk.DecisionView view = views.get(i);
      if (left) {
        if (i == MOST_DECISIONS / 2 + skipped - 1) {
          put(
              events,
              1,
              view.at(),
              "left_out",
              null,
              skipped + " more decisions about it from here on are left out; see decisions",
              null);
        }
        continue;
      }
      store
          .decision(Long.parseLong(view.id()))
          .flatMap(whole -> recorder.readDecision(whole.json()))
          .ifPresent(
              decision -> {
                for (Decided decided : decision.outcomes()) {
                  told(job, decided, view, events);
                }
              });
    }
  }

  private static void told(
      StoredJob job, Decided decided, Desk.DecisionView in, List<Event> events) {
    Outcome o = decided.outcome();
    String id = job.asks().id();
    String what;
    String message;
    if (o instanceof Preempt p && id.equals(p.forJob())) {
      what = "room_made";
      message = "job " + p.job() + " was told to make room for it";
    } else if (!id.equals(o.job())) {
      return;
    } else if (o instanceof Start s) {
      what = "started";
      message =
          "it was given "
              + Words.gpus(s.on())
              + (Boolean.FALSE.equals(s.allocated()) ? ", unallocated" : "");
    } else if (o instanceof Reserve r) {
      what = "reserved";
      message = "it reserved " + gpus(r.gpus(), r.node(), r.tier().name());
    } else if (o instanceof Absorb a) {
      what = "absorbed";
      message = "it reserved " + gpus(a.gpus(), a.node(), a.tier().name()) + " more";
    } else if (o instanceof Release r) {
      what = "released";
      message = "it gave back " + gpus(r.gpus(), r.node(), r.tier().name());
    } else if (o instanceof Claimed c) {
      what = "claimed";
      message = Verdicts.claims(c);
    } else if (o instanceof Preempt p) {
      what = "preempted";
      message =
          p.forJob() == null
              ? "it was told to leave its node"
              : "it was told to make room for job " + p.forJob();
    } else if (o instanceof Charge c) {
      what = "charged";
      message = c.account() + " was charged " + tflop(c.tflopSeconds()) + " for it";
    } else if (o instanceof Wait w) {
      what = "waited";
      message = w.code() + ": " + w.message();
    } else {
      return;
    }
    put(events, 2, in.at(), what, decided.rule(), message, in.id());
  }

  private static String gpus(int gpus, String node, String tier) {
    return Words.gpus(gpus) + " of " + node + " (" + tier + ")";
  }

  private static String tflop(double tflopSeconds) {
    return String.format(Locale.ROOT, "%,.1f", tflopSeconds) + " TFLOP-s";
  }

  private void ledger(StoredJob job, List<Event> events) {
    for (Store.LedgerRow row : store.ledger(null, job.id(), MOST_ROWS, Long.MAX_VALUE)) {
      long seconds = Duration.between(row.from(), row.to()).toSeconds();
      String held = gpus(row.gpus(), row.node(), row.tier());
      boolean reserved = row.kind().equals("reserved");
      String cost =
          row.kind().equals("unallocated")
              ? "nobody is charged for it"
              : tflop(row.tflopSeconds() * row.factor())
                  + (row.chargedAt() == null
                      ? ", not charged yet"
                      : ", charged to " + row.account());
      put(
          events,
          4,
          row.to(),
          reserved ? "held" : "ran",
          null,
          (reserved ? "it had held " : "attempt " + row.attempt() + " had run on ")
              + held
              + " from "
              + Words.second(row.from())
              + " for "
              + seconds
              + " s: "
              + cost,
          null);
    }
  }
}
