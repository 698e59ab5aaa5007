package evenhand.slurm.text;

import static evenhand.slurm.text.Fixtures.captured;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Jobs out of all that Slurm says of its queue. */
class JobsTest {

  private static Reading<Job> read(String text) {
    return Jobs.read(text, ZoneOffset.UTC);
  }

  private static Map<String, Job> whole(String text) {
    Reading<Job> reading = read(text);
    assertThat(reading.faults()).isEmpty();
    return reading.values().stream().collect(Collectors.toMap(Job::job, Function.identity()));
  }

  private static Job only(String text) {
    Map<String, Job> jobs = whole(text);
    assertThat(jobs).hasSize(1);
    return jobs.values().iterator().next();
  }

  private static void refused(String text, String sentence) {
    Reading<Job> reading = read(text);
    assertThat(reading.values()).isEmpty();
    assertThat(reading.faults()).isNotEmpty();
    assertThat(reading.faults().get(0).sentence()).contains(sentence);
  }

  @Test
  void theSameJobsInEveryForm() {
    for (String file : List.of("jobs-busy-detail.scontrol", "jobs-busy.squeue", "jobs-busy.json")) {
      Map<String, Job> jobs = whole(captured(file));
      Job running = jobs.get("3");
      assertThat(running.name()).isEqualTo("with space,comma=eq|pipe");
      assertThat(running.comment()).isEqualTo("a b|c=d \"q\"");
      assertThat(running.user()).isEqualTo("root");
      assertThat(running.state()).isEqualTo("RUNNING");
      assertThat(running.reason()).isNull();
      assertThat(running.nodes()).containsExactly("n4");
      assertThat(running.gpus()).containsExactly(new GpuCount("5090", 3));
      assertThat(running.submit()).isEqualTo(Instant.parse("2026-11-30T03:07:44Z"));
      assertThat(running.start()).isEqualTo(Instant.parse("2026-11-30T03:07:45Z"));
      assertThat(running.end()).isNull();
      assertThat(running.expectedEnd()).isEqualTo(Instant.parse("2026-11-30T04:07:45Z"));
      assertThat(running.limitS()).isEqualTo(3600);
      assertThat(running.exitCode()).isNull();

      Job waiting = jobs.get("5");
      assertThat(waiting.state()).isEqualTo("PENDING");
      assertThat(waiting.reason()).isEqualTo("Resources");
      assertThat(waiting.start()).isNull();
      assertThat(waiting.expectedStart()).isEqualTo(Instant.parse("2026-11-30T04:07:45Z"));
      assertThat(waiting.elapsedS()).isZero();
      assertThat(waiting.nodes()).isEmpty();
      assertThat(waiting.gpus()).containsExactly(new GpuCount("4090", 2));

      Job array = jobs.get("7_[1-3]");
      assertThat(array.tasks()).isEqualTo(3);
      assertThat(array.gpus()).containsExactly(new GpuCount("4090", 4));
    }
  }

  @Test
  void gpusAskedForByTheJobAsAWhole() {
    assertThat(whole(captured("jobs-busy-detail.scontrol")).get("6").gpus())
        .containsExactly(new GpuCount("4090", 2));
    assertThat(whole(captured("jobs-busy.json")).get("6").gpus())
        .containsExactly(new GpuCount("4090", 2));
  }

  @Test
  void howJobsEnded() {
    Map<String, Job> jobs = whole(captured("jobs-finished.scontrol"));
    assertThat(jobs).hasSize(14);
    assertThat(jobs.get("2").state()).isEqualTo("TIMEOUT");
    assertThat(jobs.get("2").signal()).isEqualTo(15);
    assertThat(jobs.get("2").elapsedS()).isEqualTo(70);
    assertThat(jobs.get("3").exitCode()).isEqualTo(7);
    assertThat(jobs.get("4").signal()).isEqualTo(11);
    assertThat(jobs.get("13").state()).isEqualTo("PREEMPTED");
    assertThat(jobs.get("1").restarts()).isEqualTo(4);
    assertThat(jobs.get("1").attempts()).isEqualTo(5);
    Job neverRan = jobs.get("7");
    assertThat(neverRan.state()).isEqualTo("CANCELLED");
    assertThat(neverRan.start()).isNull();
    assertThat(neverRan.end()).isNotNull();
    assertThat(neverRan.elapsedS()).isZero();

    Map<String, Job> json = whole(captured("jobs-finished.json"));
    assertThat(json.get("2").signal()).isEqualTo(15);
    assertThat(json.get("3").exitCode()).isEqualTo(7);
    assertThat(json.get("7").start()).isNull();
  }

