package evenhand.slurm.text;

import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * The jobs in all of an answer about the queue. Read are:
 *
 * <ul>
 *   <li>{@code squeue -o '%i|%u|%P|%T|%r|%N|%b|%D|%l|%M|%V|%S|%e|%k|%j'} and other tables with a
 *       header, in any order, with a separator or in fixed widths. Known are the headings JOBID,
 *       NAME, USER, ACCOUNT, PARTITION, STATE or ST, REASON, NODELIST, NODELIST(REASON),
 *       TRES_PER_NODE, TRES_PER_JOB, TRES_ALLOC, NODES, TIME_LIMIT, TIME, SUBMIT_TIME, START_TIME,
 *       END_TIME, EXIT_CODE, RESTARTCOUNT, COMMENT. JOBID and a state must be there. The header is
 *       needed ({@code -h} must be left out): without it the columns would be a guess;
 *   <li>{@code scontrol show job -o}, also with {@code -d} and without {@code -o};
 *   <li>{@code squeue --json}, {@code scontrol show jobs --json} and slurmrestd, 21.08 to 25.x, and
 *       {@code sacct --json}.
 * </ul>
 *
 * A name or comment that holds the separator is put together again where only one way makes sense;
 * otherwise that row is a fault.
 */
public final class Jobs {
  static final Pattern DATE =
      Pattern.compile("\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:Z|[+-][0-9:]+)?");
  private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");
  private static final String[] STATE = {"STATE", "ST", "STATECOMPACT", "JOBSTATE"};
  private static final Set<String> MUST_BE_WHOLE =
      Set.of("JOBID", "STATE", "ST", "TRESALLOC", "TRESPERNODE", "TRESPERJOB", "NODELIST");

  /** What is known of the columns of squeue and sacct. */
  static final Table.Knowledge KNOWLEDGE =
      new Table.Knowledge() {
        @Override
        public Set<String> freeText() {
          return Set.of(
              "NAME", "JOBNAME", "COMMENT", "ADMINCOMMENT", "SUBMITLINE", "WORKDIR", "COMMAND");
        }

        @Override
        public boolean plausible(String column, String cell) {
          return switch (column) {
            case "JOBID", "JOBIDRAW" -> holds(() -> JobId.read(cell));
            case "STATE", "ST" -> holds(() -> JobState.read(cell));
            case "SUBMIT", "START", "END", "SUBMITTIME", "STARTTIME", "ENDTIME", "ELIGIBLE" ->
                Words.orNull(cell) == null || DATE.matcher(cell).matches();
            case "ELAPSED", "TIME", "TIMEUSED" -> holds(() -> Times.elapsed(cell));
            case "TIMELIMIT" -> holds(() -> Times.limit(cell));
            case "EXITCODE", "DERIVEDEXITCODE" -> cell.isEmpty() || ExitStatus.read(cell) != null;
            case "NODES", "NNODES", "CPUS", "NCPUS", "UID", "GID", "PRIORITY", "ELAPSEDRAW" ->
                cell.isEmpty() || NUMBER.matcher(cell).matches();
            case "TRESALLOC", "ALLOCTRES", "REQTRES" ->
                Words.orNull(cell) == null || cell.contains("=");
            default -> true;
          };
        }
      };

  private Jobs() {}

