package evenhand.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever state a sandbox is in, its end leaves nothing behind. */
@NeedsReal(RealParts.SLURM)
class SlurmSandboxEndTest {

  @Test
  void closeEndsRunningAndPendingJobsAndEveryDaemon() {
    SlurmSandbox slurm = SlurmSandbox.builder().start();
    List<ProcessHandle> processes = withJobs(slurm);

    slurm.close();

    assertNothingLeft(slurm.folder(), processes);
    slurm.close(); // a second time does no harm
  }

  @Test
  void closeThawsAFrozenController() {
    SlurmSandbox slurm = SlurmSandbox.builder().start();
    List<ProcessHandle> processes = withJobs(slurm);
    slurm.freezeController();

    slurm.close();

    assertNothingLeft(slurm.folder(), processes);
  }

  @Test
  void closeEndsJobsThatNoControllerCanCancel() {
    SlurmSandbox slurm = SlurmSandbox.builder().start();
    List<ProcessHandle> processes = withJobs(slurm);
    slurm.stopController();

    slurm.close();

    assertNothingLeft(slurm.folder(), processes);
  }

  @Test
  void aJvmThatEndsWithoutClosingTakesItsSandboxAlong() throws Exception {
    Process jvm = abandonedSandbox("leave");
    Path folder = folderOf(jvm);
    assertThat(jvm.waitFor(40, TimeUnit.SECONDS)).isTrue();

    assertNothingLeft(folder, List.of());
  }

  @Test
  void aKilledJvmTakesItsDaemonsAlong() throws Exception {
    Process jvm = abandonedSandbox("stay");
    Path folder = folderOf(jvm);
    List<ProcessHandle> daemons = jvm.descendants().toList();
    assertThat(daemons).hasSizeGreaterThanOrEqualTo(6);

    jvm.destroyForcibly().waitFor(10, TimeUnit.SECONDS);

    long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (daemons.stream().anyMatch(JobProcesses::isRunning) && System.nanoTime() < end) {
      Thread.sleep(50);
    }
    try {
      assertThat(daemons).noneMatch(JobProcesses::isRunning);
    } finally {
      // The kernel can't end the job and the folder for us; nobody but this test is left to do it.
      JobProcesses.kill(JobProcesses.in(folder));
      daemons.forEach(ProcessHandle::destroyForcibly);
      remove(folder);
    }
  }

  /**
   * Fills the cluster with jobs, of which at least one must wait, and returns all the processes.
   */
  private static List<ProcessHandle> withJobs(SlurmSandbox slurm) {
    String first = slurm.submit("sleep 600", "--gres=gpu:4090:2", "--nodelist=n1");
    // One that a plain SIGTERM doesn't end.
    String stubborn =
        slurm.submit("trap '' TERM; sleep 600 & wait; sleep 600", "--gres=gpu:5090:1");
    // One that leaves a process behind when it's done, where Slurm doesn't look.
    String orphan = slurm.submit("setsid sleep 601 >/dev/null 2>&1 & sleep 0.2");
    // One that has to wait for the first.
    slurm.submit("sleep 600", "--gres=gpu:4090:2", "--nodelist=n1");
    slurm.awaitJob(first, "RUNNING", Duration.ofSeconds(20));
    slurm.awaitJob(stubborn, "RUNNING", Duration.ofSeconds(20));
    slurm.awaitJob(orphan, "COMPLETED", Duration.ofSeconds(20));
    assertThat(JobProcesses.stepDaemons(slurm.folder())).hasSize(2);
    List<ProcessHandle> all = new ArrayList<>(JobProcesses.in(slurm.folder()));
    assertThat(all.stream().map(p -> p.info().commandLine().orElse("")))
        .as("the orphan and the jobs proper")
        .anyMatch(line -> line.endsWith("sleep 601"))
        .filteredOn(line -> line.endsWith("sleep 600"))
        .hasSizeGreaterThanOrEqualTo(2);
    slurm.pids().stream().map(ProcessHandle::of).flatMap(Optional::stream).forEach(all::add);
    return all;
  }

  private static void assertNothingLeft(Path folder, List<ProcessHandle> processes) {
    assertThat(processes).noneMatch(JobProcesses::isRunning);
    assertThat(commandLinesWith(folder.toString())).isEmpty();
    assertThat(JobProcesses.in(folder)).isEmpty();
    assertThat(folder).doesNotExist();
  }

  private static List<String> commandLinesWith(String text) {
    return ProcessHandle.allProcesses()
        .map(
            process -> {
              try {
                return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"));
              } catch (IOException gone) {
                return "";
              }
            })
        .filter(line -> line.contains(text))
        .toList();
  }

  private static Process abandonedSandbox(String manner) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            AbandonedSandbox.class.getName(),
            manner)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static Path folderOf(Process jvm) throws IOException {
    BufferedReader reader = new BufferedReader(new InputStreamReader(jvm.getInputStream()));
    String line = reader.readLine();
    assertThat(line).as("the folder that the other JVM says").isNotNull();
    return Path.of(line);
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
