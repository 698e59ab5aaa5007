package evenhand.cycle.accounts;

import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * One change of one account (A2).
 *
 * @param id 0 before it is written
 * @param was and {@code became}: a number for {@link Kind#ADDED}, {@link Kind#WEIGHT}, {@link
 *     Kind#RETIRED} and {@link Kind#RESTORED}, the account above for {@link Kind#MOVED}, names with
 *     commas between for {@link Kind#OWNERS} and {@link Kind#USERS}; null where there was or is
 *     none
 * @param parent the account above when it was changed, after a move the new one; null at the top
 */
public record AccountChange(
    long id,
    Instant at,
    String account,
    Kind kind,
    String was,
    String became,
    String parent,
    String by,
    String reason) {

  /** What changed. */
  public enum Kind {
    ADDED,
    WEIGHT,
    MOVED,
    RETIRED,
    RESTORED,
    OWNERS,
    USERS;

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether its values are weights. */
    public boolean ofWeight() {
      return this == ADDED || this == WEIGHT || this == RETIRED || this == RESTORED;
    }
  }

  /** A weight as it is written in a change. */
  static String text(double weight) {
    return Double.toString(weight);
  }

  /** Names as they are written in a change; null for none. */
  static String text(List<String> names) {
    return names.isEmpty() ? null : String.join(",", names);
  }

  /** The weight it was, 0 where it had none. */
  public double weightWas() {
    return was == null ? 0 : Double.parseDouble(was);
  }

  /** The weight it became, 0 where it has none. */
  public double weightBecame() {
    return became == null ? 0 : Double.parseDouble(became);
  }

  /** Names that it became. */
  public List<String> namesBecame() {
    return became == null ? List.of() : List.of(became.split(","));
  }

  /** The same with its id. */
  public AccountChange written(long asId) {
    return new AccountChange(asId, at, account, kind, was, became, parent, by, reason);
  }
}
