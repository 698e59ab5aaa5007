package evenhand.cli;

import evenhand.input.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * A table of text: columns aligned, two spaces between, one row a line however long it is, so that
 * {@code grep} and {@code awk} can work on it. Wide characters count two.
 */
public final class Table {
  private final List<String> headers;
  private final List<Boolean> right;
  private final List<List<String>> rows = new ArrayList<>();

  private Table(List<String> headers, List<Boolean> right) {
    this.headers = headers;
    this.right = right;
  }

  /**
   * @param headers units included; one that begins with {@code >} is a column of numbers, aligned
   *     right
   */
  public static Table of(String... headers) {
    List<String> names = new ArrayList<>();
    List<Boolean> right = new ArrayList<>();
    for (String header : headers) {
      right.add(header.startsWith(">"));
      names.add(header.startsWith(">") ? header.substring(1) : header);
    }
    return new Table(names, right);
  }

  /** Adds a row; null and empty text are shown as {@code -}. */
  public Table row(Object... cells) {
    if (cells.length != headers.size()) {
      throw new IllegalArgumentException(cells.length + " cells for " + headers);
    }
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      String text = cell == null ? "" : clean(cell.toString());
      row.add(text.isEmpty() ? "-" : text);
    }
    rows.add(row);
    return this;
  }

  /** The whole table with its header, each line ended. */
  public String text() {
    int[] widths = new int[headers.size()];
    measure(headers, widths);
    rows.forEach(row -> measure(row, widths));
    StringBuilder text = new StringBuilder();
    append(text, headers, widths);
    rows.forEach(row -> append(text, row, widths));
    return text.toString();
  }

  private static void measure(List<String> row, int[] widths) {
    for (int i = 0; i < widths.length; i++) {
      widths[i] = Math.max(widths[i], width(row.get(i)));
    }
  }

  private void append(StringBuilder text, List<String> row, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String cell = row.get(i);
      String padding = " ".repeat(widths[i] - width(cell));
      line.append(i == 0 ? "" : "  ").append(right.get(i) ? padding + cell : cell + padding);
    }
    text.append(line.toString().stripTrailing()).append('\n');
  }

  /** Text that cannot move a terminal's cursor or break a row. */
  static String clean(String text) {
    StringBuilder clean = new StringBuilder(text.length());
    text.codePoints().forEach(c -> clean.appendCodePoint(Field.isUnprintable(c) ? ' ' : c));
    return clean.toString();
  }

  /** Columns that a text takes in a terminal. */
  static int width(String text) {
    return text.codePoints().map(Table::width).sum();
  }

  private static int width(int c) {
    int type = Character.getType(c);
    if (type == Character.NON_SPACING_MARK
        || type == Character.ENCLOSING_MARK
        || type == Character.FORMAT) {
      return 0;
    }
    boolean wide =
        c >= 0x1100 && c <= 0x115F // Hangul, the beginnings of syllables
            || c >= 0x2E80 && c <= 0xA4CF && c != 0x303F // Chinese, Japanese
            || c >= 0xAC00 && c <= 0xD7A3 // Hangul syllables
            || c >= 0xF900 && c <= 0xFAFF
            || c >= 0xFE30 && c <= 0xFE6F
            || c >= 0xFF00 && c <= 0xFF60
            || c >= 0xFFE0 && c <= 0xFFE6
            || c >= 0x1F300 && c <= 0x1FAFF // pictures
            || c >= 0x20000 && c <= 0x3FFFD;
    return wide ? 2 : 1;
  }
}
