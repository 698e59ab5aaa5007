package evenhand.slurm.text;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The state of a job: one main state and the flags upon it, from any spelling ({@code PD}, {@code
 * OUT_OF_ME+}, {@code CANCELLED by 1000}, JSON's lists).
 *
 * @param main one of {@link #MAIN}
 * @param flags {@code COMPLETING}, {@code REQUEUED} and the like, in the order found
 * @param cancelledBy the user id that {@code CANCELLED by N} names, or null
 */
public record JobState(String main, List<String> flags, String cancelledBy) {

  /** The main states. */
  public static final Set<String> MAIN =
      Set.of(
          "PENDING",
          "RUNNING",
          "SUSPENDED",
          "COMPLETED",
          "CANCELLED",
          "FAILED",
          "TIMEOUT",
          "NODE_FAIL",
          "PREEMPTED",
          "BOOT_FAIL",
          "DEADLINE",
          "OUT_OF_MEMORY");

  private static final Set<String> UNENDED = Set.of("PENDING", "RUNNING", "SUSPENDED");

  /** The flags, each with the main state it implies where it stands alone. */
  private static final Map<String, String> FLAGS =
      Map.ofEntries(
          // The GPUs of a job that is completing are not free yet, so it counts as running.
          Map.entry("COMPLETING", "RUNNING"),
          Map.entry("CONFIGURING", "RUNNING"),
          Map.entry("POWER_UP_NODE", "RUNNING"),
          Map.entry("RESIZING", "RUNNING"),
          Map.entry("SIGNALING", "RUNNING"),
          Map.entry("STAGE_OUT", "RUNNING"),
          Map.entry("STOPPED", "RUNNING"),
          Map.entry("UPDATE_DB", "RUNNING"),
          Map.entry("REQUEUED", "PENDING"),
          Map.entry("REQUEUE_HOLD", "PENDING"),
          Map.entry("REQUEUE_FED", "PENDING"),
          Map.entry("RESV_DEL_HOLD", "PENDING"),
          Map.entry("SPECIAL_EXIT", "PENDING"),
          Map.entry("LAUNCH_FAILED", "PENDING"),
          Map.entry("EXPEDITING", "PENDING"),
          Map.entry("RECONFIG_FAIL", "FAILED"),
          Map.entry("REVOKED", "CANCELLED"));

  private static final Map<String, String> SHORT =
      Map.ofEntries(
          Map.entry("PD", "PENDING"),
          Map.entry("R", "RUNNING"),
          Map.entry("S", "SUSPENDED"),
          Map.entry("CD", "COMPLETED"),
          Map.entry("CA", "CANCELLED"),
          Map.entry("F", "FAILED"),
          Map.entry("TO", "TIMEOUT"),
          Map.entry("NF", "NODE_FAIL"),
          Map.entry("PR", "PREEMPTED"),
          Map.entry("BF", "BOOT_FAIL"),
          Map.entry("DL", "DEADLINE"),
          Map.entry("OOM", "OUT_OF_MEMORY"),
          Map.entry("CG", "COMPLETING"),
          Map.entry("CF", "CONFIGURING"),
          Map.entry("PU", "POWER_UP_NODE"),
          Map.entry("RS", "RESIZING"),
          Map.entry("SI", "SIGNALING"),
          Map.entry("SO", "STAGE_OUT"),
          Map.entry("ST", "STOPPED"),
          Map.entry("RQ", "REQUEUED"),
          Map.entry("RH", "REQUEUE_HOLD"),
          Map.entry("RF", "REQUEUE_FED"),
          Map.entry("RD", "RESV_DEL_HOLD"),
          Map.entry("SE", "SPECIAL_EXIT"),
          Map.entry("LF", "LAUNCH_FAILED"),
          Map.entry("RV", "REVOKED"));

  private static final Pattern CANCELLED_BY = Pattern.compile("CANCELLED BY ([0-9]{1,10})");
  private static final int MAX_LENGTH = 200;

  /**
   * Reads a state as text commands print it.
   *
   * @throws IllegalArgumentException with a sentence when it is none, or was cut so short that it
   *     could be several
   */
  public static JobState read(String text) {
    return of(List.of(text == null ? "" : text));
  }

  /**
   * Reads a state given as several words, as JSON does.
   *
   * @throws IllegalArgumentException as {@link #read}
   */
  public static JobState of(List<String> words) {
    String told = String.join("+", words).strip();
    String upper = told.length() > MAX_LENGTH ? "" : told.toUpperCase(Locale.ROOT);
    Matcher by = CANCELLED_BY.matcher(upper);
    if (by.matches()) {
      return new JobState("CANCELLED", List.of(), by.group(1));
    }
    List<String> parts = new ArrayList<>(List.of(upper.split("\\+", -1)));
    boolean cut = parts.size() > 1 && parts.get(parts.size() - 1).isEmpty();
    if (cut) {
      parts.remove(parts.size() - 1);
    }
    String main = null;
    Set<String> flags = new LinkedHashSet<>();
    for (int i = 0; i < parts.size(); i++) {
      String name = name(parts.get(i).strip(), cut && i == parts.size() - 1);
      if (name == null) {
        throw new IllegalArgumentException(
            "job state " + Words.quoted(told) + " is none of Slurm's");
      }
      if (!MAIN.contains(name)) {
        flags.add(name);
      } else if (main == null) {
        main = name;
      } else if (!main.equals(name)) {
        throw new IllegalArgumentException(
            "job state " + Words.quoted(told) + " names two main states");
      }
    }
    if (main == null) {
      main = FLAGS.get(flags.iterator().next());
    }
    return new JobState(main, List.copyOf(flags), null);
  }

  /** The full name of a word, or null when it has none. */
  private static String name(String word, boolean cut) {
    if (MAIN.contains(word) || FLAGS.containsKey(word)) {
      return word;
    }
    if (!cut) {
      return SHORT.get(word);
    }
    // sacct cuts a column to its width and ends it in "+".
    List<String> candidates = new ArrayList<>();
    for (Set<String> names : List.of(MAIN, FLAGS.keySet())) {
      names.stream().filter(name -> name.startsWith(word)).forEach(candidates::add);
    }
    return word.isEmpty() || candidates.size() != 1 ? null : candidates.get(0);
  }

  /** True when the job is over and its state will not change unless someone requeues it. */
  public boolean ended() {
    return !UNENDED.contains(main);
  }

  /** True when the job waits: its start and end are estimates. */
  public boolean pending() {
    return main.equals("PENDING");
  }
}
