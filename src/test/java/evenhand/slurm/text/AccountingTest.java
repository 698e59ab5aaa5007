package evenhand.slurm.text;

import static evenhand.slurm.text.Fixtures.captured;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Jobs out of sacct. */
class AccountingTest {

  private static Reading<Job> read(String text) {
    return Accounting.read(text, ZoneOffset.UTC);
  }

  private static List<Job> whole(String text) {
    Reading<Job> reading = read(text);
    assertThat(reading.faults()).isEmpty();
    return reading.values();
  }

  @Test
  void rows() {
    List<Job> jobs = whole(captured("jobs.sacct"));
    assertThat(jobs).extracting(Job::job).containsExactly("1", "2", "3", "4", "5");
    Job failed = jobs.get(1);
    assertThat(failed.exitCode()).isEqualTo(3);
    assertThat(failed.gpus()).containsExactly(new GpuCount("5090", 2));
    assertThat(jobs.get(0).comment()).isEqualTo("policy-tag:run-0001");
    assertThat(jobs.get(2).cancelledBy()).isEqualTo("0");
    Job running = jobs.get(3);
    assertThat(running.end()).isNull();
    assertThat(running.elapsedS()).isEqualTo(11);
    assertThat(running.exitCode()).isNull();
  }

  @Test
  void attemptsOfARequeuedJob() {
    for (String file : List.of("jobs-requeued.sacct", "jobs-sacct.json")) {
      Job job = whole(captured(file)).get(0);
      assertThat(job.job()).isEqualTo("5");
      assertThat(job.state()).isEqualTo("COMPLETED");
      assertThat(job.attempts()).isEqualTo(2);
      assertThat(job.restarts()).isEqualTo(1);
      assertThat(job.runs()).extracting(Job.Run::state).containsExactly("REQUEUED", "COMPLETED");
      assertThat(job.runs().get(0).end()).isEqualTo(Instant.parse("2026-11-30T03:20:14Z"));
    }
    Job three =
        whole(
                "JobID|State|Elapsed\n235929|REQUEUED|00:10:00\n235929|REQUEUED|00:20:00\n"
                    + "235929|COMPLETED|01:00:00\n")
            .get(0);
    assertThat(three.state()).isEqualTo("COMPLETED");
    assertThat(three.attempts()).isEqualTo(3);
    assertThat(three.elapsedS()).isEqualTo(3600);
    assertThat(three.elapsedAllS()).isEqualTo(5400);
  }

  @Test
  void requeuedIsPendingAgainAndPreemptedAloneIsFinal() {
    Job waiting =
        whole(
                "JobID|State|Start|End|Elapsed\n55|PREEMPTED|2026-01-01T00:00:00|2026-01-01T00:10:00|00:10:00\n55|PENDING|Unknown|Unknown|00:00:00\n")
            .get(0);
    assertThat(waiting.state()).isEqualTo("PENDING");
    assertThat(waiting.elapsedAllS()).isEqualTo(600);
    assertThat(waiting.start()).isNull();
    assertThat(whole("JobID|State\n7001|PREEMPTED\n7001|COMPLETED\n").get(0).state())
        .isEqualTo("COMPLETED");
    assertThat(whole("JobID|State|ExitCode\n7002|PREEMPTED|0:15\n").get(0).state())
        .isEqualTo("PREEMPTED");
    Job requeued =
        whole("JobID|State|Start|End\n9|REQUEUED|2026-01-01T00:00:00|2026-01-01T00:10:00\n").get(0);
    assertThat(requeued.state()).isEqualTo("PENDING");
    assertThat(requeued.expectedStart()).isNull();
  }

  @Test
  void sameNumberOfSomebodyElseIsAnotherJob() {
    List<Job> jobs =
        whole(
            "JobID|User|JobName|State|Submit\n"
                + "12728301|lee|old|COMPLETED|2017-10-03T13:39:29\n"
                + "12728301|kim|tag-1|RUNNING|2026-10-03T13:39:29\n");
    assertThat(jobs).extracting(Job::state).containsExactly("COMPLETED", "RUNNING");
    assertThat(jobs).allMatch(j -> j.runs().isEmpty());
  }

