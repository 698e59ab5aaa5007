package evenhand.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The kernel's memory controller, as Slurm's task/cgroup plugin needs it.
 *
 * @param plugin Slurm's name for the version, cgroup/v1 or cgroup/v2
 * @param mountPoint what cgroup.conf calls CgroupMountpoint
 * @param memoryRoot the folder under which Slurm makes its memory groups
 */
record MemoryCgroup(String plugin, Path mountPoint, Path memoryRoot) {

  static Availability availability() {
    try {
      find();
      return Availability.here("The kernel's memory controller");
    } catch (IllegalStateException absent) {
      return Availability.missing(absent.getMessage());
    }
  }

  /** Finds the controller and proves that we may make groups in it. */
  static MemoryCgroup find() {
    MemoryCgroup found =
        mounted()
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "memory limits need the cgroup memory controller (v1, or v2 with memory in"
                            + " cgroup.subtree_control), and none is mounted; a privileged container"
                            + " or a plain machine has it"));
    Path probe = found.memoryRoot().resolve("evenhand-probe-" + ProcessHandle.current().pid());
    try {
      Files.createDirectory(probe);
      Files.delete(probe);
    } catch (IOException refused) {
      throw new IllegalStateException(
          "memory limits need to make groups under "
              + found.memoryRoot()
              + ", which is refused ("
              + refused
              + "); run as root with cgroups mounted for writing",
          refused);
    }
    return found;
  }

  private static Optional<MemoryCgroup> mounted() {
    List<String[]> mounts;
    try {
      mounts =
          Files.readAllLines(Path.of("/proc/self/mounts")).stream()
              .map(line -> line.split(" "))
              .filter(fields -> fields.length > 3)
              .toList();
    } catch (IOException e) {
      throw new IllegalStateException("cannot read this process's mounts", e);
    }
    // A mixed machine has both; the memory controller then belongs to v1.
    for (String[] mount : mounts) {
      Path where = Path.of(mount[1]);
      if (mount[2].equals("cgroup")
          && Arrays.asList(mount[3].split(",")).contains("memory")
          && where.endsWith("memory")) {
        return Optional.of(new MemoryCgroup("cgroup/v1", where.getParent(), where));
      }
    }
    for (String[] mount : mounts) {
      Path where = Path.of(mount[1]);
      if (mount[2].equals("cgroup2") && hasMemory(where.resolve("cgroup.subtree_control"))) {
        return Optional.of(new MemoryCgroup("cgroup/v2", where, where));
      }
    }
    return Optional.empty();
  }

  private static boolean hasMemory(Path list) {
    try {
      return Arrays.asList(Files.readString(list).trim().split(" ")).contains("memory");
    } catch (IOException unreadable) {
      return false;
    }
  }

  /** The group that a slurmd of this name makes when a host runs several of them. */
  Path groupOf(String node) {
    return memoryRoot.resolve("slurm_" + node);
  }

  /**
   * Removes an empty tree of groups; one that still holds processes stays, as the kernel refuses.
   */
  static void remove(Path group) {
    if (!Files.isDirectory(group)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(group)) {
      // The files in a group are the kernel's and vanish with it; only folders can be removed.
      for (Path folder :
          tree.filter(Files::isDirectory).sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(folder);
      }
    } catch (IOException | java.io.UncheckedIOException inUse) {
      // Left for the kernel: an empty group costs nothing, and a busy one isn't ours to break.
    }
  }
}
