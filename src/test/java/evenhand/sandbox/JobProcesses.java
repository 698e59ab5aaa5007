package evenhand.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Finds and ends the processes of a sandbox's jobs. They aren't children of ours: slurmstepd leaves
 * its slurmd's process tree, and a job's own children may leave slurmstepd's, where Slurm without
 * cgroups loses sight of them.
 */
final class JobProcesses {
  private JobProcesses() {}

  /** Every slurmstepd of the sandbox in this folder, and every process of its jobs. */
  static Set<ProcessHandle> in(Path folder) {
    Set<ProcessHandle> all = new HashSet<>(stepDaemons(folder));
    all.addAll(withEnvironment(folder, "SLURM_JOB_ID="));
    return withDescendants(all);
  }

  /** The same for one node. */
  static Set<ProcessHandle> on(Path folder, Path spoolOfNode, String node) {
    Set<ProcessHandle> all = new HashSet<>(stepDaemons(spoolOfNode));
    all.addAll(withEnvironment(folder, "SLURMD_NODENAME=" + node + "\0"));
    return withDescendants(all);
  }

  /**
   * The slurmstepd processes that have files open under a folder. slurmstepd overwrites its command
   * line, so what it holds open is the mark of whose it is.
   */
  static List<ProcessHandle> stepDaemons(Path folder) {
    return ProcessHandle.allProcesses()
        .filter(p -> programOf(p).startsWith("slurmstepd"))
        .filter(p -> holdsOpen(p.pid(), folder))
        .toList();
  }

  /** Kills and waits, for a bounded time, until none does anything any more. */
  static void kill(Collection<ProcessHandle> processes) {
    processes.forEach(ProcessHandle::destroyForcibly);
    long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();
    while (processes.stream().anyMatch(JobProcesses::isRunning) && System.nanoTime() < end) {
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        // They have their signal; whoever interrupts us doesn't want to wait.
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /**
   * Whether a process still does anything. ProcessHandle also calls one alive that has ended and
   * only waits for its parent to take note; an orphan's parent is process 1, which may be slow at
   * that or, in a container, never do it.
   */
  static boolean isRunning(ProcessHandle process) {
    try {
      String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
      // The state follows the program's name, which stands in brackets and may contain anything.
      return process.isAlive() && stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException gone) {
      return false;
    }
  }

  private static Set<ProcessHandle> withDescendants(Set<ProcessHandle> processes) {
    Set<ProcessHandle> all = new HashSet<>(processes);
    processes.forEach(process -> process.descendants().forEach(all::add));
    all.removeIf(process -> !isRunning(process));
    return all;
  }

  /**
   * Slurm puts its configuration's path and a job's id into the environment of all that the job
   * starts.
   */
  private static List<ProcessHandle> withEnvironment(Path folder, String also) {
    String ours = "\0SLURM_CONF=" + folder + "/";
    return ProcessHandle.allProcesses()
        .filter(
            process -> {
              String environment = environmentOf(process.pid());
              return environment.contains(ours) && environment.contains("\0" + also);
            })
        .toList();
  }

  private static String environmentOf(long pid) {
    try {
      // Variables are separated by NUL; one more in front lets every name be found by NUL + name.
      return "\0"
          + new String(
              Files.readAllBytes(Path.of("/proc/" + pid + "/environ")),
              StandardCharsets.ISO_8859_1);
    } catch (IOException goneOrNotOurs) {
      return "";
    }
  }

  private static String programOf(ProcessHandle process) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/" + process.pid() + "/exe"))
          .getFileName()
          .toString();
    } catch (IOException goneOrNotOurs) {
      return "";
    }
  }

  private static boolean holdsOpen(long pid, Path folder) {
    Path proc = Path.of("/proc/" + pid);
    try (Stream<Path> descriptors = Files.list(proc.resolve("fd"))) {
      return Stream.concat(Stream.of(proc.resolve("cwd")), descriptors)
          .anyMatch(
              link -> {
                try {
                  return Files.readSymbolicLink(link).startsWith(folder);
                } catch (IOException gone) {
                  return false;
                }
              });
    } catch (IOException | UncheckedIOException gone) {
      return false;
    }
  }
}