  @Test
  void stepsDoNotDecide() {
    List<Job> jobs =
        whole(
            """
            JobID|NodeList|State|ExitCode
            239023|n1|COMPLETED|0:0
            239023.batch|n1|COMPLETED|0:0
            239023.extern|n1|OUT_OF_MEMORY|0:125
            239023.0|n1|CANCELLED|0:10
            124|n1|TIMEOUT|0:0
            124.batch|n1|CANCELLED|0:15
            124.ext+|n1|COMPLETED|0:0
            """);
    assertThat(jobs).extracting(Job::state).containsExactly("COMPLETED", "TIMEOUT");
    assertThat(jobs.get(0).steps()).hasSize(3);
    assertThat(jobs.get(0).steps().get(2)).isEqualTo(new Job.Step("0", "CANCELLED", 0, 10, null));
    Reading<Job> alone = read("JobID|State\n5.batch|COMPLETED\n");
    assertThat(alone.values()).isEmpty();
    assertThat(alone.faults().get(0).text()).contains("line 2").contains("no row of its job");
  }

  @Test
  void cutStates() {
    assertThat(whole("JobID|State\n1|CANCELLED+\n2|OUT_OF_ME+\n3|NODE_FAIL\n"))
        .extracting(Job::state)
        .containsExactly("CANCELLED", "OUT_OF_MEMORY", "NODE_FAIL");
  }

  @Test
  void dashesBelowTheHeaderTellTheWidths() {
    Reading<Job> read =
        Accounting.read(
            "JobID           JobName      State    Elapsed ExitCode \n"
                + "------------ ---------- ---------- ---------- -------- \n"
                + "61             fit two+ CANCELLED+   00:00:41     0:15 \n"
                + "61.batch          batch  CANCELLED   00:00:42     0:15 \n"
                + "62                  fit OUT_OF_ME+ 2-00:00:00    0:125 \n"
                + "63                  fit  COMPLETED x 00:00:01      0:0 \n",
            ZoneOffset.UTC);
    assertThat(read.values())
        .extracting(j -> j.job() + " " + j.name() + " " + j.state() + " " + j.elapsedS())
        .containsExactly("61 fit two+ CANCELLED 41", "62 fit OUT_OF_MEMORY 172800");
    assertThat(read.values().get(0).steps()).hasSize(1);
    assertThat(read.faults()).hasSize(1);
    assertThat(read.faults().get(0).line()).isEqualTo(6);
  }

  @Test
  void endThatIsNotRecorded() {
    Job job =
        whole(
                "JobID|State|Timelimit|Elapsed|Submit|Start|End\n"
                    + "43977780|CANCELLED by 1300204|00:01:00|00:00:17|2019-08-01T00:35:26|2019-08-01T00:35:27|Unknown\n"
                    + "43977780.batch|COMPLETED||00:00:17|2019-08-01T00:35:27|Unknown|Unknown\n")
            .get(0);
    assertThat(job.end()).isEqualTo(Instant.parse("2019-08-01T00:35:44Z"));
    assertThat(job.limitS()).isEqualTo(60);
    assertThat(job.steps()).hasSize(1);
  }

  @Test
  void cancelledBeforeItStarted() {
    Job job =
        whole(
                "JobID|State|Submit|Start|End|Elapsed|NodeList\n"
                    + "4744528_255|CANCELLED by 89200431|2020-12-18T22:12:16|2021-01-06T14:09:15|"
                    + "2021-01-06T14:09:15|00:00:00|None assigned\n")
            .get(0);
    assertThat(job.nodes()).isEmpty();
    assertThat(job.start()).isNull();
    assertThat(job.elapsedS()).isZero();
    assertThat(Duration.between(job.submit(), job.end()).toSeconds()).isEqualTo(1_612_619);
  }

