package evenhand.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.cli.Commands;
import evenhand.cli.Console;
import evenhand.cli.Failed;
import evenhand.cli.Parts;
import evenhand.cli.Site;
import evenhand.cli.SiteCommands;
import evenhand.store.Database;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * {@code config}, {@code doctor} and the first token: what works while the service does not run.
 */
class SiteAtHandTest {
  private final SiteAtHand site = new SiteAtHand(Clock.systemUTC());

  @TempDir private Path folder;

  record Ran(int status, String out, String err) {}

  private Ran run(Site at, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console =
        new Console(
            new ByteArrayInputStream(new byte[0]),
            new PrintStream(out, false, StandardCharsets.UTF_8),
            new PrintStream(err, false, StandardCharsets.UTF_8),
            Map.of());
    Commands commands = new Commands(console, new Parts(null, null, null, Map.of()));
    SiteCommands.addTo(commands, console, at);
    int status = commands.run(arguments);
    return new Ran(
        status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  private static String origin(List<Site.Setting> all, String name) {
    return all.stream()
        .filter(s -> s.name().equals(name))
        .map(s -> s.value() + " | " + s.origin())
        .findFirst()
        .orElse("not there");
  }

  @Test
  void everySettingInForceIsShownWithWhereItWasGivenAndNoSecret() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("site.yaml"),
            """
            evenhand:
              keep: 60d
              slurm.environment: {SLURM_JWT: very-secret-1}
            spring.datasource:
              url: jdbc:postgresql://db/evenhand?password=very-secret-2
              password: very-secret-3
            """);
    String[] settings = {
      "--spring.config.additional-location=" + file,
      "--evenhand.cycle.interval=7s",
      "--evenhand.router.url=http://me:very-secret-4@router:9000"
    };
    List<Site.Setting> all = site.settings(List.of(settings));
    assertThat(origin(all, "evenhand.keep")).isEqualTo("60d | site.yaml:2");
    assertThat(origin(all, "evenhand.cycle.interval")).isEqualTo("7s | command line");
    assertThat(origin(all, "evenhand.cycle.lease")).isEqualTo("5s | default");
    assertThat(origin(all, "spring.datasource.password")).isEqualTo("******** | site.yaml:6");
    assertThat(origin(all, "spring.datasource.url"))
        .isEqualTo("jdbc:postgresql://db/evenhand?password=******** | site.yaml:5");
    assertThat(all).as("each once").doesNotHaveDuplicates();
    String[] call = new String[settings.length + 2];
    call[0] = "config";
    call[1] = "--changed";
    System.arraycopy(settings, 0, call, 2, settings.length);
    Ran changed = run(site, call);
    assertThat(changed.status()).as(changed.err()).isZero();
    assertThat(changed.out())
        .contains("evenhand.keep", "site.yaml:2", "http://********@router:9000")
        .doesNotContain("evenhand.cycle.lease", "very-secret");
    assertThat(run(site, "config", "-o", "json", settings[0]).out())
        .contains("\"origin\":\"site.yaml:2\"")
        .doesNotContain("very-secret");
    assertThat(run(site, "config", "nonsense").status()).isEqualTo(2);
    Ran none = run(site, "config", "--spring.config.additional-location=nowhere.yaml");
    assertThat(none.status()).isEqualTo(2);
    assertThat(none.err()).contains("no settings file nowhere.yaml");
  }

  private List<Site.Finding> wrong(String... settings) {
    return site.examine(List.of(settings)).stream()
        .filter(f -> f.state() == Site.State.wrong)
        .toList();
  }

  @Test
  void theDoctorFindsNothingWrongWhereNothingIs() throws Exception {
    PGSimpleDataSource source = Database.ofAService();
    String[] good = {
      "--evenhand.policy=fifo",
      "--spring.datasource.url=" + source.getUrl(),
      "--spring.datasource.username=postgres",
      "--spring.datasource.password=postgres"
    };
    Ran ran = run(site, "doctor", good[0], good[1], good[2], good[3]);
    // Databases of tests are not kept on disk with care, which is found.
    List<String> lines = new ArrayList<>(ran.out().lines().toList());
    assertThat(ran.out()).contains("wrong database fsync: it is off");
    lines.removeIf(line -> line.contains("fsync"));
    assertThat(lines).noneMatch(line -> line.startsWith("wrong"));
    assertThat(ran.out())
        .contains(
            "ok    settings",
            "ok    rules: policy fifo",
            "ok    database: PostgreSQL",
            "ok    database clock",
            "ok    database tables: version ")
        .doesNotContain("password");
    // A host whose clock is wrong sees it; so do rules that others may write.
    Path rules = folder.resolve("rules");
    evenhand.policy.EditedRules.in(rules);
    Files.setPosixFilePermissions(rules, PosixFilePermissions.fromString("rwxrwxrwx"));
    String nobody;
    try (ServerSocket socket = new ServerSocket(0)) {
      nobody = "http://127.0.0.1:" + socket.getLocalPort();
    }
    List<Site.Finding> found =
        new SiteAtHand(Clock.offset(Clock.systemUTC(), Duration.ofSeconds(-20)))
            .examine(
                List.of(
                    good[0],
                    good[1],
                    good[2],
                    good[3],
                    "--evenhand.rules=" + rules,
                    "--evenhand.router.url=" + nobody));
    assertThat(found)
        .filteredOn(f -> f.state() == Site.State.wrong)
        .extracting(Site.Finding::what)
        .containsExactlyInAnyOrder(
            "who may write rules", "database clock", "database fsync", "router");
    assertThat(found)
        .filteredOn(f -> f.mend() != null)
        .allSatisfy(f -> assertThat(f.mend()).isNotBlank());
  }

  @Test
  void theDoctorSaysWhatIsWrongAndEndsWithOne() throws Exception {
    Ran settings = run(site, "doctor", "--evenhand.polisy=x", "--evenhand.keep=1s");
    assertThat(settings.status()).isEqualTo(1);
    assertThat(settings.out()).contains("evenhand.polisy", "did you mean evenhand.policy?");
    String nobody;
    try (ServerSocket socket = new ServerSocket(0)) {
      nobody = "jdbc:postgresql://127.0.0.1:" + socket.getLocalPort() + "/evenhand";
    }
    assertThat(wrong("--evenhand.policy=fifo", "--spring.datasource.url=" + nobody))
        .singleElement()
        .satisfies(f -> assertThat(f.found()).contains("cannot be used", "refused"));
    Path data = Files.createDirectory(folder.resolve("data"));
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThat(wrong("--evenhand.policy=fifo", "--evenhand.data-dir=" + data))
        .singleElement()
        .satisfies(f -> assertThat(f.mend()).isEqualTo("chmod 700 " + data));
  }

  @Test
  void theFirstTokenNeedsADatabaseThatIsThere() {
    assertThatThrownBy(
            () ->
                site.adminToken(
                    List.of("--evenhand.data-dir=" + folder.resolve("none")),
                    "root",
                    Duration.ofDays(1),
                    "kim"))
        .isInstanceOf(Failed.class)
        .hasMessageContaining("No database runs in the folder")
        .hasMessageContaining("start the service");
    PGSimpleDataSource empty = (PGSimpleDataSource) Database.empty();
    assertThatThrownBy(
            () ->
                site.adminToken(
                    List.of(
                        "--spring.datasource.url=" + empty.getUrl(),
                        "--spring.datasource.username=postgres"),
                    "root",
                    Duration.ofDays(1),
                    "kim"))
        .hasMessageContaining("has no table for tokens");
  }
}
