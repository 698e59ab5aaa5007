package evenhand.cycle;

import evenhand.facts.Reservation;
import evenhand.outcomes.Absorb;
import evenhand.outcomes.Claimed;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Reserve;
import evenhand.outcomes.Wait;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The last verdicts on waiting jobs, and what they say in words as far as it is still true. */
final class Verdicts {
  /** Said of a job over which a rule failed in the last cycle. */
  private static final String RULE_FAILED = "RULE_FAILED";

  private final Store store;
  private final Recorder recorder;

  Verdicts(Store store, Recorder recorder) {
    this.store = store;
    this.recorder = recorder;
  }

  /**
   * The last verdict on a job.
   *
   * @param decided null where a rule failed when it was decided on, and nothing was
   * @param decision id under which it is recorded
   * @param failed the report of the cycle in which a rule failed over it, or null
   */
  record Verdict(Decided decided, String decision, Instant at, CycleReport failed) {
    private Verdict(Decided decided, String decision, Instant at) {
      this(decided, decision, at, null);
    }

    /** The whole name of the rule that says so, where it is known without the policy; else null. */
    String ruleName() {
      return failed != null ? failed.failure().rule() : decided == null ? null : decided.ruleName();
    }
  }

  /**
   * What is said of a job that waits.
   *
   * @param rule the clause that says so, or null
   * @param behind the job it waits for, or null
   */
  record Said(String code, String rule, String message, String behind) {}

  /**
   * The last verdicts on these jobs, by job: from the last cycle where this process decides, else
   * from what the process that does has recorded.
   *
   * @param found what the last cycle here found
   */
  Map<String, Verdict> on(Cycle.Latest found, List<String> jobs) {
    Map<String, Verdict> verdicts = decided(found, jobs);
    CycleReport report = found.report();
    String failed = report == null || report.failure() == null ? null : report.failure().job();
    if (failed != null && jobs.contains(failed)) {
      verdicts.put(failed, new Verdict(null, null, report.at(), report));
    }
    return verdicts;
  }

  private Map<String, Verdict> decided(Cycle.Latest found, List<String> jobs) {
    Map<String, Verdict> verdicts = new HashMap<>();
    if (found.decision() != null && found.report().result() != CycleReport.Result.STANDBY) {
      for (String job : jobs) {
        Decided decided = found.verdicts().get(job);
        if (decided != null) {
          verdicts.put(job, new Verdict(decided, found.decisionId(), found.decision().now()));
        }
      }
      return verdicts;
    }
    Map<String, Map<String, Decided>> read = new HashMap<>();
    store
        .lastSaid(jobs.stream().map(Long::parseLong).toList())
        .forEach(
            (job, view) -> {
              Decided decided =
                  read.computeIfAbsent(
                          view.id(),
                          id ->
                              recorder
                                  .readDecision(view.json())
                                  .map(Cycle::verdicts)
                                  .orElse(Map.of()))
                      .get(Long.toString(job));
              if (decided != null) {
                verdicts.put(Long.toString(job), new Verdict(decided, view.id(), view.at()));
              }
            });
    return verdicts;
  }

  /**
   * The last verdict in words, as far as it is still true.
   *
   * @param places in the queue now, 0 for the first; null for a job that is not in it
   */
  static Said said(StoredJob job, Verdict verdict, Function<String, Integer> places) {
    if (verdict != null && verdict.failed() != null) {
      return new Said(
          RULE_FAILED,
          verdict.failed().failure().clause(),
          "a rule failed when it was decided on, so that nothing was decided: "
              + verdict.failed().because()
              + "; the next cycle looks at it again, by the policy before where there is one that has"
              + " decided without failing",
          null);
    }
    Decided decided = verdict == null ? null : verdict.decided();
    if (decided != null && decided.outcome() instanceof Wait wait) {
      String since = changedSince(wait, job, places);
      return since == null
          ? new Said(wait.code(), decided.rule(), wait.message(), wait.behind())
          : new Said(
              wait.code(),
              decided.rule(),
              "at the last decision job "
                  + wait.behind()
                  + " was ahead of it; "
                  + since
                  + ", and the next cycle looks again",
              null);
    }
    if (decided != null && decided.outcome() instanceof Claimed claimed) {
      return new Said("GATHERING", decided.rule(), claims(claimed), null);
    }
    boolean gathers =
        decided != null
            && (decided.outcome() instanceof Reserve || decided.outcome() instanceof Absorb);
    if (job.reservation() != null || gathers) {
      return new Said(
          "GATHERING",
          decided == null ? null : decided.rule(),
          job.reservation() == null ? "it gathers GPUs" : gathering(job),
          null);
    }
    return new Said(
        "NOT_DECIDED", null, "it has not had a turn yet; the next cycle looks at it", null);
  }

  /** Why the job it waited behind is no reason any more; null when it still is one. */
  private static String changedSince(Wait wait, StoredJob job, Function<String, Integer> places) {
    if (wait.behind() == null) {
      return null;
    }
    Integer ahead = places.apply(wait.behind());
    if (ahead == null) {
      return "that one has left the queue since";
    }
    boolean still =
        ahead < places.apply(job.asks().id()) && (ahead == 0 || !wait.code().equals("NOT_FIRST"));
    return still ? null : "the order of the queue has changed since";
  }

  private static String gathering(StoredJob job) {
    Reservation held = job.reservation();
    return "it gathers GPUs on "
        + held.node()
        + " ("
        + held.tier().name()
        + ") and holds "
        + held.gpus()
        + " of the "
        + job.asks().numGpus()
        + " it needs";
  }

  static String claims(Claimed claimed) {
    return "it claims "
        + Words.gpus(claimed.on())
        + " and has all of them not later than "
        + claimed.readyAt().truncatedTo(ChronoUnit.SECONDS);
  }
}
