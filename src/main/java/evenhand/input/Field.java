package evenhand.input;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * One field of a {@link Shape}: its name, what may stand there, its default and what it means.
 * Immutable; each {@code or…} and {@code means} gives a new one. A field is required until it is
 * given a default. Written {@code null} counts as missing.
 */
public final class Field<T> {

  /** Reads a value; null when it is at fault, which is noted. */
  private interface Reader<T> {
    T read(Value value);
  }

  private static final Instant FIRST = Instant.parse("1970-01-01T00:00:00Z");
  private static final Instant LAST = Instant.parse("9999-12-31T23:59:59Z");

  private final String name;
  private final String type;
  private final String right;
  private final Reader<T> reader;
  private final boolean required;
  private final T fallback;
  private final String fallbackWords;
  private final String meaning;
  private final Shape inner;
  private final String innerMark;

  private Field(
      String name,
      String type,
      String right,
      Reader<T> reader,
      boolean required,
      T fallback,
      String fallbackWords,
      String meaning,
      Shape inner,
      String innerMark) {
    this.name = name;
    this.type = type;
    this.right = right;
    this.reader = reader;
    this.required = required;
    this.fallback = fallback;
    this.fallbackWords = fallbackWords;
    this.meaning = meaning;
    this.inner = inner;
    this.innerMark = innerMark;
  }

  private static <T> Field<T> of(String name, String type, String right, Reader<T> reader) {
    return new Field<>(name, type, right, reader, true, null, "required", "", null, "");
  }

  private static <T> Field<T> of(
      String name, String type, String right, Reader<T> reader, Shape inner, String mark) {
    return new Field<>(name, type, right, reader, true, null, "required", "", inner, mark);
  }

  /** Text of 1 to 200 characters without control characters, e.g. a name or an id. */
  public static Field<String> text(String name) {
    return text(name, "text of 1 to 200 characters without control characters", Field::isPlainText);
  }

  /**
   * Text that is right by a test of the caller's.
   *
   * @param right what is right, in words, e.g. {@code an absolute path}
   */
  public static Field<String> text(String name, String right, Predicate<String> test) {
    return of(name, "string", right, v -> scalarText(v, right, test));
  }

  /** One of a few words. */
  public static Field<String> word(String name, List<String> words) {
    String right = "one of " + String.join(", ", words);
    return of(name, "string", right, v -> scalarText(v, right, words::contains));
  }

  public static Field<Boolean> flag(String name) {
    String right = "true or false";
    return of(
        name,
        "boolean",
        right,
        v -> {
          if (v.kind() == Value.Kind.FLAG) {
            return Boolean.valueOf(v.text());
          }
          v.mustBe(right);
          return null;
        });
  }

  /** A whole number within bounds; 2.0 and 2e0 are the whole number 2, as JSON has it. */
  public static Field<Integer> whole(String name, int from, int to) {
    String right = "a whole number from " + from + " to " + to;
    return of(
        name,
        "integer",
        right,
        v -> {
          BigDecimal n = wholeWithin(v, right, BigDecimal.valueOf(from), BigDecimal.valueOf(to));
          return n == null ? null : n.intValueExact();
        });
  }

  /** The same for large numbers, e.g. seconds. */
  public static Field<Long> wholeLong(String name, long from, long to) {
    String right = "a whole number from " + from + " to " + to;
    return of(
        name,
        "integer",
        right,
        v -> {
          BigDecimal n = wholeWithin(v, right, BigDecimal.valueOf(from), BigDecimal.valueOf(to));
          return n == null ? null : n.longValueExact();
        });
  }

  /** A finite number within bounds. */
  public static Field<Double> number(String name, double from, double to) {
    String right =
        to >= 1e300
            ? "a finite number of at least " + plain(from)
            : "a number from " + plain(from) + " to " + plain(to);
    return of(
        name,
        "number",
        right,
        v -> {
          BigDecimal n = decimal(v);
          double d = n == null ? Double.NaN : n.doubleValue();
          if (!Double.isFinite(d) || d < from || d > to) {
            v.mustBe(right);
            return null;
          }
          return d == 0 ? 0.0 : d; // no minus zero
        });
  }