  @Test
  void plainSqueue() {
    Map<String, Job> jobs = whole(captured("jobs-default.squeue"));
    assertThat(jobs.get("1").nodes()).containsExactly("n3");
    assertThat(jobs.get("1").elapsedS()).isEqualTo(90);
    assertThat(jobs.get("1").gpus()).isNull();
    assertThat(jobs.get("8").reason()).isEqualTo("DependencyNeverSatisfied");
    assertThat(jobs.get("8").nodes()).isEmpty();
  }

  @Test
  void emptyQueueAndNoAnswer() {
    assertThat(read("JOBID|STATE\n").faults()).isEmpty();
    assertThat(read("No jobs in the system\n").faults()).isEmpty();
    assertThat(read("{\"errors\":[],\"jobs\":[]}").faults()).isEmpty();
    refused("", "may have failed");
    refused("slurm_load_jobs error: Invalid job id specified", "no header");
    refused("5|name|root|main|PENDING", "no header");
    refused("JOBID NAME\n1 a", "no header with JOBID and STATE");
    refused(
        "{\"errors\":[{\"error\":\"Invalid job id specified\",\"errno\":2017}],\"jobs\":[]}",
        "Invalid job id specified");
  }

  @Test
  void numbersAndStatesOfEveryVersion() {
    Reading<Job> reading =
        read(
            """
            {"jobs":[
            {"job_id":26515966,"job_state":"RUNNING","array_job_id":0,"submit_time":1684114900,
             "start_time":1684114921,"end_time":1686633833,"time_limit":30240},
            {"job_id":58948420,"job_state":["PENDING"],
             "array_job_id":{"set":true,"infinite":false,"number":58948420},
             "array_task_id":{"set":false,"infinite":false,"number":0},"array_task_string":"1-10",
             "submit_time":{"set":true,"number":1729715848},"start_time":{"set":true,"number":0},
             "end_time":0,"time_limit":{"set":true,"infinite":false,"number":1439}},
            {"job_id":3,"job_state":["RUNNING","COMPLETING"],"time_limit":{"set":true,"infinite":true,"number":7}},
            {"job_id":4,"job_state":["PENDING","REQUEUED"],"array_job_id":4,"array_task_id":0},
            {"job_id":9,"job_state":["FAILED"],"het_job_id":{"set":true,"number":8},"het_job_offset":{"set":true,"number":1},
             "exit_code":{"status":["ERROR"],"return_code":{"set":true,"number":2},"signal":{"id":{"set":false,"number":0}}},
             "start_time":1684114921,"end_time":1684114900}
            ]}
            """);
    assertThat(reading.faults()).isEmpty();
    Map<String, Job> jobs =
        reading.values().stream().collect(Collectors.toMap(Job::job, Function.identity()));
    assertThat(jobs.get("26515966").start()).isEqualTo(Instant.ofEpochSecond(1684114921));
    assertThat(jobs.get("26515966").limitS()).isEqualTo(1_814_400);
    Job array = jobs.get("58948420_[1-10]");
    assertThat(array.tasks()).isEqualTo(10);
    assertThat(array.expectedStart()).isNull();
    assertThat(array.limitS()).isEqualTo(1439 * 60);
    assertThat(jobs.get("3").state()).isEqualTo("RUNNING");
    assertThat(jobs.get("3").flags()).containsExactly("COMPLETING");
    assertThat(jobs.get("3").limit()).isEqualTo("none");
    assertThat(jobs.get("3").limitS()).isNull();
    assertThat(jobs.get("4_0").state()).isEqualTo("PENDING");
    assertThat(jobs.get("4_0").jobRaw()).isEqualTo("4");
    Job het = jobs.get("8+1");
    assertThat(het.exitCode()).isEqualTo(2);
    assertThat(het.elapsedS()).as("clock set back").isZero();
    assertThat(het.notes()).hasSize(1);
  }

  @Test
  void aPendingJobHasNotStarted() {
    Job job =
        only(
            "{\"job_id\":2,\"job_state\":[\"PENDING\"],\"submit_time\":{\"number\":1762529003},"
                + "\"start_time\":{\"number\":1762532603},\"end_time\":{\"number\":1762532663},"
                + "\"tres_per_job\":\"gres/gpu:4\",\"tres_alloc_str\":\"\"}");
    assertThat(job.start()).isNull();
    assertThat(job.end()).isNull();
    assertThat(job.expectedStart()).isEqualTo(Instant.ofEpochSecond(1762532603));
    assertThat(job.gpus()).containsExactly(new GpuCount(null, 4));
    assertThat(job.elapsedS()).isZero();
  }

