package evenhand.crash;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One service as a process of its own, ended at the latest with this JVM. */
final class ServiceProcess implements AutoCloseable {
  private static final Pattern LISTENS =
      Pattern.compile("evenhand listens on (http://127\\.0\\.0\\.1:\\d+)");
  private static final Pattern ROLE = Pattern.compile("\"role\":\"(\\w+)\"");
  private static final HttpClient HTTP =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

  private static final String CLASS_PATH =
      System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

  private final Process process;
  private final Path log;
  private final Thread atExit;
  private String url;

  /**
   * @param crashAt {@code STEP:n} where it shall end by itself, or nothing
   * @param settings as {@code --key=value}
   */
  ServiceProcess(Path folder, String name, String crashAt, List<String> settings) {
    this(folder, name, crashAt, settings, CLASS_PATH, false);
  }

  /**
   * One that logs as the service itself does, not as tests do; its {@link #log} is standard output
   * alone.
   */
  static ServiceProcess withItsOwnLogging(
      Path folder, String name, String crashAt, List<String> settings) throws IOException {
    // Of the tests only what makes it stop somewhere.
    Path classes = Files.createDirectories(folder.resolve("classes/evenhand/crash"));
    List<String> kept = new ArrayList<>(List.of(folder.resolve("classes").toString()));
    for (String entry : CLASS_PATH.split(File.pathSeparator)) {
      if (!Files.exists(Path.of(entry, "logback-test.xml"))) {
        kept.add(entry);
        continue;
      }
      for (Class<?> used : List.of(CrashConfiguration.class, ServiceProcess.class)) {
        String file = used.getSimpleName() + ".class";
        Files.copy(Path.of(entry, "evenhand/crash", file), classes.resolve(file));
      }
    }
    return new ServiceProcess(
        folder, name, crashAt, settings, String.join(File.pathSeparator, kept), true);
  }

  private ServiceProcess(
      Path folder,
      String name,
      String crashAt,
      List<String> settings,
      String classPath,
      boolean apart) {
    log = folder.resolve(name + ".log");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                // What makes a JVM start soon, on few cores.
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-Devenhand.crash.at=" + crashAt,
                "-cp",
                classPath,
                "evenhand.Evenhand",
                "serve",
                "--server.port=0",
                "--evenhand.check-scenarios=false",
                "--springdoc.api-docs.enabled=false",
                "--spring.main.sources=evenhand.crash.CrashConfiguration"));
    command.addAll(settings);
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(!apart)
              .redirectOutput(log.toFile())
              .redirectError(
                  apart
                      ? ProcessBuilder.Redirect.to(folder.resolve(name + ".err").toFile())
                      : ProcessBuilder.Redirect.PIPE)
              .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    atExit = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Of one that has ended. */
  int exitCode() {
    return process.exitValue();
  }

  /** Where it listens; empty while it does not yet. */
  Optional<String> url() {
    if (url == null) {
      Matcher m = LISTENS.matcher(log().replace("\\/", "/")); // as JSON may write it
      url = m.find() ? m.group(1) : null;
    }
    return Optional.ofNullable(url);
  }

  void awaitLog(String words) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
    while (!log().contains(words)) {
      if (System.nanoTime() > end) {
        throw new AssertionError("the log never says \"" + words + "\":\n" + log());
      }
      Thread.sleep(20);
    }
  }

  void awaitListening() throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
    while (url().isEmpty()) {
      if (!process.isAlive() || System.nanoTime() > end) {
        throw new AssertionError("the service does not listen:\n" + log());
      }
      Thread.sleep(50);
    }
  }

  /** {@code leader}, {@code standby} or {@code unknown}; empty when it does not answer. */
  String role() throws InterruptedException {
    try {
      Matcher m = ROLE.matcher(get("/actuator/health").body());
      return m.find() ? m.group(1) : "";
    } catch (IOException e) {
      return "";
    }
  }

  void awaitRole(String role) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!role().equals(role)) {
      if (System.nanoTime() > end) {
        throw new AssertionError("the service is not " + role + " but " + role() + ":\n" + log());
      }
      Thread.sleep(20);
    }
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(URI.create(url().orElseThrow() + path)).GET());
  }

  /**
   * @param key an idempotency key, or null
   */
  HttpResponse<String> post(String path, String key, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url().orElseThrow() + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (key != null) {
      request.header("Idempotency-Key", key);
    }
    return send(request);
  }

  private static HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return HTTP.send(
        request.timeout(Duration.ofSeconds(15)).build(), HttpResponse.BodyHandlers.ofString());
  }

  /** SIGTERM. */
  void terminate() {
    process.destroy();
  }

  /** Whether it has ended within so many seconds. */
  boolean await(int seconds) throws InterruptedException {
    return process.waitFor(seconds, TimeUnit.SECONDS);
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor(10, TimeUnit.SECONDS);
  }

  void freeze() throws IOException, InterruptedException {
    signal("STOP", process.pid());
  }

  void thaw() throws IOException, InterruptedException {
    signal("CONT", process.pid());
  }

  /** Java itself can send only TERM and KILL. */
  static void signal(String signal, long pid) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid).start();
    if (!kill.waitFor(5, TimeUnit.SECONDS) || kill.exitValue() != 0) {
      throw new IOException("could not send " + signal + " to " + pid);
    }
  }

  String log() {
    try {
      return Files.exists(log) ? Files.readString(log) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor(10, TimeUnit.SECONDS);
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IllegalStateException e) {
      // This JVM ends: the hook finds it ended.
    }
  }
}