  /** A moment, ISO 8601: {@code 2026-04-10T09:00:00Z}; another offset is turned into UTC. */
  public static Field<Instant> time(String name) {
    String right = "a time such as 2026-04-10T09:00:00Z";
    return of(
        name,
        "string",
        right,
        v -> {
          if (v.kind() == Value.Kind.TEXT) {
            try {
              Instant at = Instant.parse(v.text());
              if (!at.isBefore(FIRST) && !at.isAfter(LAST)) {
                return at;
              }
            } catch (DateTimeException e) {
              // told below
            }
          }
          v.mustBe(right);
          return null;
        });
  }

  /** A duration of 0 s to 100 years: {@code 8h}, {@code 300s}, or a number of seconds. */
  public static Field<Duration> duration(String name) {
    return of(
        name,
        "string",
        Durations.RIGHT,
        v -> {
          if (v.kind() == Value.Kind.TEXT || v.kind() == Value.Kind.NUMBER) {
            try {
              return Durations.parse(v.text());
            } catch (IllegalArgumentException e) {
              v.fault(e.getMessage());
              return null;
            }
          }
          v.mustBe(Durations.RIGHT);
          return null;
        });
  }

  /** A list of objects of one shape. */
  public static Field<List<Section>> list(String name, Shape shape) {
    return list(name, shape, s -> s);
  }

  /** A list of objects of one shape, each made into a {@code T}. */
  public static <T> Field<List<T>> list(String name, Shape shape, Function<Section, T> make) {
    return of(
        name,
        "array",
        "a list of objects",
        v -> {
          if (v.kind() != Value.Kind.LIST) {
            v.mustBe("a list");
            return null;
          }
          List<T> items = new ArrayList<>(v.items().size());
          boolean whole = true;
          for (Value item : v.items()) {
            Section section = item.section(shape);
            if (section == null) {
              whole = false;
            } else {
              items.add(make.apply(section));
            }
          }
          return whole ? List.copyOf(items) : null;
        },
        shape,
        "[]");
  }

  /** A list of texts, each right by a test. */
  public static Field<List<String>> texts(
      String name, int most, String right, Predicate<String> test) {
    return of(
        name,
        "array",
        "a list of at most " + most + ", each " + right,
        v -> {
          if (v.kind() != Value.Kind.LIST || v.items().size() > most) {
            v.mustBe(
                v.kind() == Value.Kind.LIST
                    ? "a list of at most " + most + " entries, not of " + v.items().size()
                    : "a list");
            return null;
          }
          List<String> items = new ArrayList<>(v.items().size());
          boolean whole = true;
          for (Value item : v.items()) {
            String text = scalarText(item, right, test);
            whole &= text != null;
            items.add(text);
          }
          return whole ? List.copyOf(items) : null;
        });
  }

  /** One object of a shape. */
  public static Field<Section> object(String name, Shape shape) {
    return of(name, "object", "an object", v -> v.section(shape), shape, "");
  }

  /** An object whose keys are names that the writer chose, e.g. tiers by name, in their order. */
  public static Field<Map<String, Section>> map(String name, Shape shape) {
    return of(
        name,
        "object",
        "an object, its keys are names",
        v -> entries(v, (key, item) -> item.section(shape)),
        shape,
        ".NAME");
  }

  /** An object whose keys are free and whose values are texts. */
  public static Field<Map<String, String>> textMap(
      String name,
      int most,
      String keyRight,
      Predicate<String> keyTest,
      String right,
      Predicate<String> test) {
    return of(
        name,
        "object",
        "an object of at most " + most + " entries; keys: " + keyRight + "; values: " + right,
        v -> {
          if (v.kind() == Value.Kind.OBJECT && v.members().size() > most) {
            v.fault("must have at most " + most + " entries, not " + v.members().size());
            return null;
          }
          return entries(
              v,
              (key, item) -> {
                if (!keyTest.test(key)) {
                  item.fault("its name must be " + keyRight);
                  return null;
                }
                return scalarText(item, right, test);
              });
        });
  }

