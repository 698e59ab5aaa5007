package evenhand.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The options {@code --server} and {@code --token}, and asking the service there. Every question is
 * bounded in time. A token is never printed.
 */
final class ServiceAddress {
  private static final String USUAL = "http://127.0.0.1:8080";
  private static final String VARIABLE = "EVENHAND_SERVER";
  private static final Duration CONNECT = Duration.ofSeconds(5);

  /** A cycle may read a large cluster before it answers. */
  private static final Duration ANSWER = Duration.ofMinutes(2);

  /** Before a stream that broke off is asked for again. */
  private static final Duration AGAIN = Duration.ofSeconds(2);

  /** Entries asked for at once; what the API gives at most. */
  private static final int PART = 1000;

  private static final JsonMapper JSON = new JsonMapper();

  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "The service to ask (default: ${env:EVENHAND_SERVER:-" + USUAL + "}).")
  private String server;

  private static final String TOKEN_VARIABLE = "EVENHAND_TOKEN";
  private static final Pattern TOKEN = Pattern.compile("[!-~]{1,10000}");

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "File with your token, - for standard input (default: the variable EVENHAND_TOKEN).")
  private String tokenFile;

  @Option(
      names = "--token",
      paramLabel = "TOKEN",
      description = "Your token itself; others on this machine can see it while the command runs.")
  private String givenToken;

  private String token;

  /** The token, or null where there is none. */
  private String token(Console console) {
    if (token == null) {
      String text =
          givenToken != null
              ? givenToken
              : tokenFile != null
                  ? console.read(tokenFile)
                  : console.environment().getOrDefault(TOKEN_VARIABLE, "");
      token = text.strip();
      if (!token.isEmpty() && !TOKEN.matcher(token).matches()) {
        throw new Failed(
            Exit.WRONG_USE,
            "What was given as the token is none: it is one word of plain characters.");
      }
    }
    return token.isEmpty() ? null : token;
  }

  /**
   * In whose name it is asked: as said, else the name on this machine; null with a token, which
   * knows it better.
   */
  String who(Console console, String said) {
    return said != null || token(console) != null
        ? said
        : System.getProperty("user.name", "anonymous");
  }

  /** A list, or as much of it as was wanted. */
  record Found(List<JsonNode> items, boolean more) {}

  /** An answer that is no refusal. */
  record Answer(int status, JsonNode body) {}

  JsonNode get(Console console, String path) {
    return ask(console, "GET", path, null, Map.of()).body();
  }

  Answer post(Console console, String path, String json, Map<String, String> headers) {
    return ask(console, "POST", path, json, headers);
  }

  Answer put(Console console, String path, String json) {
    return ask(console, "PUT", path, json, Map.of());
  }

  /**
   * A list, part by part.
   *
   * @param path with its filters, without limit and cursor
   */
  Found list(Console console, String path, int most) {
    List<JsonNode> items = new ArrayList<>();
    String cursor = null;
    do {
      String part =
          path
              + (path.contains("?") ? "&" : "?")
              + "limit="
              + Math.min(PART, most - items.size())
              + (cursor == null ? "" : "&cursor=" + encode(cursor));
      JsonNode body = get(console, part);
      JsonNode found = body.path("items");
      if (!found.isArray()) {
        throw new Failed(Exit.OUTSIDE, "What answers at " + url(console) + " is not evenhand.");
      }
      found.forEach(items::add);
      JsonNode next = body.path("next_cursor");
      cursor = next.isString() && !found.isEmpty() ? next.asString() : null;
    } while (cursor != null && items.size() < most);
    return new Found(items, cursor != null);
  }

  /** Goes through a list part by part until it has ended or {@code more} says that it is enough. */
  void eachUntil(Console console, String path, Predicate<JsonNode> more) {
    String cursor = null;
    do {
      JsonNode body =
          get(
              console,
              path + "?limit=" + PART + (cursor == null ? "" : "&cursor=" + encode(cursor)));
      for (JsonNode item : body.path("items")) {
        if (!more.test(item)) {
          return;
        }
      }
      JsonNode next = body.path("next_cursor");
      cursor = next.isString() && !body.path("items").isEmpty() ? next.asString() : null;
    } while (cursor != null);
  }

  /**
   * Tells each event as it happens, until this process is ended or nobody reads on; goes on from
   * the last one when the service was away for a while.
   *
   * @param path with its filters
   * @param since id of the event to begin after, null for what happens from now on
   * @param more whether to go on after an event
   * @throws Failed when the service refuses, or cannot be reached for the first time
   */
  void follow(Console console, String path, Long since, Predicate<JsonNode> more) {
    String last = since == null ? null : Long.toString(since);
    boolean reached = false;
    while (!Thread.currentThread().isInterrupted()) {
      try {
        HttpRequest.Builder request = request(console, path, "text/event-stream");
        if (last != null) {
          request.header("Last-Event-ID", last);
        }
        HttpResponse<InputStream> answer =
            HttpClient.newBuilder()
                .connectTimeout(CONNECT)
                .build()
                .send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        if (answer.statusCode() != 200) {
          try (InputStream body = answer.body()) {
            read(
                url(console),
                answer.statusCode(),
                new String(body.readAllBytes(), StandardCharsets.UTF_8));
          }
          throw notEvenhand(url(console), answer.statusCode());
        }
        reached = true;
        try (BufferedReader lines =
            new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
          for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("id: ")) {
              last = line.substring(4);
            } else if (line.startsWith("data: ")) {
              JsonNode event = JSON.readTree(line.substring(6));
              if (event.has("kind") && !more.test(event)) {
                return;
              }
            }
          }
        }
        pause();
      } catch (IOException | JacksonException e) {
        if (!reached) {
          throw new Failed(Exit.OUTSIDE, "No evenhand service answers at " + url(console) + ".");
        }
        pause();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(AGAIN.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * A path with its query.
   *
   * @param parameters names and values by turns; one whose value is null was not asked for
   */
  static String path(String route, String... parameters) {
    StringBuilder path = new StringBuilder(route);
    for (int i = 0; i < parameters.length; i += 2) {
      if (parameters[i + 1] != null) {
        path.append(path.length() == route.length() ? '?' : '&')
            .append(parameters[i])
            .append('=')
            .append(encode(parameters[i + 1]));
      }
    }
    return path.toString();
  }

  /** One part of a path or query. */
  static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /**
   * An id as part of a path.
   *
   * @throws Failed with status 1 for one that no path can hold, and so none that was given out
   */
  static String id(String what, String id) {
    if (id.isEmpty() || id.chars().anyMatch(c -> c < ' ' || c == '/' || c == '\\')) {
      throw new Failed(Exit.NO, "There is no " + what + " \"" + Table.clean(id) + "\".");
    }
    return encode(id);
  }

  private String url(Console console) {
    String url = server == null ? console.environment().get(VARIABLE) : server;
    url = url == null || url.isBlank() ? USUAL : url.strip();
    return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
  }

  /**
   * A question that says who asks.
   *
   * @throws Failed when the address is none that can be asked
   */
  private HttpRequest.Builder request(Console console, String path, String accept) {
    String url = url(console);
    HttpRequest.Builder request;
    try {
      URI base = URI.create(url);
      if (base.getHost() == null || !List.of("http", "https").contains(base.getScheme())) {
        throw new IllegalArgumentException("no host");
      }
      request = HttpRequest.newBuilder(URI.create(url + path));
    } catch (IllegalArgumentException e) {
      throw new Failed(
          Exit.WRONG_USE,
          url + " cannot be asked; --server must be an address such as " + USUAL + ".");
    }
    request.version(HttpClient.Version.HTTP_1_1).header("Accept", accept);
    String token = token(console);
    return token == null ? request : request.header("Authorization", "Bearer " + token);
  }

  private Answer ask(
      Console console, String method, String path, String json, Map<String, String> headers) {
    String url = url(console);
    try {
      HttpRequest.Builder request =
          request(console, path, "application/json")
              .timeout(ANSWER)
              .method(
                  method,
                  json == null
                      ? HttpRequest.BodyPublishers.noBody()
                      : HttpRequest.BodyPublishers.ofString(json));
      if (json != null) {
        request.header("Content-Type", "application/json");
      }
      headers.forEach(request::header);
      HttpResponse<String> answer =
          HttpClient.newBuilder()
              .connectTimeout(CONNECT)
              .build()
              .send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
      return read(url, answer.statusCode(), answer.body());
    } catch (ConnectException | HttpConnectTimeoutException e) {
      throw new Failed(
          Exit.OUTSIDE,
          "No evenhand service answers at "
              + url
              + ".\nStart it with: java -jar evenhand.jar serve, or name another with --server or "
              + VARIABLE
              + ".");
    } catch (HttpTimeoutException e) {
      throw new Failed(
          Exit.OUTSIDE,
          "The service at " + url + " did not answer within " + ANSWER.toSeconds() + " s.");
    } catch (IOException e) {
      throw new Failed(
          Exit.OUTSIDE, "The service at " + url + " broke off before it had answered.");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failed(Exit.OUTSIDE, "Interrupted before the service had answered.");
    }
  }

  private static Failed notEvenhand(String url, int status) {
    return new Failed(
        Exit.OUTSIDE,
        "What answers at " + url + " is not evenhand (status " + status + " without a problem).");
  }

  /**
   * @throws Failed when it is a refusal, or no answer of evenhand
   */
  private static Answer read(String url, int status, String text) {
    JsonNode body;
    try {
      body = JSON.readTree(text);
    } catch (JacksonException e) {
      body = null;
    }
    if (body == null || !body.isObject() || status >= 300 && !body.has("code")) {
      throw notEvenhand(url, status);
    }
    if (status < 300) {
      return new Answer(status, body);
    }
    throw refusal(status, body);
  }

  /** Exit status by who is to blame: the input (its form), the answer (no), the service. */
  private static Failed refusal(int status, JsonNode problem) {
    String code = problem.get("code").asString("");
    StringBuilder text = new StringBuilder();
    boolean ofForm =
        List.of("INVALID_REQUEST", "MALFORMED_REQUEST", "BODY_TOO_LARGE").contains(code);
    JsonNode errors = problem.path("errors");
    if (ofForm && errors.size() > 0) {
      for (JsonNode error : errors) {
        String path = error.path("path").asString("");
        text.append(text.isEmpty() ? "" : "\n")
            .append(path.isEmpty() ? "" : path + ": ")
            .append(error.path("message").asString(""));
      }
    } else {
      text.append(problem.path("detail").asString(""));
    }
    String rule = problem.path("rule").asString("");
    text.append(" [").append(code).append(rule.isEmpty() ? "" : ", " + rule).append("]");
    int exit = status >= 500 ? Exit.OUTSIDE : ofForm ? Exit.WRONG_USE : Exit.NO;
    StringBuilder clean = new StringBuilder();
    for (String line : text.toString().split("\n")) {
      clean.append(clean.isEmpty() ? "" : "\n").append(Table.clean(line));
    }
    return new Failed(exit, clean.toString());
  }
}
