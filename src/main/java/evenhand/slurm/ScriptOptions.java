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

  /** The name that an option begins with, whatever follows. */
  private static final Pattern NAME = Pattern.compile("--([a-z][a-z0-9-]*)|-([A-Za-z])");

  /** Short names of options, those that may be allowed and those that have a better place. */
  private static final Map<String, String> LONG =
      Map.ofEntries(
          Map.entry("A", "account"),
          Map.entry("a", "array"),
          Map.entry("B", "extra-node-info"),
          Map.entry("C", "constraint"),
          Map.entry("c", "cpus-per-task"),
          Map.entry("D", "chdir"),
          Map.entry("d", "dependency"),
          Map.entry("e", "error"),
          Map.entry("F", "nodefile"),
          Map.entry("G", "gpus"),
          Map.entry("H", "hold"),
          Map.entry("J", "job-name"),
          Map.entry("M", "clusters"),
          Map.entry("N", "nodes"),
          Map.entry("n", "ntasks"),
          Map.entry("o", "output"),
          Map.entry("p", "partition"),
          Map.entry("q", "qos"),
          Map.entry("t", "time"),
          Map.entry("W", "wait"),
          Map.entry("w", "nodelist"),
          Map.entry("x", "exclude"));

  private static final String GPUS = "ask for GPUs with num_gpus (submit --gpus)";
  private static final String NODES = "ask for nodes with nodes (submit --nodes)";
  private static final String WHERE =
      "the policy chooses the node; say which GPUs will do with tier or minimum_tier";
  private static final String WHEN = "the policy decides when it starts; leave it out";

  /** What to use instead of an option that is not the script's to set. */
  private static final Map<String, String> INSTEAD =
      Map.ofEntries(
          Map.entry("gpus", GPUS),
          Map.entry("gpus-per-node", GPUS),
          Map.entry("gpus-per-task", GPUS),
          Map.entry("gpus-per-socket", GPUS),
          Map.entry("gres", GPUS),
          Map.entry("tres-per-task", GPUS),
          Map.entry("nodes", NODES),
          Map.entry("nodelist", WHERE),
          Map.entry("nodefile", WHERE),
          Map.entry("exclude", WHERE),
          Map.entry("partition", WHERE),
          Map.entry("constraint", WHERE),
          Map.entry("clusters", WHERE),
          Map.entry("begin", WHEN),
          Map.entry("hold", WHEN),
          Map.entry("deadline", WHEN),
          Map.entry("wait", WHEN),
          Map.entry("dependency", WHEN),
          Map.entry("exclusive", WHEN),
          Map.entry("array", "submit one job for each element, and tell them apart by args or env"),
          Map.entry("account", "say who is charged with account (submit --account)"),
          Map.entry("chdir", "give the folder as workdir (submit --workdir)"),
          Map.entry("export", "give variables as env (submit --env)"),
          Map.entry("export-file", "give variables as env (submit --env)"),
          Map.entry("get-user-env", "give variables as env (submit --env)"),
          Map.entry("comment", "give a name (submit --name)"),
          Map.entry("priority", "give priority (submit --priority)"),
          Map.entry("nice", "give priority (submit --priority)"),
          Map.entry("requeue", "give resumable (submit --resumable)"),
          Map.entry("no-requeue", "leave resumable out"));

  private static final String HOW =
      "write each option as --name=value, without quotes, or leave it out";

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
      boolean read = m.lookingAt() && (m.end() == rest.length() || rest.charAt(m.end()) <= ' ');
      Matcher named = NAME.matcher(rest);
      if (!read && !named.lookingAt()) {
        throw refused(number, rest, HOW);
      }
      String name = name(read ? m : named);
      if (!allowed.contains(name)) {
        throw refused(
            number,
            read ? m.group() : rest,
            "that is not the script's to set; "
                + (INSTEAD.containsKey(name)
                    ? INSTEAD.get(name)
                    : "it may set " + String.join(", ", allowed) + ", the rest is the site's"));
      }
      if (!read) {
        throw refused(number, rest, HOW);
      }
      names.add(name);
      rest = rest.substring(m.end()).strip();
    }
  }

  private static String name(Matcher option) {
    return option.group(1) != null
        ? option.group(1)
        : LONG.getOrDefault(option.group(2), option.group(2));
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
