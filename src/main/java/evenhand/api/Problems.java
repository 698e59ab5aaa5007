package evenhand.api;

import evenhand.cycle.Desk;
import evenhand.input.InputFault;
import evenhand.policy.Rule;
import evenhand.policy.RuleFailed;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.catalina.connector.ClientAbortException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.async.AsyncRequestNotUsableException;

/** Turns whatever went wrong into a {@link Problem}; only faults of our own are logged. */
@RestControllerAdvice
@Order(Ordered.HIGHEST_PRECEDENCE)
class Problems {
  private static final Logger log = LoggerFactory.getLogger(Problems.class);
  private static final int RETRY_AFTER_SECONDS = 5;

  /** While the database is away every request fails; what each says is told once in this time. */
  private static final long AWAY_AGAIN_NANOS = Duration.ofMinutes(10).toNanos();

  private static final AtomicLong toldAway = new AtomicLong();

  @ExceptionHandler(Refusal.class)
  ResponseEntity<Object> refusal(Refusal refusal) {
    return refusal.problem().answer();
  }

  @ExceptionHandler(InputFault.class)
  ResponseEntity<Object> input(InputFault fault) {
    return Problem.invalid(fault).answer();
  }

  @ExceptionHandler(Desk.Refused.class)
  ResponseEntity<Object> refused(Desk.Refused refused) {
    Problem problem =
        switch (refused.code()) {
          case "NOT_READY" ->
              Problem.of(503, "NOT_READY", "The service is not ready yet", refused.getMessage());
          case "NOT_FOUND" ->
              Problem.of(404, "NOT_FOUND", "There is no such thing", refused.getMessage());
          case "IDEMPOTENCY_CONFLICT" ->
              Problem.of(
                  409,
                  "IDEMPOTENCY_CONFLICT",
                  "The key was used for something else",
                  refused.getMessage());
          case "CHANGED_MEANWHILE" ->
              Problem.of(
                  409, "CHANGED_MEANWHILE", "It has changed meanwhile", refused.getMessage());
          case "NOT_WAITING" ->
              Problem.of(409, "NOT_WAITING", "It does not wait", refused.getMessage());
          case "NOT_PLANNED" ->
              Problem.of(
                  404, "NOT_PLANNED", "Nothing of that hash is planned", refused.getMessage());
          case "GUARDRAILS_BROKEN" ->
              Problem.of(409, "GUARDRAILS_BROKEN", "Guard rails are broken", refused.getMessage());
          case "IN_FORCE" ->
              Problem.of(409, "IN_FORCE", "It is in force already", refused.getMessage());
          case "NO_PREVIOUS" ->
              Problem.of(409, "NO_PREVIOUS", "There is none before it", refused.getMessage());
          case "BUSY" -> Problem.of(409, "BUSY", "It is changing just now", refused.getMessage());
          case "NOT_RUNNING" ->
              Problem.of(409, "NOT_RUNNING", "The job does not run", refused.getMessage());
          case "DRAINED_BY_SLURM" ->
              Problem.of(409, "DRAINED_BY_SLURM", "Slurm itself drains it", refused.getMessage());
          case "FORBIDDEN" ->
              Problem.of(403, "FORBIDDEN", "That is not yours to do", refused.getMessage());
          case "NO_FIT_PLACEMENT" ->
              Problem.of(
                  422, "NO_FIT_PLACEMENT", "Nothing here could run it", refused.getMessage());
          default ->
              Problem.of(422, refused.code(), "The request is refused", refused.getMessage());
        };
    if (refused.field() != null) {
      problem =
          problem.with(List.of(new Problem.FieldError(refused.field(), refused.getMessage())));
    }
    return problem
        .ofRule(refused.rule())
        .answer(refused.code().equals("NOT_READY") ? later() : HttpHeaders.EMPTY);
  }

  /** It is no fault of the request, and the policy before may have taken over in a moment. */
  @ExceptionHandler(RuleFailed.class)
  ResponseEntity<Object> ruleFailed(RuleFailed failed) {
    log.error("a rule failed for a request: {}", failed.getMessage());
    return Problem.of(
            503,
            "RULE_FAILED",
            "A rule of the policy failed",
            failed.getMessage()
                + ". Nothing was changed. The policy before takes over where one has decided without"
                + " failing; try again in "
                + RETRY_AFTER_SECONDS
                + " s.")
        .ofRule(failed.rule().map(Rule::clause).orElse(null))
        .answer(later());
  }

  /** The client went away or stopped sending; nobody reads this answer unless it was only slow. */
  @ExceptionHandler(IOException.class)
  ResponseEntity<Object> unread(IOException e) {
    log.debug("a request was not read to its end", e);
    return unreadBody(e).answer();
  }

