package evenhand.api;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What no good client sends: half requests, broken ones, and clients that go away. */
class OddRequestsTest {
  private static final ApiServer SERVER = ApiServer.one();
  private static final JsonMapper JSON = new JsonMapper();
  private static final String SUBMISSION =
      "{\"account\":\"BCG\",\"num_gpus\":1,\"script\":\"#!/bin/sh\"}";
  private static final int WAIT_MILLIS = 60_000;
  private static final String POST =
      "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

  @BeforeEach
  void clear() {
    SERVER.desk().clear();
  }

  private static Socket open(String sent) throws IOException {
    Socket socket = new Socket("127.0.0.1", SERVER.port());
    socket.setSoTimeout(WAIT_MILLIS);
    socket.getOutputStream().write(sent.getBytes(StandardCharsets.ISO_8859_1));
    return socket;
  }

  private static String whole(Socket socket) throws IOException {
    return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  private static String answer(String sent) throws IOException {
    try (Socket socket = open(sent)) {
      return whole(socket);
    }
  }

  private static JsonNode problem(String answer, int status, String code) {
    assertThat(answer).startsWith("HTTP/1.1 " + status);
    assertThat(answer.toLowerCase(java.util.Locale.ROOT))
        .contains("content-type: application/problem+json");
    assertThat(answer).doesNotContain("Exception", "Tomcat", "<html", "/error");
    JsonNode problem =
        JSON.readTree(answer.substring(answer.indexOf('{'), answer.lastIndexOf('}') + 1));
    assertThat(problem.get("code").asString()).isEqualTo(code);
    assertThat(problem.get("status").asInt()).isEqualTo(status);
    assertThat(problem.get("detail").asString()).isNotBlank();
    return problem;
  }

  @Test
  void halfRequestsKeepNobodyWaitingAndAreEnded() throws Exception {
    List<Socket> heads = new ArrayList<>();
    List<Socket> bodies = new ArrayList<>();
    try {
      for (int i = 0; i < 300; i++) {
        bodies.add(open(POST + "Content-Length: 1000\r\n\r\n{\"account\":"));
        heads.add(open("GET /v1/queue HTTP/1.1\r\nHost: localhost\r\nX-Half: "));
      }
      assertThat(SERVER.get("/v1/queue").statusCode()).isEqualTo(200);
      assertThat(SERVER.post("/v1/jobs", SUBMISSION).statusCode()).isEqualTo(201);
      for (Socket socket : bodies) {
        problem(whole(socket), 408, "REQUEST_TIMEOUT");
      }
      for (Socket socket : heads) {
        whole(socket); // the connection ends
      }
      assertThat(SERVER.desk().count()).isEqualTo(1);
    } finally {
      for (Socket socket : bodies) {
        socket.close();
      }
      for (Socket socket : heads) {
        socket.close();
      }
    }
  }

  @Test
  void aBodyThatTricklesInHasAnEndToo() throws Exception {
    try (Socket socket = open(POST + "Content-Length: 1000\r\n\r\n{")) {
      for (int i = 0; i < WAIT_MILLIS / 100 && socket.getInputStream().available() == 0; i++) {
        Thread.sleep(100);
        socket.getOutputStream().write(' ');
      }
      problem(whole(socket), 408, "REQUEST_TIMEOUT");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET\r\n\r\n",
        "GET /v1/jobs HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "G\u0001T /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/jobs/%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET /v1/jobs/..%2f..%2fx HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET /v1/jobs/%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET /v1/jobs/<script> HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET /../../x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET /v1/jobs HTTP/1.1\r\n\r\n",
        "GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nA\u0001B: c\r\nConnection: close\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n{}"
      })
  void whatCannotBeReadIsAProblem(String sent) throws Exception {
    String answer = answer(sent);
    int status = answer.startsWith("HTTP/1.1 505") ? 505 : 400;
    String code = status == 505 ? "INTERNAL_ERROR" : "MALFORMED_REQUEST";
    problem(answer, status, code);
  }

  @Test
  void headersTooLargeAreAProblem() throws Exception {
    String answer =
        answer("GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(9000) + "\r\n\r\n");
    assertThat(problem(answer, 400, "MALFORMED_REQUEST").get("detail").asString()).contains("8 KB");
  }

  @ParameterizedTest
  @ValueSource(strings = {"multipart/form-data", "multipart/form-data; boundary=x"})
  void formsAreNotRead(String type) throws Exception {
    problem(
        answer(
            "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
                + type
                + "\r\nContent-Length: 2\r\n\r\n{}"),
        415,
        "UNSUPPORTED_MEDIA_TYPE");
  }

  @Test
  void theMethodTraceIsNotOfferedWhereItWasAsked() throws Exception {
    JsonNode problem =
        problem(
            answer("TRACE /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
            405,
            "METHOD_NOT_ALLOWED");
    assertThat(problem.get("detail").asString()).startsWith("TRACE /v1/jobs is not offered");
  }

  @ParameterizedTest
  @CsvSource({"zz", "-1", "fffffffffffffffffff"})
  void aBrokenChunkIsSaidToBeBroken(String size) throws Exception {
    problem(
        answer(POST + "Transfer-Encoding: chunked\r\n\r\n" + size + "\r\n{}\r\n0\r\n\r\n"),
        400,
        "MALFORMED_REQUEST");
  }

  @Test
  void aBodyInChunksIsReadWhole() throws Exception {
    String head = POST + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    try (Socket socket = open(head)) {
      for (String part : SUBMISSION.split("(?<=,)")) {
        String chunk = Integer.toHexString(part.length()) + "\r\n" + part + "\r\n";
        socket.getOutputStream().write(chunk.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
      }
      socket.getOutputStream().write("0\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      assertThat(whole(socket)).startsWith("HTTP/1.1 201");
    }
    assertThat(SERVER.desk().count()).isEqualTo(1);
  }

  @Test
  void aClientThatGoesAwayIsNoIncident() throws Exception {
    Logger log = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    try {
      for (int i = 0; i < 20; i++) {
        SERVER.post("/v1/jobs", SUBMISSION);
      }
      for (int i = 0; i < 20; i++) {
        try (Socket half = open(POST + "Content-Length: 1000\r\n\r\n{\"account\":")) {
          half.setSoLinger(true, 0); // the connection is reset
        }
        try (Socket chunk = open(POST + "Transfer-Encoding: chunked\r\n\r\n5\r\n{")) {
          chunk.shutdownOutput();
          whole(chunk);
        }
        try (Socket deaf = open("GET /v1/jobs?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n")) {
          deaf.setSoLinger(true, 0);
        }
      }
      assertThat(SERVER.get("/v1/queue").statusCode()).isEqualTo(200);
      assertThat(SERVER.desk().count()).isEqualTo(20);
    } finally {
      log.detachAppender(lines);
    }
    assertThat(lines.list).noneMatch(e -> e.getLevel().isGreaterOrEqual(Level.WARN));
  }
}
