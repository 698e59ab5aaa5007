package evenhand.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What commands do with the service's own settings and database, whether the service runs or not.
 * Settings are given as {@code --key=value}, as to {@code serve}. What fails is {@link Failed}.
 */
public interface Site {

  /**
   * Makes a token of an admin in the database itself.
   *
   * @param by who makes it
   */
  AdminToken adminToken(List<String> settings, String name, Duration lasts, String by);

  /** A token that was just made; its text is kept nowhere. */
  record AdminToken(String name, String text, Instant expiresAt) {}

  /** Every setting in force, by name. */
  List<Setting> settings(List<String> settings);

  /**
   * A setting in force.
   *
   * @param value as it was given; what is secret is masked
   * @param origin where it was given: a file and its line, {@code command line}, a variable, or
   *     {@code default}
   */
  record Setting(String name, String value, String origin) {}

  /** Looks at everything the service stands on. */
  List<Finding> examine(List<String> settings);

  /**
   * What was found of one thing.
   *
   * @param what was looked at, e.g. {@code database}
   * @param state {@code ok}; {@code note}: it works, and could be better; {@code wrong}
   * @param found what it is like
   * @param mend what to do about it; null where nothing is to be done
   */
  record Finding(String what, State state, String found, String mend) {
    public static Finding ok(String what, String found) {
      return new Finding(what, State.ok, found, null);
    }

    public static Finding note(String what, String found, String mend) {
      return new Finding(what, State.note, found, mend);
    }

    public static Finding wrong(String what, String found, String mend) {
      return new Finding(what, State.wrong, found, mend);
    }
  }

  /** How bad it is. */
  enum State {
    ok,
    note,
    wrong
  }
}
