package evenhand.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A daemon that runs in the foreground as our child, so that its pid is known and stays ours. */
final class Daemon {
  /**
   * All daemons are started from this one thread. The kernel ties a parent-death signal to the
   * thread that started the child, and a test's own thread may end long before the daemon should.
   */
  private static final ExecutorService STARTER =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "sandbox-daemon-starter");
            thread.setDaemon(true);
            return thread;
          });

  private final String name;
  private final Process process;
  private final List<Path> logs;

  private Daemon(String name, Process process, List<Path> logs) {
    this.name = name;
    this.process = process;
    this.logs = logs;
  }

  /**
   * Starts a daemon.
   *
   * @param folder where it runs
   * @param output takes its standard output and error
   * @param ownLog the log file that it writes itself, or null
   */
  static Daemon start(
      String name,
      Path folder,
      Path output,
      Path ownLog,
      Map<String, String> environment,
      List<String> command) {
    List<String> line = new ArrayList<>();
    // A JVM that is killed outright runs no shutdown hook; the kernel then ends the daemon for us.
    RealParts.findProgram("setpriv")
        .ifPresent(
            setpriv -> line.addAll(List.of(setpriv.toString(), "--pdeathsig", "KILL", "--")));
    line.addAll(command);
    ProcessBuilder builder =
        new ProcessBuilder(line)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
            .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
            .directory(folder.toFile());
    SlurmClients.replaceSlurmVariables(builder.environment(), environment);
    try {
      Process process = STARTER.submit(builder::start).get();
      return new Daemon(name, process, ownLog == null ? List.of(output) : List.of(ownLog, output));
    } catch (ExecutionException e) {
      throw new IllegalStateException("cannot start " + name, e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while starting " + name, e);
    }
  }

  String name() {
    return name;
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  void terminate() {
    process.destroy();
  }

  void kill() {
    process.destroyForcibly();
    waitFor(Duration.ofSeconds(10));
  }

  /** SIGTERM, some patience, then SIGKILL. */
  void stop(Duration patience) {
    terminate();
    if (!waitFor(patience)) {
      kill();
    }
  }

  boolean waitFor(Duration limit) {
    try {
      return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      // Whoever waits here is clearing up: go on without patience rather than leave daemons behind.
      Thread.currentThread().interrupt();
      return !process.isAlive();
    }
  }

  void freeze() {
    signal("STOP");
  }

  void thaw() {
    signal("CONT");
  }

  private void signal(String signal) {
    if (!process.isAlive()) {
      throw new IllegalStateException(name + " isn't running");
    }
    try {
      // Java can send only TERM and KILL itself. kill is built into every shell.
      Process kill =
          new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!kill.waitFor(5, TimeUnit.SECONDS) || kill.exitValue() != 0) {
        throw new IllegalStateException("could not send " + signal + " to " + name);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** The end of what it logged, for a failure message. */
  String tail(int lines) {
    for (Path log : logs) {
      try {
        List<String> all =
            Files.exists(log)
                ? new String(Files.readAllBytes(log), java.nio.charset.StandardCharsets.UTF_8)
                    .lines()
                    .toList()
                : List.of();
        if (!all.isEmpty()) {
          return String.join("\n", all.subList(Math.max(0, all.size() - lines), all.size()));
        }
      } catch (IOException unreadable) {
        return "(" + unreadable + ")";
      }
    }
    return "(no log)";
  }
}
