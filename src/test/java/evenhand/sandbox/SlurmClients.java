package evenhand.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs Slurm's client commands, each for a bounded time. */
final class SlurmClients {
  private final Path folder;

  /**
   * @param folder where commands run, so that a job's default output lands in the sandbox
   */
  SlurmClients(Path folder) {
    this.folder = folder;
  }

  ClientResult run(Map<String, String> environment, Duration limit, List<String> command) {
    Path out = null;
    Path err = null;
    try {
      // Files, not pipes: nobody needs to drain them, and a child that outlives the command can't
      // hold us.
      out = Files.createTempFile(folder, "client", ".out");
      err = Files.createTempFile(folder, "client", ".err");
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
              .redirectOutput(out.toFile())
              .redirectError(err.toFile());
      replaceSlurmVariables(builder.environment(), environment);
      long began = System.nanoTime();
      Process process = builder.start();
      try {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new IllegalStateException(
              "no answer within " + limit.toSeconds() + " s: " + String.join(" ", command));
        }
      } finally {
        process.destroyForcibly();
      }
      return new ClientResult(
          process.exitValue(),
          Files.readString(out, StandardCharsets.UTF_8),
          Files.readString(err, StandardCharsets.UTF_8),
          Duration.ofNanos(System.nanoTime() - began));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted: " + String.join(" ", command), e);
    } finally {
      delete(out);
      delete(err);
    }
  }

  /**
   * Slurm's programs take options from variables such as SBATCH_PARTITION or SQUEUE_FORMAT. Whoever
   * runs the tests may have set some for a real cluster, so they're all dropped before ours are put
   * in.
   */
  static void replaceSlurmVariables(Map<String, String> inherited, Map<String, String> ours) {
    inherited
        .keySet()
        .removeIf(
            name ->
                name.matches("(SLURM|SBATCH|SALLOC|SRUN|SQUEUE|SINFO|SCANCEL|SCONTROL|SACCT)_.*"));
    inherited.putAll(ours);
  }

  private static void delete(Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