  @Test
  void timesAndLimits() {
    List<Job> jobs =
        whole(
            "JobID|State|Start|End|Elapsed|Timelimit\n"
                + "5940815|COMPLETED|2018-06-03T02:11:12|2018-06-05T03:36:08|2-01:24:56|UNLIMITED\n"
                + "5961074|COMPLETED|2018-06-05T13:30:17|2018-06-05T14:40:05|01:09:48|Partition_Limit\n"
                + "5961075|COMPLETED|2018-06-05T12:00:00|2018-06-05T12:00:00|00:00:00|3-13\n");
    assertThat(jobs.get(0).elapsedS()).isEqualTo(177_896);
    assertThat(jobs.get(0).limit()).isEqualTo("none");
    assertThat(jobs.get(1).limitS()).isNull();
    assertThat(jobs.get(1).limit()).isNull();
    assertThat(jobs.get(2).elapsedS()).isZero();
    assertThat(jobs.get(2).limitS()).isEqualTo(306_000);
    Reading<Job> negative = read("JobID|State|Elapsed\n1|COMPLETED|-0:00:16\n2|COMPLETED|00:10\n");
    assertThat(negative.values()).hasSize(1);
    assertThat(negative.faults().get(0).text()).contains("line 2").contains("negative");
  }

  @Test
  void componentsAndTasks() {
    List<Job> jobs =
        whole(
            "JobID|JobIDRaw|State\n123+0|123|COMPLETED\n123+1|124|COMPLETED\n1043074_91|1043166|COMPLETED\n");
    assertThat(jobs).extracting(Job::job).containsExactly("123+0", "123+1", "1043074_91");
    assertThat(jobs.get(2).jobRaw()).isEqualTo("1043166");
    assertThat(whole("JobID|State\n12345_[1-10]|PENDING\n").get(0).tasks()).isEqualTo(10);
  }

  @Test
  void rowsOfWrongWidthAreRejectedOneByOne() {
    Reading<Job> reading =
        read(
            "JobID|State|NNodes|SubmitLine\n"
                + "1|COMPLETED|1|sbatch a\n"
                + "2|COMPLETED|1|env | grep x | sort\n" // only one way makes sense
                + "3|COMPLETED\n"
                + "second line of a script\n"
                + "\n"
                + "4|FAILED|1|sbatch b\n"
                + "x|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15\n");
    assertThat(reading.values()).extracting(Job::job).containsExactly("1", "2", "4");
    assertThat(reading.faults()).extracting(Reading.Fault::line).containsExactly(4, 5, 8);
  }

  @Test
  void gpusOrNot() {
    assertThat(
            whole("JobID|State|AllocTRES|ReqTRES\n1|PENDING||cpu=1,gres/gpu:a=2,gres/gpu=2\n")
                .get(0)
                .gpus())
        .containsExactly(new GpuCount("a", 2));
    assertThat(whole("JobID|State|AllocTRES\n1|RUNNING|cpu=1,gres/gp\n").get(0).gpus()).isNull();
    assertThat(whole("JobID|State\n1|RUNNING\n").get(0).gpus()).isNull();
  }

  @Test
  void jsonNestsStepsAndLosesExitCodes() {
    List<Job> jobs = whole(captured("jobs-sacct.json"));
    assertThat(jobs).hasSize(2);
    Job failed = jobs.get(1);
    assertThat(failed.state()).isEqualTo("FAILED");
    assertThat(failed.exitCode()).isNull();
    assertThat(failed.notes().get(0)).contains("sacct -P");
    assertThat(failed.steps()).hasSize(1);
    assertThat(failed.gpus()).containsExactly(new GpuCount("5090", 2));
    Job running =
        whole(
                "{\"jobs\":[{\"job_id\":8,\"name\":\"m\",\"state\":{\"current\":[\"RUNNING\"]},"
                    + "\"time\":{\"start\":1684114921,\"end\":0,\"limit\":{\"set\":true,\"number\":6912}},"
                    + "\"steps\":[{\"step\":{\"id\":\"8.0\"},\"state\":[\"COMPLETED\"],"
                    + "\"time\":{\"end\":{\"set\":true,\"number\":1684114999}}}]}]}")
            .get(0);
    assertThat(running.end()).isNull();
    assertThat(running.steps()).extracting(Job.Step::step).containsExactly("0");
    assertThat(running.limitS()).isEqualTo(6912 * 60);
    assertThat(running.steps()).hasSize(1);
  }

  @Test
  void noAnswer() {
    assertThat(read("").faults().get(0).sentence()).contains("may have failed");
    assertThat(read("1|COMPLETED\n").faults().get(0).sentence()).contains("no header");
    assertThat(read("JobID|State\n").faults()).isEmpty();
  }
}
