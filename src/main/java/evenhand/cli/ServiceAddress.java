package evenhand.cli;

import java.io.IOException;
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
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The option {@code --server}, and asking the service there. Every question is bounded in time. */
final class ServiceAddress {
  private static final String USUAL = "http://127.0.0.1:8080";
  private static final String VARIABLE = "EVENHAND_SERVER";
  private static final Duration CONNECT = Duration.ofSeconds(5);

  /** A cycle may read a large cluster before it answers. */
  private static final Duration ANSWER = Duration.ofMinutes(2);

  /** Entries asked for at once; what the API gives at most. */
  private static final int PART = 1000;

  private static final JsonMapper JSON = new JsonMapper();

  @Option(
      names = "--server",
      paramLabel = "URL",
      description = "The service to ask (default: ${env:EVENHAND_SERVER:-" + USUAL + "}).")
  private String server;

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

  private Answer ask(
      Console console, String method, String path, String json, Map<String, String> headers) {
    String url = url(console);
    try {
      URI base = URI.create(url);
      if (base.getHost() == null || !List.of("http", "https").contains(base.getScheme())) {
        throw new IllegalArgumentException("no host");
      }
      URI uri = URI.create(url + path);
      HttpRequest.Builder request =
          HttpRequest.newBuilder(uri)
              .version(HttpClient.Version.HTTP_1_1)
              .timeout(ANSWER)
              .header("Accept", "application/json")
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
      return read(url, answer);
    } catch (IllegalArgumentException e) {
      throw new Failed(
          Exit.WRONG_USE,
          url + " cannot be asked; --server must be an address such as " + USUAL + ".");
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

  private static Answer read(String url, HttpResponse<String> answer) {
    JsonNode body;
    try {
      body = JSON.readTree(answer.body());
    } catch (JacksonException e) {
      body = null;
    }
    int status = answer.statusCode();
    if (body == null || !body.isObject() || status >= 300 && !body.has("code")) {
      throw new Failed(
          Exit.OUTSIDE,
          "What answers at " + url + " is not evenhand (status " + status + " without a problem).");
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
