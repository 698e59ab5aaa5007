package evenhand.slurm.text;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The state of a node in any spelling: {@code idle*}, {@code drng@}, {@code MIXED+DRAIN}, {@code
 * DOWN*+DRAIN}, and JSON's words with a list of flags.
 *
 * @param base the state under the flags ({@code IDLE}, {@code MIXED}, …); where Slurm printed one
 *     word that hides it ({@code drained}, {@code reserved}), that word
 * @param flags the flags by their full names, in the order found, each once; suffix characters are
 *     flags too
 */
public record NodeState(String base, List<String> flags) {

  /** May a new job be placed on the node now? */
  public enum Placeable {
    YES,
    NO,
    /** Slurm would take the job, or start the node for it; the site decides. */
    POLICY
  }

  /** What the node is to a placement, as a snapshot says it. */
  public enum Health {
    /** It works and takes jobs, though perhaps not this moment. */
    UP,
    /** What runs may go on; nothing new may start. */
    DRAINING,
    DOWN
  }

  private static final int MAX_LENGTH = 1_000;

  /** Short and old spellings; what is not named here is its own full name. */
  private static final Map<String, String> SPELLINGS =
      Map.ofEntries(
          Map.entry("ALLOC", "ALLOCATED"),
          Map.entry("MIX", "MIXED"),
          Map.entry("UNK", "UNKNOWN"),
          Map.entry("ERR", "ERROR"),
          Map.entry("FUTR", "FUTURE"),
          Map.entry("DRNG", "DRAINING"),
          Map.entry("COMP", "COMPLETING"),
          Map.entry("MAINT", "MAINTENANCE"),
          Map.entry("RESV", "RESERVED"),
          Map.entry("PLND", "PLANNED"),
          Map.entry("FAILG", "FAILING"),
          Map.entry("INVAL", "INVALID"),
          Map.entry("INVALID_REG", "INVALID"),
          Map.entry("NO_RESPOND", "NOT_RESPONDING"),
          Map.entry("NPC", "PERFCTRS"),
          Map.entry("BLOCK", "BLOCKED"),
          Map.entry("POW_DN", "POWERING_DOWN"),
          Map.entry("POW_UP", "POWERING_UP"),
          Map.entry("POWER_UP", "POWERING_UP"),
          Map.entry("POWER", "POWERED_DOWN"),
          Map.entry("POWER_SAVING", "POWERED_DOWN"),
          Map.entry("BOOT", "REBOOT_ISSUED"),
          Map.entry("REBOOT", "REBOOT_REQUESTED"));

  /** A word that is a state and a flag in one. */
  private static final Map<String, String> FLAG_OF_WORD =
      Map.of("DRAINED", "DRAIN", "DRAINING", "DRAIN", "FAILING", "FAIL");

  private static final Map<Character, String> SUFFIXES =
      Map.of(
          '*', "NOT_RESPONDING",
          '~', "POWERED_DOWN",
          '#', "POWERING_UP",
          '!', "POWER_DOWN",
          '%', "POWERING_DOWN",
          '$', "MAINTENANCE",
          '@', "REBOOT_REQUESTED",
          '^', "REBOOT_ISSUED",
          '-', "PLANNED");

  /** Base states with whether they take a job and what they are to a placement. */
  private static final Map<String, Meaning> BASES =
      Map.of(
          "IDLE", new Meaning(Placeable.YES, Health.UP),
          "MIXED", new Meaning(Placeable.YES, Health.UP),
          "ALLOCATED", new Meaning(Placeable.NO, Health.UP),
          "DOWN", new Meaning(Placeable.NO, Health.DOWN),
          "UNKNOWN", new Meaning(Placeable.NO, Health.DOWN),
          "ERROR", new Meaning(Placeable.NO, Health.DOWN),
          "FUTURE", new Meaning(Placeable.NO, Health.DOWN));

  private static final Map<String, Meaning> FLAGS = flagMeanings();

  private record Meaning(Placeable placeable, Health health) {}

