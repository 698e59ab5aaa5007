package evenhand.cycle;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names one attempt of one job for the outside, so that it can be found again after a time-out or a
 * crash: Slurm's own job numbers start over one day, this never does.
 *
 * @param installation short random word of this database, so that two services on one Slurm, or a
 *     database made anew, never take each other's jobs for their own; letters and digits only
 * @param job id of the job
 * @param attempt counted from 1
 */
public record Token(String installation, long job, int attempt) {
  private static final Pattern FORM =
      Pattern.compile("evenhand-([0-9a-z]{1,16})-(\\d{1,18})-(\\d{1,9})");

  /** The text that travels as the Slurm job's name: {@code evenhand-7f3k-42-1}. */
  public String text() {
    return "evenhand-" + installation + "-" + job + "-" + attempt;
  }

  /** Reads a job name; empty when it is not one of ours. */
  public static Optional<Token> read(String text) {
    Matcher m = FORM.matcher(text == null ? "" : text);
    return m.matches()
        ? Optional.of(
            new Token(m.group(1), Long.parseLong(m.group(2)), Integer.parseInt(m.group(3))))
        : Optional.empty();
  }
}
