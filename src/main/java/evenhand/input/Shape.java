package evenhand.input;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What an object may hold: its fields and nothing else. Immutable, to be kept in a constant. */
public final class Shape {
  private final String title;
  private final Map<String, Field<?>> fields = new LinkedHashMap<>();
  private final Map<Field<?>, Integer> positions = new IdentityHashMap<>();

  private Shape(String title, Field<?>... fields) {
    this.title = title;
    for (Field<?> field : fields) {
      if (this.fields.put(field.name(), field) != null) {
        throw new IllegalArgumentException(title + " has two fields " + field.name());
      }
      positions.put(field, positions.size());
    }
  }

  /**
   * @param title what such an object is called, e.g. {@code a placement}
   */
  public static Shape of(String title, Field<?>... fields) {
    return new Shape(title, fields);
  }

  public String title() {
    return title;
  }

  public List<Field<?>> fields() {
    return List.copyOf(fields.values());
  }

  int size() {
    return positions.size();
  }

  int position(Field<?> field) {
    Integer position = positions.get(field);
    if (position == null) {
      throw new IllegalArgumentException(field.name() + " is no field of " + title);
    }
    return position;
  }

  Map<String, Field<?>> byName() {
    return fields;
  }

  String fieldList() {
    return String.join(", ", fields.keySet());
  }

  /** One line for each field with its default and meaning, nested shapes after their field. */
  public List<Explained> explain() {
    List<Explained> lines = new ArrayList<>();
    explain("", lines);
    return lines;
  }

  private void explain(String before, List<Explained> lines) {
    for (Field<?> field : fields.values()) {
      lines.add(
          new Explained(
              before + field.name(), field.right(), field.defaultWords(), field.meaning()));
      if (field.inner() != null) {
        field.inner().explain(before + field.name() + field.innerMark() + ".", lines);
      }
    }
  }

  /**
   * A field in words.
   *
   * @param right what may stand there
   * @param defaultWords what it is when it is missing, or {@code required}
   */
  public record Explained(String path, String right, String defaultWords, String meaning) {}
}
