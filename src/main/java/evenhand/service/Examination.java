package evenhand.service;

import static evenhand.cli.Site.Finding.note;
import static evenhand.cli.Site.Finding.ok;
import static evenhand.cli.Site.Finding.wrong;

import evenhand.check.Check;
import evenhand.cli.Failed;
import evenhand.cli.Site.Finding;
import evenhand.input.InputFault;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;
import evenhand.policy.RuleFiles;
import evenhand.slurm.SlurmLook;
import evenhand.slurm.SlurmSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/** Looks at all that the service stands on, one thing after another, and says what to mend. */
final class Examination {
  private static final int OLDEST_POSTGRES = 14;
  private static final long SCARCE = 1L << 30;
  private static final Duration NEAR = Duration.ofSeconds(1);
  private static final Pattern MIGRATION = Pattern.compile("V([0-9_]+)__.*\\.sql");

  private final ConfigurableEnvironment environment;
  private final Clock clock;
  private final List<Finding> findings = new ArrayList<>();

  Examination(ConfigurableEnvironment environment, Clock clock) {
    this.environment = environment;
    this.clock = clock;
  }

  List<Finding> all() {
    if (!settings()) {
      return findings; // what follows would only say so again
    }
    Settings settings = Binder.get(environment).bindOrCreate("evenhand", Settings.class);
    rules(settings);
    folder();
    database();
    if (Mode.of(environment) == Mode.SLURM) {
      slurm();
    } else {
      findings.add(ok("cluster", "it is simulated; no Slurm is asked"));
    }
    router(settings.router());
    security();
    return findings;
  }

  private boolean settings() {
    try {
      SettingsCheck.check(environment)
          .forEach(doubt -> findings.add(note("settings", doubt, "see how it is spelt")));
      findings.add(ok("settings", "all have names and values that can be"));
      return true;
    } catch (StartFault fault) {
      fault
          .getMessage()
          .lines()
          .forEach(line -> findings.add(wrong("settings", line, "\"evenhand config\" shows all")));
      return false;
    }
  }

  private void rules(Settings settings) {
    RuleFiles files = RuleFiles.of(settings.rulesFolder());
    try {
      Policy policy = new Check(files).passed(settings.policy(), Optional.empty());
      findings.add(
          ok(
              "rules",
              "policy "
                  + policy.name()
                  + " of "
                  + files.where()
                  + " passes its scenarios, "
                  + policy.hash()));
    } catch (PolicyFault | RuleFailed | InputFault e) {
      findings.add(
          wrong("rules", first(e.getMessage()), "\"evenhand check\" shows all that is wrong"));
    }
    Path folder = settings.rulesFolder().orElse(Path.of("rules"));
    if (Files.isDirectory(folder)) {
      writers("who may write rules", folder, "whoever may write there decides who gets the GPUs");
    }
  }

  /** Of a folder that only its user should be able to change. */
  private void writers(String what, Path folder, String because) {
    try {
      String may = SiteAtHand.permissions(folder);
      if (may == null) {
        return;
      }
      String owner = Files.getOwner(folder).getName();
      String found = folder + " is of " + owner + " (" + may + ")";
      if (may.charAt(7) == 'w') {
        findings.add(wrong(what, found + ": everybody may write", "chmod -R o-w " + folder));
      } else if (may.charAt(4) == 'w') {
        findings.add(note(what, found + ": its group may write", because));
      } else {
        findings.add(ok(what, found));
      }
    } catch (IOException e) {
      findings.add(wrong(what, folder + " cannot be read: " + e, "see who it belongs to"));
    }
  }

  private boolean ownDatabase() {
    return environment.getProperty("spring.datasource.url", "").isBlank();
  }

  private void folder() {
    if (!ownDatabase()) {
      return;
    }
    Path data = Path.of(environment.getProperty("evenhand.data-dir", "data")).toAbsolutePath();
    if (!Files.exists(data)) {
      findings.add(ok("data folder", data + " is made at the first start"));
      return;
    }
    try {
      String may = SiteAtHand.permissions(data);
      if (may != null && !may.endsWith("------")) {
        findings.add(
            wrong(
                "data folder",
                data + " may be read by others than its user (" + may + ")",
                "chmod 700 " + data));
      } else if (!Files.isWritable(data)) {
        findings.add(
            wrong(
                "data folder",
                data + " may not be written by " + System.getProperty("user.name"),
                "run this, and the service, as " + Files.getOwner(data).getName()));
      } else {
        findings.add(ok("data folder", data + " is its user's alone"));
      }
      long free = Files.getFileStore(data).getUsableSpace();
      if (free < SCARCE) {
        findings.add(
            note("data folder", (free >> 20) + " MB are left on its disk", "make room there"));
      }
    } catch (IOException e) {
      findings.add(wrong("data folder", data + " cannot be read: " + e, "see who it belongs to"));
    }
  }

  private void database() {
    DataSource source;
    try {
      source = SiteAtHand.database(environment);
    } catch (Failed e) {
      findings.add(
          note("database", "the service's own; it does not run now", "start the service to see"));
      return;
    }
    try (Connection connection = source.getConnection();
        Statement sql = connection.createStatement()) {
      int version = connection.getMetaData().getDatabaseMajorVersion();
      String found = "PostgreSQL " + connection.getMetaData().getDatabaseProductVersion();
      findings.add(
          version < OLDEST_POSTGRES
              ? wrong("database", found, "use PostgreSQL " + OLDEST_POSTGRES + " or newer")
              : ok("database", found));
      clockOf(sql);
      durability(sql);
      schema(sql);
    } catch (SQLException e) {
      findings.add(
          wrong(
              "database",
              "it cannot be used: " + first(e.getMessage()),
              "see spring.datasource.url, username and password, and whether it runs"));
    }
  }

