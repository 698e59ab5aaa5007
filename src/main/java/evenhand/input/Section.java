package evenhand.input;

import java.util.HashMap;
import java.util.Map;

/** An object that was read by a {@link Shape}: every field has a value of its kind. */
public final class Section {
  private final Value value;
  private final Map<Field<?>, Object> read = new HashMap<>();

  private Section(Value value) {
    this.value = value;
  }

  static Section read(Value value, Shape shape) {
    Section section = new Section(value);
    boolean whole = true;
    for (Map.Entry<String, Value> member : value.members().entrySet()) {
      if (!shape.byName().containsKey(member.getKey())) {
        member
            .getValue()
            .fault(
                "is no field of "
                    + shape.title()
                    + "; "
                    + Spelling.hint(member.getKey(), shape.byName().keySet()));
        whole = false;
      }
    }
    for (Field<?> field : shape.fields()) {
      whole &= field.readInto(section, value.members().get(field.name()));
    }
    return whole ? section : null;
  }

  void put(Field<?> field, Object got) {
    read.put(field, got);
  }

  /** What the field says, or its default. */
  @SuppressWarnings("unchecked")
  public <T> T get(Field<T> field) {
    Object got = read.get(field);
    if (got == null && !read.containsKey(field)) {
      throw new IllegalArgumentException(field.name() + " is no field of " + value.path());
    }
    return (T) got;
  }

  /** Whether the field is written, and not as null. */
  public boolean has(Field<?> field) {
    Value member = value.members().get(field.name());
    return member != null && member.kind() != Value.Kind.NULL;
  }

  public Value value() {
    return value;
  }

  /** The key this object stands under, where it is a member of a map. */
  public String path() {
    return value.path();
  }

  /** Notes a fault at one field: at its own line when it is written, else at the object's. */
  public void fault(Field<?> field, String message) {
    Value member = value.members().get(field.name());
    if (member != null) {
      member.fault(message);
    } else {
      String path = value.path();
      value
          .document()
          .fault(value.line(), (path.isEmpty() ? "" : path + ".") + field.name(), message);
    }
  }

  /** Notes a fault at the object as a whole. */
  public void fault(String message) {
    value.fault(message);
  }
}