  private static boolean holds(Runnable reading) {
    try {
      reading.run();
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /**
   * Reads all of an answer; what cannot be read is a fault beside what can.
   *
   * @param zone the zone of the command that printed it; dates in JSON need none
   */
  public static Reading<Job> read(String text, ZoneId zone) {
    if (text.isBlank()) {
      return Reading.nothing("the answer is empty, without a header: the command may have failed");
    }
    if (SlurmJson.looksLike(text)) {
      return JobsJson.read(text);
    }
    String start = text.stripLeading();
    if (start.startsWith("JobId=") || text.contains("\nJobId=") || start.startsWith("No jobs in")) {
      return scontrol(text, zone);
    }
    return squeue(text, zone);
  }

  private static Reading<Job> squeue(String text, ZoneId zone) {
    Table table = Table.read(text, KNOWLEDGE);
    if (!table.has("JOBID") || !table.has(STATE)) {
      return Reading.nothing(
          "the first line is no header with JOBID and STATE; leave -h out, or use --json");
    }
    List<Job> jobs = new ArrayList<>();
    List<Reading.Fault> faults = new ArrayList<>(table.faults());
    HostBudget hosts = new HostBudget();
    for (Table.Row row : table.rows()) {
      try {
        row.refuseIfCut(MUST_BE_WHOLE);
        JobSheet sheet = squeueRow(row, zone, hosts).settle();
        jobs.add(sheet.job(List.of(sheet)));
      } catch (IllegalArgumentException e) {
        faults.add(new Reading.Fault(row.line(), e.getMessage()));
      }
    }
    return new Reading<>(jobs, faults);
  }

  private static JobSheet squeueRow(Table.Row row, ZoneId zone, HostBudget hosts) {
    JobSheet sheet = new JobSheet(hosts);
    sheet.id(row.cell("JOBID"));
    sheet.state = JobState.read(row.cell(STATE));
    sheet.name = row.cell("NAME", "JOBNAME");
    sheet.user = row.told("USER", "USERNAME");
    sheet.account = row.told("ACCOUNT");
    sheet.partition = row.told("PARTITION");
    sheet.reason = reason(row.told("REASON"));
    String nodesOrReason = row.cell("NODELIST(REASON)");
    if (row.cell("NODELIST") != null) {
      sheet.nodes(row.cell("NODELIST"));
    } else if (nodesOrReason != null && nodesOrReason.startsWith("(")) {
      sheet.nodes = List.of();
      sheet.reason = sheet.reason == null ? reason(nodesOrReason) : sheet.reason;
    } else if (nodesOrReason != null) {
      sheet.nodes(nodesOrReason);
    }
    boolean gpusTold = row.cell("TRESALLOC", "TRESPERNODE", "TRESPERJOB", "GRES") != null;
    sheet.gpus =
        gpusTold
            ? gpus(
                row.cell("TRESALLOC"),
                row.cell("TRESPERNODE", "GRES"),
                row.cell("NODES", "NUMNODES"),
                row.cell("TRESPERJOB"),
                null,
                null)
            : null;
    sheet.submit = Times.date(row.cell("SUBMITTIME"), zone);
    sheet.start = Times.date(row.cell("STARTTIME"), zone);
    sheet.end = Times.date(row.cell("ENDTIME"), zone);
    sheet.exit = ExitStatus.read(row.cell("EXITCODE"));
    sheet.restarts = small(row.told("RESTARTCOUNT", "RESTARTCNT"));
    sheet.comment = row.told("COMMENT");
    sheet.limit = Times.limit(row.cell("TIMELIMIT"));
    sheet.elapsed = Times.elapsed(row.cell("TIME", "TIMEUSED")).wholeSeconds();
    return sheet;
  }

  private static Reading<Job> scontrol(String text, ZoneId zone) {
    Reading<ScontrolText.Record> records = ScontrolText.read(text, "JobId", ScontrolText.JOB_KEYS);
    List<Job> jobs = new ArrayList<>();
    List<Reading.Fault> faults = new ArrayList<>(records.faults());
    HostBudget hosts = new HostBudget();
    for (ScontrolText.Record record : records.values()) {
      try {
        JobSheet sheet = scontrolRecord(record, zone, hosts).settle();
        jobs.add(sheet.job(List.of(sheet)));
      } catch (IllegalArgumentException e) {
        faults.add(
            new Reading.Fault(
                record.line(),
                "job " + Words.quoted(record.fields().get("JobId")) + ": " + e.getMessage()));
      }
    }
    return new Reading<>(jobs, faults);
  }

  private static JobSheet scontrolRecord(
      ScontrolText.Record record, ZoneId zone, HostBudget hosts) {
    Map<String, String> fields = record.fields();
    JobSheet sheet = new JobSheet(hosts);
    sheet.jobRaw = fields.get("JobId");
    sheet.id(
        id(
            sheet.jobRaw,
            record.told("ArrayJobId"),
            record.told("ArrayTaskId"),
            fields.getOrDefault("HetJobId", fields.get("PackJobId")),
            fields.getOrDefault("HetJobOffset", fields.get("PackJobOffset"))));
    sheet.state = JobState.read(fields.get("JobState"));
    sheet.name = fields.get("JobName");
    sheet.user = user(record.told("UserId"));
    sheet.account = record.told("Account");
    sheet.partition = record.told("Partition");
    sheet.reason = reason(record.told("Reason"));
    if (fields.containsKey("NodeList")) {
      sheet.nodes(fields.get("NodeList"));
    }
    sheet.gpus = scontrolGpus(record);
    sheet.submit = Times.date(fields.get("SubmitTime"), zone);
    sheet.start = Times.date(fields.get("StartTime"), zone);
    sheet.end = Times.date(fields.get("EndTime"), zone);
    sheet.exit = ExitStatus.read(fields.get("ExitCode"));
    sheet.restarts = small(record.told("Restarts"));
    sheet.comment = record.told("Comment");
    sheet.limit = Times.limit(fields.get("TimeLimit"));
    sheet.elapsed = Times.elapsed(fields.get("RunTime")).wholeSeconds();
    return sheet;
  }

  private static List<GpuCount> scontrolGpus(ScontrolText.Record record) {
    if (record.told("JOB_GRES") != null) {
      return Gres.read(record.told("JOB_GRES")).gpus(); // -d: what the whole job holds, by model
    }
    String tres = record.told("AllocTRES");
    if (tres == null) {
      tres = record.told("TRES") == null ? record.told("ReqTRES") : record.told("TRES");
    }
    boolean socket = record.told("TresPerSocket") != null;
    List<GpuCount> gpus =
        gpus(
            tres,
            record.told("TresPerNode") == null ? record.told("Gres") : record.told("TresPerNode"),
            record.told("NumNodes"),
            record.told("TresPerJob"),
            record.told("TresPerTask"),
            record.told("NumTasks"));
    // GPUs asked for by socket depend on the sockets given, which this does not tell.
    return gpus != null && gpus.isEmpty() && socket ? null : gpus;
  }

  /**
   * GPUs of a whole job: as allocated where GPUs are tracked, else as asked for.
   *
   * @return by model; empty when none are named, null when they cannot be known
   */
  static List<GpuCount> gpus(
      String tres, String perNode, String nodes, String perJob, String perTask, String tasks) {
    Tres tracked = Tres.read(tres);
    if (tracked.cut()) {
      return null;
    }
    if (tracked.namesGpus()) {
      return tracked.byModel();
    }
    List<GpuCount> whole = Gres.read(perJob).gpus();
    if (!whole.isEmpty()) {
      return whole;
    }
    List<GpuCount> each = Gres.read(perNode).gpus();
    if (!each.isEmpty()) {
      return times(each, nodes);
    }
    return times(Gres.read(perTask).gpus(), tasks);
  }

  private static List<GpuCount> times(List<GpuCount> each, String times) {
    if (each.isEmpty()) {
      return each;
    }
    // A range of nodes ("2-4") is met by its lower end.
    Integer count = small(times == null ? null : times.split("-", 2)[0]);
    return count == null
        ? null
        : each.stream().map(g -> new GpuCount(g.model(), g.count() * count)).toList();
  }

  /** The id as people write it, from the parts that records keep. */
  static String id(String raw, String arrayJob, String tasks, String hetJob, String hetOffset) {
    if (hetJob != null && hetOffset != null && !hetJob.equals("0")) {
      return hetJob + "+" + hetOffset;
    }
    if (arrayJob == null || tasks == null || arrayJob.equals("0")) {
      return raw;
    }
    return NUMBER.matcher(tasks).matches() ? arrayJob + "_" + tasks : arrayJob + "_[" + tasks + "]";
  }

  /** A reason without the brackets of NODELIST(REASON); "None" is none. */
  static String reason(String text) {
    String told = Words.orNull(text);
    while (told != null && told.startsWith("(") && told.endsWith(")")) {
      told = Words.orNull(told.substring(1, told.length() - 1));
    }
    return told;
  }

  /** A user without the number that some commands print behind it ({@code kim(1000)}). */
  static String user(String text) {
    return text == null ? null : text.replaceAll("\\([0-9]*\\)$", "");
  }

  static Integer small(String number) {
    return number != null && number.matches("\\d{1,9}") ? Integer.valueOf(number) : null;
  }

  /** The state of a JSON record, main word and flags. */
  static JobState jsonState(JsonNode node) {
    List<String> words = SlurmJson.words(node);
    if (words.isEmpty()) {
      throw new IllegalArgumentException("the record has no state");
    }
    return JobState.of(words);
  }
}
