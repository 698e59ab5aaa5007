package evenhand.input;

import java.util.List;
import java.util.Map;

/**
 * A value of a document and the place it stands at.
 *
 * <p>Use it directly only where a value may be of several kinds; otherwise let a {@link Field} read
 * it.
 */
public final class Value {

  /** The kinds of JSON; a YAML scalar without quotes is what it looks like. */
  public enum Kind {
    OBJECT("an object"),
    LIST("a list"),
    TEXT("text"),
    NUMBER("a number"),
    FLAG("true or false"),
    NULL("null");

    private final String words;

    Kind(String words) {
      this.words = words;
    }
  }

  private final Document document;
  private final Value parent;
  private final String name;
  private final int index;
  private final int line;
  private final Kind kind;
  private final Object content;

  Value(
      Document document,
      Value parent,
      String name,
      int index,
      int line,
      Kind kind,
      Object content) {
    this.document = document;
    this.parent = parent;
    this.name = name;
    this.index = index;
    this.line = line;
    this.kind = kind;
    this.content = content;
  }

  public Kind kind() {
    return kind;
  }

  /** The text, number or flag as it is written; null for null. */
  public String text() {
    return (String) content;
  }

  /** Parts of a list. */
  @SuppressWarnings("unchecked")
  public List<Value> items() {
    return (List<Value>) content;
  }

  /** Members of an object, in the order they are written. */
  @SuppressWarnings("unchecked")
  public Map<String, Value> members() {
    return (Map<String, Value>) content;
  }

  public Document document() {
    return document;
  }

  public int line() {
    return line;
  }

  /** {@code jobs[2].num_gpus}; empty at the top. */
  public String path() {
    if (parent == null) {
      return "";
    }
    if (name == null) {
      return parent.path() + "[" + index + "]";
    }
    return parent.parent == null ? name : parent.path() + "." + name;
  }

  /** Notes a fault at this value. */
  public void fault(String message) {
    document.fault(line, path(), message);
  }

  /** Notes that something else belongs here, e.g. {@code a whole number from 1 to 8}. */
  void mustBe(String right) {
    fault("must be " + right + ", not " + shown());
  }

  /** The value in few words, for messages. */
  String shown() {
    return switch (kind) {
      case TEXT -> '"' + cut(text()) + '"';
      case NUMBER, FLAG -> cut(text());
      default -> kind.words;
    };
  }

  static String cut(String text) {
    return cut(text, 60);
  }

  /** Long values are cut, and what could upset a terminal or a log line is taken out. */
  static String cut(String text, int most) {
    StringBuilder shown = new StringBuilder();
    text.codePoints()
        .limit(most)
        .forEach(c -> shown.appendCodePoint(Field.isUnprintable(c) ? 0xFFFD : c));
    return text.codePointCount(0, text.length()) > most ? shown + "…" : shown.toString();
  }

  /** This object read by a shape; null, with its faults noted, when it cannot be. */
  public Section section(Shape shape) {
    if (kind != Kind.OBJECT) {
      mustBe("an object with " + shape.fieldList());
      return null;
    }
    return Section.read(this, shape);
  }
}
