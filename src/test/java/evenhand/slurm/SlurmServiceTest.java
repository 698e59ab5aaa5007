package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.Desk;
import evenhand.cycle.JobState;
import evenhand.cycle.NewJob;
import evenhand.sandbox.RealSlurm;
import evenhand.sandbox.SlurmSandbox;
import evenhand.service.Service;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/** The whole service, with its database, on a real Slurm. */
@RealSlurm
@Timeout(120)
class SlurmServiceTest {
  @TempDir Path folder;

  private ConfigurableApplicationContext start(SlurmSandbox slurm) {
    return Service.start(
        new String[] {
          "--server.port=0",
          "--evenhand.data-dir=" + folder.resolve("data"),
          "--evenhand.check-scenarios=false",
          "--evenhand.cycle.interval=300ms",
          "--evenhand.cluster=slurm",
          "--evenhand.slurm.conf=" + slurm.clientConfWithTimeout(2),
          "--evenhand.slurm.sbatch-options=--mem=200M",
          "--evenhand.slurm.job-environment.SITE=here",
          "--evenhand.tiers[0].name=5090",
          "--evenhand.tiers[0].sort-order=30",
          "--evenhand.tiers[0].tflops=104.8",
          "--evenhand.tiers[0].max-gpus=8",
          "--evenhand.tiers[0].partition=gpu5090",
          "--evenhand.accounts[0].id=BCG"
        });
  }

  private static Desk.JobView await(Desk desk, String id, JobState state) throws Exception {
    for (int i = 0; i < 300 && desk.job(id).state() != state; i++) {
      Thread.sleep(100);
    }
    assertThat(desk.job(id).state()).as(desk.job(id).stateReason()).isEqualTo(state);
    return desk.job(id);
  }

  @Test
  void aJobThatIsSubmittedRunsOnSlurmThroughARestartOfTheService(SlurmSandbox slurm)
      throws Exception {
    Path work = Files.createTempDirectory(slurm.folder().resolve("work"), "job");
    String id;
    String number;
    try (ConfigurableApplicationContext context = start(slurm)) {
      Desk desk = context.getBean(Desk.class);
      // Nothing fits before the first reading has shown what there is.
      for (int i = 0; i < 100 && desk.placements().isEmpty(); i++) {
        Thread.sleep(100);
      }
      NewJob job =
          new NewJob(
              "mine",
              "BCG",
              "kim",
              null,
              1,
              3,
              null,
              null,
              0,
              false,
              0,
              600L,
              "#!/bin/sh\nuntil [ -e go ]; do sleep 0.2; done\necho $SITE $A $1 > done\n",
              List.of("one, two"),
              Map.of("A", "three, four"),
              work.toString());
      id = desk.submit(job, null).id();
      number = await(desk, id, JobState.RUNNING).clusterJob();
      assertThat(slurm.run("squeue", "-h", "-j", number, "-o", "%T %N %b %m"))
          .isEqualTo("RUNNING n4 gres:gpu:5090:3 200M");
      assertThat(desk.placements())
          .filteredOn(p -> p.node().equals("n4") && "5090".equals(p.tier()))
          .extracting(Desk.PlacementView::idle)
          .containsExactly(1);
    }
    try (ConfigurableApplicationContext context = start(slurm)) {
      Desk desk = context.getBean(Desk.class);
      assertThat(desk.job(id).state()).isEqualTo(JobState.RUNNING);
      Files.createFile(work.resolve("go"));
      Desk.JobView ended = await(desk, id, JobState.COMPLETED);
      assertThat(ended.clusterJob()).isEqualTo(number);
      assertThat(ended.exitCode()).isZero();
      assertThat(ended.chargedTflopSeconds()).isPositive();
      assertThat(work.resolve("done")).hasContent("here three, four one, two");
      assertThat(slurm.run("squeue", "-h", "--states=all", "-o", "%i")).isEqualTo(number);
    }
  }
}
