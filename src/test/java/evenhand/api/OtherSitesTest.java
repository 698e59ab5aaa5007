package evenhand.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a page of another site can have a browser send to a service on loopback where security is
 * off: requests that need no leave (forms, plain text), and names that are made to mean 127.0.0.1.
 */
class OtherSitesTest {
  private static final ApiServer SERVER = ApiServer.one();
  private static final String JOB = "{\"account\":\"BCG\",\"num_gpus\":1,\"script\":\"#!/bin/sh\"}";

  @BeforeEach
  void clear() {
    SERVER.desk().clear();
  }

  private static String ask(String line, String body, String... headers) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", SERVER.port())) {
      socket.setSoTimeout(30_000);
      String request =
          line
              + " HTTP/1.1\r\nConnection: close\r\nContent-Length: "
              + body.length()
              + "\r\n"
              + String.join("\r\n", headers)
              + "\r\n\r\n"
              + body;
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String host() {
    return "Host: 127.0.0.1:" + SERVER.port();
  }

  @ParameterizedTest
  @CsvSource({
    "application/x-www-form-urlencoded, user=kim",
    "multipart/form-data; boundary=x, --x--",
    "text/plain, '{\"user\":\"kim\"}'",
    "application/json, ''"
  })
  void aFormOfAnotherSiteChangesNothing(String type, String body) throws Exception {
    SERVER.post("/v1/jobs", JOB);
    String answer =
        ask(
            "POST /v1/jobs/1/cancel",
            body,
            host(),
            "Content-Type: " + type,
            "Origin: https://evil.example");
    assertThat(answer).startsWith("HTTP/1.1 403").contains("FORBIDDEN", "page of another site");
    assertThat(SERVER.desk().job("1").state().ended()).isFalse();
    // A browser that says where it comes from in another way, and one that hides it.
    assertThat(ask("POST /v1/cycle", "", host(), "Sec-Fetch-Site: cross-site"))
        .startsWith("HTTP/1.1 403");
    assertThat(ask("POST /v1/cycle", "", host(), "Origin: null")).startsWith("HTTP/1.1 403");
    // The same host on another port is another site.
    assertThat(ask("POST /v1/cycle", "", host(), "Origin: http://127.0.0.1:1"))
        .startsWith("HTTP/1.1 403");
  }

  @Test
  void plainTextIsNoJsonWhoeverSendsIt() throws Exception {
    assertThat(ask("POST /v1/jobs", JOB, host(), "Content-Type: text/plain"))
        .startsWith("HTTP/1.1 415");
    assertThat(ask("POST /v1/jobs", JOB, host())).startsWith("HTTP/1.1 415");
    assertThat(SERVER.desk().count()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "evil.example:8080",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "192.0.2.7",
        "127.0.0.1@evil.example",
        "[::2]"
      })
  void aNameThatIsNotThisHostsReadsNothing(String name) throws Exception {
    String answer = ask("GET /v1/queue", "", "Host: " + name);
    assertThat(answer).containsPattern("^HTTP/1.1 40[03]").doesNotContain("\"items\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost", "LOCALHOST:9", "127.0.0.1", "127.9.9.9:8080", "[::1]:80"})
  void aNameOfThisHostIsLetIn(String name) throws Exception {
    assertThat(ask("GET /v1/queue", "", "Host: " + name)).startsWith("HTTP/1.1 200");
  }

  @Test
  void theServicesOwnPagesMayChangeThings() throws Exception {
    String own = "Origin: http://127.0.0.1:" + SERVER.port();
    assertThat(ask("POST /v1/cycle", "", host(), own, "Sec-Fetch-Site: same-origin"))
        .startsWith("HTTP/1.1 200");
    assertThat(ask("POST /v1/jobs", JOB, host(), own, "Content-Type: application/json"))
        .startsWith("HTTP/1.1 201");
    // And no other site is told that it may: no answer to a question beforehand.
    assertThat(
            ask(
                "OPTIONS /v1/jobs",
                "",
                host(),
                "Origin: https://evil.example",
                "Access-Control-Request-Method: POST"))
        .doesNotContain("Access-Control-Allow");
  }
}
