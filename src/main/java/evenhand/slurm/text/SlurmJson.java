package evenhand.slurm.text;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The JSON of Slurm's commands and of slurmrestd, whose shapes changed from version to version: a
 * number may be plain or {@code {"set":…,"infinite":…,"number":…}}, a state one word or a list.
 */
final class SlurmJson {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private SlurmJson() {}

  /** True when a text can only be meant as JSON. */
  static boolean looksLike(String text) {
    String start = text.stripLeading();
    return start.startsWith("{") || start.startsWith("[");
  }

  /** The records of an answer, with what is wrong about it. */
  static Reading<JsonNode> records(String text, String... lists) {
    JsonNode root;
    try {
      root = MAPPER.readTree(text);
    } catch (JacksonException e) {
      return onePerLine(text, e, lists);
    }
    return records(root, lists);
  }

  private static Reading<JsonNode> records(JsonNode root, String... lists) {
    List<JsonNode> records = new ArrayList<>();
    List<Reading.Fault> faults = new ArrayList<>();
    JsonNode errors = root.path("errors");
    // Slurm 22.05 exits with 0 and empty lists when the controller is away: only this tells.
    for (JsonNode error : errors.isArray() ? errors : MAPPER.createArrayNode()) {
      faults.add(new Reading.Fault(0, "Slurm answered with an error: " + sentence(error)));
    }
    if (!faults.isEmpty()) {
      return new Reading<>(List.of(), faults);
    }
    if (root.isArray()) {
      root.forEach(records::add);
      return new Reading<>(records, faults);
    }
    for (String list : lists) {
      if (root.path(list).isArray()) {
        root.path(list).forEach(records::add);
        return new Reading<>(records, faults);
      }
    }
    if (root.isObject() && !root.has("meta") && !root.isEmpty()) {
      return new Reading<>(List.of(root), faults); // one record by itself
    }
    return Reading.nothing("the JSON has none of the lists " + String.join(", ", lists));
  }

  /** Records one a line; only where the first line is whole, so that a cut answer is one fault. */
  private static Reading<JsonNode> onePerLine(
      String text, JacksonException whole, String... lists) {
    List<JsonNode> records = new ArrayList<>();
    List<Reading.Fault> faults = new ArrayList<>();
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      if (line.isBlank()) {
        continue;
      }
      try {
        Reading<JsonNode> one = records(MAPPER.readTree(line), lists);
        records.addAll(one.values());
        for (Reading.Fault fault : one.faults()) {
          faults.add(new Reading.Fault(number, fault.sentence()));
        }
      } catch (JacksonException e) {
        if (records.isEmpty()) {
          return Reading.nothing("the answer is not whole JSON: " + where(whole));
        }
        faults.add(new Reading.Fault(number, "not JSON: " + where(e)));
      }
    }
    return new Reading<>(records, faults);
  }

  private static String where(JacksonException e) {
    String place =
        e.getLocation() == null
            ? ""
            : " (line "
                + e.getLocation().getLineNr()
                + ", column "
                + e.getLocation().getColumnNr()
                + ")";
    return Words.quoted(String.valueOf(e.getOriginalMessage()).split("\n", 2)[0]) + place;
  }

  private static String sentence(JsonNode error) {
    StringBuilder sentence = new StringBuilder();
    for (String field : List.of("description", "error")) {
      String text = text(error.path(field));
      if (text != null && sentence.indexOf(text) < 0) {
        sentence.append(sentence.isEmpty() ? "" : ", ").append(text);
      }
    }
    return sentence.isEmpty() ? Words.quoted(error.toString()) : sentence.toString();
  }

  /** A text, or null when it is missing, empty or says nothing; a number is given as text. */
  static String text(JsonNode node) {
    return node.isValueNode() && !node.isNull() ? Words.orNull(node.asString()) : null;
  }

  /** A number in any shape, or null when unset; infinite is {@link Long#MAX_VALUE}. */
  static Long number(JsonNode node) {
    if (node.isObject()) {
      if (node.path("infinite").asBoolean(false)) {
        return Long.MAX_VALUE;
      }
      return node.path("set").asBoolean(true) ? number(node.path("number")) : null;
    }
    if (node.isIntegralNumber() && node.canConvertToLong()) {
      return node.longValue();
    }
    return node.isNumber() && Double.isFinite(node.doubleValue())
        ? (Long) (long) node.doubleValue()
        : null;
  }

  /** One word or a list of words, as a list. */
  static List<String> words(JsonNode node) {
    List<String> words = new ArrayList<>();
    if (node.isArray()) {
      node.forEach(word -> words.addAll(words(word)));
    } else if (text(node) != null || node.isString()) {
      words.add(node.asString());
    }
    words.removeIf(String::isBlank);
    return words;
  }
}
