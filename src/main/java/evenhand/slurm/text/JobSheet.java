package evenhand.slurm.text;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * What one record of any source says of a job, before it is made sense of. The sources differ in
 * names and shapes; what their facts mean together is said here once.
 */
final class JobSheet {
  String job;
  String jobRaw;
  String name;
  String user;
  String account;
  String partition;
  JobState state;
  String reason;
  List<String> nodes;
  List<GpuCount> gpus;
  Instant submit;
  Instant start;
  Instant end;
  ExitStatus exit;
  Integer restarts;
  String comment;
  Times.Span limit = Times.Span.UNKNOWN;
  Long elapsed;

  /** True when the row tells of a run that is over, though the job is pending again. */
  boolean pastRun;

  private Long elapsedTold;
  List<Job.Step> steps = new ArrayList<>();
  final List<String> notes = new ArrayList<>();

  private final HostBudget hosts;
  private int tasks = 1;

  /**
   * A sheet for one record.
   *
   * @param hosts the budget of the answer it stands in
   */
  JobSheet(HostBudget hosts) {
    this.hosts = hosts;
  }

  /**
   * Takes the id.
   *
   * @throws IllegalArgumentException when it is none
   */
  void id(String id) {
    job = id;
    tasks = Math.max(1, JobId.read(id).array().size());
  }

  /** Takes a node list; one that is cut or broken is noted and not used. */
  void nodes(String list) {
    try {
      nodes = hosts.expand(list);
    } catch (IllegalArgumentException e) {
      notes.add("its nodes are not known: " + e.getMessage());
    }
  }

  /** Brings start, end and elapsed into agreement with the state. */
  JobSheet settle() {
    elapsedTold = elapsed;
    if (state.pending()) {
      elapsed = 0L;
      return this;
    }
    if (!state.ended()) {
      return this;
    }
    if (end == null && start != null && elapsed != null) {
      end = start.plusSeconds(elapsed); // sacct leaves End unknown when a node vanished
    }
    if (elapsed == null && start != null && end != null) {
      elapsed = Duration.between(start, end).toSeconds();
      if (elapsed < 0) {
        notes.add("it ends before it starts; a clock was set back, elapsed is taken as 0");
        elapsed = 0L;
      }
    }
    boolean neverRan = nodes != null && nodes.isEmpty() && (elapsed == null || elapsed == 0);
    if (neverRan) {
      start = null; // cancelled while it waited: Slurm sets start to the moment of the end
      elapsed = 0L;
    }
    return this;
  }

  /** This attempt as a line of the job's history. */
  Job.Run run() {
    return new Job.Run(
        state.flags().isEmpty() ? state.main() : state.flags().get(0),
        submit,
        state.pending() && !pastRun ? null : start,
        state.ended() || pastRun ? end : null,
        pastRun ? elapsedTold : elapsed,
        nodes);
  }

  /** The job, with all its attempts, this one being the last. */
  Job job(List<JobSheet> attempts) {
    boolean ended = state.ended();
    List<Job.Run> runs = attempts.stream().map(JobSheet::run).toList();
    Long all = 0L;
    for (Job.Run run : runs) {
      all = all == null || run.elapsedS() == null ? null : (Long) (all + run.elapsedS());
    }
    Integer restarted = restarts;
    if (runs.size() > 1) {
      restarted = Math.max(runs.size() - 1, restarts == null ? 0 : restarts);
    }
    return new Job(
        job,
        jobRaw == null || jobRaw.equals(job) ? null : jobRaw,
        state.pending() ? tasks : 1,
        name,
        user,
        account,
        partition,
        partition == null ? null : List.of(partition.split(",")),
        state.main(),
        state.flags(),
        reason,
        nodes,
        gpus,
        submit,
        state.pending() ? null : start,
        ended ? end : null,
        state.pending() && !pastRun ? start : null,
        ended || pastRun ? null : end,
        ended && exit != null ? exit.code() : null,
        ended && exit != null ? exit.signal() : null,
        state.cancelledBy(),
        restarted,
        restarted == null ? null : (Integer) (restarted + 1),
        comment,
        limit.wholeSeconds(),
        limit.unlimited() ? "none" : null,
        elapsed,
        runs.size() > 1 ? all : elapsed,
        runs.size() > 1 ? runs : List.of(),
        List.copyOf(steps),
        List.copyOf(notes));
  }
}
