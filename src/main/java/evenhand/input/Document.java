package evenhand.input;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLParser;

/** A JSON or YAML text, taken apart, with the faults found in it so far. Not for sharing. */
public final class Document {

  /** Deepest nesting that is read; anything people write stays far below. */
  public static final int DEEPEST = 64;

  /** Longest text that is read, characters: a snapshot of a million jobs still fits. */
  public static final int LONGEST = 400_000_000;

  private static final int LONGEST_TEXT = 16_000_000;
  private static final StreamReadConstraints LIMITS =
      StreamReadConstraints.builder()
          .maxNestingDepth(DEEPEST)
          .maxDocumentLength(LONGEST)
          .maxStringLength(LONGEST_TEXT)
          .maxNumberLength(400)
          .maxNameLength(1_000)
          .build();

  // NaN and Infinity are let through the parser so that the fault can name their place.
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(LIMITS)
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .build();
  private static final YAMLFactory YAML =
      YAMLFactory.builder()
          .streamReadConstraints(LIMITS)
          // duplicates are found below, where their path is known
          .loadSettings(
              LoadSettings.builder()
                  .setCodePointLimit(64_000_000)
                  .setAllowDuplicateKeys(true)
                  .build())
          .build();

  /** What parsers add for their own developers. */
  private static final Pattern PARSER_DETAIL =
      Pattern.compile(
          "(?s)\\s*(\\n| at \\[Source:).*| \\(start marker.*|, from `[^`]*`| \\(or [^)]*\\)");

  private final String file;
  private final int firstLine;
  private final boolean yaml;
  private final List<Fault> faults = new ArrayList<>();
  private Value top;

  private Document(String file, int firstLine, boolean yaml) {
    this.file = file;
    this.firstLine = firstLine;
    this.yaml = yaml;
  }

  /**
   * Takes a JSON text apart.
   *
   * @param file what people call it
   * @throws InputFault when it is not one JSON value and nothing more
   */
  public static Document json(String file, String text) {
    return json(file, 1, text);
  }

  /** The same for a text that stands in its file from {@code firstLine} on (one value a line). */
  public static Document json(String file, int firstLine, String text) {
    return new Document(file, firstLine, false).parse(JSON, text);
  }

  /**
   * Takes a YAML text apart: one document, no anchors, aliases or tags.
   *
   * @throws InputFault when it is not that
   */
  public static Document yaml(String file, String text) {
    return new Document(file, 1, true).parse(YAML, text);
  }

  public String file() {
    return file;
  }

  public Value top() {
    return top;
  }

  boolean isYaml() {
    return yaml;
  }

  /** Notes a fault; after {@link InputFault#MOST} of them reading ends. */
  public void fault(int line, String path, String message) {
    faults.add(new Fault(file, line, path, message));
    if (faults.size() >= InputFault.MOST) {
      throw new InputFault(faults);
    }
  }

  /**
   * Reads the whole by a shape.
   *
   * @throws InputFault with all faults of form
   */
  public Section read(Shape shape) {
    Section section = top.section(shape);
    check();
    return section;
  }

  /**
   * Ends a reading.
   *
   * @throws InputFault when faults have been noted
   */
  public void check() {
    if (!faults.isEmpty()) {
      throw new InputFault(faults);
    }
  }

  private Document parse(TokenStreamFactory factory, String text) {
    if (text.length() > LONGEST) {
      throw new InputFault(file, 0, "", "must be at most " + LONGEST + " characters");
    }
    // a byte order mark is no part of the text
    String plain = text.startsWith("\uFEFF") ? text.substring(1) : text;
    try (JsonParser parser = factory.createParser(ObjectReadContext.empty(), plain)) {
      if (parser.nextToken() == null) {
        throw new InputFault(file, 0, "", "is empty; " + (yaml ? "YAML" : "JSON") + " is needed");
      }
      top = value(parser, null, null, 0);
      if (parser.nextToken() != null) {
        throw new InputFault(
            file, line(parser), "", "text after the end; one document is all that may stand here");
      }
      return this;
    } catch (JacksonException e) {
      throw new InputFault(file, faultLine(e), "", unreadable(e));
    }
  }

  private int faultLine(JacksonException e) {
    if (e.getCause() instanceof MarkedYamlEngineException marked
        && marked.getProblemMark().isPresent()) {
      return firstLine + marked.getProblemMark().get().getLine();
    }
    TokenStreamLocation at = e.getLocation();
    return at == null || at.getLineNr() < 1 ? 0 : firstLine - 1 + at.getLineNr();
  }

  private String unreadable(JacksonException e) {
    String why = e.getOriginalMessage() == null ? "" : e.getOriginalMessage();
    if (e.getCause() instanceof MarkedYamlEngineException marked) {
      why = marked.getProblem();
    }
    why = PARSER_DETAIL.matcher(why).replaceAll("");
    return "is not " + (yaml ? "YAML" : "JSON") + " that can be read: " + Value.cut(why, 200);
  }

  private int line(JsonParser parser) {
    return firstLine - 1 + parser.currentTokenLocation().getLineNr();
  }

  private Value value(JsonParser parser, Value parent, String name, int index) {
    int line = line(parser);
    if (parser instanceof YAMLParser yamlParser) {
      refuseReferences(yamlParser, line);
    }
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, Value> members = new LinkedHashMap<>();
        Value object = new Value(this, parent, name, index, line, Value.Kind.OBJECT, members);
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String key = parser.currentName();
          int keyLine = line(parser);
          parser.nextToken();
          Value member = value(parser, object, key, 0);
          Value earlier = members.put(key, member);
          if (earlier != null) {
            fault(
                keyLine,
                member.path(),
                "stands here twice; it is also on line " + earlier.line() + ". Keep one");
          }
        }
        yield object;
      }
      case START_ARRAY -> {
        List<Value> items = new ArrayList<>();
        Value list = new Value(this, parent, name, index, line, Value.Kind.LIST, items);
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          items.add(value(parser, list, null, items.size()));
        }
        yield list;
      }
      case VALUE_NULL -> new Value(this, parent, name, index, line, Value.Kind.NULL, null);
      case VALUE_TRUE, VALUE_FALSE ->
          new Value(this, parent, name, index, line, Value.Kind.FLAG, parser.getString());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT ->
          new Value(this, parent, name, index, line, Value.Kind.NUMBER, parser.getString());
      default -> new Value(this, parent, name, index, line, Value.Kind.TEXT, parser.getString());
    };
  }

  private void refuseReferences(YAMLParser parser, int line) {
    if (parser.isCurrentAlias() || parser.getObjectId() != null || parser.getTypeId() != null) {
      throw new InputFault(
          file, line, "", "YAML anchors (&), aliases (*) and tags (!) are not read; write it out");
    }
  }
}
