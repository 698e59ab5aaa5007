package evenhand.hostlist;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A host list such as {@code rack[0-1]_blade[0-1],login}.
 *
 * <p>A name may hold several bracket groups; a group is a comma list of numbers and ranges. Numbers
 * keep their padding when the lower bound is written with leading zeros ({@code n[08-11]} is n08,
 * n09, n10, n11; {@code n[8-11]} is n8, n9, n10, n11).
 */
public final class HostList {
  /** The most hosts one list may stand for: some ten times the largest cluster there is. */
  public static final int MAX_HOSTS = 100_000;

  private static final int MAX_NAME_LENGTH = 255;
  // 18 digits always fit a long, so the arithmetic below cannot overflow.
  private static final int MAX_DIGITS = 18;
  private static final Set<String> NO_HOSTS =
      Set.of("", "(null)", "None assigned", "None", "N/A", "n/a");
  private static final Pattern LITERAL = Pattern.compile("[A-Za-z0-9._:-]*");
  private static final Pattern DIGITS = Pattern.compile("[0-9]{1," + MAX_DIGITS + "}");

  private HostList() {}

  /**
   * The names a host list stands for, left to right, the last bracket group running fastest.
   *
   * @param text a host list; {@code null}, empty, {@code (null)} and {@code None assigned} (what
   *     Slurm prints for a job that has no nodes) stand for no hosts
   * @return the names, repeated where the list repeats them
   * @throws IllegalArgumentException with a sentence when the list is not whole (unbalanced or
   *     empty brackets, a range that runs backwards, an empty name, a character no host name has)
   *     or stands for more than {@value #MAX_HOSTS} hosts
   */
  public static List<String> expand(String text) {
    String list = text == null ? "" : text.strip();
    if (NO_HOSTS.contains(list)) {
      return List.of();
    }
    List<String> hosts = new ArrayList<>();
    for (String name : names(list)) {
      expandName(name, hosts);
    }
    return hosts;
  }

  /** Cuts at commas outside brackets. */
  private static List<String> names(String list) {
    List<String> names = new ArrayList<>();
    boolean inBrackets = false;
    int from = 0;
    for (int i = 0; i < list.length(); i++) {
      char c = list.charAt(i);
      if (c == '[') {
        if (inBrackets) {
          throw bad(list, "has a bracket inside a bracket");
        }
        inBrackets = true;
      } else if (c == ']') {
        if (!inBrackets) {
          throw bad(list, "closes a bracket that was not opened");
        }
        inBrackets = false;
      } else if (c == ',' && !inBrackets) {
        names.add(list.substring(from, i).strip());
        from = i + 1;
        tooMany(list, names.size());
      }
    }
    if (inBrackets) {
      throw bad(list, "opens a bracket that is not closed; it may have been cut short");
    }
    names.add(list.substring(from).strip());
    return names;
  }

  private static void expandName(String name, List<String> hosts) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a host list has an empty name between its commas");
    }
    if (name.endsWith("...")) {
      throw bad(name, "ends in dots: it was cut short");
    }
    // Texts between the groups, and the numbers of each group.
    List<String> literals = new ArrayList<>();
    List<List<String>> groups = new ArrayList<>();
    long count = 1;
    int from = 0;
    for (int open = name.indexOf('['); open >= 0; open = name.indexOf('[', from)) {
      int close = name.indexOf(']', open);
      literals.add(literal(name.substring(from, open), name));
      List<String> numbers = numbers(name.substring(open + 1, close), name);
      groups.add(numbers);
      count *= numbers.size();
      tooMany(name, hosts.size() + count);
      from = close + 1;
    }
    literals.add(literal(name.substring(from), name));
    if (literals.stream().mapToInt(String::length).sum() + groups.size() * MAX_DIGITS
        > MAX_NAME_LENGTH) {
      throw bad(name, "is longer than a host name can be (" + MAX_NAME_LENGTH + " characters)");
    }
    tooMany(name, hosts.size() + count);
    int[] at = new int[groups.size()];
    for (long n = 0; n < count; n++) {
      StringBuilder host = new StringBuilder(literals.get(0));
      for (int g = 0; g < at.length; g++) {
        host.append(groups.get(g).get(at[g])).append(literals.get(g + 1));
      }
      hosts.add(host.toString());
      for (int g = at.length - 1; g >= 0 && ++at[g] == groups.get(g).size(); g--) {
        at[g] = 0;
      }
    }
  }

  private static List<String> numbers(String group, String name) {
    List<String> numbers = new ArrayList<>();
    for (String range : group.split(",", -1)) {
      int dash = range.indexOf('-');
      String low = (dash < 0 ? range : range.substring(0, dash)).strip();
      String high = dash < 0 ? low : range.substring(dash + 1).strip();
      if (!DIGITS.matcher(low).matches() || !DIGITS.matcher(high).matches()) {
        throw bad(
            name, "has '" + brief(range) + "' in its brackets where a number or a range should be");
      }
      long first = Long.parseLong(low);
      long last = Long.parseLong(high);
      if (last < first) {
        throw bad(name, "has the range '" + brief(range) + "', which runs backwards");
      }
      tooMany(name, numbers.size() + (last - first) + 1);
      boolean padded = low.length() > 1 && low.charAt(0) == '0';
      for (long n = first; n <= last; n++) {
        String digits = Long.toString(n);
        numbers.add(
            padded ? "0".repeat(Math.max(0, low.length() - digits.length())) + digits : digits);
      }
    }
    return numbers;
  }

  private static String literal(String text, String name) {
    if (!LITERAL.matcher(text).matches()) {
      throw bad(name, "has a character that no host name has");
    }
    return text;
  }

  private static void tooMany(String list, long count) {
    if (count > MAX_HOSTS) {
      throw bad(list, "stands for more than " + MAX_HOSTS + " hosts");
    }
  }

  private static IllegalArgumentException bad(String list, String what) {
    return new IllegalArgumentException("host list '" + brief(list) + "' " + what);
  }

  private static String brief(String text) {
    return text.length() <= 60 ? text : text.substring(0, 57) + "...";
  }
}
