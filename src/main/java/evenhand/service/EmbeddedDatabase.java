package evenhand.service;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * PostgreSQL that the service brings along and runs itself, its data in a folder that survives
 * restarts. For one host; a site with a database server of its own sets {@code
 * spring.datasource.url}.
 *
 * <p>It listens on loopback only and asks for a password, which lies in the folder, readable by the
 * service's user alone.
 */
final class EmbeddedDatabase implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedDatabase.class);
  private static final String NAME = "evenhand";
  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration STOP = Duration.ofSeconds(20);
  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  private final FileChannel lockFile;
  private final String password;
  private EmbeddedPostgres server;
  private volatile boolean closed;

  /** Starts it before anything else, unless a database is configured, and stops it last. */
  static final class Initializer
      implements ApplicationContextInitializer<ConfigurableApplicationContext> {
    @Override
    public void initialize(ConfigurableApplicationContext context) {
      ConfigurableEnvironment environment = context.getEnvironment();
      String url = environment.getProperty("spring.datasource.url");
      if (url != null && !url.isBlank()) {
        LOG.info("The database is {}", url.replaceAll("\\?.*", ""));
        return;
      }
      Path folder = Path.of(environment.getProperty("evenhand.data-dir", "data"));
      int port = environment.getProperty("evenhand.database-port", Integer.class, 0);
      LOG.info("PostgreSQL is started in {}", folder.toAbsolutePath().normalize());
      EmbeddedDatabase database;
      try {
        database = new EmbeddedDatabase(folder, port);
      } catch (IllegalStateException e) {
        throw StartFault.outside(e.getMessage(), e);
      }
      environment
          .getPropertySources()
          .addFirst(
              new MapPropertySource(
                  "embedded database",
                  Map.of(
                      "spring.datasource.url", database.url(),
                      "spring.datasource.username", "postgres",
                      "spring.datasource.password", database.password())));
      // What is registered first is destroyed last: after the pool that holds its connections.
      ((DefaultListableBeanFactory) context.getBeanFactory())
          .registerDisposableBean("embeddedDatabase", (DisposableBean) database::close);
    }
  }

  /**
   * @param folder made when it is not there
   * @param port 0 for any free one
   * @throws IllegalStateException when another process uses the folder, or it cannot start
   */
  EmbeddedDatabase(Path folder, int port) {
    Path data = folder.toAbsolutePath().normalize().resolve("database");
    try {
      if (!Files.exists(data.getParent())) {
        // For the service's user alone: the server's programs lie in it as well as its data.
        Files.createDirectories(
            data.getParent(),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      }
      lockFile =
          FileChannel.open(
              data.resolveSibling("database.lock"),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new IllegalStateException("The folder " + folder + " cannot be used: " + e, e);
    }
    try {
      lock(folder);
      boolean isNew = !Files.exists(data.resolve("PG_VERSION"));
      if (!isNew) {
        endWhatACrashLeft(data);
      } else if (Files.exists(data)) {
        // A first start that was interrupted: what is there was never a database.
        deleteUnfinished(data);
      }
      password = password(data.resolveSibling("database.password"));
      server = start(data, port);
      secure(data);
      keepRunning(data);
      LOG.info(
          "PostgreSQL runs in {} on 127.0.0.1 port {}; its data is kept there ({})",
          data,
          server.getPort(),
          isNew ? "new" : "as it was left");
    } catch (IOException | SQLException | RuntimeException e) {
      try {
        lockFile.close();
      } catch (IOException again) {
        e.addSuppressed(again);
      }
      throw new IllegalStateException(
          "The database in " + data + " could not be started: " + e.getMessage(), e);
    }
  }

  /**
   * One that a service runs at this moment.
   *
   * @param url its address, without the password
   */
  record Running(String url, String password) {
    @Override
    public String toString() {
      return url;
    }
  }

  /**
   * The database that a service runs in a folder at this moment; who may read the folder may use
   * it.
   */
  static Optional<Running> running(Path folder) {
    try {
      // process id, folder, time of start, port, …
      List<String> lines = Files.readAllLines(folder.resolve("database/postmaster.pid"));
      boolean alive =
          ProcessHandle.of(Long.parseLong(lines.get(0).strip()))
              .map(ProcessHandle::isAlive)
              .orElse(false);
      return alive
          ? Optional.of(
              new Running(
                  url(Integer.parseInt(lines.get(3).strip())),
                  Files.readString(folder.resolve("database.password")).strip()))
          : Optional.empty();
    } catch (IOException | NumberFormatException | IndexOutOfBoundsException e) {
      return Optional.empty();
    }
  }

  private void lock(Path folder) throws IOException {
    FileLock lock;
    try {
      lock = lockFile.tryLock();
    } catch (OverlappingFileLockException e) {
      lock = null;
    }
    if (lock == null) {
      throw new IllegalStateException(
          "another evenhand runs in the folder "
              + folder.toAbsolutePath()
              + "; stop it, or give this one another with --evenhand.data-dir=FOLDER");
    }
  }

  private static void deleteUnfinished(Path data) throws IOException {
    try (var files = Files.walk(data)) {
      for (Path path : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /**
   * A service that was killed leaves its PostgreSQL running, or at least its postmaster.pid. The
   * lock is ours, so no other service stands behind either of them.
   */
  private static void endWhatACrashLeft(Path data) throws IOException {
    Path file = data.resolve("postmaster.pid");
    if (!Files.exists(file)) {
      return;
    }
    Optional<ProcessHandle> left = Optional.empty();
    try {
      left = ProcessHandle.of(Long.parseLong(Files.readAllLines(file).get(0).strip()));
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      LOG.warn("{} is no process id; it is removed", file);
    }
    // A number is used again after a restart of the host: only a postgres of this folder is meant.
    Optional<ProcessHandle> ours =
        left.filter(
            p ->
                p.isAlive()
                    && p.info().command().orElse("").endsWith("postgres")
                    && String.join(" ", p.info().arguments().orElse(new String[0]))
                        .contains(data.toString()));
    if (ours.isPresent()) {
      LOG.info("A PostgreSQL of a service that was killed still runs here; it is stopped first");
      ours.get().destroy();
      try {
        ours.get().onExit().get(STOP.toSeconds(), TimeUnit.SECONDS);
      } catch (TimeoutException | ExecutionException e) {
        throw new IOException(
            "process " + ours.get().pid() + ", a PostgreSQL of this folder, does not stop", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }
    Files.deleteIfExists(file);
  }

  private static String password(Path file) throws IOException {
    if (Files.exists(file)) {
      return Files.readString(file).strip();
    }
    byte[] random = new byte[24];
    new SecureRandom().nextBytes(random);
    String made = HexFormat.of().formatHex(random);
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(file, made + "\n");
    return made;
  }

  private EmbeddedPostgres start(Path data, int port) throws IOException {
    EmbeddedPostgres.Builder builder =
        EmbeddedPostgres.builder()
            .setDataDirectory(data)
            .setCleanDataDirectory(false)
            .setRegisterShutdownHook(false)
            .setOverrideWorkingDirectory(data.resolveSibling("postgresql").toFile())
            .setPGStartupWait(START)
            .setConnectConfig("password", password)
            .setLocaleConfig("locale", "C.UTF-8")
            .setServerConfig("listen_addresses", "127.0.0.1")
            .setServerConfig("unix_socket_directories", "")
            .setServerConfig("max_connections", "50")
            // Made for tests, it comes with both off; this one keeps accounts.
            .setServerConfig("fsync", "on")
            .setServerConfig("synchronous_commit", "on");
    if (port != 0) {
      builder.setPort(port);
    }
    return builder.start();
  }

  /** Starts it again, on its port, whenever its process ends before {@link #close}. */
  private void keepRunning(Path data) throws IOException {
    ProcessHandle process = process(data).orElseThrow(() -> new IOException("it has ended"));
    Thread keeper =
        new Thread(
            () -> {
              Optional<ProcessHandle> runs = Optional.of(process);
              while (runs.isPresent()) {
                runs.get().onExit().join();
                runs = again(data);
              }
            },
            "database");
    keeper.setDaemon(true);
    keeper.start();
  }

  /** The process of the server started again; empty when this is closed first. */
  private Optional<ProcessHandle> again(Path data) {
    Duration pause = PAUSE;
    boolean told = false;
    while (!closed) {
      try {
        Thread.sleep(pause.toMillis());
        synchronized (this) {
          if (closed) {
            break;
          }
          if (!told) {
            LOG.error("PostgreSQL has ended, and not by this service; it is started again");
            told = true;
          }
          int port = server.getPort();
          server.close(); // gives its lock of the folder back
          endWhatACrashLeft(data);
          server = start(data, port);
          LOG.info("PostgreSQL runs again on port {}", port);
          return process(data);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      } catch (IOException | RuntimeException e) {
        LOG.error("PostgreSQL could not be started again: {}", e.getMessage());
        pause =
            pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0
                ? pause.multipliedBy(2)
                : LONGEST_PAUSE;
      }
    }
    return Optional.empty();
  }

  private static Optional<ProcessHandle> process(Path data) throws IOException {
    List<String> lines = Files.readAllLines(data.resolve("postmaster.pid"));
    return ProcessHandle.of(Long.parseLong(lines.get(0).strip()));
  }

  /** Idempotent: the first start finds neither the password nor the database there. */
  private void secure(Path data) throws SQLException, IOException {
    try (Connection connection =
            server
                .getDatabase("postgres", "postgres", Map.of("password", password))
                .getConnection();
        Statement sql = connection.createStatement()) {
      sql.execute("alter user postgres password '" + password + "'");
      try (ResultSet found =
          sql.executeQuery("select 1 from pg_database where datname = '" + NAME + "'")) {
        if (!found.next()) {
          sql.execute("create database " + NAME);
        }
      }
      Files.writeString(
          data.resolve("pg_hba.conf"),
          "# Written by evenhand at each start.\nhost all postgres 127.0.0.1/32 scram-sha-256\n",
          StandardCharsets.UTF_8);
      sql.execute("select pg_reload_conf()");
    }
  }

  synchronized String url() {
    return url(server.getPort());
  }

  private static String url(int port) {
    return "jdbc:postgresql://127.0.0.1:" + port + "/" + NAME + "?ApplicationName=evenhand";
  }

  String password() {
    return password;
  }

  synchronized int port() {
    return server.getPort();
  }

  @Override
  public synchronized void close() throws IOException {
    closed = true;
    try {
      server.close();
      LOG.info("PostgreSQL is stopped");
    } finally {
      lockFile.close();
    }
  }
}
