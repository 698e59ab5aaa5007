package evenhand.api;

import evenhand.input.Spelling;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The parameters after the {@code ?} of a list: {@code limit} (1 to 1000, 100 by default), {@code
 * cursor}, and the filters the route knows. A parameter nobody knows is refused: a filter that is
 * spelt wrong must not answer with everything.
 */
final class Query {
  static final int MOST = 1000;
  static final int USUAL = 100;
  private static final Pattern WHOLE = Pattern.compile("[0-9]{1,9}");
  private static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");
  private static final Instant END = Instant.parse("+10000-01-01T00:00:00Z");

  private final HttpServletRequest request;

  private Query(HttpServletRequest request) {
    this.request = request;
  }

  /** Checks the request's parameters against those known besides limit and cursor. */
  static Query of(HttpServletRequest request, String... filters) {
    List<String> known = new ArrayList<>(List.of("limit", "cursor"));
    known.addAll(List.of(filters));
    Map<String, String[]> parameters;
    try {
      parameters = request.getParameterMap();
    } catch (IllegalStateException e) { // Tomcat's word for a broken %-sequence and the like
      throw fault("?", "what stands after it cannot be read; write %-sequences out in UTF-8");
    }
    for (Map.Entry<String, String[]> parameter : parameters.entrySet()) {
      String name = parameter.getKey();
      if (!known.contains(name)) {
        throw fault(name, "is no parameter of this list; " + Spelling.hint(name, known));
      }
      if (parameter.getValue().length > 1) {
        throw fault(name, "stands here more than once; give it once");
      }
    }
    Query query = new Query(request);
    List.of(filters).forEach(query::text); // also where there is nothing to hold them against
    return query;
  }

  /** The parameters of a request that is no list; all others are refused. */
  static Query only(HttpServletRequest request, String... names) {
    List<String> known = List.of(names);
    String query = request.getQueryString();
    if (query != null && !query.isEmpty()) {
      for (String part : query.split("&")) {
        String name = part.split("=", 2)[0];
        if (!known.contains(name)) {
          throw fault(name, "is no parameter here; " + Spelling.hint(name, known));
        }
        String[] values = request.getParameterValues(name);
        if (values != null && values.length > 1) {
          throw fault(name, "stands here more than once; give it once");
        }
      }
    }
    return new Query(request);
  }

  /** Whether a parameter says true; false where it is not given. */
  boolean flag(String name) {
    String value = text(name);
    if (value != null && !value.equals("true") && !value.equals("false")) {
      throw fault(name, "must be true or false");
    }
    return "true".equals(value);
  }

  /** Checks that a request which is no list has no parameters. */
  static void ofNothing(HttpServletRequest request) {
    // not getParameterMap: that would read a body that says it is a web form
    String query = request.getQueryString();
    if (query != null && !query.isEmpty()) {
      String name = query.split("[=&]", 2)[0];
      throw fault(name, "is no parameter here; nothing may stand after the ?");
    }
  }

  int limit() {
    String text = request.getParameter("limit");
    if (text == null) {
      return USUAL;
    }
    int limit = WHOLE.matcher(text).matches() ? Integer.parseInt(text) : 0;
    if (limit < 1 || limit > MOST) {
      throw fault("limit", "must be a whole number from 1 to " + MOST);
    }
    return limit;
  }

  /** The cursor as it was given out, or null. */
  String cursor() {
    return text("cursor");
  }

  /**
   * A filter's value; null when it is not given or empty. None has a NUL character: nothing is
   * named with one, and the database cannot even be asked for it.
   */
  String text(String name) {
    String value = request.getParameter(name);
    if (value != null && value.indexOf('\0') >= 0) {
      throw fault(name, "holds a NUL character; there is none of that name");
    }
    return value == null || value.isEmpty() ? null : value;
  }

  /**
   * A filter's value where only these words mean anything; null when it is not given.
   *
   * @param of what they are words of, e.g. {@code state of a job}
   */
  String word(String name, String of, List<String> words) {
    String value = text(name);
    if (value != null && !words.contains(value)) {
      throw fault(name, "is no " + of + "; " + Spelling.hint(value, words));
    }
    return value;
  }

  /** Whether an entry with this value is asked for: it is, or nothing is said of it. */
  boolean admits(String name, String value) {
    String wanted = text(name);
    return wanted == null || wanted.equals(value);
  }

  /** How values of an enumeration stand in answers and filters. */
  static String wordOf(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  static List<String> words(Enum<?>... values) {
    return Arrays.stream(values).map(Query::wordOf).toList();
  }

  /** A filter's value as a time of the years 0000 to 9999; null when it is not given. */
  Instant time(String name) {
    String text = text(name);
    try {
      Instant time = text == null ? null : Instant.parse(text);
      if (time == null || (!time.isBefore(FIRST) && time.isBefore(END))) {
        return time;
      }
    } catch (DateTimeParseException e) {
      // told below
    }
    throw fault(name, "must be a time in UTC such as 2026-04-10T09:00:00Z");
  }

  /** A part of a list that is at hand as a whole. */
  <T> Listing<T> part(List<T> all) {
    int from = 0;
    if (cursor() != null) {
      from = position(cursor());
    }
    int to = (int) Math.min((long) from + limit(), all.size());
    List<T> items = from >= all.size() ? List.of() : all.subList(from, to);
    return new Listing<>(List.copyOf(items), to < all.size() && from < to ? cursorAt(to) : null);
  }

  private static String cursorAt(int position) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(("i" + position).getBytes(StandardCharsets.US_ASCII));
  }

  private static int position(String cursor) {
    try {
      String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.ISO_8859_1);
      if (text.startsWith("i") && WHOLE.matcher(text.substring(1)).matches()) {
        return Integer.parseInt(text.substring(1));
      }
    } catch (IllegalArgumentException e) {
      // told below
    }
    throw fault("cursor", "must be a next_cursor that this list has given");
  }

  static Refusal fault(String name, String message) {
    return new Refusal(Problem.invalid(List.of(new Problem.FieldError(name, message))));
  }
}
