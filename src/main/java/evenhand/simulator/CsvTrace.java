package evenhand.simulator;

import evenhand.input.InputFault;
import evenhand.input.Spelling;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Reads a job set from CSV: a header, then a job a line. */
public final class CsvTrace {
  private CsvTrace() {}

  /** The columns there are; the first four must be there. */
  public static final List<String> COLUMNS =
      List.of(
          "job_id",
          "submit_s",
          "num_gpus",
          "run_s",
          "account",
          "user",
          "nodes",
          "tier",
          "min_runtime_s",
          "resumable",
          "priority",
          "kind",
          "preemptible");

  private static final int REQUIRED = 4;
  private static final int LONGEST_ROW = 10_000;

  /**
   * Reads a job set; rows that cannot be jobs are listed beside those that can.
   *
   * @throws InputFault when the header is not one
   */
  public static Trace read(String file, String text) {
    List<String> lines = text.lines().toList();
    int first = 0;
    while (first < lines.size() && lines.get(first).isBlank()) {
      first++;
    }
    if (first == lines.size()) {
      throw new InputFault(file, 0, "", "is empty; a header and a job a line are needed");
    }
    Map<String, Integer> at = header(file, first + 1, lines.get(first));
    List<TraceJob> jobs = new ArrayList<>();
    List<Trace.Unreadable> unreadable = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    int rows = 0;
    for (int i = first + 1; i < lines.size(); i++) {
      String line = lines.get(i);
      if (line.isBlank()) {
        continue;
      }
      rows++;
      try {
        TraceJob job = job(i + 1, cells(line), at);
        if (!ids.add(job.id())) {
          throw new IllegalArgumentException("job_id " + job.id() + " stands in a row above");
        }
        jobs.add(job);
      } catch (IllegalArgumentException e) {
        unreadable.add(new Trace.Unreadable(i + 1, e.getMessage(), brief(line)));
      }
    }
    return new Trace(jobs, unreadable, rows);
  }

  private static Map<String, Integer> header(String file, int line, String text) {
    Map<String, Integer> at = new HashMap<>();
    List<String> names = cells(text.startsWith("\uFEFF") ? text.substring(1) : text);
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i).strip().toLowerCase(Locale.ROOT);
      if (!COLUMNS.contains(name)) {
        throw new InputFault(
            file, line, name, "is no column of a job set; " + Spelling.hint(name, COLUMNS));
      }
      if (at.put(name, i) != null) {
        throw new InputFault(file, line, name, "stands twice in the header");
      }
    }
    for (String needed : COLUMNS.subList(0, REQUIRED)) {
      if (!at.containsKey(needed)) {
        throw new InputFault(
            file,
            line,
            needed,
            "is missing from the header; needed are "
                + String.join(", ", COLUMNS.subList(0, REQUIRED)));
      }
    }
    return at;
  }

  private static TraceJob job(int line, List<String> cells, Map<String, Integer> at) {
    if (cells.size() != at.size()) {
      throw new IllegalArgumentException(
          "has " + cells.size() + " cells; the header has " + at.size());
    }
    Row row = new Row(cells, at);
    String id = row.text("job_id");
    if (id == null) {
      throw new IllegalArgumentException("job_id is empty");
    }
    return checked(
        new TraceJob(
            id,
            row.micros("submit_s", null),
            row.text("account"),
            row.text("user"),
            row.whole("nodes", 1),
            row.whole("num_gpus", null),
            row.text("tier"),
            row.micros("run_s", null),
            row.micros("min_runtime_s", 0L) / Micros.SECOND,
            row.flag("resumable", true),
            row.priority(),
            row.text("kind"),
            row.flag("preemptible", true),
            line));
  }

  /**
   * The job, if it can be one at all.
   *
   * @throws IllegalArgumentException saying why not
   */
  public static TraceJob checked(TraceJob job) {
    if (job.numGpus() == 0) {
      throw new IllegalArgumentException("num_gpus is 0: no work for a GPU");
    }
    if (job.numGpus() < 0 || job.nodes() < 1) {
      throw new IllegalArgumentException(
          "asks for " + job.numGpus() + " GPUs on each of " + job.nodes() + " nodes");
    }
    if ((long) job.nodes() * job.numGpus() > 10_000_000) {
      throw new IllegalArgumentException("asks for more than 10,000,000 GPUs");
    }
    if (job.submitMicros() < 0 || job.runMicros() < 0 || job.minRuntimeSeconds() < 0) {
      throw new IllegalArgumentException("a time is negative");
    }
    return job;
  }

  private record Row(List<String> cells, Map<String, Integer> at) {
    String text(String name) {
      Integer i = at.get(name);
      String cell = i == null ? "" : cells.get(i).strip();
      return cell.isEmpty() ? null : cell;
    }

    long micros(String name, Long otherwise) {
      String cell = needed(name, otherwise);
      try {
        return cell == null ? otherwise : Micros.of(new BigDecimal(cell));
      } catch (ArithmeticException | NumberFormatException e) {
        throw new IllegalArgumentException(
            name + " is \"" + brief(cell) + "\"; it must be seconds, 0 to 10^10");
      }
    }

    int whole(String name, Integer otherwise) {
      String cell = needed(name, otherwise);
      try {
        return cell == null ? otherwise : new BigDecimal(cell).intValueExact();
      } catch (ArithmeticException | NumberFormatException e) {
        throw new IllegalArgumentException(
            name + " is \"" + brief(cell) + "\"; it must be a whole number");
      }
    }

    /** A number, or the word of a class of priority (PR1). */
    int priority() {
      String cell = text("priority");
      return switch (cell == null ? "" : cell.toLowerCase(Locale.ROOT)) {
        case "urgent" -> 2;
        case "high" -> 1;
        case "normal" -> 0;
        case "low" -> -1;
        default -> {
          try {
            yield whole("priority", 0);
          } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                "priority is \""
                    + brief(cell)
                    + "\"; it must be a whole number, or urgent, high, normal or low");
          }
        }
      };
    }

    boolean flag(String name, boolean otherwise) {
      String cell = text(name);
      if (cell == null) {
        return otherwise;
      }
      return switch (cell.toLowerCase(Locale.ROOT)) {
        case "true", "1", "yes" -> true;
        case "false", "0", "no" -> false;
        default ->
            throw new IllegalArgumentException(
                name + " is \"" + brief(cell) + "\"; it must be true or false");
      };
    }

    private String needed(String name, Object otherwise) {
      String cell = text(name);
      if (cell == null && otherwise == null) {
        throw new IllegalArgumentException(name + " is empty");
      }
      return cell;
    }
  }

  /** Cuts at commas outside quotes; a quote inside quotes is written twice. */
  static List<String> cells(String line) {
    if (line.indexOf('"') < 0) {
      return Arrays.asList(line.split(",", -1));
    }
    List<String> cells = new ArrayList<>();
    StringBuilder cell = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"') {
        if (quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
          cell.append('"');
          i++;
        } else {
          quoted = !quoted;
        }
      } else if (c == ',' && !quoted) {
        cells.add(cell.toString());
        cell.setLength(0);
      } else {
        cell.append(c);
      }
    }
    cells.add(cell.toString());
    return cells;
  }

  static String brief(String text) {
    String plain = text.length() > LONGEST_ROW ? text.substring(0, LONGEST_ROW) : text;
    return plain.length() <= 200 ? plain : plain.substring(0, 199) + "…";
  }
}
