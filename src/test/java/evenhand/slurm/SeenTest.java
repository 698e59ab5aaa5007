package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.cycle.Reading.Seen;
import evenhand.cycle.SeenJob;
import evenhand.facts.NodeState;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What single rows of Slurm's answers become. */
class SeenTest {
  private static final String TOKEN = "evenhand-t3st-1-1";

  static String node(String name, String state, String gres, String used, String more) {
    return "NodeName=%s Arch=x86_64 CPUAlloc=0 CPUTot=32 Gres=%s GresDrain=N/A GresUsed=%s OS=Linux 6.1 State=%s Partitions=main,gpu %s%n"
        .formatted(name, gres, used, state, more);
  }

  private static Seen one(String state, String used) {
    return new SeenNodes(List.of("PLANNED"))
        .read(node("n1", state, "gpu:4090:4", used, "Reason=words here [root@2026-01-01T00:00:00]"))
        .get(0);
  }

  @ParameterizedTest
  @CsvSource({
    "IDLE,UP,1",
    "MIXED,UP,1",
    "MIXED+PLANNED,UP,1",
    "ALLOCATED,UP,4",
    "IDLE+COMPLETING,UP,4",
    "MIXED+COMPLETING,UP,1",
    "IDLE+DRAIN,DRAINING,1",
    "MIXED+DRAIN,DRAINING,1",
    "MIXED+MAINTENANCE+RESERVED,DRAINING,1",
    "IDLE+POWERED_DOWN,DRAINING,1",
    "IDLE+REBOOT_REQUESTED,DRAINING,1",
    "IDLE+PLANNED+QUANTUM,DRAINING,1",
    "IDLE+FAIL,DRAINING,1",
    "IDLE+NOT_RESPONDING,DOWN,1",
    "DOWN,DOWN,1",
    "DOWN+NOT_RESPONDING,DOWN,1",
    "UNKNOWN,DOWN,1",
    "IDLE+INVALID_REG,DOWN,1",
    "DOWN*+DRAIN,DOWN,1"
  })
  void statesOfNodes(String state, NodeState meant, int used) {
    Seen seen = one(state, "gpu:4090:1(IDX:0)");
    assertThat(seen.state()).isEqualTo(meant);
    assertThat(seen.used()).isEqualTo(used);
    assertThat(seen.capacity()).isEqualTo(4);
    assertThat(seen.partitions()).containsExactly("main", "gpu");
    assertThat(seen.reason()).startsWith("words here [root@");
  }

  @Test
  void aSiteMayUseNodesThatArePoweredDown() {
    List<Seen> seen =
        new SeenNodes(List.of("planned", "powered_down"))
            .read(node("n1", "IDLE+CLOUD+POWERED_DOWN", "gpu:4", "gpu:0", ""));
    assertThat(seen.get(0).state()).isEqualTo(NodeState.UP);
    assertThat(seen.get(0).model()).isNull();
    assertThat(new SeenNodes(List.of()).read(node("n1", "IDLE+POWERED_DOWN", "gpu:4", "gpu:0", "")))
        .singleElement()
        .satisfies(
            s ->
                assertThat(s.reason())
                    .isEqualTo("IDLE+POWERED_DOWN is not among evenhand.slurm.usable-states"));
  }

  @Test
  void aNodeWithoutProcessorsOrPartitionTakesNothing() {
    String full =
        node("n1", "MIXED", "gpu:4090:4", "gpu:4090:1(IDX:0)", "").replace("Alloc=0", "Alloc=32");
    assertThat(new SeenNodes(List.of()).read(full).get(0).used()).isEqualTo(4);
    String alone =
        node("n1", "IDLE", "gpu:4090:4", "gpu:4090:0", "").replace("Partitions=main,gpu", "");
    Seen seen = new SeenNodes(List.of()).read(alone).get(0);
    assertThat(seen.state()).isEqualTo(NodeState.DRAINING);
    assertThat(seen.reason()).isEqualTo("it is in no partition");
  }

