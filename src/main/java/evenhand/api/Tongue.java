package evenhand.api;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

/**
 * Says problems, and why a job waits, in Korean to whoever asks for it with {@code Accept-Language:
 * ko}. Codes stay what they are; the English text, with its figures and names, follows in brackets.
 */
@ControllerAdvice
class Tongue implements ResponseBodyAdvice<Object> {
  static final String KOREAN = "ko";
  private static final Properties WORDS = words();

  private static Properties words() {
    Properties words = new Properties();
    try (InputStream in = Tongue.class.getResourceAsStream("/messages/ko.properties")) {
      words.load(new InputStreamReader(in, StandardCharsets.UTF_8));
      return words;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether Korean is what somebody wants most. */
  static boolean isKorean(HttpServletRequest request) {
    return request.getHeader(HttpHeaders.ACCEPT_LANGUAGE) != null
        && request.getLocale().getLanguage().equals(KOREAN);
  }

  @Override
  public boolean supports(
      MethodParameter method, Class<? extends HttpMessageConverter<?>> converter) {
    return true;
  }

  @Override
  public Object beforeBodyWrite(
      Object body,
      MethodParameter method,
      MediaType type,
      Class<? extends HttpMessageConverter<?>> converter,
      ServerHttpRequest request,
      ServerHttpResponse answer) {
    if (!(request instanceof ServletServerHttpRequest asked)
        || !isKorean(asked.getServletRequest())) {
      return body;
    }
    Object told = told(body);
    if (told != body) {
      answer.getHeaders().set(HttpHeaders.CONTENT_LANGUAGE, KOREAN);
    }
    return told;
  }

  /** The problem in the language that is asked for. */
  static Problem told(Problem problem, HttpServletRequest request) {
    return isKorean(request) ? inKorean(problem) : problem;
  }

  private static Problem inKorean(Problem problem) {
    String title = WORDS.getProperty("problem." + problem.code() + ".title");
    String detail = WORDS.getProperty("problem." + problem.code() + ".detail");
    return title == null ? problem : problem.saying(title, detail + " (" + problem.detail() + ")");
  }

  /** The same answer, what is said in it in Korean; the very same where nothing is. */
  private static Object told(Object answer) {
    if (answer instanceof Problem problem) {
      return inKorean(problem);
    }
    if (answer instanceof List<?> list) {
      List<Object> told = list.stream().map(Tongue::told).toList();
      for (int i = 0; i < list.size(); i++) {
        if (told.get(i) != list.get(i)) {
          return told;
        }
      }
      return list;
    }
    boolean ours =
        answer instanceof Record && answer.getClass().getPackageName().equals("evenhand.api");
    return ours ? toldRecord((Record) answer) : answer;
  }

  /** Whatever has a code and a message says why a job waits. */
  private static Object toldRecord(Record answer) {
    RecordComponent[] parts = answer.getClass().getRecordComponents();
    Object[] values = new Object[parts.length];
    String said = null;
    boolean changed = false;
    try {
      for (int i = 0; i < parts.length; i++) {
        parts[i].getAccessor().setAccessible(true);
        Object value = parts[i].getAccessor().invoke(answer);
        values[i] = told(value);
        changed |= values[i] != value;
        if (parts[i].getName().equals("code") && value instanceof String code) {
          said = WORDS.getProperty("wait." + code);
        }
      }
      for (int i = 0; said != null && i < parts.length; i++) {
        if (parts[i].getName().equals("message") && values[i] instanceof String english) {
          values[i] = said + " (" + english + ")";
          changed = true;
        }
      }
      if (!changed) {
        return answer;
      }
      Constructor<?> maker =
          answer
              .getClass()
              .getDeclaredConstructor(
                  Arrays.stream(parts).map(RecordComponent::getType).toArray(Class<?>[]::new));
      maker.setAccessible(true);
      return maker.newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("an answer cannot be read: " + answer.getClass(), e);
    }
  }
}
