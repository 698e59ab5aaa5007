package evenhand.simulator;

import java.util.List;
import java.util.stream.Collectors;

/** The files of a simulation as text: CSV with a header, lines ended by a line feed. */
public final class ResultFiles {
  private ResultFiles() {}

  /** One line a job, in the order of arrival; {@code on} is where it ran last. */
  public static String jobs(Simulation.Result result) {
    StringBuilder csv =
        new StringBuilder(
            "job_id,account,user,kind,nodes,num_gpus,tier,priority,min_runtime_s,resumable,"
                + "submit_s,start_s,end_s,run_s,wait_s,jct_s,state,attempts,preemptions,"
                + "lost_gpu_s,allocated,on,reason\n");
    for (JobCourse c : result.courses()) {
      TraceJob job = c.job();
      List<JobCourse.Run> runs = c.runs();
      JobCourse.Run last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
      boolean started = c.firstStartMicros() >= 0;
      boolean ended = c.endMicros() >= 0;
      row(
          csv,
          job.id(),
          c.account(),
          job.user(),
          job.kind(),
          job.nodes(),
          job.numGpus(),
          job.tier(),
          job.priority(),
          job.minRuntimeSeconds(),
          job.resumable(),
          Micros.text(job.submitMicros()),
          started ? Micros.text(c.firstStartMicros()) : null,
          ended ? Micros.text(c.endMicros()) : null,
          Micros.text(job.runMicros()),
          started ? Micros.text(c.firstStartMicros() - job.submitMicros()) : null,
          ended ? Micros.text(c.endMicros() - job.submitMicros()) : null,
          c.state(),
          runs.size(),
          c.preemptions(),
          Micros.text(c.lostGpuMicros()),
          last == null ? null : last.allocated(),
          last == null
              ? null
              : last.on().stream().map(JobCourse.Held::text).collect(Collectors.joining(" ")),
          c.reason());
    }
    return csv.toString();
  }

  /** One line for each thing that happened, in the order in which it did. */
  public static String events(Simulation.Result result) {
    StringBuilder csv = new StringBuilder("at_s,event,job_id,account,on,gpus,rule,detail\n");
    for (Happening h : result.happenings()) {
      row(
          csv,
          Micros.text(h.atMicros()),
          h.what(),
          h.job(),
          h.account(),
          h.on(),
          h.gpus(),
          h.rule(),
          h.detail());
    }
    return csv.toString();
  }

  /** Rows of the job set that cannot be jobs. */
  public static String unreadable(Trace trace) {
    StringBuilder csv = new StringBuilder("line,reason,row\n");
    trace.unreadable().forEach(u -> row(csv, u.line(), u.reason(), u.text()));
    return csv.toString();
  }

  /** A line of CSV; nothing where a cell is null. */
  static void row(StringBuilder csv, Object... cells) {
    for (int i = 0; i < cells.length; i++) {
      if (i > 0) {
        csv.append(',');
      }
      if (cells[i] != null) {
        cell(csv, cells[i].toString());
      }
    }
    csv.append('\n');
  }

  private static void cell(StringBuilder csv, String text) {
    boolean plain = true;
    for (int i = 0; i < text.length() && plain; i++) {
      char c = text.charAt(i);
      plain = c != ',' && c != '"' && c != '\n' && c != '\r';
    }
    if (plain) {
      csv.append(text);
    } else {
      csv.append('"').append(text.replace("\"", "\"\"").replaceAll("[\\r\\n]", " ")).append('"');
    }
  }
}
