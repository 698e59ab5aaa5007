package evenhand.slurm.text;

import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;

/**
 * The jobs in all of an answer of {@code sacct -P} (with or without {@code -X}, {@code -D}) with
 * its header, or of {@code sacct --json}.
 *
 * <p>Known are the columns JobID, JobIDRaw, JobName, User, Account, Partition, State, ExitCode,
 * Submit, Start, End, Elapsed or ElapsedRaw, NodeList, AllocTRES, ReqTRES, Timelimit or
 * TimelimitRaw, Restarts, Comment, Reason, in any order; JobID and State must be there.
 *
 * <p>The row of a job decides; rows of its steps are kept beside it. Several rows of one job are
 * its attempts. A row with another number of columns than the header is a fault with its line,
 * unless the surplus stands in a name or comment and only one way makes sense.
 */
public final class Accounting {
  private Accounting() {}

  /**
   * Reads all of an answer; what cannot be read is a fault beside what can.
   *
   * @param zone the zone of the command that printed it
   */
  public static Reading<Job> read(String text, ZoneId zone) {
    if (text.isBlank()) {
      return Reading.nothing("the answer is empty, without a header: the command may have failed");
    }
    if (SlurmJson.looksLike(text)) {
      return JobsJson.read(text);
    }
    Table table = Table.read(text, Jobs.KNOWLEDGE);
    if (!table.has("JOBID") || !table.has("STATE")) {
      return Reading.nothing("the first line is no header with JobID and State; leave -n out");
    }
    List<Reading.Fault> faults = new ArrayList<>(table.faults());
    Attempts attempts = new Attempts();
    HostBudget hosts = new HostBudget();
    for (Table.Row row : table.rows()) {
      try {
        JobId id = JobId.read(row.cell("JOBID"));
        if (id.step() == null) {
          attempts.add(job(row, zone, hosts).settle());
        } else {
          step(row, id, attempts);
        }
      } catch (IllegalArgumentException e) {
        faults.add(new Reading.Fault(row.line(), e.getMessage()));
      }
    }
    return new Reading<>(attempts.jobs(), faults);
  }

  private static void step(Table.Row row, JobId id, Attempts attempts) {
    String cell = row.cell("JOBID");
    JobSheet job = attempts.last(cell.substring(0, cell.indexOf('.')));
    if (job == null) {
      throw new IllegalArgumentException(
          "the step " + Words.quoted(cell) + " has no row of its job");
    }
    ExitStatus exit = ExitStatus.read(row.cell("EXITCODE"));
    job.steps.add(
        new Job.Step(
            id.step(),
            JobState.read(row.cell("STATE")).main(),
            exit == null ? null : exit.code(),
            exit == null ? null : exit.signal(),
            elapsed(row)));
  }

  private static JobSheet job(Table.Row row, ZoneId zone, HostBudget hosts) {
    JobSheet sheet = new JobSheet(hosts);
    sheet.id(row.cell("JOBID"));
    sheet.jobRaw = row.told("JOBIDRAW");
    sheet.state = JobState.read(row.cell("STATE"));
    sheet.pastRun = sheet.state.pending() && !sheet.state.flags().isEmpty();
    sheet.name = row.cell("JOBNAME", "NAME");
    sheet.user = Jobs.user(row.told("USER"));
    sheet.account = row.told("ACCOUNT");
    sheet.partition = row.told("PARTITION");
    sheet.reason = Jobs.reason(row.told("REASON"));
    if (row.cell("NODELIST") != null) {
      sheet.nodes(row.cell("NODELIST"));
    }
    sheet.gpus = gpus(row);
    sheet.submit = Times.date(row.cell("SUBMIT"), zone);
    sheet.start = Times.date(row.cell("START"), zone);
    sheet.end = Times.date(row.cell("END"), zone);
    sheet.exit = ExitStatus.read(row.cell("EXITCODE"));
    sheet.restarts = Jobs.small(row.told("RESTARTS"));
    sheet.comment = row.told("COMMENT");
    sheet.limit =
        row.cell("TIMELIMIT") == null && row.told("TIMELIMITRAW") != null
            ? Times.limit(row.cell("TIMELIMITRAW"))
            : Times.limit(row.cell("TIMELIMIT"));
    sheet.elapsed = elapsed(row);
    return sheet;
  }

  private static List<GpuCount> gpus(Table.Row row) {
    if (row.cell("ALLOCTRES", "REQTRES") == null) {
      // Before 20.11 accounting had its own column for them.
      return row.cell("ALLOCGRES") == null ? null : Gres.read(row.cell("ALLOCGRES")).gpus();
    }
    String allocated = row.told("ALLOCTRES");
    return Jobs.gpus(
        allocated == null ? row.told("REQTRES") : allocated, null, null, null, null, null);
  }

  private static Long elapsed(Table.Row row) {
    return Times.elapsed(row.cell("ELAPSED", "ELAPSEDRAW")).wholeSeconds();
  }
}
