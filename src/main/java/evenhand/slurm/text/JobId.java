package evenhand.slurm.text;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A job id in any form Slurm prints: {@code 123}, {@code 20_[2-7,12-17,22%56]}, {@code 1000_2+3.1},
 * {@code 43974388.batch}.
 *
 * @param job the number, as text
 * @param array the task numbers, in order; empty when the id is of no array
 * @param cap how many tasks may run at once ({@code %56}), null when not said
 * @param het the component of a heterogeneous job ({@code +2}), null when it is none
 * @param step the step ({@code batch}, {@code extern}, {@code 0}), null when the id is of a job. A
 *     name that Slurm cut keeps its {@code +}
 * @param cluster the cluster ({@code 123;cluster}, as {@code sbatch --parsable} prints), or null
 */
public record JobId(
    String job, List<Integer> array, Integer cap, Integer het, String step, String cluster) {

  /** The most tasks one id may stand for. */
  public static final int MAX_TASKS = 1_000_000;

  private static final Pattern ID =
      Pattern.compile(
          "(?<job>[1-9][0-9]{0,9})"
              + "(?:_(?:(?<task>[0-9]{1,9})|\\[(?<tasks>[^\\]\\[]*)\\]))?"
              + "(?:\\+(?<het>[0-9]{1,6}))?"
              + "(?:\\.(?<step>[A-Za-z0-9_]{1,40}(?:\\+[0-9]{0,6})?))?"
              + "(?:;(?<cluster>[A-Za-z0-9._-]{1,64}))?");
  private static final Pattern RANGE =
      Pattern.compile("([0-9]{1,9})(?:-([0-9]{1,9})(?::([1-9][0-9]{0,8}))?)?");
  private static final Pattern CAP = Pattern.compile("[0-9]{1,9}");

  /**
   * Reads an id.
   *
   * @throws IllegalArgumentException with a sentence when it is none, when Slurm cut its task list
   *     short ({@code ...}), or when it stands for more than {@value #MAX_TASKS} tasks
   */
  public static JobId read(String text) {
    String id = text == null ? "" : text.strip();
    Matcher m = ID.matcher(id);
    if (!m.matches()) {
      throw bad(id, id.isEmpty() ? "is empty" : "is none that Slurm prints");
    }
    String tasks = m.group("tasks");
    Integer cap = null;
    List<Integer> array = List.of();
    if (m.group("task") != null) {
      array = List.of(Integer.valueOf(m.group("task")));
    } else if (tasks != null) {
      int percent = tasks.indexOf('%');
      if (percent >= 0) {
        if (!CAP.matcher(tasks.substring(percent + 1)).matches()) {
          throw bad(id, "has no number after its %");
        }
        cap = Integer.valueOf(tasks.substring(percent + 1));
        tasks = tasks.substring(0, percent);
      }
      array = tasks(tasks, id);
    }
    String het = m.group("het");
    return new JobId(
        m.group("job"),
        array,
        cap,
        het == null ? null : Integer.valueOf(het),
        m.group("step"),
        m.group("cluster"));
  }

  private static List<Integer> tasks(String expression, String id) {
    if (expression.endsWith("...")) {
      throw bad(id, "has a task list that Slurm cut short; SLURM_BITSTR_LEN=0 shows it whole");
    }
    Set<Integer> tasks = new LinkedHashSet<>();
    for (String range : expression.split(",", -1)) {
      Matcher m = RANGE.matcher(range.strip());
      if (!m.matches()) {
        throw bad(id, "has " + Words.quoted(range) + " where a task or a range should be");
      }
      int first = Integer.parseInt(m.group(1));
      int last = m.group(2) == null ? first : Integer.parseInt(m.group(2));
      int step = m.group(3) == null ? 1 : Integer.parseInt(m.group(3));
      if (last < first) {
        throw bad(id, "has the range " + Words.quoted(range) + ", which runs backwards");
      }
      if (tasks.size() + ((long) last - first) / step + 1 > MAX_TASKS) {
        throw bad(id, "stands for more than " + MAX_TASKS + " tasks");
      }
      for (long task = first; task <= last; task += step) {
        tasks.add((int) task);
      }
    }
    return List.copyOf(tasks);
  }

  private static IllegalArgumentException bad(String id, String what) {
    return new IllegalArgumentException("job id " + Words.quoted(id) + " " + what);
  }
}
