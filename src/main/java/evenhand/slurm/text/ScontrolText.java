package evenhand.slurm.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The key=value records of {@code scontrol show}, on one line each ({@code -o}) or on several.
 *
 * <p>Values are not quoted and may hold blanks, {@code =}, brackets and JSON. So only a key that is
 * known starts a new field, and only values known as free text reach beyond a blank. A record that
 * names a field twice is refused: its free text imitates a field, and which one is real cannot be
 * told.
 */
final class ScontrolText {
  private static final Pattern KEY =
      Pattern.compile("(?:^|\\s)([A-Za-z][A-Za-z0-9_:/.-]*+)=", Pattern.MULTILINE);

  static final Set<String> NODE_KEYS =
      names(
          """
          NodeName Arch CoresPerSocket CPUAlloc CPUEfctv CPUErr CPUTot CPULoad
          AvailableFeatures ActiveFeatures Features Gres GresDrain GresUsed NodeAddr
          NodeHostName Port Version OS RealMemory AllocMem FreeMem Sockets Boards
          CoreSpecCount CPUSpecList MemSpecLimit State ThreadsPerCore TmpDisk Weight Owner
          MCS_label Partitions NextState BootTime SlurmdStartTime LastBusyTime ResumeAfterTime
          CfgTRES AllocTRES CapWatts CurrentWatts AveWatts LowestJoules ConsumedJoules
          ExtSensorsJoules ExtSensorsWatts ExtSensorsTemp Reason Comment Extra InstanceId
          InstanceType ReservationName ResvName BcastAddr Topology
          """);

  static final Set<String> JOB_KEYS =
      names(
          """
          JobId ArrayJobId ArrayTaskId ArrayTaskThrottle HetJobId HetJobOffset HetJobIdSet
          PackJobId PackJobOffset PackJobIdSet JobName UserId GroupId MCS_label Priority Nice
          Account QOS WCKey JobState Reason FailedNode Dependency Requeue Restarts BatchFlag
          Reboot ExitCode DerivedExitCode RunTime TimeLimit TimeMin SubmitTime EligibleTime
          AccrueTime ResizeTime StartTime EndTime Deadline PreemptEligibleTime PreemptTime
          SuspendTime SecsPreSuspend LastSchedEval Scheduler Partition AllocNode:Sid
          ReqNodeList ExcNodeList NodeList SchedNodeList BatchHost NumNodes NumCPUs NumTasks
          CPUs/Task ReqB:S:C:T TRES ReqTRES AllocTRES Socks/Node NtasksPerN:B:S:C CoreSpec
          ThreadSpec JOB_GRES Nodes CPU_IDs Mem GRES GRES_IDX MinCPUsNode MinMemoryCPU
          MinMemoryNode MinTmpDiskNode Features ClusterFeatures Prefer Gres Reservation
          DelayBoot Cluster OverSubscribe Contiguous Licenses LicensesAlloc Network Command
          WorkDir Container ContainerID AdminComment SystemComment Comment Extra StdErr StdIn
          StdOut BatchScript Power CpusPerTres MemPerTres TresBind TresFreq TresPerJob
          TresPerNode TresPerSocket TresPerTask Switches BurstBuffer BurstBufferState MailUser
          MailType FedOrigin FedViableSibs FedActiveSibs StepMgrEnabled SegmentSize SLUID
          Origin
          """);

  private static final Set<String> FREE_TEXT =
      names(
          """
          OS Reason Comment Extra JobName Command WorkDir AdminComment SystemComment StdErr
          StdIn StdOut BatchScript Power Network Account Licenses
          """);

  /** With {@code -d} a job names these once for each group of like nodes. */
  private static final Set<String> REPEATED =
      Set.of("Nodes", "CPU_IDs", "Mem", "GRES", "GRES_IDX", "JOB_GRES");

  private ScontrolText() {}

  private static Set<String> names(String list) {
    return Set.of(list.strip().split("\\s+"));
  }

  /**
   * One record.
   *
   * @param line where it begins, from 1
   * @param fields its fields; of the repeated ones the first
   * @param groups the {@code Nodes} and {@code GRES} of each group of nodes ({@code -d})
   */
  record Record(int line, Map<String, String> fields, List<Map<String, String>> groups) {
    /** The field's text, or null when it is missing or says nothing. */
    String told(String key) {
      return Words.orNull(fields.get(key));
    }
  }

  /**
   * Reads all of an answer.
   *
   * @param firstKey the key that begins a record: {@code NodeName} or {@code JobId}
   * @param keys every key that may start a field
   */
  static Reading<Record> read(String text, String firstKey, Set<String> keys) {
    List<Record> records = new ArrayList<>();
    List<Reading.Fault> faults = new ArrayList<>();
    StringBuilder pending = new StringBuilder();
    int begun = 0;
    int number = 0;
    for (String line : (text + "\n").split("\n", -1)) {
      number++;
      boolean begins = line.startsWith(firstKey + "=");
      boolean ends = begins || line.isBlank();
      if (ends && begun > 0) {
        record(pending.toString(), begun, keys, records, faults);
        pending.setLength(0);
        begun = 0;
      }
      if (begins) {
        begun = number;
      }
      if (begun > 0) {
        pending.append(pending.isEmpty() ? "" : " ").append(line.strip());
      } else if (!line.isBlank() && !line.startsWith("No ")) {
        // "No jobs in the system" is an answer; anything else before a record is not.
        faults.add(
            new Reading.Fault(
                number,
                Words.quoted(line.strip()) + " is no record beginning with " + firstKey + "="));
      }
    }
    return new Reading<>(records, faults);
  }

  private static void record(
      String text, int line, Set<String> keys, List<Record> records, List<Reading.Fault> faults) {
    try {
      records.add(record(text, line, keys));
    } catch (IllegalArgumentException e) {
      faults.add(new Reading.Fault(line, e.getMessage()));
    }
  }

  /**
   * Reads one record.
   *
   * @throws IllegalArgumentException when a field stands in it twice
   */
  static Record record(String text, int line, Set<String> keys) {
    Map<String, String> fields = new LinkedHashMap<>();
    List<Map<String, String>> groups = new ArrayList<>();
    Matcher m = KEY.matcher(text);
    String key = null;
    int from = 0;
    boolean more = m.find();
    while (more || key != null) {
      if (more && !keys.contains(m.group(1))) {
        more = m.find();
        continue;
      }
      if (key != null) {
        field(key, text.substring(from, more ? m.start() : text.length()).strip(), fields, groups);
      }
      key = more ? m.group(1) : null;
      from = more ? m.end() : from;
      more = more && m.find();
    }
    return new Record(line, fields, groups);
  }

  private static void field(
      String key, String text, Map<String, String> fields, List<Map<String, String>> groups) {
    String value = FREE_TEXT.contains(key) ? text : text.split("\\s", 2)[0];
    if (REPEATED.contains(key)) {
      if (key.equals("Nodes")) {
        groups.add(new LinkedHashMap<>());
      }
      if (!groups.isEmpty()) {
        groups.get(groups.size() - 1).putIfAbsent(key, value);
      }
      fields.putIfAbsent(key, value);
    } else if (fields.putIfAbsent(key, value) != null) {
      throw new IllegalArgumentException(
          "the field "
              + key
              + " stands twice in one record; a free text imitates it, so use --json for this one");
    }
  }
}
