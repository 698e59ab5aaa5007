package evenhand.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * The folder of one sandbox and the configuration files in it. Written for Slurm 22.05, which
 * Debian 12 ships; the comments tell which settings are there because the cluster would otherwise
 * misbehave.
 */
final class SlurmFiles {
  private final Path root;

  SlurmFiles(Path root) {
    this.root = root;
  }

  /** Everything that the files depend on. */
  record Settings(
      String hostName,
      String address,
      int firstPort,
      List<SlurmNode> nodes,
      Duration minJobAge,
      Duration slurmdTimeout,
      Duration messageTimeout,
      MemoryCgroup memory) {

    int controllerPort() {
      return firstPort;
    }

    int portOf(SlurmNode node) {
      return firstPort + 1 + nodes.indexOf(node);
    }
  }

  Path root() {
    return root;
  }

  Path slurmConf() {
    return root.resolve("etc/slurm.conf");
  }

  Path log(String name) {
    return root.resolve("log").resolve(name);
  }

  Path program(String name) {
    return root.resolve("bin").resolve(name);
  }

  Path mungeKey() {
    return root.resolve("munge/munge.key");
  }

  Path mungeSocket() {
    return root.resolve("run/munge.socket");
  }

  /** Where clients run, and where a job's default output goes. */
  Path workFolder() {
    return root.resolve("work");
  }

  Path spool(String node) {
    return root.resolve("spool").resolve(node);
  }

  void write(Settings settings) throws IOException {
    for (String folder : List.of("bin", "etc", "run", "log", "state", "spool", "dev")) {
      folder(root.resolve(folder), "rwxr-xr-x");
    }
    folder(root.resolve("munge"), "rwx------");
    folder(workFolder(), "rwxrwxrwx");
    for (SlurmNode node : settings.nodes()) {
      folder(spool(node.name()), "rwxr-xr-x");
    }
    linkPrograms();
    byte[] key = new byte[1024];
    new SecureRandom().nextBytes(key);
    Files.write(mungeKey(), key);
    Files.setPosixFilePermissions(mungeKey(), PosixFilePermissions.fromString("r--------"));
    makeGpuFiles(settings.nodes());
    Files.writeString(slurmConf(), slurmConf(settings));
    Files.writeString(root.resolve("etc/gres.conf"), gresConf(settings.nodes()));
    if (settings.memory() != null) {
      Files.writeString(root.resolve("etc/cgroup.conf"), cgroupConf(settings.memory()));
    }
  }

  /** A copy of slurm.conf for clients that differs only in MessageTimeout. */
  Path clientConf(int timeoutSeconds) throws IOException {
    Path copy = root.resolve("etc/slurm-client-" + timeoutSeconds + ".conf");
    Files.writeString(
        copy,
        Pattern.compile("(?m)^MessageTimeout=.*$")
            .matcher(Files.readString(slurmConf()))
            .replaceAll("MessageTimeout=" + timeoutSeconds));
    return copy;
  }

