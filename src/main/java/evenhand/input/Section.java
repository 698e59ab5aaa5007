package evenhand.input;

import java.util.Map;

/** An object that was read by a {@link Shape}: every field has a value of its kind. */
public final class Section {
  private final Value value;
  private final Shape shape;
  private final Object[] read; // in the order of the shape's fields: there may be 100,000 sections

  private Section(Value value, Shape shape) {
    this.value = value;
    this.shape = shape;
    this.read = new Object[shape.size()];
  }

  static Section read(Value value, Shape shape) {
    Section section = new Section(value, shape);
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
    for (Field<?> field : shape.byName().values()) {
      whole &= field.readInto(section, value.members().get(field.name()));
    }
    return whole ? section : null;
  }

  void put(Field<?> field, Object got) {
    read[shape.position(field)] = got;
  }

  /** What the field says, or its default. */
  @SuppressWarnings("unchecked")
  public <T> T get(Field<T> field) {
    return (T) read[shape.position(field)];
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
