package evenhand.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A real Slurm cluster on this machine's loopback address, for tests: munged, slurmctld and one
 * slurmd per node, all children of this JVM, all under one temporary folder.
 *
 * <p>The nodes are n1 and n2 (two 4090 each), n3 (two 3080ti) and n4 (four 4090, four 5090).
 * Partition {@code main} has them all; {@code gpu4090}, {@code gpu3080ti} and {@code gpu5090} have
 * those with such GPUs. Jobs really run, and ask for GPUs that are only pretended.
 *
 * <p>Every wait is bounded and fails with the daemons' last log lines. Not meant for use by several
 * threads at once, apart from {@link #run} and its kin.
 */
public final class SlurmSandbox implements AutoCloseable {
  private static final Duration CLIENT_LIMIT = Duration.ofSeconds(30);
  private static final Duration START_LIMIT = Duration.ofSeconds(30);

  /**
   * Below the kernel's usual range for outgoing connections, which could take a port before we do.
   */
  private static final int LOWEST_PORT = 20_000;

  private static final int HIGHEST_PORT = 32_000;

  private static final String INSTALL =
      "apt-get install -y --no-install-recommends"
          + " slurmctld slurmd slurm-client munge slurm-wlm-basic-plugins";

  private final SlurmFiles files;
  private final SlurmFiles.Settings settings;
  private final SlurmClients clients;
  private final Thread shutdownHook;
  private final Set<Path> groupsToRemove = new HashSet<>();
  private final Map<String, Daemon> slurmds = new LinkedHashMap<>();
  private Daemon munged;
  private Daemon controller;
  private boolean frozen;
  private boolean closed;

  private SlurmSandbox(SlurmFiles files, SlurmFiles.Settings settings) {
    this.files = files;
    this.settings = settings;
    this.clients = new SlurmClients(files.workFolder());
    this.shutdownHook = new Thread(this::stopEverything, "slurm-sandbox-shutdown");
  }

  /** Tells whether a sandbox can be started here, and if not, what to install or change. */
  public static Availability available() {
    Map<String, String[]> wanted = new LinkedHashMap<>();
    for (String daemon : List.of("slurmctld", "slurmd", "slurmstepd")) {
      wanted.put(daemon, new String[] {daemon + "-wlm", daemon});
    }
    for (String other : List.of("munged", "sbatch", "scancel", "scontrol", "sinfo", "squeue")) {
      wanted.put(other, new String[] {other});
    }
    List<String> absent =
        wanted.entrySet().stream()
            .filter(e -> RealParts.findProgram(e.getValue()).isEmpty())
            .map(Map.Entry::getKey)
            .toList();
    if (!absent.isEmpty()) {
      return Availability.missing(
          "not found: " + String.join(", ", absent) + "; install with: " + INSTALL);
    }
    String host = hostName();
    if (loopbackAddressOf(host).isEmpty()) {
      return Availability.missing(
          "Slurm's daemons would listen outside loopback, as the host name "
              + host
              + " isn't mapped to 127.0.0.1 alone; map it so in /etc/hosts");
    }
    return Availability.here("Slurm");
  }

  public static Builder builder() {
    return new Builder();
  }

  /** What can be chosen about a sandbox; all of it has defaults. */
  public static final class Builder {
    private Duration minJobAge = Duration.ofSeconds(300);
    private Duration slurmdTimeout = Duration.ofSeconds(15);
    private Duration messageTimeout = Duration.ofSeconds(10);
    private boolean memoryLimits;
    private final List<SlurmNode> nodes =
        new ArrayList<>(
            List.of(
                SlurmNode.of("n1", 32, 256_000, "gpu:4090:2"),
                SlurmNode.of("n2", 32, 256_000, "gpu:4090:2"),
                SlurmNode.of("n3", 16, 128_000, "gpu:3080ti:2"),
                SlurmNode.of("n4", 64, 512_000, "gpu:4090:4,gpu:5090:4")));

    private Builder() {}

    /** How long the controller remembers a finished job. */
    public Builder minJobAge(Duration age) {
      minJobAge = age;
      return this;
    }

    /** After this long without an answer a node is down; it's noticed within about twice this. */
    public Builder slurmdTimeout(Duration timeout) {
      slurmdTimeout = timeout;
      return this;
    }

    /**
     * How long daemons and clients wait for each other, ten seconds as in Slurm's default. Shorter,
     * a dead node is noticed sooner; {@link #clientConfWithTimeout} still gives clients any other.
     */
    public Builder messageTimeout(Duration timeout) {
      messageTimeout = timeout;
      return this;
    }

    /**
     * Lets the kernel enforce {@code --mem}, so that a job can end OUT_OF_MEMORY. {@link #start}
     * throws where the machine's cgroups can't do that.
     */
    public Builder memoryLimits(boolean enforce) {
      memoryLimits = enforce;
      return this;
    }

    /** Adds a node; {@code gres} is in Slurm's notation, such as {@code gpu:4090:4}. */
    public Builder node(String name, String gres) {
      nodes.add(SlurmNode.of(name, 64, 512_000, gres));
      return this;
    }

    /** Adds x1, x2, … with four 4090 each. */
    public Builder extraNodes(int count) {
      for (int i = 1; i <= count; i++) {
        node("x" + i, "gpu:4090:4");
      }
      return this;
    }

    /** Starts the cluster and returns when every node is idle. */
    public SlurmSandbox start() {
      Availability availability = available();
      if (!availability.present()) {
        throw new IllegalStateException(availability.sentence());
      }
      MemoryCgroup memory = memoryLimits ? MemoryCgroup.find() : null;
      String host = hostName();
      SlurmFiles.Settings settings =
          new SlurmFiles.Settings(
              host,
              loopbackAddressOf(host).orElseThrow().getHostAddress(),
              freePorts(nodes.size() + 1, loopbackAddressOf(host).orElseThrow()),
              List.copyOf(nodes),
              minJobAge,
              slurmdTimeout,
              messageTimeout,
              memory);
      SlurmSandbox sandbox;
      try {
        Path root = Files.createTempDirectory("slurm");
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxr-xr-x"));
        SlurmFiles files = new SlurmFiles(root);
        sandbox = new SlurmSandbox(files, settings);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Runtime.getRuntime().addShutdownHook(sandbox.shutdownHook);
      try {
        sandbox.files.write(settings);
        sandbox.startEverything();
      } catch (IOException e) {
        sandbox.close();
        throw new UncheckedIOException(e);
      } catch (RuntimeException | Error failure) {
        sandbox.close();
        throw failure;
      }
      return sandbox;
    }
  }

  // --- what tests use -------------------------------------------------------------------------

  /** The folder that holds everything of this sandbox. */
  public Path folder() {
    return files.root();
  }

  public Path slurmConf() {
    return files.slurmConf();
  }

  /** What a program needs in its environment so that Slurm's clients talk to this cluster. */
  public Map<String, String> environment() {
    return Map.of("SLURM_CONF", slurmConf().toString());
  }

  /** The names of the nodes, in order. */
  public List<String> nodes() {
    return settings.nodes().stream().map(SlurmNode::name).toList();
  }

  /** The pids of the daemons that run now. */
  public List<Long> pids() {
    return daemons().stream().filter(Daemon::isAlive).map(Daemon::pid).toList();
  }

  /** Runs a client command, checks that it succeeds, and returns what it printed, stripped. */
  public String run(String... command) {
    ClientResult result = tryRun(command);
    if (result.exitCode() != 0) {
      throw new IllegalStateException(
          "exit code %d from %s: %s%s"
              .formatted(result.exitCode(), String.join(" ", command), result.out(), result.err()));
    }
    return result.out().strip();
  }

  /** Runs a client command that may fail. */
  public ClientResult tryRun(String... command) {
    return tryRun(slurmConf(), command);
  }

  /**
   * Runs a client command under another slurm.conf, such as one of {@link #clientConfWithTimeout}.
   */
  public ClientResult tryRun(Path slurmConf, String... command) {
    return clients.run(Map.of("SLURM_CONF", slurmConf.toString()), CLIENT_LIMIT, List.of(command));
  }

  /**
   * A copy of slurm.conf that differs only in MessageTimeout, for clients that shouldn't wait ten
   * seconds for a controller that is down or hung.
   */
  public Path clientConfWithTimeout(int seconds) {
    try {
      return files.clientConf(seconds);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Submits a batch job that runs {@code commandLine}, and returns its id. */
  public String submit(String commandLine, String... sbatchOptions) {
    List<String> command = new ArrayList<>(List.of("sbatch", "--parsable"));
    command.addAll(List.of(sbatchOptions));
    command.addAll(List.of("--wrap", commandLine));
    return run(command.toArray(String[]::new));
  }

  /** A job's state in Slurm's words, such as RUNNING or OUT_OF_MEMORY. */
  public String jobState(String id) {
    return run("squeue", "--noheader", "--states=all", "--jobs=" + id, "--format=%T");
  }

  public void awaitJob(String id, String state, Duration limit) {
    String[] seen = {"?"};
    await(
        () -> "job " + id + " to be " + state + ", last seen " + seen[0],
        limit,
        () -> (seen[0] = jobState(id)).equals(state));
  }

  /**
   * Every node's state in sinfo's long form: {@code idle}, {@code mixed}, {@code down*}. A node
   * that doesn't answer has the star.
   */
  public Map<String, String> nodeStates() {
    Map<String, String> states = new TreeMap<>();
    run("sinfo", "--noheader", "--Node", "--partition=main", "--format=%N %T")
        .lines()
        .map(line -> line.trim().split(" +"))
        .filter(fields -> fields.length == 2)
        .forEach(fields -> states.put(fields[0], fields[1]));
    return states;
  }

  public void awaitNode(String node, Predicate<String> state, Duration limit) {
    known(node);
    await(
        () -> "node " + node + ", now among " + nodeStates(),
        limit,
        () -> state.test(nodeStates().getOrDefault(node, "")));
  }

  /** Waits until every node is idle. */
  public void awaitIdle(Duration limit) {
    await(
        () -> "all nodes to be idle, now " + nodeStates(),
        limit,
        () -> {
          Map<String, String> states = nodeStates();
          return states.size() == settings.nodes().size()
              && states.values().stream().allMatch("idle"::equals);
        });
  }

  // --- what tests break -----------------------------------------------------------------------

  /** Ends the controller as an administrator would; jobs go on running. */
  public void stopController() {
    if (frozen) {
      thawController();
    }
    controller.stop(Duration.ofSeconds(20));
  }

  /**
   * Starts the controller and waits until it answers. It knows its jobs at once, but shows idle
   * nodes as unknown for some seconds; {@link #awaitIdle} waits for these too.
   */
  public void startController() {
    if (controller != null && controller.isAlive()) {
      throw new IllegalStateException("the controller already runs");
    }
    Path output = files.log("slurmctld.out");
    controller =
        Daemon.start(
            "slurmctld",
            files.log(""),
            output,
            null,
            environment(),
            List.of(files.program("slurmctld").toString(), "-D"));
    await(
        () -> "slurmctld to answer",
        START_LIMIT,
        () -> {
          alive(controller);
          return controllerAnswers();
        });
  }

  /** Ends the controller, loses all it knew of jobs and nodes, and starts it again. */
  public void restartControllerWithoutItsState() {
    stopController();
    try (Stream<Path> state = Files.list(files.root().resolve("state"))) {
      for (Path file : state.filter(Files::isRegularFile).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    startController();
  }

  /**
   * Stops the controller in mid-flight: it stays there, accepts connections, and answers nothing.
   */
  public void freezeController() {
    controller.freeze();
    frozen = true;
  }

  public void thawController() {
    controller.thaw();
    frozen = false;
  }

  /** Ends a node as a power cut would: its slurmd and the jobs on it are gone without a word. */
  public void killNode(String node) {
    known(node);
    // slurmd first, so that it starts nothing after we have looked.
    slurmds.get(node).kill();
    // Then the step daemons, which would otherwise report that their job was killed.
    JobProcesses.kill(JobProcesses.stepDaemons(files.spool(node)));
    JobProcesses.kill(JobProcesses.on(files.root(), files.spool(node), node));
  }

  /** Starts a node's slurmd; {@link #awaitNode} tells when the controller has noticed. */
  public void startNode(String node) {
    known(node);
    Daemon before = slurmds.get(node);
    if (before != null && before.isAlive()) {
      throw new IllegalStateException(node + " already runs");
    }
    slurmds.put(
        node,
        Daemon.start(
            "slurmd of " + node,
            // Its step daemons inherit this folder, and are known by it.
            files.spool(node),
            files.log("slurmd-" + node + ".out"),
            files.log("slurmd-" + node + ".log"),
            environment(),
            List.of(
                files.program("slurmd").toString(),
                "-D",
                "-N",
                node,
                "-d",
                files.program("slurmstepd").toString())));
  }

  /**
   * Sets a node's state as an administrator would: {@code down}, {@code drain} or {@code resume}.
   */
  public void setNode(String node, String state, String reason) {
    known(node);
    List<String> command =
        new ArrayList<>(List.of("scontrol", "update", "NodeName=" + node, "State=" + state));
    if (reason != null && !reason.isBlank()) {
      command.add("Reason=" + reason);
    }
    run(command.toArray(String[]::new));
  }

  // --- waiting --------------------------------------------------------------------------------

  /**
   * Polls until the condition holds; fails with the daemons' last words when it doesn't in time.
   */
  public void await(String what, Duration limit, BooleanSupplier condition) {
    await(() -> what, limit, condition);
  }

  private void await(
      java.util.function.Supplier<String> what, Duration limit, BooleanSupplier condition) {
    long end = System.nanoTime() + limit.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException(
            "waited " + limit.toSeconds() + " s in vain for " + what.get() + "\n" + logTails());
      }
      pause(100);
    }
  }

  /** The last lines of every daemon's log. */
  public String logTails() {
    return daemons().stream()
        .map(
            d ->
                "--- %s (%s)%n%s"
                    .formatted(d.name(), d.isAlive() ? "running" : "ended", d.tail(12)))
        .collect(Collectors.joining("\n"));
  }

  private void alive(Daemon daemon) {
    if (!daemon.isAlive()) {
      throw new IllegalStateException(daemon.name() + " ended at once\n" + logTails());
    }
  }

  private static void pause(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for Slurm", e);
    }
  }

  // --- start and stop -------------------------------------------------------------------------

  private void startEverything() {
    if (settings.memory() != null) {
      for (String node : nodes()) {
        Path group = settings.memory().groupOf(node);
        if (!Files.exists(group)) {
          groupsToRemove.add(group);
        }
      }
    }
    munged =
        Daemon.start(
            "munged",
            files.log(""),
            files.log("munged.out"),
            null,
            environment(),
            List.of(
                RealParts.findProgram("munged").orElseThrow().toString(),
                "--foreground",
                "--key-file=" + files.mungeKey(),
                "--socket=" + files.mungeSocket(),
                "--pid-file=" + files.root().resolve("run/munged.pid"),
                "--seed-file=" + files.root().resolve("munge/seed"),
                "--log-file=" + files.log("munged.log")));
    await(
        () -> "munged's socket",
        START_LIMIT,
        () -> {
          alive(munged);
          return Files.exists(files.mungeSocket());
        });
    startController();
    for (String node : nodes()) {
      startNode(node);
    }
    awaitIdle(START_LIMIT);
  }

  /** Ends all that was started, by pid, and removes the folder. Does nothing the second time. */
  @Override
  public void close() {
    stopEverything();
    try {
      Runtime.getRuntime().removeShutdownHook(shutdownHook);
    } catch (IllegalStateException shuttingDown) {
      // Then the hook runs, and finds nothing left to do.
    }
  }

  private synchronized void stopEverything() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      if (controller != null && controller.isAlive()) {
        // A frozen process takes no SIGTERM. A test may also have frozen it by other means.
        thawController();
        cancelJobs();
      }
    } catch (RuntimeException e) {
      System.err.println("Slurm sandbox: could not cancel its jobs: " + e.getMessage());
    }
    // Where the controller couldn't cancel them, jobs and their steps would outlive slurmd.
    JobProcesses.kill(JobProcesses.in(files.root()));
    slurmds.values().forEach(Daemon::terminate);
    // slurmd doesn't heed SIGTERM while it retries a controller that is gone.
    slurmds.values().forEach(d -> d.stop(Duration.ofSeconds(5)));
    if (controller != null) {
      controller.stop(Duration.ofSeconds(10));
    }
    if (munged != null) {
      munged.stop(Duration.ofSeconds(5));
    }
    JobProcesses.kill(JobProcesses.in(files.root()));
    groupsToRemove.forEach(MemoryCgroup::remove);
    removeFolder();
  }

  private void cancelJobs() {
    // First stop the queue, or cancelled jobs make room for pending ones.
    List<String> partitions = new ArrayList<>(SlurmFiles.partitions(settings.nodes()).keySet());
    partitions.add("main");
    if (tryRun("squeue", "--noheader", "--format=%A").out().isBlank()) {
      return;
    }
    for (String partition : partitions) {
      tryRun("scontrol", "update", "PartitionName=" + partition, "State=DOWN");
    }
    List<String> running =
        tryRun("squeue", "--noheader", "--states=R,S", "--format=%A").out().lines().toList();
    if (!running.isEmpty()) {
      List<String> scancel = new ArrayList<>(List.of("scancel"));
      running.stream().distinct().limit(2000).forEach(scancel::add);
      tryRun(scancel.toArray(String[]::new));
    }
    await(
        () -> "cancelled jobs to end",
        Duration.ofSeconds(10),
        () -> tryRun("squeue", "--noheader", "--states=R,S,CG", "--format=%A").out().isBlank());
  }

  private void removeFolder() {
    // A step that was just killed may still be writing its last file.
    for (int attempt = 0; attempt < 5 && Files.exists(files.root()); attempt++) {
      try (Stream<Path> tree = Files.walk(files.root())) {
        for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(path);
        }
      } catch (IOException | UncheckedIOException e) {
        pause(100);
      }
    }
  }

  private List<Daemon> daemons() {
    List<Daemon> all = new ArrayList<>();
    if (munged != null) {
      all.add(munged);
    }
    if (controller != null) {
      all.add(controller);
    }
    all.addAll(slurmds.values());
    return all;
  }

  // --- this machine ---------------------------------------------------------------------------

  private boolean controllerAnswers() {
    return tryRun("scontrol", "ping").out().contains("is UP");
  }

  private void known(String node) {
    if (!nodes().contains(node)) {
      throw new IllegalArgumentException("no node " + node + " among " + nodes());
    }
  }

  /** The kernel's name for this host; Slurm asks for the same, and InetAddress might not. */
  private static String hostName() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException notLinux) {
      return "localhost";
    }
  }

  /** The address at which Slurm's daemons would listen, if it's a loopback one. */
  private static Optional<InetAddress> loopbackAddressOf(String host) {
    try {
      List<InetAddress> addresses =
          Stream.of(InetAddress.getAllByName(host)).filter(Inet4Address.class::isInstance).toList();
      return !addresses.isEmpty() && addresses.stream().allMatch(InetAddress::isLoopbackAddress)
          ? Optional.of(addresses.get(0))
          : Optional.empty();
    } catch (UnknownHostException unmapped) {
      return Optional.empty();
    }
  }

  /**
   * The first of a run of free ports. Starts at a random place, so that parallel builds keep apart.
   */
  private static int freePorts(int count, InetAddress address) {
    for (int attempt = 0; attempt < 100; attempt++) {
      int first = ThreadLocalRandom.current().nextInt(LOWEST_PORT, HIGHEST_PORT - count);
      int free = 0;
      while (free < count && isFree(address, first + free)) {
        free++;
      }
      if (free == count) {
        return first;
      }
    }
    throw new IllegalStateException("no " + count + " free ports in a row on " + address);
  }

  private static boolean isFree(InetAddress address, int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(address, port));
      return true;
    } catch (IOException taken) {
      return false;
    }
  }
}
