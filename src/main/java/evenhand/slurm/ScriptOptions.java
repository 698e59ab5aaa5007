package evenhand.slurm;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The options that a batch script sets for itself in {@code #SBATCH} lines.
 *
 * <p>sbatch obeys them wherever our own options say nothing, so a script could ask for an array,
 * for more GPUs, for another user. Only those on a list pass, in forms that can be read in one way.
 */
final class ScriptOptions {
  private static final String WORD = "#SBATCH";
  private static final Pattern OPTION =
      Pattern.compile(
          "(?:--([a-z][a-z0-9-]*)(?:=|[ \\t]+)|-([A-Za-z])[ \\t]*)([^\\s\"'`\\\\#=-][^\\s\"'`\\\\#]*)");

  /** Short names of options that take a value. */
  private static final Map<String, String> LONG =
      Map.of("c", "cpus-per-task", "e", "error", "o", "output", "J", "job-name", "t", "time");

  private ScriptOptions() {}

  /**
   * The long names of the options the script sets.
   *
   * @throws IllegalArgumentException with a sentence for the submitter, when one of them is not
   *     allowed or cannot be read
   */
  static List<String> read(String script, List<String> allowed) {
    List<String> names = new ArrayList<>();
    int number = 0;
    for (String line : script.split("\n", -1)) {
      number++;
      if (isCommand(line)) {
        break;
      }
      if (line.startsWith(WORD)) {
        line(line.substring(WORD.length()), number, allowed, names);
      }
    }
    return names;
  }

  /** Whether the line ends the head of the script, as sbatch sees it. */
  private static boolean isCommand(String line) {
    String text = line.strip();
    return !text.isEmpty() && text.charAt(0) != '#';
  }

  private static void line(String options, int number, List<String> allowed, List<String> names) {
    String rest = options.strip();
    if (!rest.isEmpty() && options.charAt(0) > ' ') {
      throw refused(number, options, "it is no option");
    }
    while (!rest.isEmpty() && rest.charAt(0) != '#') {
      Matcher m = OPTION.matcher(rest);
      if (!m.lookingAt() || m.end() < rest.length() && rest.charAt(m.end()) > ' ') {
        throw refused(
            number, rest, "write each option as --name=value, without quotes, or leave it out");
      }
      String name = m.group(1) != null ? m.group(1) : LONG.getOrDefault(m.group(2), m.group(2));
      if (!allowed.contains(name)) {
        throw refused(
            number,
            m.group(),
            "allowed are "
                + String.join(", ", allowed)
                + "; GPUs and nodes are asked for in the submission, the rest is the site's");
      }
      names.add(name);
      rest = rest.substring(m.end()).strip();
    }
  }

  private static IllegalArgumentException refused(int number, String what, String why) {
    String shown = what.strip().replaceAll("\\p{Cntrl}", "?");
    return new IllegalArgumentException(
        "line "
            + number
            + " of the script sets '"
            + (shown.length() <= 60 ? shown : shown.substring(0, 57) + "...")
            + "' for sbatch: "
            + why);
  }
}
