package evenhand.api;

import evenhand.input.Document;
import evenhand.input.InputFault;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.util.unit.DataSize;

/** Reads request bodies: JSON in UTF-8, no longer than {@code evenhand.api.max-body}. */
@Component
class Body {
  static final String NAME = "the body";
  private final int most;

  /**
   * @param most setting {@code evenhand.api.max-body}, 2 MB by default: a script of 1 MB and what
   *     JSON adds to it
   */
  Body(@Value("${evenhand.api.max-body:2MB}") DataSize most) {
    this.most = Math.toIntExact(most.toBytes());
  }

  /**
   * The body as a document.
   *
   * @throws Refusal 413 when it is too long, 415 for another type or charset, 400 when it is no
   *     JSON
   * @throws IOException when the client does not send it to its end
   */
  Document json(HttpServletRequest request) throws IOException {
    if (!isJson(request.getContentType())) {
      throw new Refusal(Problems.ofStatus(415, request));
    }
    try {
      return Document.json(NAME, text(read(request)));
    } catch (InputFault fault) {
      throw new Refusal(Problem.malformed(fault));
    }
  }

  /**
   * Whether a Content-Type says JSON in UTF-8. The request's own character encoding would not do:
   * Spring's filter has put UTF-8 over whatever the client said.
   */
  private static boolean isJson(String contentType) {
    try {
      MediaType type = MediaType.parseMediaType(contentType == null ? "" : contentType);
      Charset charset = type.getCharset();
      return MediaType.APPLICATION_JSON.equalsTypeAndSubtype(type)
          && (charset == null || charset.equals(StandardCharsets.UTF_8));
    } catch (InvalidMediaTypeException e) {
      return false;
    }
  }

  /** Whether the client says that it sends nothing. */
  static boolean isAbsent(HttpServletRequest request) {
    return request.getContentLengthLong() <= 0 && request.getHeader("Transfer-Encoding") == null;
  }

  private byte[] read(HttpServletRequest request) throws IOException {
    Object taken = request.getAttribute(WholeBody.TAKEN);
    if (taken instanceof Problem problem) {
      throw new Refusal(problem);
    }
    if (taken instanceof byte[] bytes) {
      return bytes;
    }
    byte[] bytes = request.getInputStream().readNBytes(most + 1);
    if (bytes.length > most) {
      throw new Refusal(tooLong(most));
    }
    return bytes;
  }

  static Problem tooLong(int most) {
    return Problem.of(
        413,
        "BODY_TOO_LARGE",
        "The body is too long",
        "The body must be at most " + most + " bytes.");
  }

  private static String text(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new InputFault(NAME, 0, "", "is not text in UTF-8");
    }
  }
}
