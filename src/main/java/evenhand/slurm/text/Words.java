package evenhand.slurm.text;

import java.util.Locale;
import java.util.Set;

/** What Slurm writes where it has nothing to say, and how long texts are quoted in errors. */
final class Words {
  private static final Set<String> NOTHING =
      Set.of("", "(null)", "N/A", "n/a", "None", "none", "NONE", "Unknown", "UNKNOWN");

  private Words() {}

  /** The text without its outer blanks, or null when it says nothing. */
  static String orNull(String text) {
    if (text == null) {
      return null;
    }
    String word = text.strip();
    return NOTHING.contains(word) ? null : word;
  }

  /** A text as it may stand in an error: one line, no control characters, at most 60 long. */
  static String quoted(String text) {
    String shown = text.length() <= 60 ? text : text.substring(0, 57) + "...";
    return "'" + shown.replaceAll("\\p{Cntrl}", "?") + "'";
  }

  /** A column or field name without case, blanks, dashes and underscores. */
  static String key(String name) {
    return name.strip().toUpperCase(Locale.ROOT).replaceAll("[ _-]", "");
  }
}
