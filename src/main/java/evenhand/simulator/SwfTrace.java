package evenhand.simulator;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads a job set from the Standard Workload Format: comments after {@code ;}, then a job a line in
 * 18 fields. A processor is read as a GPU; jobs of more than a node has are spread over nodes of
 * that many.
 */
public final class SwfTrace {
  private SwfTrace() {}

  private static final int FIELDS = 18;

  /**
   * @param gpusPerNode the most GPUs of one node; larger jobs become gangs of whole nodes
   */
  public static Trace read(String text, int gpusPerNode) {
    List<TraceJob> jobs = new ArrayList<>();
    List<Trace.Unreadable> unreadable = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    int line = 0;
    int rows = 0;
    for (String row : text.lines().toList()) {
      line++;
      String plain = row.strip();
      if (plain.isEmpty() || plain.startsWith(";")) {
        continue;
      }
      rows++;
      try {
        TraceJob job = job(line, plain.split("\\s+"), gpusPerNode);
        if (!ids.add(job.id())) {
          throw new IllegalArgumentException("job " + job.id() + " stands in a row above");
        }
        jobs.add(job);
      } catch (ArithmeticException | NumberFormatException e) {
        unreadable.add(
            new Trace.Unreadable(line, "has a field that is no such number", CsvTrace.brief(row)));
      } catch (IllegalArgumentException e) {
        unreadable.add(new Trace.Unreadable(line, e.getMessage(), CsvTrace.brief(row)));
      }
    }
    return new Trace(jobs, unreadable, rows);
  }

  private static TraceJob job(int line, String[] fields, int gpusPerNode) {
    if (fields.length != FIELDS) {
      throw new IllegalArgumentException(
          "has " + fields.length + " fields; SWF has " + FIELDS + " in a row");
    }
    int allocated = new BigDecimal(fields[4]).intValueExact();
    int asked = new BigDecimal(fields[7]).intValueExact();
    int gpus = allocated > 0 ? allocated : Math.max(0, asked); // -1 is "not known"
    if (new BigDecimal(fields[3]).signum() < 0) {
      throw new IllegalArgumentException("does not tell its run time");
    }
    int nodes = 1;
    if (gpus > gpusPerNode) {
      if (gpus % gpusPerNode != 0) {
        throw new IllegalArgumentException(
            "asks for " + gpus + " processors, which are no whole nodes of " + gpusPerNode);
      }
      nodes = gpus / gpusPerNode;
    }
    return CsvTrace.checked(
        new TraceJob(
            fields[0],
            Micros.of(new BigDecimal(fields[1])),
            fields[12].equals("-1") ? null : "group" + fields[12],
            fields[11].equals("-1") ? null : "user" + fields[11],
            nodes,
            gpus / nodes,
            null,
            Micros.of(new BigDecimal(fields[3])),
            0,
            true,
            0,
            null,
            true,
            line));
  }
}
