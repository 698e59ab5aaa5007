package evenhand.service;

import evenhand.access.Role;
import evenhand.access.Tokens;
import evenhand.cli.Exit;
import evenhand.cli.Failed;
import evenhand.cli.Site;
import evenhand.store.PostgresAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;

/** The service's settings and database, looked at from beside it. */
public final class SiteAtHand implements Site {
  private static final int CONNECT_SECONDS = 5;

  private final Clock clock;

  public SiteAtHand(Clock clock) {
    this.clock = clock;
  }

  /** The settings as the service would read them, from files, variables and these. */
  static ConfigurableEnvironment environment(List<String> settings) {
    String[] arguments = settings.toArray(String[]::new);
    try {
      StandardEnvironment environment = new StandardEnvironment();
      environment.getPropertySources().addFirst(new SimpleCommandLinePropertySource(arguments));
      ConfigDataEnvironmentPostProcessor.applyTo(environment);
      ConfigurationPropertySources.attach(environment);
      return environment;
    } catch (RuntimeException e) {
      throw failed(StartFaults.of(e, settings, null, "this host"));
    }
  }

  private static Failed failed(StartFault fault) {
    return new Failed(
        fault.where() == StartFault.Where.SETTINGS ? Exit.WRONG_USE : Exit.OUTSIDE,
        fault.getMessage());
  }

  /**
   * The database of these settings; the one that the service runs itself, while it runs.
   *
   * @throws Failed when there is none to be reached
   */
  static DataSource database(ConfigurableEnvironment environment) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setConnectTimeout(CONNECT_SECONDS);
    source.setSocketTimeout(2 * CONNECT_SECONDS);
    String url = environment.getProperty("spring.datasource.url", "").strip();
    if (!url.isEmpty()) {
      source.setUrl(url);
      Optional.ofNullable(environment.getProperty("spring.datasource.username"))
          .ifPresent(source::setUser);
      Optional.ofNullable(environment.getProperty("spring.datasource.password"))
          .ifPresent(source::setPassword);
      return source;
    }
    Path folder = Path.of(environment.getProperty("evenhand.data-dir", "data"));
    EmbeddedDatabase.Running running =
        EmbeddedDatabase.running(folder)
            .orElseThrow(
                () ->
                    new Failed(
                        Exit.OUTSIDE,
                        "No database runs in the folder "
                            + folder.toAbsolutePath().normalize()
                            + ", which belongs to the service; start the service, or say where"
                            + " its database is, with the settings it has:"
                            + " --spring.config.additional-location=FILE, --evenhand.data-dir=FOLDER"
                            + " or --spring.datasource.url=URL."));
    source.setUrl(running.url());
    source.setUser("postgres");
    source.setPassword(running.password());
    return source;
  }

  @Override
  public AdminToken adminToken(List<String> settings, String name, Duration lasts, String by) {
    ConfigurableEnvironment environment = environment(settings);
    DataSource source = database(environment);
    try (Connection tried = source.getConnection()) {
      Tokens.Made made =
          new Tokens(new PostgresAccess(source), clock)
              .create(
                  name, name, EnumSet.of(Role.ADMIN), List.of(), clock.instant().plus(lasts), by)
              .orElseThrow(
                  () ->
                      new Failed(
                          Exit.NO,
                          "There is a token " + name + " that is not revoked; take another name."));
      return new AdminToken(name, made.text(), made.token().expiresAt());
    } catch (BadSqlGrammarException e) {
      throw new Failed(
          Exit.OUTSIDE,
          "The database has no table for tokens: start the service of this version once; it brings"
              + " the database up to date.");
    } catch (SQLException | DataAccessException e) {
      throw new Failed(
          Exit.OUTSIDE,
          "The database cannot be used: "
              + String.valueOf(e.getMessage()).lines().findFirst().orElse("")
              + ". It is set by spring.datasource.url, username and password.");
    }
  }

  @Override
  public List<Setting> settings(List<String> settings) {
    return new EffectiveSettings(environment(settings)).all();
  }

  @Override
  public List<Finding> examine(List<String> settings) {
    return new Examination(environment(settings), clock).all();
  }

  /** What a folder's own user alone may read, or null where nobody knows. */
  static String permissions(Path path) throws IOException {
    try {
      return java.nio.file.attribute.PosixFilePermissions.toString(
          Files.getPosixFilePermissions(path));
    } catch (UnsupportedOperationException e) {
      return null;
    }
  }
}
