package evenhand;

import evenhand.simulator.CsvTrace;
import evenhand.simulator.Trace;
import evenhand.simulator.TraceJob;
import evenhand.slurm.text.Accounting;
import evenhand.slurm.text.GpuCount;
import evenhand.slurm.text.Job;
import evenhand.slurm.text.Reading;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/**
 * Slurm's accounting as a job set: what ran, as it was asked for. It stands here because neither
 * the simulator nor the reader of Slurm's text knows the other.
 *
 * <p>The set's zero is the midnight (UTC) before the first submission. Jobs that hold no GPU or
 * never ran are listed as rows that cannot be jobs: their run time is not known.
 */
final class SacctTrace {
  private static final long DAY = 86_400;
  private static final long MICROS = 1_000_000;

  private SacctTrace() {}

  static Trace read(String text) {
    Reading<Job> reading = Accounting.read(text, ZoneOffset.UTC);
    List<TraceJob> jobs = new ArrayList<>();
    List<Trace.Unreadable> unreadable = new ArrayList<>();
    for (Reading.Fault fault : reading.faults()) {
      unreadable.add(new Trace.Unreadable(fault.line(), fault.sentence(), ""));
    }
    long first =
        reading.values().stream()
            .filter(j -> j.submit() != null)
            .mapToLong(j -> j.submit().getEpochSecond())
            .min()
            .orElse(0);
    for (Job job : reading.values()) {
      try {
        jobs.add(CsvTrace.checked(traceJob(job, first - Math.floorMod(first, DAY))));
      } catch (IllegalArgumentException e) {
        unreadable.add(new Trace.Unreadable(0, e.getMessage(), job.job()));
      }
    }
    return new Trace(jobs, unreadable, reading.values().size() + reading.faults().size());
  }

  private static TraceJob traceJob(Job job, long zero) {
    String which = "job " + job.job() + " ";
    if (job.submit() == null) {
      throw new IllegalArgumentException(which + "does not tell when it was submitted");
    }
    if (job.start() == null || job.elapsedS() == null) {
      throw new IllegalArgumentException(which + "never ran: how long it would is not known");
    }
    List<GpuCount> gpus = job.gpus() == null ? List.of() : job.gpus();
    if (gpus.size() > 1) {
      throw new IllegalArgumentException(which + "has GPUs of several models");
    }
    int all = gpus.isEmpty() ? 0 : Math.toIntExact(gpus.get(0).count());
    int nodes = job.nodes() == null || job.nodes().isEmpty() ? 1 : job.nodes().size();
    if (all % nodes != 0) {
      throw new IllegalArgumentException(which + "has not as many GPUs on each of its nodes");
    }
    return new TraceJob(
        job.job(),
        (job.submit().getEpochSecond() - zero) * MICROS,
        job.account(),
        job.user(),
        nodes,
        all / nodes,
        gpus.isEmpty() ? null : gpus.get(0).model(),
        job.elapsedS() * MICROS,
        0,
        true,
        0,
        null,
        true,
        0);
  }
}
