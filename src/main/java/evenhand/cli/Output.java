package evenhand.cli;

import java.util.List;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** The option {@code -o}: how a command prints what it found. */
public final class Output {
  /** The forms there are. */
  public enum Form {
    table,
    json
  }

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORM",
      description = "How to print: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
      defaultValue = "table")
  private Form form = Form.table;

  public boolean isJson() {
    return form == Form.json;
  }

  /** A list as JSON: {@code {"items":[…]}}, one item a line. */
  static String items(List<JsonNode> items) {
    StringBuilder text = new StringBuilder("{\"items\":[");
    String before = "\n ";
    for (JsonNode item : items) {
      text.append(before).append(item);
      before = ",\n ";
    }
    return text.append("]}").toString();
  }
}
