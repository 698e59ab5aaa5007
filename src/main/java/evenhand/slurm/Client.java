package evenhand.slurm;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Runs Slurm's commands, and the host's, on this host: no shell, a bounded time, a bounded answer,
 * and an environment of its own, since Slurm's commands take options from variables such as {@code
 * SBATCH_PARTITION} and {@code SQUEUE_FORMAT}.
 */
final class Client {
  /** Most of an answer that is kept; a command that says more is stopped. */
  static final int MOST_BYTES = 64 << 20;

  private static final List<String> KEPT = List.of("PATH", "HOME", "USER", "LOGNAME");
  private static final Duration LAST_WORDS = Duration.ofSeconds(2);

  private final Path bin;
  private final Duration limit;
  private final int mostBytes;
  private final Map<String, String> environment = new TreeMap<>();

  /** How a command came to its end. */
  enum Ending {
    /** By itself; it has an exit code. */
    ENDED,
    /** It was never started. */
    NOT_STARTED,
    /** It did not end in time, or we were told to stop, and it was killed. */
    TIMED_OUT,
    /** It said more than is kept, and was killed. */
    TOO_LONG
  }

  /**
   * What a command answered.
   *
   * @param exitCode -1 unless it ended by itself
   */
  record Answer(List<String> command, Ending ending, int exitCode, String out, String err) {
    boolean ok() {
      return ending == Ending.ENDED && exitCode == 0;
    }

    /**
     * What went wrong, in one sentence: the command, how it ended, its first words of complaint.
     */
    String sentence() {
      String first =
          (err + "\n" + out)
              .lines()
              .map(String::strip)
              .filter(l -> !l.isEmpty())
              .findFirst()
              .orElse("");
      first = first.replaceAll("\\p{Cntrl}", "?");
      if (first.length() > 300) {
        first = first.substring(0, 297) + "...";
      }
      String how =
          switch (ending) {
            case ENDED -> "ended with exit code " + exitCode;
            case NOT_STARTED -> "could not be started";
            case TIMED_OUT -> "did not answer in time and was stopped";
            case TOO_LONG -> "answered without end and was stopped";
          };
      return named() + " " + how + (first.isEmpty() ? "" : ": " + first);
    }

    /** The command without the words that only shape its answer. */
    private String named() {
      String name = command.get(0);
      String verb =
          command.stream()
              .skip(1)
              .filter(w -> !w.startsWith("-"))
              .limit(name.endsWith("scontrol") ? 2 : 0)
              .reduce("", (a, b) -> a + " " + b);
      return name.substring(name.lastIndexOf('/') + 1) + verb;
    }
  }

  Client(SlurmSettings settings) {
    this(settings, MOST_BYTES, System.getenv());
  }

  /**
   * @param inherited the service's own environment
   */
  Client(SlurmSettings settings, int mostBytes, Map<String, String> inherited) {
    this(settings.bin(), settings.timeout(), mostBytes, inherited);
    environment.putAll(settings.environment());
    if (settings.conf() != null) {
      environment.put("SLURM_CONF", settings.conf().toAbsolutePath().toString());
    }
  }

  private Client(Path bin, Duration limit, int mostBytes, Map<String, String> inherited) {
    this.bin = bin;
    this.limit = limit;
    this.mostBytes = mostBytes;
    for (String name : KEPT) {
      if (inherited.get(name) != null) {
        environment.put(name, inherited.get(name));
      }
    }
    environment.put("TZ", "UTC");
    environment.put("LC_ALL", "C");
  }

  /** For commands of the host itself, found on its PATH. */
  static Client ofHost(Duration limit, int mostBytes) {
    return new Client(null, limit, mostBytes, System.getenv());
  }

  /** Runs a command whose standard input is empty. */
  Answer run(List<String> command) {
    return run(command, new byte[0]);
  }

  /** Runs a command and gives it these bytes. Never throws. */
  Answer run(List<String> command, byte[] input) {
    List<String> words = new ArrayList<>(command);
    if (bin != null) {
      words.set(0, bin.resolve(command.get(0)).toString());
    }
    Process process;
    try {
      ProcessBuilder builder = new ProcessBuilder(words);
      builder.environment().clear();
      builder.environment().putAll(environment);
      process = builder.start();
    } catch (IOException | IllegalArgumentException e) {
      return new Answer(List.copyOf(command), Ending.NOT_STARTED, -1, "", e.getMessage());
    }
    Stream out = new Stream(process, process.getInputStream(), mostBytes);
    Stream err = new Stream(process, process.getErrorStream(), mostBytes);
    thread(command, "out", out);
    thread(command, "err", err);
    // A thread of its own: what does not read would hold us up, beyond the time limit too.
    thread(command, "in", () -> feed(process, input));
    Ending ending = Ending.ENDED;
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        ending = Ending.TIMED_OUT;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      ending = Ending.TIMED_OUT;
    }
    if (ending != Ending.ENDED) {
      kill(process);
    }
    // A child that outlives the command may keep the pipes open: they are not waited for long.
    out.await();
    err.await();
    close(process);
    if (out.tooLong || err.tooLong) {
      ending = Ending.TOO_LONG;
    }
    return new Answer(
        List.copyOf(command),
        ending,
        ending == Ending.ENDED ? process.exitValue() : -1,
        out.text(),
        err.text());
  }

  private static void thread(List<String> command, String what, Runnable task) {
    Thread thread = new Thread(task, "slurm-" + command.get(0) + "-" + what);
    thread.setDaemon(true);
    thread.start();
  }

  private static void feed(Process process, byte[] input) {
    try (OutputStream in = process.getOutputStream()) {
      in.write(input);
    } catch (IOException e) {
      // It has ended or does not read; its answer tells more than this would.
    }
  }

  /** Kills a process and all that it started, by their pids. */
  private static void kill(Process process) {
    List<ProcessHandle> tree = process.descendants().toList();
    process.destroyForcibly();
    tree.forEach(ProcessHandle::destroyForcibly);
    try {
      process.waitFor(LAST_WORDS.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void close(Process process) {
    for (AutoCloseable end :
        List.of(process.getInputStream(), process.getErrorStream(), process.getOutputStream())) {
      try {
        end.close();
      } catch (Exception e) {
        // Nothing more is wanted of it.
      }
    }
  }

  /** One of the two streams of a command, read to its end or to the most that is kept. */
  private static final class Stream implements Runnable {
    private final Process process;
    private final InputStream from;
    private final int most;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final java.util.concurrent.CountDownLatch ended =
        new java.util.concurrent.CountDownLatch(1);
    private volatile boolean tooLong;

    Stream(Process process, InputStream from, int most) {
      this.process = process;
      this.from = from;
      this.most = most;
    }

    @Override
    public void run() {
      byte[] buffer = new byte[65_536];
      try {
        for (int n = from.read(buffer); n >= 0; n = from.read(buffer)) {
          synchronized (bytes) {
            bytes.write(buffer, 0, Math.min(n, most - bytes.size()));
            tooLong = tooLong || bytes.size() == most;
          }
          if (tooLong) {
            kill(process);
            return;
          }
        }
      } catch (IOException e) {
        // Closed under us: what was read so far is what there is.
      } finally {
        ended.countDown();
      }
    }

    void await() {
      try {
        ended.await(LAST_WORDS.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    String text() {
      synchronized (bytes) {
        return bytes.toString(StandardCharsets.UTF_8);
      }
    }
  }
}