  @Test
  void aNodeThatBecomesUnreadableIsDownWithWhatItHad() {
    SeenNodes nodes = new SeenNodes(List.of());
    String well = node("n2", "IDLE", "gpu:5090:2", "gpu:5090:0(IDX:N/A)", "");
    nodes.read(node("n1", "IDLE", "gpu:4090:4", "gpu:4090:0(IDX:N/A)", "") + well);

    List<Seen> seen = nodes.read(node("n1", "SIDEWAYS", "gpu:4090:4", "gpu:4090:0", "") + well);
    assertThat(seen).hasSize(2);
    assertThat(seen.get(0).state()).isEqualTo(NodeState.DOWN);
    assertThat(seen.get(0).capacity()).isEqualTo(4);
    assertThat(seen.get(0).reason()).startsWith("unreadable: ").contains("SIDEWAYS");
    assertThat(seen.get(1).state()).isEqualTo(NodeState.UP);

    seen = nodes.read(node("n1", "IDLE", "(null)", "(null)", "") + well);
    assertThat(seen.get(0).reason()).isEqualTo("the node shows no GPUs any more (Gres=(null))");

    // without -d
    seen = nodes.read(well + node("n1", "IDLE", "gpu:4090:4", "", "").replace("GresUsed=", ""));
    assertThat(seen.get(1).state()).isEqualTo(NodeState.DOWN);
    assertThat(seen.get(1).reason()).contains("GPUs in use are not told");
  }

  @Test
  void anAnswerWithoutReadableNodesIsNone() {
    SeenNodes nodes = new SeenNodes(List.of());
    nodes.read(node("n1", "IDLE", "gpu:4090:4", "gpu:4090:0(IDX:N/A)", ""));
    for (String answer :
        List.of(
            "", "\n", "No nodes in the system\n", node("n1", "SIDEWAYS", "gpu:2", "gpu:0", ""))) {
      assertThatThrownBy(() -> nodes.read(answer)).hasMessageContaining("no node could be read");
    }
  }

  static final String HEADER =
      row(
          "JOBID",
          "STATE",
          "SUBMIT_TIME",
          "START_TIME",
          "END_TIME",
          "EXIT_CODE",
          "RESTART_COUNT",
          "NODES",
          "TRES_PER_NODE",
          "NODELIST",
          "NAME",
          "REASON");