  private void clockOf(Statement sql) throws SQLException {
    Instant before = clock.instant();
    Instant theirs;
    try (ResultSet row = sql.executeQuery("select clock_timestamp()")) {
      row.next();
      theirs = row.getObject(1, java.time.OffsetDateTime.class).toInstant();
    }
    Instant after = clock.instant();
    Duration apart =
        theirs.isBefore(before)
            ? Duration.between(theirs, before)
            : theirs.isAfter(after) ? Duration.between(after, theirs) : Duration.ZERO;
    findings.add(
        apart.compareTo(NEAR) <= 0
            ? ok("database clock", "it agrees with this host's")
            : wrong(
                "database clock",
                "it is " + apart.toMillis() / 1000.0 + " s from this host's",
                "have both follow the same time server (chrony, ntpd)"));
  }

  private void durability(Statement sql) throws SQLException {
    try (ResultSet row = sql.executeQuery("select current_setting('fsync')")) {
      row.next();
      if (row.getString(1).equals("off")) {
        findings.add(
            wrong(
                "database fsync",
                "it is off: what was promised is lost when the host fails",
                "set fsync = on in postgresql.conf"));
      }
    }
  }

  private void schema(Statement sql) throws SQLException {
    String newest = newest();
    String has;
    try (ResultSet row =
        sql.executeQuery("select to_regclass('flyway_schema_history') is not null")) {
      row.next();
      if (!row.getBoolean(1)) {
        findings.add(note("database tables", "there are none", "the first start makes them"));
        return;
      }
    }
    try (ResultSet row =
        sql.executeQuery(
            """
            select version, success from flyway_schema_history
            where version is not null order by installed_rank desc limit 1
            """)) {
      has = row.next() ? row.getString(1) : "none";
      if (!has.equals("none") && !row.getBoolean(2)) {
        findings.add(
            wrong(
                "database tables",
                "the change to version " + has + " broke off",
                "put the backup back that was made before it"));
        return;
      }
    }
    int order = has.equals("none") ? -1 : compare(has, newest);
    findings.add(
        order == 0
            ? ok("database tables", "version " + has)
            : order < 0
                ? note(
                    "database tables",
                    "version " + has + "; this program brings them to " + newest,
                    "make a backup before its first start")
                : wrong(
                    "database tables",
                    "version " + has + " is newer than this program, which knows " + newest,
                    "use the newer program, or put the older backup back"));
  }

  private static String newest() {
    try {
      String newest = "0";
      for (Resource file :
          new PathMatchingResourcePatternResolver().getResources("classpath:db/migration/V*.sql")) {
        Matcher m = MIGRATION.matcher(String.valueOf(file.getFilename()));
        if (m.matches() && compare(m.group(1).replace('_', '.'), newest) > 0) {
          newest = m.group(1).replace('_', '.');
        }
      }
      return newest;
    } catch (IOException e) {
      throw new IllegalStateException("the jar's own migrations cannot be read", e);
    }
  }

  private static int compare(String a, String b) {
    return org.flywaydb.core.api.MigrationVersion.fromVersion(a)
        .compareTo(org.flywaydb.core.api.MigrationVersion.fromVersion(b));
  }

  private void slurm() {
    SlurmSettings settings =
        Binder.get(environment).bindOrCreate("evenhand.slurm", SlurmSettings.class);
    for (SlurmLook.Seen seen : new SlurmLook(settings, clock).look()) {
      findings.add(
          seen.works()
              ? ok(seen.what(), seen.found())
              : wrong(seen.what(), seen.found(), seen.mend()));
    }
  }

  private void router(Settings.RouterSetting router) {
    URI url = router.url();
    if (url == null || url.toString().isEmpty()) {
      return;
    }
    int port = url.getPort() >= 0 ? url.getPort() : url.getScheme().equals("https") ? 443 : 80;
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(url.getHost(), port), Math.toIntExact(router.timeout().toMillis()));
      findings.add(ok("router", url + " is reached"));
    } catch (IOException | RuntimeException e) {
      findings.add(
          wrong(
              "router",
              url + " is not reached: " + first(String.valueOf(e.getMessage())),
              "see evenhand.router.url; research jobs go on without it"));
    }
  }

  private void security() {
    boolean loopback = Security.listensOnLoopback(environment);
    if (!Security.isOn(environment)) {
      findings.add(
          note(
              "security",
              "it is off: whoever reaches this host's loopback may do everything",
              "set evenhand.security=on"));
    } else if (!loopback
        && environment.getProperty("server.ssl.certificate") == null
        && environment.getProperty("server.ssl.key-store") == null
        && environment.getProperty("server.ssl.bundle") == null) {
      findings.add(
          note(
              "security",
              "it is on; tokens go unencrypted over "
                  + environment.getProperty("server.address", "every address of this host"),
              "set server.ssl.*, or listen on loopback behind a proxy with TLS"));
    } else {
      findings.add(ok("security", "it is on"));
    }
  }

  private static String first(String text) {
    return String.valueOf(text).strip().lines().findFirst().orElse("");
  }
}