  private static void folder(Path folder, String mode) throws IOException {
    Files.createDirectories(folder);
    // Said outright, as the umask may have taken away what munged and other users' jobs need.
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(mode));
  }

  /**
   * Slurm reads the Gres= of its nodes only in a program that was started under the exact name
   * slurmctld or slurmd. Debian's real files are called slurmctld-wlm and so on, and its plain
   * names may point to another build.
   */
  private void linkPrograms() throws IOException {
    for (String name : List.of("slurmctld", "slurmd", "slurmstepd")) {
      Path real =
          RealParts.findProgram(name + "-wlm", name)
              .orElseThrow(() -> new IllegalStateException(name + " isn't installed"));
      Files.createSymbolicLink(program(name), real);
    }
  }

  private Path gpuFolder(SlurmNode node) {
    return root.resolve("dev").resolve(node.name());
  }

  /**
   * Slurm 22.05 drops a GPU that has no device file. A second /dev/null stands for each where we
   * may make one; an ordinary file also does, at the price of a complaint in slurmd's log.
   */
  private void makeGpuFiles(List<SlurmNode> nodes) throws IOException {
    List<String> mknod = new ArrayList<>();
    for (SlurmNode node : nodes) {
      folder(gpuFolder(node), "rwxr-xr-x");
      for (int i = 0; i < node.gpuCount(); i++) {
        mknod.add(gpuFolder(node).resolve("nvidia" + i).toString());
      }
    }
    try {
      List<String> command = new ArrayList<>();
      command.addAll(
          List.of("sh", "-c", "for f; do mknod -m 666 \"$f\" c 1 3 || exit; done", "sh"));
      command.addAll(mknod);
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (String file : mknod) {
      if (!Files.exists(Path.of(file))) {
        Files.createFile(Path.of(file));
      }
    }
  }

  private String slurmConf(Settings s) {
    String user = System.getProperty("user.name");
    StringBuilder text = new StringBuilder();
    text.append(
        """
        ClusterName=sandbox
        SlurmctldHost=%s(%s)
        SlurmctldPort=%d
        SlurmUser=%s
        SlurmdUser=%s
        # Listen at the address of this host's name, a loopback one, and not at every address.
        CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
        MessageTimeout=%d

        AuthType=auth/munge
        # A requeued job waits until its old credential has expired; the default makes that two minutes.
        AuthInfo=socket=%s,cred_expire=5

        StateSaveLocation=%s
        SlurmctldPidFile=%s
        SlurmdPidFile=%s
        SlurmdSpoolDir=%s
        SlurmdLogFile=%s
        LogTimeFormat=iso8601_ms

        GresTypes=gpu
        SelectType=select/cons_tres
        SelectTypeParameters=CR_CPU_Memory
        # Nodes claim more processors and memory than the machine has.
        SlurmdParameters=config_overrides
        DefMemPerCPU=1000
        ProctrackType=proctrack/linuxproc
        PropagateResourceLimits=NONE

        # 2 would let a healthy slurmd undo "scontrol update state=down" within a second.
        ReturnToService=1
        SlurmdTimeout=%d
        SlurmctldTimeout=30
        KillWait=2
        MinJobAge=%d
        JobRequeue=1

        PriorityType=priority/basic
        SchedulerType=sched/backfill
        # Start jobs as soon as they could; the defaults wait for up to a minute.
        SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=2,bf_interval=2
        AccountingStorageType=accounting_storage/none

        """
            .formatted(
                shortName(s.hostName()),
                s.address(),
                s.controllerPort(),
                user,
                user,
                s.messageTimeout().toSeconds(),
                mungeSocket(),
                root.resolve("state"),
                root.resolve("run/slurmctld.pid"),
                root.resolve("run/slurmd-%n.pid"),
                root.resolve("spool/%n"),
                log("slurmd-%n.log"),
                s.slurmdTimeout().toSeconds(),
                s.minJobAge().toSeconds()));
    if (s.memory() != null) {
      // Groups are named after node and job. Sandboxes that run at once share the kernel's tree, so
      // each counts its jobs from a number that follows from its port, which no two share.
      text.append("TaskPlugin=task/cgroup\nFirstJobId=%d\n".formatted(s.controllerPort() * 1000));
    }
    for (SlurmNode node : s.nodes()) {
      text.append(
          "NodeName=%s NodeHostname=%s NodeAddr=%s Port=%d CPUs=%d RealMemory=%d Gres=%s State=UNKNOWN%n"
              .formatted(
                  node.name(),
                  shortName(s.hostName()),
                  s.address(),
                  s.portOf(node),
                  node.cpus(),
                  node.memoryMegabytes(),
                  node.gres()));
    }
    text.append(
        "PartitionName=main Nodes=ALL Default=YES DefaultTime=60 MaxTime=INFINITE State=UP\n");
    partitions(s.nodes())
        .forEach(
            (name, members) ->
                text.append(
                    "PartitionName=%s Nodes=%s DefaultTime=60 MaxTime=INFINITE State=UP%n"
                        .formatted(name, String.join(",", members))));
    return text.toString();
  }

  /** One partition for each type of GPU, with the nodes that have any of it. */
  static Map<String, List<String>> partitions(List<SlurmNode> nodes) {
    Map<String, List<String>> partitions = new TreeMap<>();
    for (SlurmNode node : nodes) {
      for (SlurmNode.Gpus gpus : node.gpus()) {
        partitions.computeIfAbsent("gpu" + gpus.type(), t -> new ArrayList<>()).add(node.name());
      }
    }
    return partitions;
  }

  private String gresConf(List<SlurmNode> nodes) {
    StringBuilder text = new StringBuilder("AutoDetect=off\n");
    for (SlurmNode node : nodes) {
      int first = 0;
      for (SlurmNode.Gpus gpus : node.gpus()) {
        text.append(
            "NodeName=%s Name=gpu Type=%s File=%s/nvidia[%d-%d]%n"
                .formatted(
                    node.name(), gpus.type(), gpuFolder(node), first, first + gpus.count() - 1));
        first += gpus.count();
      }
    }
    return text.toString();
  }

  private static String cgroupConf(MemoryCgroup memory) {
    return """
        CgroupPlugin=%s
        CgroupMountpoint=%s
        ConstrainRAMSpace=yes
        # The default would raise every job's limit to at least 30 MB.
        MinRAMSpace=1
        %s"""
        .formatted(
            memory.plugin(),
            memory.mountPoint(),
            // No systemd answers in a container; v1 doesn't know the word.
            memory.plugin().endsWith("v2") ? "IgnoreSystemd=yes\n" : "");
  }

  private static String shortName(String hostName) {
    return hostName.replaceFirst("\\..*", "");
  }
}