  static String row(String... cells) {
    int[] widths = {24, 24, 24, 24, 24, 16, 20, 12, 200, 4000, 100, 200};
    StringBuilder row = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      row.append(("%-" + widths[i] + "s").formatted(cells[i]));
    }
    return row.append('\n').toString();
  }

  static String job(String id, String state, String exit, String name, String reason) {
    return row(
        id,
        state,
        "2026-01-01T00:00:01",
        "2026-01-01T00:00:02",
        "2026-01-01T00:00:09",
        exit,
        "1",
        "2",
        "gres:gpu:4090:2",
        "n[1-2]",
        name,
        reason);
  }

  private static SeenJob only(String row) {
    return SeenJobs.ofQueue(HEADER + row).jobs().get(0);
  }

  @ParameterizedTest
  @CsvSource({
    "RUNNING,RUNNING",
    "COMPLETING,RUNNING",
    "SUSPENDED,RUNNING",
    "CONFIGURING,RUNNING",
    "STOPPED,RUNNING",
    "RESIZING,RUNNING",
    "SIGNALING,RUNNING",
    "STAGE_OUT,RUNNING",
    "PENDING,PENDING",
    "REQUEUED,PENDING",
    "REQUEUE_HOLD,PENDING",
    "SPECIAL_EXIT,PENDING",
    "COMPLETED,COMPLETED",
    "FAILED,FAILED",
    "CANCELLED,CANCELLED",
    "TIMEOUT,TIMEOUT",
    "DEADLINE,TIMEOUT",
    "OUT_OF_MEMORY,OUT_OF_MEMORY",
    "NODE_FAIL,NODE_FAIL",
    "BOOT_FAIL,NODE_FAIL",
    "PREEMPTED,PREEMPTED",
    "REVOKED,CANCELLED"
  })
  void statesOfJobs(String state, SeenJob.State meant) {
    SeenJob seen = only(job("7", state, "0", TOKEN, "None"));
    assertThat(seen.state()).isEqualTo(meant);
    assertThat(seen.endedAt())
        .isEqualTo(meant.ended() ? Instant.parse("2026-01-01T00:00:09Z") : null);
    boolean runBefore = state.equals("COMPLETING");
    assertThat(seen.startedAt())
        .isEqualTo(
            meant == SeenJob.State.PENDING || runBefore
                ? null
                : Instant.parse("2026-01-01T00:00:02Z"));
    assertThat(seen.submittedAt()).isEqualTo(Instant.parse("2026-01-01T00:00:01Z"));
    assertThat(seen.on())
        .isEqualTo(
            meant == SeenJob.State.RUNNING
                ? List.of(new SeenJob.On("n1", "4090", 2), new SeenJob.On("n2", "4090", 2))
                : List.of());
    assertThat(seen.reason()).isNull();
    assertThat(seen.restarts()).isEqualTo(runBefore ? 0 : 1);
  }

  @ParameterizedTest
  @CsvSource({
    "JobHeldUser,HELD",
    "JobHeldAdmin,PARKED",
    "job_requeued_in_held_state,PARKED",
    "BadConstraints,REFUSED",
    "InvalidAccount,REFUSED",
    "InvalidQOS,REFUSED",
    "PartitionTimeLimit,REFUSED",
    "QOSMaxWallDurationPerJobLimit,REFUSED",
    "AssocMaxCpuPerJobLimit,REFUSED",
    "QOSMaxCpuPerUserLimit,PENDING",
    "Resources,PENDING",
    "Priority,PENDING",
    "BeginTime,PENDING",
    "'ReqNodeNotAvail, UnavailableNodes:n3',PENDING",
    "launch_failed_requeued_held,PENDING"
  })
  void reasonsForWhichAJobWaits(String reason, SeenJob.State meant) {
    SeenJob seen = only(job("7", "PENDING", "0", TOKEN, reason));
    assertThat(seen.state()).isEqualTo(meant);
    assertThat(seen.state().ended()).isFalse();
    assertThat(seen.startedAt()).isNull();
  }

  @Test
  void aStateOfATimeToComeIsNoEnd() {
    SeenJob seen = only(job("7", "TELEPORTED", "0", TOKEN, "None"));
    assertThat(seen.state()).isEqualTo(SeenJob.State.RUNNING);
    assertThat(seen.endedAt()).isNull();
    assertThat(seen.exitCode()).isNull();
    assertThat(seen.reason()).contains("TELEPORTED");
    assertThat(seen.clusterJob()).isEqualTo("7");
  }

  @Test
  void exitCodesAreKnownOrAskedForOrUnknown() {
    assertThat(only(job("7", "FAILED", "1792", TOKEN, "NonZeroExitCode")).exitCode()).isEqualTo(7);
    assertThat(only(job("7", "FAILED", "7:0", TOKEN, "NonZeroExitCode")).exitCode()).isEqualTo(7);
    assertThat(only(job("7", "COMPLETED", "", TOKEN, "None")).exitCode()).isZero();
    assertThat(only(job("7", "TIMEOUT", "15", TOKEN, "TimeLimit")).exitCode()).isNull();
    SeenJob killed = only(job("7", "FAILED", "0:11", TOKEN, "JobLaunchFailure"));
    assertThat(killed.exitCode()).isNull();
    assertThat(killed.reason()).isEqualTo("ended by signal 11 (JobLaunchFailure)");
    SeenJobs seen = SeenJobs.ofQueue(HEADER + job("7", "FAILED", "139", TOKEN, "JobLaunchFailure"));
    assertThat(seen.unsure()).isEqualTo(seen.jobs());
  }

  @Test
  void onlyOurRowsCountAndOnlyTheyCanSpoilTheAnswer() {
    String answer =
        HEADER
            + job("5", "RUNNING", "0", "somebody's | job", "None")
            + job("6", "WEIRD", "0", "foreign", "None")
            + job("8", "RUNNING", "0", "two", "None").replace("two", "t\ntwo")
            + job("9", "RUNNING", "0", "two", "None").replace("two", "t\n" + TOKEN)
            + job("7", "RUNNING", "0", TOKEN, "None");
    SeenJobs seen = SeenJobs.ofQueue(answer);
    assertThat(seen.jobs()).extracting(SeenJob::clusterJob).containsExactly("7");
    assertThat(seen.strange()).isNotEmpty();
    assertThatThrownBy(() -> SeenJobs.ofQueue(HEADER + job("x7", "RUNNING", "0", TOKEN, "None")))
        .hasMessageContaining("a job of ours cannot be read");
    assertThat(SeenJobs.ofQueue(HEADER).jobs()).isEmpty();
    assertThatThrownBy(() -> SeenJobs.ofQueue("")).hasMessageContaining("the answer is empty");
    assertThatThrownBy(() -> SeenJobs.ofQueue("something else\n"))
        .hasMessageContaining("JOBID and STATE");
  }

  @Test
  void whatIsFinishingIsStillInUse() {
    SeenJobs jobs = SeenJobs.ofQueue(HEADER + job("7", "COMPLETING", "0", TOKEN, "None"));
    List<Seen> nodes =
        new SeenNodes(List.of())
            .read(
                node("n1", "MIXED+COMPLETING", "gpu:4090:4", "gpu:4090:1(IDX:0)", "")
                    + node("n2", "IDLE+COMPLETING", "gpu:4090:2", "gpu:4090:0", "")
                    + node("n3", "IDLE", "gpu:4090:2", "gpu:4090:0", ""));
    assertThat(SeenNodes.withFinishing(nodes, jobs.finishing()))
        .extracting(Seen::used)
        .containsExactly(3, 2, 0);
  }
}
