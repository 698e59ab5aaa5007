package evenhand.json;

import evenhand.facts.Share;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.Writer;
import java.math.BigDecimal;
import java.util.List;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.io.NumberOutput;
import tools.jackson.core.json.JsonFactory;

/** JSON text that comes out the same on every machine: no spaces, numbers in plain decimals. */
final class Text {
  private static final JsonFactory JSON = new JsonFactory();

  private Text() {}

  static String write(Consumer<JsonGenerator> content) {
    StringWriter text = new StringWriter();
    write(text, content);
    return text.toString();
  }

  static void write(Writer to, Consumer<JsonGenerator> content) {
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), to)) {
      content.accept(json);
    }
  }

  static void write(OutputStream to, Consumer<JsonGenerator> content) {
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), to)) {
      content.accept(json);
    }
  }

  /** A number as {@code 24780.0}: the shortest digits that give it back, and always a point. */
  static void number(JsonGenerator json, String name, double value) {
    json.writeName(name);
    if (NumberOutput.notFinite(value)) {
      throw new IllegalArgumentException(name + " is " + value + ", which JSON cannot say");
    }
    // Double.toString gives other digits before Java 19; this one is Jackson's own.
    String digits = NumberOutput.toString(value == 0 ? 0.0 : value, true);
    if (digits.indexOf('E') >= 0 && Math.abs(value) < 1e21 && Math.abs(value) >= 1e-6) {
      digits = new BigDecimal(digits).stripTrailingZeros().toPlainString();
      digits = digits.indexOf('.') < 0 ? digits + ".0" : digits;
    }
    json.writeNumber(digits);
  }

  /** Text, or null. */
  static void text(JsonGenerator json, String name, String value) {
    json.writeName(name);
    if (value == null) {
      json.writeNull();
    } else {
      json.writeString(value);
    }
  }

  /** {@code "on":[{"node":"n2","tier":"4090","gpus":2}]}. */
  static void shares(JsonGenerator json, List<Share> on) {
    json.writeArrayPropertyStart("on");
    for (Share share : on) {
      json.writeStartObject();
      json.writeStringProperty("node", share.node());
      json.writeStringProperty("tier", share.tier().name());
      json.writeNumberProperty("gpus", share.gpus());
      json.writeEndObject();
    }
    json.writeEndArray();
  }
}