  /** The body did not come to its end: in time, or at all. */
  static Problem unreadBody(Throwable e) {
    if (e instanceof SocketTimeoutException || e.getCause() instanceof SocketTimeoutException) {
      return tooSlow();
    }
    return Problem.of(
        400,
        "MALFORMED_REQUEST",
        "The body cannot be read",
        "The body was not sent to its end, or not in the parts that its headers promise.");
  }

  static Problem tooSlow() {
    return Problem.of(
        408,
        "REQUEST_TIMEOUT",
        "The body took too long",
        "Nothing was changed. Send the whole body at once.");
  }

  @ExceptionHandler(Exception.class)
  ResponseEntity<Object> other(Exception e, HttpServletRequest request) {
    if (e instanceof ErrorResponse known && known.getStatusCode().is4xxClientError()) {
      return ofStatus(known.getStatusCode().value(), request).answer(known.getHeaders());
    }
    if (isClientGone(e)) {
      log.debug("a client did not wait for its answer", e);
      return null;
    }
    if (DatabaseAway.is(e)) {
      return databaseAway(e).answer(later());
    }
    return failed(e, request).answer();
  }

  private static Problem databaseAway(Throwable e) {
    long now = System.nanoTime();
    long before = toldAway.get();
    if ((before == 0 || now - before > AWAY_AGAIN_NANOS) && toldAway.compareAndSet(before, now)) {
      log.warn("A request is answered 503: {}", DatabaseAway.sentence(e));
    }
    return Problem.of(
        503,
        "DATABASE_AWAY",
        "The service cannot use its database",
        "Nothing was changed or it is not known whether it was. Try again in "
            + RETRY_AFTER_SECONDS
            + " s, a submission with the same Idempotency-Key.");
  }

  /** Answers with what went wrong before any route was reached. */
  static void answer(RuntimeException e, HttpServletRequest request, HttpServletResponse answer)
      throws IOException {
    if (DatabaseAway.is(e)) {
      databaseAway(e)
          .writeTo(request, answer, HttpHeaders.RETRY_AFTER, Integer.toString(RETRY_AFTER_SECONDS));
    } else {
      failed(e, request).writeTo(request, answer);
    }
  }

  private static HttpHeaders later() {
    HttpHeaders headers = new HttpHeaders();
    headers.set(HttpHeaders.RETRY_AFTER, Integer.toString(RETRY_AFTER_SECONDS));
    return headers;
  }

  static Problem failed(Throwable e, HttpServletRequest request) {
    String incident = UUID.randomUUID().toString();
    log.error("incident {}: {}", incident, asked(request), e);
    return Problem.of(
            500,
            "INTERNAL_ERROR",
            "The service failed",
            "It is not the request's fault. The service's log has it as incident " + incident + ".")
        .inLogAs(incident);
  }

  /** What the web layer itself refuses. */
  static Problem ofStatus(int status, HttpServletRequest request) {
    String asked = asked(request);
    return switch (status) {
      case 404 ->
          Problem.of(
              404,
              "NOT_FOUND",
              "There is no such thing",
              "There is nothing at " + asked + ". /v3/api-docs lists what there is.");
      case 405 ->
          Problem.of(
              405,
              "METHOD_NOT_ALLOWED",
              "That cannot be done here",
              asked + " is not offered; the header Allow lists what is.");
      case 406 ->
          Problem.of(
              406,
              "NOT_ACCEPTABLE",
              "Only JSON is spoken here",
              "Accept application/json, or leave the header Accept out.");
      case 408 -> tooSlow();
      case 415 ->
          Problem.of(
              415,
              "UNSUPPORTED_MEDIA_TYPE",
              "Only JSON is read here",
              "Send the body with Content-Type: application/json, in UTF-8.");
      default ->
          Problem.of(
              status,
              "INVALID_REQUEST",
              "The request is not valid",
              asked + " cannot be answered as it was sent.");
    };
  }

  /** What was asked for, also where the web server has passed it on to the error page. */
  private static String asked(HttpServletRequest request) {
    Object uri = request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI);
    Object method = request.getAttribute(RequestDispatcher.ERROR_METHOD);
    return (method == null ? request.getMethod() : method)
        + " "
        + shown(uri == null ? request.getRequestURI() : uri.toString());
  }

  static String shown(String uri) {
    return uri.length() > 200 ? uri.substring(0, 200) + "…" : uri;
  }

  /** It closed the connection while its answer was written. */
  static boolean isClientGone(Throwable e) {
    Throwable at = e;
    for (int depth = 0; at != null && depth < 20; depth++, at = at.getCause()) {
      if (at instanceof ClientAbortException
          || at instanceof AsyncRequestNotUsableException
          || at instanceof EOFException) {
        return true;
      }
    }
    return false;
  }
}
