package evenhand.slurm.text;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A table of text with its names in the first line, as {@code sinfo}, {@code squeue} and {@code
 * sacct -P} print it.
 *
 * <p>Columns are parted by a separator when the header holds one ({@code |}, tab, or the unit
 * separator 0x1F), otherwise by their widths. Names are compared without case, blanks, dashes and
 * underscores.
 *
 * @param columns the names, as {@link Words#key} makes them
 * @param rows the rows that could be cut into those columns
 * @param faults the others, each with its line
 */
record Table(List<String> columns, List<Row> rows, List<Reading.Fault> faults) {
  private static final char[] SEPARATORS = {'\u001f', '|', '\t'};
  // A row with more separators in its free text than this is not worth guessing at.
  private static final int MAX_EXTRA = 8;
  private static final int MAX_WAYS = 2_000;

  /** What a reader knows of its columns. */
  interface Knowledge {
    /** Columns whose text may hold the separator: names and comments. */
    Set<String> freeText();

    /** False when this cell can not stand in that column. */
    boolean plausible(String column, String cell);
  }

  /**
   * One row.
   *
   * @param line where, from 1
   * @param cells text by column, outer blanks removed
   * @param full columns whose cell fills its width to the last character, so that it may have been
   *     cut
   */
  record Row(int line, Map<String, String> cells, Set<String> full) {
    /** The cell of the first of these columns that the table has, or null. */
    String cell(String... columns) {
      for (String column : columns) {
        String cell = cells.get(column);
        if (cell != null) {
          return cell;
        }
      }
      return null;
    }

    /** As {@link #cell}, but null too when the cell says nothing. */
    String told(String... columns) {
      return Words.orNull(cell(columns));
    }

    /**
     * Refuses the row when one of these columns may have been cut.
     *
     * @throws IllegalArgumentException naming the column
     */
    void refuseIfCut(Set<String> columns) {
      for (String column : columns) {
        if (full.contains(column)) {
          throw new IllegalArgumentException(
              "the column "
                  + column
                  + " is filled to its last character and may have been cut; ask for a wider one");
        }
      }
    }
  }

  boolean has(String... names) {
    for (String name : names) {
      if (columns.contains(name)) {
        return true;
      }
    }
    return false;
  }

  /** Reads a table whose first line that is not blank is its header. */
  static Table read(String text, Knowledge knowledge) {
    List<String> lines = List.of(text.split("\r?\n", -1));
    int at = 0;
    while (at < lines.size() - 1 && lines.get(at).isBlank()) {
      at++;
    }
    String header = lines.get(at);
    for (char separator : SEPARATORS) {
      if (header.indexOf(separator) >= 0) {
        return separated(lines, at, separator, knowledge);
      }
    }
    return byWidth(lines, at);
  }

  private static Table separated(List<String> lines, int at, char separator, Knowledge knowledge) {
    List<String> header = cells(lines.get(at), separator);
    List<String> columns = header.stream().map(Words::key).toList();
    List<List<String>> raw = new ArrayList<>();
    List<Integer> numbers = new ArrayList<>();
    List<Reading.Fault> faults = new ArrayList<>();
    for (int i = at + 1; i < lines.size(); i++) {
      if (lines.get(i).isBlank()) {
        continue;
      }
      List<String> cells = cells(lines.get(i), separator);
      int extra = cells.size() - columns.size();
      List<String> solved = extra == 0 ? cells : solve(cells, columns, separator, knowledge);
      if (solved == null) {
        faults.add(
            new Reading.Fault(
                i + 1, "the row has " + cells.size() + " columns, the header " + columns.size()));
      } else {
        raw.add(solved);
        numbers.add(i + 1);
      }
    }
    Set<String> padded = padded(header, columns, raw);
    List<Row> rows = new ArrayList<>();
    for (int r = 0; r < raw.size(); r++) {
      Map<String, String> cells = new LinkedHashMap<>();
      Set<String> full = new HashSet<>();
      for (int c = 0; c < columns.size(); c++) {
        String cell = raw.get(r).get(c);
        cells.putIfAbsent(columns.get(c), cell.strip());
        if (padded.contains(columns.get(c)) && !cell.isEmpty() && cell.equals(cell.strip())) {
          full.add(columns.get(c));
        }
      }
      rows.add(new Row(numbers.get(r), cells, full));
    }
    return new Table(columns, rows, faults);
  }

  /** Columns that are filled up with blanks to one width: only these can cut a text. */
  private static Set<String> padded(
      List<String> header, List<String> columns, List<List<String>> rows) {
    Set<String> padded = new HashSet<>();
    for (int c = 0; c < columns.size(); c++) {
      int column = c;
      int width = header.get(c).length();
      boolean oneWidth = rows.stream().allMatch(row -> row.get(column).length() == width);
      boolean blanks =
          !header.get(c).equals(header.get(c).strip())
              || rows.stream().anyMatch(row -> !row.get(column).equals(row.get(column).strip()));
      if (oneWidth && blanks) {
        padded.add(columns.get(c));
      }
    }
    return padded;
  }

  private static List<String> cells(String line, char separator) {
    return List.of(line.split(Pattern.quote(String.valueOf(separator)), -1));
  }

  /**
   * A row with too many cells, put together again: the separators too many stand in free texts.
   * Null when no way, or more than one, makes every cell plausible.
   */
  private static List<String> solve(
      List<String> cells, List<String> columns, char separator, Knowledge knowledge) {
    int extra = cells.size() - columns.size();
    List<Integer> free = new ArrayList<>();
    for (int c = 0; c < columns.size(); c++) {
      if (knowledge.freeText().contains(columns.get(c))) {
        free.add(c);
      }
    }
    if (extra < 1 || extra > MAX_EXTRA || free.isEmpty()) {
      return null;
    }
    List<List<String>> solutions = new ArrayList<>();
    int[] share = new int[free.size()];
    share[0] = extra;
    for (int way = 0; way < MAX_WAYS; way++) {
      List<String> joined = joined(cells, columns.size(), free, share, separator);
      if (plausible(joined, columns, knowledge) && !solutions.contains(joined)) {
        solutions.add(joined);
      }
      if (!next(share)) {
        return solutions.size() == 1 ? solutions.get(0) : null;
      }
    }
    return null;
  }

  /** The next way to share the same sum among the free columns; false after the last. */
  private static boolean next(int[] share) {
    int last = share.length - 1;
    int tail = share[last];
    for (int i = last - 1; i >= 0; i--) {
      if (share[i] > 0) {
        share[i]--;
        share[last] = 0;
        share[i + 1] = tail + 1;
        return true;
      }
    }
    return false;
  }

  private static List<String> joined(
      List<String> cells, int columns, List<Integer> free, int[] share, char separator) {
    List<String> joined = new ArrayList<>();
    int from = 0;
    for (int c = 0; c < columns; c++) {
      int index = free.indexOf(c);
      int take = 1 + (index < 0 ? 0 : share[index]);
      joined.add(String.join(String.valueOf(separator), cells.subList(from, from + take)));
      from += take;
    }
    return joined;
  }

  private static boolean plausible(List<String> cells, List<String> columns, Knowledge knowledge) {
    for (int c = 0; c < columns.size(); c++) {
      if (!knowledge.plausible(columns.get(c), cells.get(c).strip())) {
        return false;
      }
    }
    return true;
  }

  private static Table byWidth(List<String> lines, int at) {
    String header = lines.get(at);
    List<String> names = words(header);
    List<Integer> starts = new ArrayList<>();
    for (int i = 0; i < header.length(); i++) {
      if (header.charAt(i) > ' ' && (i == 0 || header.charAt(i - 1) <= ' ')) {
        starts.add(i);
      }
    }
    List<String> columns = names.stream().map(Words::key).toList();
    List<Row> rows = new ArrayList<>();
    List<Reading.Fault> faults = new ArrayList<>();
    for (int i = at + 1; i < lines.size(); i++) {
      String line = lines.get(i);
      if (line.isBlank()) {
        continue;
      }
      List<String> cells = atStarts(line, starts);
      if (cells == null) {
        // Columns that are not left-justified, or a table without alignment.
        cells = words(line);
      }
      if (cells.size() != columns.size()) {
        faults.add(
            new Reading.Fault(
                i + 1,
                "the row cannot be cut into the header's "
                    + columns.size()
                    + " columns; a full column runs into the next one, so ask for wider columns or"
                    + " a separator"));
        continue;
      }
      Map<String, String> byName = new LinkedHashMap<>();
      for (int c = 0; c < columns.size(); c++) {
        byName.putIfAbsent(columns.get(c), cells.get(c).strip());
      }
      rows.add(new Row(i + 1, byName, Set.of()));
    }
    return new Table(columns, rows, faults);
  }

  /** The cells under left-justified headings, or null when the line is not laid out like that. */
  private static List<String> atStarts(String line, List<Integer> starts) {
    List<String> cells = new ArrayList<>();
    for (int c = 0; c < starts.size(); c++) {
      int start = Math.min(starts.get(c), line.length());
      int end = c + 1 < starts.size() ? Math.min(starts.get(c + 1), line.length()) : line.length();
      String cell = line.substring(start, end);
      boolean runsOn = end < line.length() && line.charAt(end - 1) > ' ';
      if (runsOn || (cell.startsWith(" ") && !cell.isBlank()) || (c == 0 && starts.get(0) > 0)) {
        return null;
      }
      cells.add(cell);
    }
    return cells;
  }

  private static List<String> words(String line) {
    return line.isBlank() ? List.of() : List.of(line.strip().split("\\s+"));
  }
}
