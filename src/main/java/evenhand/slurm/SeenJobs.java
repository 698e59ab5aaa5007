package evenhand.slurm;

import evenhand.cycle.SeenJob;
import evenhand.cycle.Token;
import evenhand.slurm.text.GpuCount;
import evenhand.slurm.text.Job;
import evenhand.slurm.text.Jobs;
import evenhand.slurm.text.Reading;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Our jobs in an answer of squeue or sacct.
 *
 * @param jobs those whose name is, or was, a token, whichever installation's
 * @param finishing those of them that are completing: RUNNING to the cycle
 * @param unsure those that failed and whose exit code the answer leaves open
 * @param strange why other rows, not ours, could not be read
 */
record SeenJobs(
    List<SeenJob> jobs, List<SeenJob> finishing, List<SeenJob> unsure, List<String> strange) {
  /** Commands are run under TZ=UTC. */
  static final ZoneId ZONE = ZoneOffset.UTC;

  /**
   * What squeue is asked for. Widths are far above need, since it cuts what is longer; the columns
   * whose text could be longer all the same, and is not needed whole, stand last.
   */
  static final String COLUMNS =
      "JobID:24,State:24,SubmitTime:24,StartTime:24,EndTime:24,exit_code:16,RestartCnt:20,"
          + "NumNodes:12,"
          + "tres-per-node:200,NodeList:4000,Name:100,Reason:200";

  /** Where each job is its submitter's: whose it is as well. */
  static final String COLUMNS_WITH_USER = COLUMNS + ",UserName:100";

  private static final Pattern OURS = Pattern.compile("evenhand-[0-9a-z]{1,16}-\\d+-\\d+");
  private static final String NAME = " NAME ";

  /** Reasons for which Slurm keeps a job waiting that it will not start as it is. */
  private static final Pattern NEVER =
      Pattern.compile(
          "BadConstraints|Invalid(Account|QOS)|Partition(Node|Time)Limit"
              + "|(Assoc|QOS)Max\\w*PerJob\\w*");

  private static final Pattern PARKED =
      Pattern.compile("JobHeldAdmin|job[_ ]requeued[_ ]in[_ ]held[_ ]state");

  private static final Pattern NO_STATE =
      Pattern.compile("job state '([^']*)' (?:is none of Slurm's|names two main states)");

  /**
   * Reads the answer of squeue.
   *
   * @throws IllegalArgumentException when it is no such answer, or a row of ours in it cannot be
   *     read
   */
  static SeenJobs ofQueue(String answer) {
    return of(answer, Jobs.read(answer, ZONE));
  }

  /**
   * @param named the name that a job of ours was given, whatever it is called by now; null for
   *     others
   */
  static SeenJobs ofQueue(String answer, Function<Job, String> named) {
    return of(answer, Jobs.read(answer, ZONE), named);
  }

  static SeenJobs of(String answer, Reading<Job> reading) {
    return of(answer, reading, Job::name);
  }

  private static SeenJobs of(String answer, Reading<Job> reading, Function<Job, String> named) {
    List<SeenJob> jobs = new ArrayList<>();
    List<SeenJob> finishing = new ArrayList<>();
    List<SeenJob> unsure = new ArrayList<>();
    List<String> strange = new ArrayList<>();
    for (Job job : reading.values()) {
      String name = named.apply(job);
      if (name == null || Token.read(name).isEmpty()) {
        continue;
      }
      SeenJob seen = seen(job, name);
      jobs.add(seen);
      if (job.flags().contains("COMPLETING")) {
        finishing.add(seen);
      }
      if (seen.state() == SeenJob.State.FAILED && job.exitCode() == null) {
        unsure.add(seen);
      }
    }
    String[] lines = answer.split("\r?\n", -1);
    for (Reading.Fault fault : reading.faults()) {
      if (fault.line() == 0) {
        throw new IllegalArgumentException(fault.text());
      }
      String line = fault.line() <= lines.length ? lines[fault.line() - 1] : "";
      if (!isOurs(lines[0], line)) {
        strange.add(fault.text());
        continue;
      }
      SeenJob undying = withUnknownState(lines, line, fault);
      if (undying == null) {
        throw new IllegalArgumentException("a job of ours cannot be read: " + fault.text());
      }
      jobs.add(undying);
    }
    return new SeenJobs(jobs, finishing, unsure, strange);
  }

  /**
   * Whether a row that cannot be read is a job's of ours: by where the name stands. Anybody's name
   * may hold line ends, and our names after them, and must not spoil the answer.
   */
  private static boolean isOurs(String header, String line) {
    int at = header.indexOf(NAME) + 1;
    Matcher name = OURS.matcher(line);
    return at == 0 ? name.find() : at < line.length() && name.region(at, line.length()).lookingAt();
  }

  /**
   * A job in a state that no Slurm we know has: whatever it means, it has not ended. Read as if it
   * were running; null when that does not help.
   */
  private static SeenJob withUnknownState(String[] lines, String line, Reading.Fault fault) {
    Matcher m = NO_STATE.matcher(fault.sentence());
    int at = lines[0].indexOf(" STATE ") + 1;
    if (!m.find() || at == 0 || at + 24 > line.length()) {
      return null;
    }
    String running = line.substring(0, at) + "%-24s".formatted("RUNNING") + line.substring(at + 24);
    Reading<Job> again = Jobs.read(lines[0] + "\n" + running + "\n", ZONE);
    if (again.values().size() != 1) {
      return null;
    }
    SeenJob seen = seen(again.values().get(0));
    return with(
        seen, null, "Slurm calls its state " + m.group(1) + ", which evenhand does not know");
  }

  /** The job with another exit code and reason. */
  static SeenJob with(SeenJob job, Integer exitCode, String reason) {
    return new SeenJob(
        job.clusterJob(),
        job.name(),
        job.state(),
        job.submittedAt(),
        job.startedAt(),
        job.endedAt(),
        exitCode,
        reason,
        job.on(),
        job.restarts());
  }

  /** One job as the cycle sees it. */
  static SeenJob seen(Job job) {
    return seen(job, job.name());
  }

  private static SeenJob seen(Job job, String name) {
    SeenJob.State state = state(job);
    int restarts = job.restarts() == null ? 0 : job.restarts();
    // One that was queued again is counted as started again while the run before still completes,
    // with the moment of that for its start: it is still that run.
    boolean runBefore = restarts > 0 && job.flags().contains("COMPLETING");
    return new SeenJob(
        number(job),
        name,
        state,
        job.submit(),
        runBefore ? null : job.start(),
        job.end(),
        exitCode(job, state),
        reason(job, state),
        state == SeenJob.State.RUNNING ? on(job) : List.of(),
        runBefore ? restarts - 1 : restarts);
  }

  /** The number that Slurm itself knows a job by. */
  static String number(Job job) {
    return job.jobRaw() == null ? job.job() : job.jobRaw();
  }

  private static SeenJob.State state(Job job) {
    return switch (job.state()) {
      case "PENDING" -> waiting(job.reason());
      case "COMPLETED" -> SeenJob.State.COMPLETED;
      case "FAILED" -> SeenJob.State.FAILED;
      case "CANCELLED" -> SeenJob.State.CANCELLED;
      case "TIMEOUT", "DEADLINE" -> SeenJob.State.TIMEOUT;
      case "OUT_OF_MEMORY" -> SeenJob.State.OUT_OF_MEMORY;
      // A node that did not boot is a node that failed.
      case "NODE_FAIL", "BOOT_FAIL" -> SeenJob.State.NODE_FAIL;
      case "PREEMPTED" -> SeenJob.State.PREEMPTED;
      // RUNNING, SUSPENDED, which keeps its GPUs, and what is not known: never an end.
      default -> SeenJob.State.RUNNING;
    };
  }

  private static SeenJob.State waiting(String reason) {
    if ("JobHeldUser".equals(reason)) {
      return SeenJob.State.HELD;
    }
    if (reason != null && PARKED.matcher(reason).matches()) {
      return SeenJob.State.PARKED;
    }
    return reason != null && NEVER.matcher(reason).matches()
        ? SeenJob.State.REFUSED
        : SeenJob.State.PENDING;
  }

  private static Integer exitCode(Job job, SeenJob.State state) {
    if (state == SeenJob.State.COMPLETED) {
      return 0;
    }
    // One that a signal ended has no exit code, though Slurm writes 0.
    boolean signalled = job.signal() != null && job.signal() != 0;
    return signalled && Integer.valueOf(0).equals(job.exitCode()) ? null : job.exitCode();
  }

  private static String reason(Job job, SeenJob.State state) {
    boolean signalled = job.signal() != null && job.signal() != 0 && job.signal() != 125;
    if (state != SeenJob.State.FAILED || !signalled || "BadConstraints".equals(job.reason())) {
      return job.reason();
    }
    String signal = "ended by signal " + job.signal();
    return job.reason() == null ? signal : signal + " (" + job.reason() + ")";
  }

  private static List<SeenJob.On> on(Job job) {
    List<SeenJob.On> on = new ArrayList<>();
    if (job.nodes() == null || job.nodes().isEmpty() || job.gpus() == null) {
      return on;
    }
    int nodes = job.nodes().size();
    for (GpuCount gpus : job.gpus()) {
      if (gpus.count() % nodes != 0) {
        return List.of();
      }
      for (String node : job.nodes()) {
        on.add(new SeenJob.On(node, gpus.model(), (int) (gpus.count() / nodes)));
      }
    }
    return on;
  }
}
