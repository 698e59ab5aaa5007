package evenhand.api;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Errors that arise before any route is reached; they look like all others. */
@RestController
@io.swagger.v3.oas.annotations.Hidden
class ErrorPage implements ErrorController {

  @RequestMapping("${spring.web.error.path:/error}")
  ResponseEntity<Object> error(HttpServletRequest request, HttpServletResponse response) {
    Problem problem = problem(request);
    // An answer that broke off, of events as a rule: what was begun cannot be another one.
    return response.isCommitted() ? null : problem.answer();
  }

  private static Problem problem(HttpServletRequest request) {
    Object status = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
    Object thrown = request.getAttribute(RequestDispatcher.ERROR_EXCEPTION);
    int code = status instanceof Integer known && known >= 400 ? known : 404;
    if (code < 500) {
      return Problems.ofStatus(code, request);
    }
    Throwable cause =
        thrown instanceof Throwable t ? t : new IllegalStateException("status " + code);
    if (cause instanceof IOException || Problems.isClientGone(cause)) {
      return Problems.unreadBody(cause);
    }
    return Problems.failed(cause, request);
  }
}