  private static Map<String, Meaning> flagMeanings() {
    Map<String, Meaning> flags = new TreeMap<>();
    for (String harmless :
        List.of(
            "CLOUD",
            "DYNAMIC",
            "DYNAMIC_NORM",
            "DYNAMIC_FUTURE",
            "EXTERNAL",
            "RESUME",
            "UNDRAIN",
            "POWER_UP_ON_RESUME")) {
      flags.put(harmless, new Meaning(Placeable.YES, Health.UP));
    }
    for (String policy : List.of("PLANNED", "POWERED_DOWN", "POWERING_UP", "REBOOT_REQUESTED")) {
      flags.put(policy, new Meaning(Placeable.POLICY, Health.UP));
    }
    // A node that finishes jobs takes new ones only when their last processes are gone.
    for (String passing : List.of("COMPLETING", "PERFCTRS")) {
      flags.put(passing, new Meaning(Placeable.NO, Health.UP));
    }
    for (String closing :
        List.of("DRAIN", "MAINTENANCE", "RESERVED", "FAIL", "POWER_DOWN", "POWER_DRAIN")) {
      flags.put(closing, new Meaning(Placeable.NO, Health.DRAINING));
    }
    for (String gone :
        List.of("NOT_RESPONDING", "INVALID", "POWERING_DOWN", "REBOOT_ISSUED", "BLOCKED")) {
      flags.put(gone, new Meaning(Placeable.NO, Health.DOWN));
    }
    return Map.copyOf(flags);
  }

  /**
   * Reads a state as text commands print it.
   *
   * @param text for example {@code mixed-} or {@code DOWN*+DRAIN}
   * @throws IllegalArgumentException with a sentence when it is empty, was cut short, or its first
   *     word is no state or flag that is known
   */
  public static NodeState read(String text) {
    return of(List.of(text == null ? "" : text));
  }

  /**
   * Reads a state given as several words, as JSON does.
   *
   * @param words the state first, then its flags; each may itself be a compound with {@code +}
   * @throws IllegalArgumentException as {@link #read}
   */
  public static NodeState of(List<String> words) {
    String told = String.join("+", words).strip();
    if (told.isEmpty()) {
      throw new IllegalArgumentException("the node state is empty");
    }
    if (told.length() > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "the node state is longer than " + MAX_LENGTH + " characters");
    }
    String base = null;
    Set<String> flags = new LinkedHashSet<>();
    String[] parts = told.toUpperCase(Locale.ROOT).split("\\+", -1);
    for (int i = 0; i < parts.length; i++) {
      List<String> suffixes = new ArrayList<>();
      String word = withoutSuffixes(parts[i].strip(), suffixes);
      if (word.isEmpty() && i == parts.length - 1 && "ALLOCATED".equals(base)) {
        flags.add("COMPLETING"); // "alloc+": some of the node's jobs are finishing
      } else if (word.isEmpty()) {
        throw new IllegalArgumentException("node state " + Words.quoted(told) + " was cut short");
      } else {
        String full = SPELLINGS.getOrDefault(word, word);
        String flag = FLAG_OF_WORD.getOrDefault(full, full);
        if (base == null) {
          if (!BASES.containsKey(full) && !FLAGS.containsKey(flag)) {
            throw new IllegalArgumentException(
                "node state " + Words.quoted(told) + " is none that Slurm 20.11 to 25.x writes");
          }
          base = full.equals("DRAIN") ? "DRAINED" : full; // "drain" is short for "drained"
        }
        if (!BASES.containsKey(full)) {
          flags.add(flag);
        }
      }
      flags.addAll(suffixes);
    }
    return new NodeState(base, List.copyOf(flags));
  }

  private static String withoutSuffixes(String part, List<String> flags) {
    int end = part.length();
    while (end > 0 && SUFFIXES.containsKey(part.charAt(end - 1))) {
      end--;
      flags.add(0, SUFFIXES.get(part.charAt(end)));
    }
    return part.substring(0, end);
  }

  /** Whether this is a state or flag that Slurm 20.11 to 25.x has, by its full name. */
  public static boolean known(String word) {
    return BASES.containsKey(word) || FLAGS.containsKey(word);
  }

  /**
   * Whether a new job may be placed on the node now. The strictest of base and flags counts; a flag
   * that is not known (of a newer Slurm) leaves it to the site.
   */
  public Placeable placeable() {
    Placeable strictest = BASES.containsKey(base) ? BASES.get(base).placeable : Placeable.YES;
    for (String flag : flags) {
      Meaning meaning = FLAGS.get(flag);
      Placeable said = meaning == null ? Placeable.POLICY : meaning.placeable;
      if (said == Placeable.NO || strictest == Placeable.YES) {
        strictest = said;
      }
    }
    return strictest;
  }

  /** What the node is to a placement: the worst that base and flags say. */
  public Health health() {
    Health worst = BASES.containsKey(base) ? BASES.get(base).health : Health.UP;
    for (String flag : flags) {
      Meaning meaning = FLAGS.get(flag);
      if (meaning != null && meaning.health.compareTo(worst) > 0) {
        worst = meaning.health;
      }
    }
    return worst;
  }
}