  @Test
  void jsonLineByLineWithABrokenOne() {
    Reading<Job> reading =
        read(
            "{\"job_id\":1,\"job_state\":\"PENDING\",\"state_reason\":\"((ReqNodeNotAvail, UnavailableNodes:cs[100,101]))\"}\n"
                + "{\"job_id\":2,\"job_state\":\"PENDING\",\"cpu\":xx}\n"
                + "{\"job_id\":3,\"job_state\":\"RUNNING\"}\n");
    assertThat(reading.values()).extracting(Job::job).containsExactly("1", "3");
    assertThat(reading.values().get(0).reason())
        .isEqualTo("ReqNodeNotAvail, UnavailableNodes:cs[100,101]");
    assertThat(reading.faults()).hasSize(1);
    assertThat(reading.faults().get(0).line()).isEqualTo(2);
  }

  @Test
  void tablesInFixedWidths() {
    String header =
        "JOBID               ST                  NODES               REASON              TRES_PER_JOB        NODELIST\n";
    Map<String, Job> jobs =
        whole(
            header
                + "79                  PD                  1                   ReqNodeNotAvail, Ma gpu:12              \n"
                + "80                  R                   2                   None                gres:gpu:2          n[1-2]\n");
    assertThat(jobs.get("79").reason()).isEqualTo("ReqNodeNotAvail, Ma");
    assertThat(jobs.get("79").gpus()).containsExactly(new GpuCount(null, 12));
    assertThat(jobs.get("80").nodes()).containsExactly("n1", "n2");
  }

  @Test
  void aFullColumnTouchesTheNextOne() {
    String header =
        "JOBID               ST                  CPUS                REASON              TRES_PER_JOB        TRES_PER_TASK       \n";
    Map<String, Job> jobs =
        whole(
            header
                // parted at blanks this would be six cells too
                + "411                 PD                  3                   WaitsForNodes, theregpu:7               N/A                 \n"
                + "412                 PD                  3                   BeginTimeAndWordsOfAgpu:7               N/A                 \n"
                + "413                 R                   1                   None                gpu:2               N/A                 \n");
    assertThat(jobs.get("411").reason()).isEqualTo("WaitsForNodes, there");
    assertThat(jobs.get("411").gpus()).containsExactly(new GpuCount(null, 7));
    assertThat(jobs.get("412").reason()).isEqualTo("BeginTimeAndWordsOfA");
    assertThat(jobs.get("412").gpus()).containsExactly(new GpuCount(null, 7));
    assertThat(jobs.get("413").reason()).isNull();
    // What has to be whole is not taken from a full column, be it the last one or not.
    Reading<Job> cut =
        read(
            "JOBID     STATE     NODELIST       NAME\n"
                + "5         RUNNING   rack[1-4,17,21,train\n"
                + "6         RUNNING   rack5          train\n");
    assertThat(cut.values()).extracting(Job::job).containsExactly("6");
    assertThat(cut.faults().get(0).text()).startsWith("line 2: the column NODELIST is filled");
    Reading<Job> last =
        read(
            "JOBID     STATE     NODELIST       \n"
                + "5         RUNNING   rack1,rack22,ra\n"
                + "6         RUNNING   rack5          \n");
    assertThat(last.values()).extracting(Job::job).containsExactly("6");
    assertThat(last.faults().get(0).text()).startsWith("line 2: the column NODELIST is filled");
    // A row out of step, here by a letter of two bytes, is not cut where its columns are not.
    Reading<Job> shifted =
        read(
            "JOBID     STATE     NAME           REASON         \n"
                + "7         PENDING   a\u00e9            Priority       \n");
    assertThat(shifted.values()).extracting(Job::reason).containsExactly("Priority");
  }

  @Test
  void waitingInTwoPartitions() {
    Job job =
        only(
            "JOBID|USER|PARTITION|STATE|TRES_ALLOC\n222|kim|cpu,gpu|PENDING|cpu=2,mem=512M,node=1,billing=2\n");
    assertThat(job.partitions()).containsExactly("cpu", "gpu");
    assertThat(job.gpus()).isEmpty();
  }

