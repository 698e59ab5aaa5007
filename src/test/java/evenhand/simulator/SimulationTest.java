package evenhand.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import evenhand.input.InputFault;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Small job sets whose course was worked out by hand. */
class SimulationTest {
  private static final String FIRST = "tier_desc,node_asc";
  private static final String BEST = "tier_desc,idle_asc,node_asc";

  /**
   * Two nodes of 4. At 0: a takes 3, b 2, c 1; then d asks for 2 at 10, e for 1 at 20, f for 4 at
   * 30.
   */
  private static final String SIX =
      """
      job_id,submit_s,num_gpus,run_s
      a,0,3,100
      b,0,2,50
      c,0,1,200
      d,10,2,40
      e,20,1,30
      f,30,4,10
      """;

  private static Policy policy(String name, String... settings) throws PolicyFault {
    Map<String, String> set = new java.util.HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      set.put(settings[i], settings[i + 1]);
    }
    return Policies.load(Optional.empty(), name, set);
  }

  private static ClusterPlan cluster(String nodes) {
    return ClusterPlan.read("c.yaml", "tiers: {g: {tflops: 2}}\nnodes: {" + nodes + "}\n");
  }

  private static Simulation.Result run(Policy policy, ClusterPlan cluster, Trace trace) {
    return run(policy, cluster, AccountPlan.none(), trace);
  }

  private static Simulation.Result run(
      Policy policy, ClusterPlan cluster, AccountPlan accounts, Trace trace) {
    return new Simulation(
            policy,
            cluster,
            accounts,
            trace.jobs(),
            null,
            Duration.ofMinutes(10),
            Simulation.NOBODY)
        .run();
  }

  private static String starts(Simulation.Result result) {
    StringBuilder text = new StringBuilder();
    for (Happening h : result.happenings()) {
      if (h.what().equals("start")) {
        text.append(h.job()).append('@').append(Micros.text(h.atMicros()));
        text.append(' ').append(h.on()).append("; ");
      }
    }
    return text.toString().strip();
  }

  private static Map<String, Object> summary(Simulation.Result result, Trace trace) {
    return new Figures(result, trace, 0).summary();
  }

  @Test
  void fifoFirst() throws PolicyFault {
    Trace trace = CsvTrace.read("j.csv", SIX);
    // a on n1 leaves 1; b cannot go there: n2; c goes to n1, full. d fits n2 at once; e waits for
    // b's end at 50, and f behind it until n2 is empty: d ends at 50 too, e at 80.
    Simulation.Result result =
        run(policy("fifo", "preference", FIRST), cluster("\"n[1-2]\": {g: 4}"), trace);
    assertThat(starts(result))
        .isEqualTo("a@0 n1/0-2; b@0 n2/0-1; c@0 n1/3; d@10 n2/2-3; e@50 n2/0; f@80 n2/0-3;");
    Map<String, Object> s = summary(result, trace);
    assertThat(s)
        .containsEntry("finished", 6)
        .containsEntry("refused", 0)
        .containsEntry("makespan_s", 200.0)
        .containsEntry("utilization", (300 + 100 + 200 + 80 + 30 + 40) / (200.0 * 8));
    assertThat(spread(s, "wait_s")).containsEntry("mean", 80 / 6.0).containsEntry("max", 50.0);
    assertThat(spread(s, "jct_s"))
        .containsEntry("mean", (100 + 50 + 200 + 40 + 60 + 60) / 6.0)
        .containsEntry("p50", 60.0);
  }

  @Test
  void skipPassesOverWhatDoesNotFit() throws PolicyFault {
    // As above, but b runs 500 s and so holds n2; f (4 GPUs) waits to 500 while g passes it.
    Trace trace =
        CsvTrace.read(
            "j.csv",
            SIX.replace("b,0,2,50", "b,0,2,500").replace("c,0,1,200", "c,0,1,900") + "g,35,1,5\n");
    Simulation.Result result =
        run(policy("skip", "preference", FIRST), cluster("\"n[1-2]\": {g: 4}"), trace);
    assertThat(starts(result))
        .isEqualTo(
            "a@0 n1/0-2; b@0 n2/0-1; c@0 n1/3; d@10 n2/2-3; e@50 n2/2; g@50 n2/3; f@500 n2/0-3;");
  }

  @Test
  void bestFitTakesTheFullestNodeThatWillDo() throws PolicyFault {
    Trace trace =
        CsvTrace.read(
            "j.csv", "submit_s,job_id,run_s,num_gpus\n0,1,100,1\n0,2,100,3\n1,3,100,1\n2,4,10,4\n");
    ClusterPlan nodes = cluster("n1: {g: 8}, n2: {g: 4}");
    // First: all small ones on n1, which leaves 3 there; 4 goes to n2.
    assertThat(starts(run(policy("fifo", "preference", FIRST), nodes, trace)))
        .isEqualTo("1@0 n1/0; 2@0 n1/1-3; 3@1 n1/4; 4@2 n2/0-3;");
    // Best: n2 has fewer free, so 1 and 2 fill it; 3 and 4 go to n1.
    assertThat(starts(run(policy("fifo", "preference", BEST), nodes, trace)))
        .isEqualTo("1@0 n2/0; 2@0 n2/1-3; 3@1 n1/0; 4@2 n1/1-4;");
  }

  @Test
  void aReservationGathersAndIsCounted() throws PolicyFault {
    // a and b fill n1. c wants both and is first: when a ends at 10 it reserves 1, at 30 it starts.
    Trace trace =
        CsvTrace.read(
            "j.csv", "job_id,submit_s,num_gpus,run_s\na,0,1,10\nb,0,1,30\nc,1,2,5\nd,2,1,5\n");
    Simulation.Result result = run(policy("reservation"), cluster("n1: {g: 2}"), trace);
    assertThat(starts(result)).isEqualTo("a@0 n1/0; b@0 n1/1; c@30 n1/0-1; d@35 n1/0;");
    assertThat(summary(result, trace)).containsEntry("reserved_idle_gpu_s", 20.0);
    // a 10 + b 30 + c 10 + d 5 GPU-seconds, 20 held, at 2 TFLOPS
    assertThat(result.ledger().charged()).isCloseTo(150.0, within(1e-9));
  }

  @Test
  void workOverItsMinimumMakesRoomForWhoIsServedLess() throws PolicyFault {
    // x fills the node with 100 s minima; y's account has used nothing, so it takes the node when
    // the minimum is over. x had 150 s to go: 50 s are left, lost is nothing, and it is queued.
    Trace trace =
        CsvTrace.read(
            "j.csv",
            "job_id,account,submit_s,num_gpus,run_s,min_runtime_s\n"
                + "x,A,0,4,150,100\ny,B,20,4,30,10\n");
    Simulation.Result result = run(policy("budget"), cluster("n1: {g: 4}"), trace);
    assertThat(starts(result)).isEqualTo("x@0 n1/0-3; y@100 n1/0-3; x@130 n1/0-3;");
    Map<String, Object> s = summary(result, trace);
    assertThat(s)
        .containsEntry("preemptions", 1)
        .containsEntry("lost_gpu_s", 0.0)
        .containsEntry("makespan_s", 180.0)
        .containsEntry("allocated_gpu_s", 720.0);
    // With 20 s of its grace time used, x runs to 120, and y begins when it has left.
    Simulation.Result slow =
        new Simulation(
                policy("budget"),
                cluster("n1: {g: 4}"),
                AccountPlan.none(),
                trace.jobs(),
                null,
                Duration.ofMinutes(10),
                Duration.ofSeconds(20),
                Simulation.NOBODY)
            .run();
    assertThat(starts(slow)).isEqualTo("x@0 n1/0-3; y@120 n1/0-3; x@150 n1/0-3;");
    assertThat(summary(slow, trace)).containsEntry("lost_gpu_s", 80.0);
    // Work that cannot be resumed is over, and counts as finished, not as completed.
    Trace once =
        CsvTrace.read(
            "j.csv",
            "job_id,account,submit_s,num_gpus,run_s,min_runtime_s,resumable\n"
                + "x,A,0,4,150,100,false\ny,B,20,4,30,10,true\n");
    assertThat(summary(run(policy("budget"), cluster("n1: {g: 4}"), once), once))
        .containsEntry("finished", 2)
        .containsEntry("completed", 1)
        .containsEntry("preempted_for_good", 1);
  }

  @Test
  void prioritiesMakeLowerOnesLeaveAndMayBeWords() throws PolicyFault {
    // l (LOW) leaves for u at 100 and has all 150 s to do again; r refuses, so h waits for its end.
    Trace trace =
        CsvTrace.read(
            "j.csv",
            "job_id,account,submit_s,num_gpus,run_s,priority,preemptible\n"
                + "l,A,0,2,150,low,\nr,B,0,2,300,LOW,no\nu,A,100,2,30,urgent,\nh,A,110,2,10,1,\n"
                + "x,A,0,1,1,middling,\n");
    assertThat(trace.unreadable())
        .extracting(Trace.Unreadable::reason)
        .containsExactly(
            "priority is \"middling\"; it must be a whole number, or urgent, high, normal or low");
    Simulation.Result result = run(policy("priority"), cluster("n1: {g: 4}"), trace);
    assertThat(starts(result))
        .isEqualTo("l@0 n1/0-1; r@0 n1/2-3; u@100 n1/0-1; h@130 n1/0-1; l@140 n1/0-1;");
    assertThat(summary(result, trace))
        .containsEntry("preemptions", 1)
        .containsEntry("lost_gpu_s", 200.0)
        .containsEntry("finished", 4);
    // In pictures: l may be preempted from its start, r never.
    List<JobCourse> courses = result.courses();
    assertThat(courses.get(0).runs().get(0).protectedUntilMicros()).isZero();
    assertThat(courses.get(1).runs().get(0).protectedUntilMicros()).isEqualTo(300_000_000);
  }

  @Test
  void whatIsEntitledIsCountedByHour() throws PolicyFault {
    // Two accounts alike on 2 GPUs for two hours; B asks for one GPU in the second hour only.
    Trace trace =
        CsvTrace.read(
            "j.csv",
            "job_id,account,submit_s,num_gpus,run_s\na,A,0,2,3600\nc,A,0,1,3600\nb,B,3600,1,3600\n");
    Simulation.Result result = run(policy("fifo"), cluster("n1: {g: 2}"), trace);
    Map<?, ?> accounts = (Map<?, ?>) summary(result, trace).get("accounts");
    // A: entitled to 1 GPU in each hour, asks for more; gets 2, then 1. B: entitled to 1, gets it.
    assertThat(accounts.get("A"))
        .hasToString(
            "{share=0.5, demand_gpu_s=14400.0, entitled_gpu_s=7200.0, delivered_gpu_s=10800.0,"
                + " delivered_over_entitled=1.5, delivered_over_entitled_hourly=1.0}");
    assertThat(((Map<?, ?>) accounts.get("B")).get("delivered_over_entitled")).isEqualTo(1.0);
  }

  @Test
  void jobsLargerThanTheClusterAreRefusedAndItEnds() throws PolicyFault {
    Trace trace =
        CsvTrace.read("j.csv", "job_id,submit_s,num_gpus,run_s\n1,0,16,10\n2,0,16,10\n3,5,9,1\n");
    for (String name : List.of("reservation", "skip", "fifo", "budget")) {
      Map<String, Object> s = summary(run(policy(name), cluster("n1: {g: 8}"), trace), trace);
      assertThat(s)
          .containsEntry("finished", 0)
          .containsEntry("refused", 3)
          .containsEntry("makespan_s", 0.0)
          .containsEntry("utilization", 0.0);
      assertThat(spread(s, "wait_s")).containsEntry("jobs", 0).containsEntry("p50", null);
    }
    // More nodes than there are: nothing refuses it at the door, so it is refused at the end.
    Trace gang =
        CsvTrace.read("j.csv", "job_id,submit_s,nodes,num_gpus,run_s\n1,0,3,8,10\n2,0,1,1,10\n");
    assertThat(summary(run(policy("budget"), cluster("\"n[1-2]\": {g: 8}"), gang), gang))
        .containsEntry("finished", 1)
        .containsEntry("refused", 1);
  }

  @Test
  void itEndsWithTheLastJobAndNotWithTheQueue() throws PolicyFault {
    Trace trace = CsvTrace.read("j.csv", "job_id,submit_s,num_gpus,run_s\n1,0,1,100\n2,0,1,1000\n");
    Simulation.Result result = run(policy("fifo"), cluster("n1: {g: 1}"), trace);
    assertThat(summary(result, trace))
        .containsEntry("finished", 2)
        .containsEntry("makespan_s", 1100.0);
  }

  @Test
  void oneJobBeginsAtTheMomentAtWhichAnotherEnds() throws PolicyFault {
    Trace trace = CsvTrace.read("j.csv", "job_id,submit_s,num_gpus,run_s\nA,0,1,100\nB,50,1,100\n");
    Simulation.Result result = run(policy("skip"), cluster("n1: {g: 1}"), trace);
    assertThat(starts(result)).isEqualTo("A@0 n1/0; B@100 n1/0;");
    assertThat(summary(result, trace)).containsEntry("utilization", 1.0);
  }

  @Test
  void rowsThatCannotBeJobsAreListedAndSubmissionsSorted() throws PolicyFault {
    Trace trace =
        CsvTrace.read(
            "j.csv",
            "job_id,submit_s,num_gpus,run_s\n10,7,1,1\n9,7,1,1\n3,0,0,5\n4,x,1,5\n5,1,1\n9,0,1,1\n"
                + "6,0,-1,1\n7,,1,1\n\n8,2.5,1,1e1\n");
    assertThat(trace.rows()).isEqualTo(9);
    assertThat(trace.unreadable())
        .extracting(u -> u.line() + " " + u.reason())
        .containsExactly(
            "4 num_gpus is 0: no work for a GPU",
            "5 submit_s is \"x\"; it must be seconds, 0 to 10^10",
            "6 has 3 cells; the header has 4",
            "7 job_id 9 stands in a row above",
            "8 asks for -1 GPUs on each of 1 nodes",
            "9 submit_s is empty");
    Simulation.Result result = run(policy("fifo"), cluster("n1: {g: 1}"), trace);
    assertThat(starts(result)).isEqualTo("8@2.5 n1/0; 9@12.5 n1/0; 10@13.5 n1/0;");
    assertThat(summary(result, trace))
        .containsEntry("finished", 3)
        .containsEntry("unreadable", 6)
        .containsEntry("rows", 9);
  }

  @Test
  void aClusterWithoutGpusIsAFault() {
    assertThatThrownBy(() -> cluster("n1: {g: 0}"))
        .isInstanceOf(InputFault.class)
        .hasMessageContaining("has no GPU at all");
    assertThatThrownBy(() -> ClusterPlan.read("c.yaml", "tiers: {g: {}}\n"))
        .isInstanceOf(InputFault.class)
        .hasMessageContaining("nodes");
    assertThatThrownBy(() -> cluster("n1: {h: 8}"))
        .isInstanceOf(InputFault.class)
        .hasMessageContaining("tier h is not among tiers");
  }

  @Test
  void untilCutsAndSaysWhatIsLeft() throws PolicyFault {
    Trace trace =
        CsvTrace.read("j.csv", "job_id,submit_s,num_gpus,run_s\n1,0,1,100\n2,0,1,100\n3,900,1,1\n");
    Simulation.Result result =
        new Simulation(
                policy("fifo"),
                cluster("n1: {g: 1}"),
                AccountPlan.none(),
                trace.jobs(),
                Duration.ofSeconds(150),
                Duration.ofMinutes(10),
                Simulation.NOBODY)
            .run();
    assertThat(summary(result, trace))
        .containsEntry("finished", 1)
        .containsEntry("unfinished", 2)
        .containsEntry("utilization", 1.0);
    assertThat(result.courses())
        .extracting(JobCourse::state)
        .containsExactly(
            JobCourse.State.COMPLETED, JobCourse.State.RUNNING, JobCourse.State.UNSUBMITTED);
  }

  @Test
  void swfIsReadWithProcessorsAsGpus() {
    Trace trace =
        SwfTrace.read(
            "; a comment\n1 5 -1 60 4 -1 -1 4 -1 -1 1 3 2 -1 -1 -1 -1 -1\n"
                + "2 6 -1 60 16 -1 -1 16 -1 -1 1 3 2 -1 -1 -1 -1 -1\n"
                + "3 6 -1 -1 4 -1 -1 4 -1 -1 1 3 2 -1 -1 -1 -1 -1\n4 6\n",
            8);
    assertThat(trace.jobs())
        .extracting(j -> j.id() + " " + j.nodes() + "x" + j.numGpus() + " " + j.account())
        .containsExactly("1 1x4 group2", "2 2x8 group2");
    assertThat(trace.unreadable()).extracting(Trace.Unreadable::line).containsExactly(4, 5);
    assertThat(trace.rows()).isEqualTo(4);
  }

  private static Map<?, ?> untyped(Object o) {
    return (Map<?, ?>) o;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> spread(Map<String, Object> summary, String figure) {
    return (Map<String, Object>) untyped(summary.get(figure)).get("all");
  }
}
