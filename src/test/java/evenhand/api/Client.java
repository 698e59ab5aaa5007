package evenhand.api;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A client of the API that wants a certain status of each answer. */
record Client(String url) {
  private static final JsonMapper JSON = new JsonMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  JsonNode get(String path) throws Exception {
    HttpResponse<String> answer = send(HttpRequest.newBuilder(URI.create(url + path)));
    assertEquals(200, answer.statusCode(), answer.body());
    return JSON.readTree(answer.body());
  }

  int status(String path) throws Exception {
    return send(HttpRequest.newBuilder(URI.create(url + path))).statusCode();
  }

  JsonNode post(String path, String json, int status) throws Exception {
    HttpResponse<String> answer =
        send(
            HttpRequest.newBuilder(URI.create(url + path))
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", "k")
                .POST(HttpRequest.BodyPublishers.ofString(json)));
    assertEquals(status, answer.statusCode(), answer.body());
    return JSON.readTree(answer.body());
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }
}
