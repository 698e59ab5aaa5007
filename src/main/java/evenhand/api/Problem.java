package evenhand.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import evenhand.input.Fault;
import evenhand.input.InputFault;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;

/**
 * The body of every error (RFC 9457).
 *
 * @param type {@code urn:evenhand:problem:CODE}
 * @param title what kind of problem it is
 * @param status the HTTP status again
 * @param detail what was asked, why not, what would work
 * @param code stable, for programs
 * @param rule the clause that refused, where a rule did
 * @param incident names the entry in the service's log, where there is one
 * @param errors the fields at fault
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Problem(
    String type,
    String title,
    int status,
    String detail,
    String code,
    String rule,
    String incident,
    List<FieldError> errors) {

  /** One field at fault; {@code line} only where the body could not be read at all. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record FieldError(@JsonProperty("path") String path, String message) {}

  static Problem of(int status, String code, String title, String detail) {
    return new Problem(
        "urn:evenhand:problem:" + code, title, status, detail, code, null, null, null);
  }

  Problem with(List<FieldError> fields) {
    return new Problem(type, title, status, detail, code, rule, incident, fields);
  }

  /** The same in other words. */
  Problem saying(String otherTitle, String otherDetail) {
    return new Problem(type, otherTitle, status, otherDetail, code, rule, incident, errors);
  }

  Problem ofRule(String clause) {
    return new Problem(type, title, status, detail, code, clause, incident, errors);
  }

  Problem inLogAs(String id) {
    return new Problem(type, title, status, detail, code, rule, id, errors);
  }

  /** The problem as an answer, always as problem+json whatever the client said it accepts. */
  ResponseEntity<Object> answer(HttpHeaders more) {
    HttpHeaders headers = new HttpHeaders();
    headers.putAll(more);
    headers.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
    return new ResponseEntity<>(this, headers, HttpStatusCode.valueOf(status));
  }

  ResponseEntity<Object> answer() {
    return answer(HttpHeaders.EMPTY);
  }

  /**
   * Writes the problem where no route is reached.
   *
   * @param headers names and values by turns
   */
  void writeTo(HttpServletRequest request, HttpServletResponse answer, String... headers)
      throws IOException {
    answer.setStatus(status);
    for (int i = 0; i + 1 < headers.length; i += 2) {
      answer.setHeader(headers[i], headers[i + 1]);
    }
    answer.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
    answer.getOutputStream().write(ProblemValve.json(Tongue.told(this, request)));
  }

  /** 422: the body is JSON, but not what is asked for here. */
  static Problem invalid(InputFault fault) {
    return invalid(
        fault.faults().stream().map(f -> new FieldError(f.path(), f.message())).toList());
  }

  static Problem invalid(List<FieldError> errors) {
    FieldError first = errors.get(0);
    String place = first.path().isEmpty() ? "the body" : first.path();
    String more = errors.size() == 1 ? "" : " (and " + (errors.size() - 1) + " more)";
    return of(
            422,
            "INVALID_REQUEST",
            "The request is not valid",
            place + ": " + first.message() + more)
        .with(errors);
  }

  /** 400: the body is not JSON. */
  static Problem malformed(InputFault fault) {
    Fault first = fault.faults().get(0);
    String where = first.line() > 0 ? "line " + first.line() + ": " : "";
    return of(
            400,
            "MALFORMED_REQUEST",
            "The body is not JSON",
            "The body " + first.message() + (where.isEmpty() ? "" : " (line " + first.line() + ")"))
        .with(List.of(new FieldError("", where + first.message())));
  }
}