  @Test
  void gpusOfSeveralNodes() {
    String header = "JOBID|STATE|NODES|TRES_PER_NODE|TRES_ALLOC\n";
    assertThat(only(header + "1|RUNNING|4|gres/gpu:a100:8|N/A").gpus())
        .containsExactly(new GpuCount("a100", 32));
    assertThat(only(header + "1|PENDING|2-4|gres:gpu:2|").gpus())
        .containsExactly(new GpuCount(null, 4));
    assertThat(only(header + "1|RUNNING|4|gres/gpu:8|cpu=1,gres/gp").gpus()).isNull();
    assertThat(only(header + "1|RUNNING|4|gres/gpu:8|cpu=1,gres/gpu=32").gpus())
        .containsExactly(new GpuCount(null, 32));
  }

  @Test
  void cutNodeListIsNotUsed() {
    Job job = only("JOBID|STATE|NODELIST\n1|RUNNING|n[1-3,7\n");
    assertThat(job.nodes()).isNull();
    assertThat(job.notes().get(0)).contains("cut short");
    assertThat(job.state()).isEqualTo("RUNNING");
  }

  @Test
  void separatorInAName() {
    String header = "JOBID|NAME|USER|STATE|SUBMIT_TIME\n";
    Reading<Job> reading =
        read(
            header
                + "1|a|b|c|kim|RUNNING|2026-04-10T09:00:00\n"
                + "2|plain|kim|PENDING|2026-04-10T09:00:00\n"
                + "3|x|RUNNING\n");
    assertThat(reading.values()).extracting(Job::name).containsExactly("a|b|c", "plain");
    assertThat(reading.faults()).hasSize(1);
    assertThat(reading.faults().get(0).text()).contains("line 4").contains("3 columns");
    // several ways make sense: rejected alone
    Reading<Job> doubtful = read("JOBID|NAME|COMMENT|STATE\n1|a|b|c|RUNNING\n2|a|b|RUNNING\n");
    assertThat(doubtful.values()).extracting(Job::job).containsExactly("2");
    // a unit separator as the separator
    assertThat(only("JOBID\u001fNAME\u001fST\n1\u001fa\u001fb\u001fCD\n").name())
        .isEqualTo("a\u001fb");
  }

  @Test
  void freeTextThatImitatesAField() {
    Reading<Job> reading =
        read(
            "JobId=1 JobName=a=b c UserId=kim(7) JobState=RUNNING Comment=x y=z TRES=cpu=4,mem=8G"
                + " ExitCode=0:0\n"
                + "JobId=2 JobName=x JobState=COMPLETED UserId=kim(7) JobState=RUNNING\n");
    assertThat(reading.values()).hasSize(1);
    assertThat(reading.values().get(0).name()).isEqualTo("a=b c");
    assertThat(reading.values().get(0).comment()).isEqualTo("x y=z");
    assertThat(reading.values().get(0).user()).isEqualTo("kim");
    assertThat(reading.faults()).hasSize(1);
    assertThat(reading.faults().get(0).text()).startsWith("line 2: ").contains("stands twice");
  }

  @Test
  void limitsAndTimes() {
    Job job =
        only(
            "JobId=9 JobState=RUNNING RunTime=06:11:30 TimeLimit=365-00:00:00 TimeMin=N/A"
                + " StartTime=2024-07-01T10:00:00 EndTime=Unknown");
    assertThat(job.limitS()).isEqualTo(31_536_000);
    assertThat(job.elapsedS()).isEqualTo(22_290);
    assertThat(job.expectedEnd()).isNull();
    Reading<Job> paris =
        Jobs.read(
            "JOBID|STATE|SUBMIT_TIME\n1|PENDING|2024-07-01T10:00:00", ZoneId.of("Europe/Paris"));
    assertThat(paris.values().get(0).submit()).isEqualTo(Instant.parse("2024-07-01T08:00:00Z"));
  }

  @Test
  void hostileNumbers() {
    refused("{\"jobs\":[{\"job_id\":1e999,\"job_state\":\"RUNNING\"}]}", "job id");
    refused("{\"jobs\":[{\"job_id\":-5,\"job_state\":\"RUNNING\"}]}", "job id");
    refused("{\"jobs\":[{\"job_id\":5}]}", "no state");
    refused("{\"jobs\":[null,7,\"x\"]}", "job id");
    Job job =
        only(
            "{\"jobs\":[{\"job_id\":5,\"job_state\":\"RUNNING\",\"time_limit\":9223372036854775807,"
                + "\"start_time\":9223372036854775807,\"exit_code\":-1,\"restart_cnt\":1e30,"
                + "\"node_count\":{},\"gres_detail\":{\"a\":1},\"nodes\":[1]}]}");
    assertThat(job.limit()).isEqualTo("none");
    assertThat(job.start()).isNull();
  }
}
