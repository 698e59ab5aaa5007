package evenhand.slurm;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The users of this host, as its name service knows them (files, LDAP, …): who a job may run as.
 */
final class LocalUsers {
  private static final Duration LONGEST = Duration.ofSeconds(5);
  private static final int MOST_BYTES = 10_000;
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.@-]{0,63}");

  private final SlurmSettings settings;

  LocalUsers(SlurmSettings settings) {
    this.settings = settings;
  }

  /** A user: number, group, home folder and shell. */
  record LocalUser(String name, long uid, long gid, String home, String shell) {}

  /**
   * The user that a job of this name runs as.
   *
   * @throws IllegalArgumentException with a sentence for one that is not known, is root, or is one
   *     of the system's own
   */
  LocalUser find(String name) {
    // Neither an option nor a number: getent would take both for something else.
    LocalUser user = NAME.matcher(name).matches() ? ask(name) : null;
    if (user == null) {
      throw no("there is no user " + name + " on the service's host");
    }
    if (user.uid() == 0 || user.gid() == 0) {
      throw no(name + " is root, or of root's group");
    }
    if (user.uid() < settings.leastUid()) {
      throw no(
          name
              + " is a user of the system (number "
              + user.uid()
              + ", below evenhand.slurm.least-uid, "
              + settings.leastUid()
              + ")");
    }
    return user;
  }

  private static IllegalArgumentException no(String because) {
    return new IllegalArgumentException(
        because
            + "; here a job runs as the user who submits it (evenhand.slurm.submit-as=user), so"
            + " submit it as one whom Slurm's nodes know");
  }

  private static LocalUser ask(String name) {
    Client.Answer answer =
        Client.ofHost(LONGEST, MOST_BYTES).run(List.of("getent", "passwd", name));
    String[] parts = answer.out().strip().split(":", -1);
    if (!answer.ok() || parts.length != 7 || !parts[0].equals(name)) {
      return null;
    }
    try {
      return new LocalUser(
          name, Long.parseLong(parts[2]), Long.parseLong(parts[3]), parts[5], parts[6]);
    } catch (NumberFormatException e) {
      return null;
    }
  }
}
