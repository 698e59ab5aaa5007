package evenhand.sandbox;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A real browser without a window, led through WebDriver. Closing it ends its processes. */
public final class Browser implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private final HttpClient http = HttpClient.newHttpClient();
  private final Process driver;
  private final String root;
  private final String session;

  /**
   * Starts it.
   *
   * @param arguments more arguments of chromium
   */
  public Browser(String... arguments) throws IOException, InterruptedException {
    Path program = RealParts.findProgram("chromedriver").orElseThrow();
    Process started = null;
    String port = null;
    // The port that is free for one family of addresses may be taken for the other: it ends then.
    for (int i = 0; i < 5 && port == null; i++) {
      started =
          new ProcessBuilder(program.toString(), "--port=0").redirectErrorStream(true).start();
      port = port(started);
    }
    driver = started;
    if (port == null) {
      throw new IOException("chromedriver ended five times without saying its port");
    }
    try {
      root = "http://127.0.0.1:" + port;
      List<String> all =
          new ArrayList<>(
              List.of(
                  "--headless=new",
                  "--no-sandbox",
                  "--disable-gpu",
                  "--disable-dev-shm-usage",
                  "--window-size=1400,1000"));
      all.addAll(List.of(arguments));
      JsonNode made =
          call(
              "POST",
              root + "/session",
              Map.of(
                  "capabilities",
                  Map.of(
                      "alwaysMatch",
                      Map.of(
                          "goog:chromeOptions",
                          Map.of(
                              "binary",
                              RealParts.findProgram("chromium").orElseThrow().toString(),
                              "args",
                              all),
                          "goog:loggingPrefs",
                          Map.of("browser", "ALL")))));
      session = root + "/session/" + made.path("sessionId").asString();
    } catch (IOException | RuntimeException e) {
      driver.destroyForcibly();
      throw e;
    }
  }

  /** Null when it has ended without saying it. */
  private static String port(Process driver) throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(driver.getInputStream(), StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.contains("started successfully on port ")) {
        String port = line.replaceAll(".*on port (\\d+).*", "$1");
        Thread drain =
            new Thread(
                () -> {
                  try {
                    while (lines.readLine() != null) {
                      // what it says later is not needed, but must not fill the pipe
                    }
                  } catch (IOException e) {
                    // it has ended
                  }
                });
        drain.setDaemon(true);
        drain.start();
        return port;
      }
    }
    return null;
  }

  private JsonNode call(String method, String url, Object body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(PATIENCE)
            .header("Content-Type", "application/json")
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)))
            .build();
    HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
    JsonNode value = JSON.readTree(response.body()).path("value");
    if (response.statusCode() != 200) {
      throw new IOException(
          "the browser answers " + response.statusCode() + ": " + value.path("message").asString());
    }
    return value;
  }

  /** Opens a page and waits until it has loaded. */
  public void open(URI page) throws IOException, InterruptedException {
    call("POST", session + "/url", Map.of("url", page.toString()));
  }

  /** Runs JavaScript in the page and gives what it returns. */
  public JsonNode run(String script) throws IOException, InterruptedException {
    return call("POST", session + "/execute/sync", Map.of("script", script, "args", List.of()));
  }

  /** Shows the page on a screen of this size, CSS pixels; a phone's where {@code phone}. */
  public void screen(int width, int height, boolean phone)
      throws IOException, InterruptedException {
    devTools(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", phone));
  }

  /** Whether the person likes dark colours, as the system says. */
  public void prefersDark(boolean dark) throws IOException, InterruptedException {
    devTools(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
  }

  /** What is to be seen now, as PNG. */
  public byte[] picture() throws IOException, InterruptedException {
    JsonNode taken = devTools("Page.captureScreenshot", Map.of("format", "png"));
    return Base64.getDecoder().decode(taken.path("data").asString());
  }

  /** Presses keys one after another, each down and up; special ones by their WebDriver code. */
  public void press(String... keys) throws IOException, InterruptedException {
    List<Map<String, String>> actions = new ArrayList<>();
    for (String key : keys) {
      actions.add(Map.of("type", "keyDown", "value", key));
      actions.add(Map.of("type", "keyUp", "value", key));
    }
    call(
        "POST",
        session + "/actions",
        Map.of("actions", List.of(Map.of("type", "key", "id", "keys", "actions", actions))));
  }

  private JsonNode devTools(String command, Map<String, Object> parameters)
      throws IOException, InterruptedException {
    return call(
        "POST", session + "/goog/cdp/execute", Map.of("cmd", command, "params", parameters));
  }

  /** What the page wrote to its console since it was asked last, errors of the page among it. */
  public List<String> console() throws IOException, InterruptedException {
    List<String> lines = new ArrayList<>();
    for (JsonNode entry : call("POST", session + "/se/log", Map.of("type", "browser"))) {
      lines.add(entry.path("level").asString() + " " + entry.path("message").asString());
    }
    return lines;
  }

  @Override
  public void close() throws IOException, InterruptedException {
    try {
      call("DELETE", session, null);
    } finally {
      driver.destroy();
      if (!driver.waitFor(10, TimeUnit.SECONDS)) {
        driver.destroyForcibly();
      }
    }
  }
}
