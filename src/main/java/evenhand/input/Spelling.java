package evenhand.input;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Finds what somebody probably meant to write. */
public final class Spelling {
  private Spelling() {}

  /**
   * The known name nearest to a word, by letters changed, added, dropped or swapped; empty when
   * none is near (more than a third of the word would have to change).
   */
  public static Optional<String> nearest(String word, Collection<String> known) {
    return nearest(word, known, Math.max(2, word.length() / 3), true);
  }

  /** The known name nearest to a word, where at most so many letters differ. */
  public static Optional<String> nearest(String word, Collection<String> known, int most) {
    return nearest(word, known, most, false);
  }

  /**
   * @param parts whether a word that is the beginning of a name, or the other way round, is near as
   *     well
   */
  private static Optional<String> nearest(
      String word, Collection<String> known, int most, boolean parts) {
    String asked = plain(word);
    if (asked.length() > 64) {
      return Optional.empty();
    }
    String best = null;
    int least = most + 1;
    for (String name : known) {
      String other = plain(name);
      if (!parts && Math.abs(asked.length() - other.length()) > most) {
        continue;
      }
      int distance = asked.equals(other) ? 0 : distance(asked, other);
      if (parts && asked.length() >= 3 && (other.startsWith(asked) || asked.startsWith(other))) {
        distance = Math.min(distance, 1);
      }
      if (distance < least && distance < Math.max(asked.length(), other.length())) {
        least = distance;
        best = name;
      }
    }
    return Optional.ofNullable(best);
  }

  /** {@code did you mean num_gpus?}, or the list of what there is. */
  public static String hint(String word, Collection<String> known) {
    return nearest(word, known)
        .map(name -> "did you mean " + name + "?")
        .orElseGet(
            () ->
                known.isEmpty()
                    ? "nothing may stand here"
                    : "known here: " + String.join(", ", known));
  }

  private static String plain(String name) {
    return name.toLowerCase(Locale.ROOT).replace('-', '_');
  }

  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        d[i][j] = Math.min(d[i - 1][j - 1] + change, Math.min(d[i - 1][j], d[i][j - 1]) + 1);
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        if (swapped) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
