package evenhand.sandbox;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The parts that tests use for real instead of imitating them.
 *
 * <p>A machine without such a part skips the tests that need it. That is a convenience for
 * developers only: with {@code CI=true} in the environment, or with {@code
 * -Devenhand.requireRealParts=true}, the absence of a part fails the tests, for a skipped test
 * reads as green and proves nothing.
 */
public enum RealParts {
  /** Slurm's daemons and clients, and munge. */
  SLURM {
    @Override
    public Availability availability() {
      return SlurmSandbox.available();
    }
  },

  /** Slurm with memory limits that the kernel enforces, so that a job can end OUT_OF_MEMORY. */
  SLURM_MEMORY_LIMITS {
    @Override
    public Availability availability() {
      Availability slurm = SlurmSandbox.available();
      return slurm.present() ? MemoryCgroup.availability() : slurm;
    }
  },

  /** A browser and its WebDriver. */
  BROWSER {
    @Override
    public Availability availability() {
      List<String> absent =
          Stream.of("chromium", "chromedriver").filter(p -> findProgram(p).isEmpty()).toList();
      return absent.isEmpty()
          ? Availability.here("A browser")
          : Availability.missing(
              "not found: "
                  + String.join(", ", absent)
                  + "; install with: apt-get install -y --no-install-recommends chromium chromium-driver");
    }
  };

  /** Begins the reason of every such skip; {@code .ci/run} looks for it in the test reports. */
  static final String SKIP_PREFIX = "Real part absent: ";

  /** What to do with a test that needs a part. */
  enum Verdict {
    RUN,
    SKIP,
    FAIL
  }

  /** Looks at this machine, now. */
  public abstract Availability availability();

  /** True where an absent part must fail the tests: in CI, or when asked for. */
  public static boolean required() {
    return "true".equalsIgnoreCase(System.getenv("CI"))
        || Boolean.getBoolean("evenhand.requireRealParts");
  }

  static Verdict verdict(boolean present, boolean required) {
    if (present) {
      return Verdict.RUN;
    }
    return required ? Verdict.FAIL : Verdict.SKIP;
  }

  /**
   * Finds a program on the PATH or in the folders where Debian keeps daemons, which a normal user's
   * PATH lacks. {@code -Devenhand.programFolders=a:b} replaces all of these, for installations
   * elsewhere.
   */
  static Optional<Path> findProgram(String... names) {
    for (String name : names) {
      for (Path folder : programFolders()) {
        Path program = folder.resolve(name);
        if (Files.isExecutable(program) && !Files.isDirectory(program)) {
          return Optional.of(program);
        }
      }
    }
    return Optional.empty();
  }

  private static List<Path> programFolders() {
    String instead = System.getProperty("evenhand.programFolders");
    String path =
        instead != null
            ? instead
            : System.getenv().getOrDefault("PATH", "") + ":/usr/sbin:/usr/local/sbin:/sbin";
    List<Path> folders = new ArrayList<>();
    Arrays.stream(path.split(":")).filter(f -> !f.isBlank()).map(Path::of).forEach(folders::add);
    return folders;
  }
}
