package evenhand.policy;

import java.math.BigInteger;
import java.util.Comparator;

/** The order of job ids: numbers as numbers and before other ids, those as plain text. */
public final class Natural {
  private Natural() {}

  public static final Comparator<String> IDS =
      (a, b) -> {
        boolean numberA = isNumber(a);
        boolean numberB = isNumber(b);
        if (numberA && numberB) {
          int byValue =
              a.length() < 19 && b.length() < 19
                  ? Long.compare(Long.parseLong(a), Long.parseLong(b))
                  : new BigInteger(a).compareTo(new BigInteger(b));
          return byValue != 0 ? byValue : a.compareTo(b); // 7 and 07 are two ids
        }
        return numberA != numberB ? (numberA ? -1 : 1) : a.compareTo(b);
      };

  private static boolean isNumber(String s) {
    if (s.isEmpty()) {
      return false;
    }
    for (int i = 0; i < s.length(); i++) {
      if (s.charAt(i) < '0' || s.charAt(i) > '9') {
        return false;
      }
    }
    return true;
  }
}
