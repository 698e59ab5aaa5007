package evenhand.api;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import tools.jackson.databind.json.JsonMapper;

/**
 * What Tomcat itself refuses, before any route or filter sees it: request lines and headers that
 * cannot be read or are too long, paths with {@code %00} or {@code %2F}. It is a {@link Problem}
 * like all others. Tomcat makes it by its name, so it is public.
 */
public final class ProblemValve extends ErrorReportValve {
  private static final int SERVER_ERROR = 500;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @Override
  protected void report(Request request, Response response, Throwable thrown) {
    int status = response.getStatus();
    if (status < 400 || response.getContentWritten() > 0 || !response.setErrorReported()) {
      return;
    }
    Problem english = problem(status);
    // The language is known where the headers could be read.
    Problem problem = Tongue.told(english, request);
    if (problem != english) {
      response.setHeader("Content-Language", Tongue.KOREAN);
    }
    try {
      response.setContentType("application/problem+json");
      response.getCoyoteResponse().doWrite(ByteBuffer.wrap(json(problem)));
    } catch (IOException | IllegalStateException e) {
      container.getLogger().debug("a client did not wait for " + status, e);
    }
  }

  private static Problem problem(int status) {
    if (status >= SERVER_ERROR) {
      return Problem.of(
          status, "INTERNAL_ERROR", "The service failed", "It is not the request's fault.");
    }
    if (status == 404) {
      return Problem.of(
          404,
          "NOT_FOUND",
          "There is no such thing",
          "There is nothing at this address. /v3/api-docs lists what there is.");
    }
    return Problem.of(
        status,
        "MALFORMED_REQUEST",
        "The request cannot be read",
        "Its first line, its path or its headers are not what HTTP allows, or longer than 8 KB in"
            + " all. A path holds no %00 and no %2F, and nothing unprintable that is not written as"
            + " a %-sequence.");
  }

  /** For what is written out by hand. */
  static byte[] json(Problem problem) {
    return JSON.writeValueAsString(problem).getBytes(StandardCharsets.UTF_8);
  }
}
