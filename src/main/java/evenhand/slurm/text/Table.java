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
 * separator 0x1F), otherwise by their widths: a full column may touch the next one, and rows that
 * are laid out in no such way are parted at blanks. A line of dashes below the header, as {@code
 * sacct} prints it, tells the widths. Names are compared without case, blanks, dashes and
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
  private static final Pattern UNDERLINE = Pattern.compile("-[- ]*--\\s*");

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
    boolean underlined = at + 1 < lines.size() && UNDERLINE.matcher(lines.get(at + 1)).matches();
    Widths widths = Widths.of(lines.get(at), underlined ? lines.get(at + 1) : null);
    List<String> columns = widths.columns();
    List<Row> rows = new ArrayList<>();
    List<Reading.Fault> faults = new ArrayList<>();
    for (int i = at + (underlined ? 2 : 1); i < lines.size(); i++) {
      String line = lines.get(i);
      if (line.isBlank()) {
        continue;
      }
      List<String> cells = widths.cut(line);
      boolean laidOut = cells != null;
      if (!laidOut && !underlined) {
        // Columns that are not left-justified, or a table without alignment.
        cells = words(line);
      }
      if (cells == null || cells.size() != columns.size()) {
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
      Set<String> full = new HashSet<>();
      for (int c = 0; c < columns.size(); c++) {
        String cell = cells.get(c);
        byName.putIfAbsent(columns.get(c), cell.strip());
        if (laidOut && widths.fills(c, cell)) {
          full.add(columns.get(c));
        }
      }
      rows.add(new Row(i + 1, byName, full));
    }
    return new Table(columns, rows, faults);
  }

  /**
   * Where the columns of a table without a separator stand.
   *
   * @param columns their names
   * @param starts where each begins
   * @param ends where each ends, exclusive; of the last one {@link Integer#MAX_VALUE} when its
   *     width is not told
   * @param abutting true where a full column may touch the next one, as {@code sinfo -O} and {@code
   *     squeue -O} print it
   * @param underlined true where dashes below the header tell the widths exactly, as {@code sacct}
   *     prints it
   */
  private record Widths(
      List<String> columns,
      List<Integer> starts,
      List<Integer> ends,
      boolean abutting,
      boolean underlined) {

    static Widths of(String header, String underline) {
      String ruler = underline == null ? header : underline;
      List<Integer> starts = new ArrayList<>();
      for (int i = 0; i < ruler.length(); i++) {
        if (ruler.charAt(i) > ' ' && (i == 0 || ruler.charAt(i - 1) <= ' ')) {
          starts.add(i);
        }
      }
      int count = starts.size();
      List<Integer> ends = new ArrayList<>();
      // Names with two blanks or more between them stand in columns of a set width; those of other
      // layouts are parted by one blank somewhere.
      boolean abutting = underline == null && count > 0 && starts.get(0) == 0;
      for (int c = 0; c < count; c++) {
        int next = c + 1 < count ? starts.get(c + 1) : ruler.length();
        abutting &= c + 1 == count || ruler.charAt(next - 2) <= ' ';
        boolean told = c + 1 < count || underline != null || header.endsWith(" ");
        ends.add(
            told ? underline != null ? dashesEnd(ruler, starts.get(c)) : next : Integer.MAX_VALUE);
      }
      List<String> columns = new ArrayList<>();
      for (int c = 0; c < count; c++) {
        columns.add(Words.key(between(header, starts.get(c), ends.get(c))));
      }
      return new Widths(columns, starts, ends, abutting, underline != null);
    }

    private static int dashesEnd(String ruler, int start) {
      int blank = ruler.indexOf(' ', start);
      return blank < 0 ? ruler.length() : blank;
    }

    private static String between(String line, int start, int end) {
      return line.substring(Math.min(start, line.length()), Math.min(end, line.length()));
    }

    /** The row's cells, or null when it is not laid out like this. */
    List<String> cut(String line) {
      List<String> cells = new ArrayList<>();
      for (int c = 0; c < starts.size(); c++) {
        String cell = between(line, starts.get(c), ends.get(c));
        if (underlined ? !standsAlone(line, c) : !standsLeft(line, c, cell)) {
          return null;
        }
        cells.add(cell);
      }
      return cells;
    }

    /** Nothing stands between the column and the next one. */
    private boolean standsAlone(String line, int c) {
      int next = c + 1 < starts.size() ? starts.get(c + 1) : line.length();
      return between(line, ends.get(c), Math.max(next, ends.get(c))).isBlank();
    }

    private boolean standsLeft(String line, int c, String cell) {
      boolean runsOn = c + 1 < starts.size() && ends.get(c) < line.length() && fills(c, cell);
      // Blanks within such a cell would mean that it is two of a row that is out of step.
      return !(runsOn && (!abutting || cell.contains("  ")))
          && (cell.isBlank() || !cell.startsWith(" "))
          && starts.get(0) == 0;
    }

    /** Whether the cell goes to its column's last character, so that it may have been cut. */
    boolean fills(int c, String cell) {
      return !underlined
          && ends.get(c) != Integer.MAX_VALUE
          && cell.length() == ends.get(c) - starts.get(c)
          && !cell.endsWith(" ");
    }
  }

  private static List<String> words(String line) {
    return line.isBlank() ? List.of() : List.of(line.strip().split("\\s+"));
  }
}
