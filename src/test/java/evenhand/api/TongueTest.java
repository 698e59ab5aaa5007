package evenhand.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Korean for those who ask for it, English for all others; codes are the same for all. */
class TongueTest {
  private static final ApiServer SERVER = ApiServer.one();
  private static final JsonMapper JSON = new JsonMapper();
  private static final String JOB = "{\"account\":\"BCG\",\"num_gpus\":2,\"script\":\"#!/bin/sh\"}";

  @BeforeEach
  void clear() {
    SERVER.desk().clear();
  }

  @Test
  void problemsAreSaidInKorean() throws Exception {
    HttpResponse<String> answer =
        SERVER.get("/v1/jobs/77", "Accept-Language", "ko-KR,ko;q=0.9,en;q=0.5");
    JsonNode problem = JSON.readTree(answer.body());
    assertThat(problem.path("title").asString()).isEqualTo("찾을 수 없습니다");
    assertThat(problem.path("detail").asString()).isEqualTo("요청한 대상이 없습니다. (There is no job 77.)");
    assertThat(problem.path("code").asString()).isEqualTo("NOT_FOUND");
    assertThat(answer.headers().firstValue("Content-Language")).contains("ko");
    HttpResponse<String> unread = SERVER.get("/v1/jobs/%00", "Accept-Language", "ko");
    assertThat(unread.statusCode()).isEqualTo(400);
    assertThat(unread.body()).contains("MALFORMED_REQUEST", "요청을 읽을 수 없습니다");
    for (String other : new String[] {"en", "de,ko;q=0.5", "*"}) {
      assertThat(SERVER.get("/v1/jobs/77", "Accept-Language", other).body())
          .contains("There is no such thing")
          .doesNotContain("없습니다");
    }
    assertThat(SERVER.get("/v1/jobs/77").body()).doesNotContain("없습니다");
  }

  @Test
  void whyAJobWaitsIsSaidInKoreanWithItsFigures() throws Exception {
    SERVER.post("/v1/jobs", JOB);
    SERVER.post("/v1/jobs", JOB);
    JsonNode queue = JSON.readTree(SERVER.get("/v1/queue", "Accept-Language", "ko").body());
    assertThat(queue.path("items").path(0).path("message").asString())
        .startsWith("비어 있는 GPU가 모자랍니다. (2 GPUs are needed");
    JsonNode why = JSON.readTree(SERVER.get("/v1/jobs/2/why", "Accept-Language", "ko").body());
    assertThat(why.path("code").asString()).isEqualTo("NO_IDLE");
    assertThat(why.path("message").asString()).startsWith("비어 있는 GPU가 모자랍니다. (It waits");
    assertThat(why.path("ahead").path(0).path("message").asString()).startsWith("비어");
    assertThat(SERVER.get("/v1/queue").body()).doesNotContain("비어");
  }
}