  /** Whatever stands there, for fields that may be of several kinds. */
  public static Field<Value> any(String name, String right) {
    return of(name, "any", right, v -> v);
  }

  private static <T> Map<String, T> entries(
      Value v, java.util.function.BiFunction<String, Value, T> read) {
    if (v.kind() != Value.Kind.OBJECT) {
      v.mustBe("an object");
      return null;
    }
    Map<String, T> entries = new LinkedHashMap<>();
    boolean whole = true;
    for (Map.Entry<String, Value> member : v.members().entrySet()) {
      T item = read.apply(member.getKey(), member.getValue());
      whole &= item != null;
      entries.put(member.getKey(), item);
    }
    return whole ? java.util.Collections.unmodifiableMap(entries) : null;
  }

  /** The same field, not required. */
  public Field<T> or(T value) {
    return or(value, String.valueOf(value));
  }

  /** The same field, not required; the words say what is taken instead, e.g. {@code capacity}. */
  public Field<T> or(T value, String words) {
    return new Field<>(name, type, right, reader, false, value, words, meaning, inner, innerMark);
  }

  /** The same field with its meaning in words, unit included. */
  public Field<T> means(String words) {
    return new Field<>(
        name, type, right, reader, required, fallback, fallbackWords, words, inner, innerMark);
  }

  public String name() {
    return name;
  }

  /** Its type in JSON's own terms: string, integer, number, boolean, array, object; or any. */
  public String type() {
    return type;
  }

  public boolean isRequired() {
    return required;
  }

  /** What may stand there. */
  public String right() {
    return right;
  }

  public String meaning() {
    return meaning;
  }

  /** What it is when it is missing, in words; {@code required} where there is no default. */
  public String defaultWords() {
    return fallbackWords;
  }

  public Shape inner() {
    return inner;
  }

  String innerMark() {
    return innerMark;
  }

  boolean readInto(Section section, Value value) {
    if (value == null || value.kind() == Value.Kind.NULL) {
      if (required) {
        section.fault(this, "is missing; it must be " + right);
        return false;
      }
      section.put(this, fallback);
      return true;
    }
    T got = reader.read(value);
    section.put(this, got);
    return got != null;
  }

  private static boolean isPlainText(String text) {
    return !text.isBlank()
        && text.codePointCount(0, text.length()) <= 200
        && text.codePoints().noneMatch(Field::isUnprintable);
  }

  /** Control characters, line and paragraph separators, and half of a pair. */
  public static boolean isUnprintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          true;
      default -> false;
    };
  }

  /** In YAML a name such as 4090 or true needs no quotes. */
  private static String scalarText(Value v, String right, Predicate<String> test) {
    boolean text =
        v.kind() == Value.Kind.TEXT
            || v.document().isYaml()
                && (v.kind() == Value.Kind.NUMBER || v.kind() == Value.Kind.FLAG);
    if (text && test.test(v.text())) {
      return v.text();
    }
    v.mustBe(right);
    return null;
  }

  private static BigDecimal wholeWithin(Value v, String right, BigDecimal from, BigDecimal to) {
    BigDecimal n = decimal(v);
    if (n == null
        || n.compareTo(from) < 0
        || n.compareTo(to) > 0
        || n.stripTrailingZeros().scale() > 0) {
      v.mustBe(right);
      return null;
    }
    return n;
  }

  /** The exact number; null when it is none, or so large or fine that nothing means it. */
  private static BigDecimal decimal(Value v) {
    if (v.kind() != Value.Kind.NUMBER) {
      return null;
    }
    try {
      BigDecimal n = new BigDecimal(v.text());
      return Math.abs((long) n.scale()) > 400 ? null : n;
    } catch (NumberFormatException e) {
      return null; // NaN, Infinity, or a notation of YAML's that is not decimal
    }
  }

  private static String plain(double d) {
    return d == Math.rint(d) && Math.abs(d) < 1e15 ? Long.toString((long) d) : Double.toString(d);
  }
}
