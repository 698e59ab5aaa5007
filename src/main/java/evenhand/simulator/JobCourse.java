package evenhand.simulator;

import java.util.ArrayList;
import java.util.List;

/** What became of one job of the job set. Written by the simulation, read for figures. */
public final class JobCourse {
  /** Where a job is, or how it ended. */
  public enum State {
    /** Not submitted when the simulation ended. */
    UNSUBMITTED,
    REFUSED,
    WAITING,
    RUNNING,
    COMPLETED,
    /** Made room for another and could not be resumed. */
    PREEMPTED,
    /** Started as often as a job is started at most, or its nodes failed as often. */
    FAILED;

    /** Whether it is over and counts as finished. */
    public boolean finished() {
      return this == COMPLETED || this == PREEMPTED || this == FAILED;
    }
  }

  /**
   * One stretch of running.
   *
   * @param on the GPUs it held
   * @param allocated whether the policy charged it to a budget; true where it has none
   * @param protectedUntilMicros until when nothing might preempt it (K2)
   * @param end how it ended: {@code COMPLETED}, {@code PREEMPTED}, {@code NODE_FAIL}, or {@code
   *     RUNNING} when the simulation ended first
   * @param lostGpuMicros work of it that has to be done again, GPU-microseconds
   */
  public record Run(
      int attempt,
      long fromMicros,
      long toMicros,
      List<Held> on,
      boolean allocated,
      long protectedUntilMicros,
      String end,
      long lostGpuMicros) {
    public Run {
      on = List.copyOf(on);
    }

    /** GPUs of all its nodes together. */
    public int gpus() {
      return on.stream().mapToInt(h -> h.indices().size()).sum();
    }
  }

  /** GPUs of one tier on one node, by their numbers there, from 0. */
  public record Held(String node, String tier, List<Integer> indices) {
    public Held {
      indices = List.copyOf(indices);
    }

    /** {@code n1/0-3,5}. */
    public String text() {
      StringBuilder text = new StringBuilder(node).append('/');
      for (int i = 0; i < indices.size(); ) {
        int last = i;
        while (last + 1 < indices.size() && indices.get(last + 1) == indices.get(last) + 1) {
          last++;
        }
        text.append(i == 0 ? "" : ",").append(indices.get(i));
        if (last > i) {
          text.append('-').append(indices.get(last));
        }
        i = last + 1;
      }
      return text.toString();
    }
  }

  /**
   * GPUs of one placement that a reservation held for it over a stretch of time in which nothing
   * else changed; which of the placement's GPUs is not settled before the job starts.
   */
  public record Hold(String node, String tier, int gpus, long fromMicros, long toMicros) {}

  private final TraceJob job;
  private final String account;
  final List<Run> runs = new ArrayList<>();
  final List<Hold> holds = new ArrayList<>();
  State state = State.UNSUBMITTED;
  String reason;
  String why;
  boolean admitted;
  long firstStart = -1;
  long end = -1;
  long remaining;
  int preemptions;
  int nodeFailures;

  JobCourse(TraceJob job, String account) {
    this.job = job;
    this.account = account;
    this.remaining = job.runMicros();
  }

  public TraceJob job() {
    return job;
  }

  public String account() {
    return account;
  }

  public State state() {
    return state;
  }

  /** Whether its submission was accepted. */
  public boolean admitted() {
    return admitted;
  }

  /** Why it was refused, failed or waits for good, or null. */
  public String reason() {
    return reason;
  }

  /** When it first started, microseconds; -1 when it never did. */
  public long firstStartMicros() {
    return firstStart;
  }

  /** When it was over, microseconds; -1 while it is not. */
  public long endMicros() {
    return end;
  }

  public int preemptions() {
    return preemptions;
  }

  /** Stretches of running, in order. */
  public List<Run> runs() {
    return List.copyOf(runs);
  }

  /** Stretches of holding a reservation, in order: the rows of the ledger for them. */
  public List<Hold> holds() {
    return List.copyOf(holds);
  }

  /** Work it had to do again, GPU-microseconds. */
  public long lostGpuMicros() {
    return runs.stream().mapToLong(Run::lostGpuMicros).sum();
  }
}
