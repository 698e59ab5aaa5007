package evenhand.slurm.text;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an answer of {@code sbatch} means. The rule it serves: a job is submitted exactly once. So
 * only what surely did not reach the controller is {@link NotSubmitted}; every doubt is {@link
 * Unknown}.
 */
public sealed interface SbatchAnswer {

  /**
   * It is in Slurm's queue.
   *
   * @param jobId Slurm's number
   * @param cluster the cluster where sbatch names one, or null
   */
  record Submitted(String jobId, String cluster) implements SbatchAnswer {}

  /** Refused for good; the same job would be refused again. */
  record Refused(String sentence) implements SbatchAnswer {}

  /** Surely not submitted, through no fault of the job; may be sent again after a pause. */
  record NotSubmitted(String sentence) implements SbatchAnswer {}

  /** May have been submitted: look for the job by its token before anything else is done. */
  record Unknown(String sentence) implements SbatchAnswer {}

  /**
   * Reads an answer.
   *
   * @param exitCode sbatch's exit code; below 0 or above 255 when it did not end by itself
   * @param stdout with or without {@code --parsable}: {@code 123}, {@code 123;cluster} or {@code
   *     Submitted batch job 123 [on cluster c]}, after whatever lines a site prints before it
   * @param stderr warnings, or why not
   */
  static SbatchAnswer read(int exitCode, String stdout, String stderr) {
    // The id is printed only once the controller has given it, so it counts whatever came after.
    Submitted submitted = Id.in(stdout);
    if (submitted != null) {
      return submitted;
    }
    String said = (end(stderr) + "\n" + end(stdout)).strip();
    boolean killed = exitCode < 0 || exitCode == 124 || (exitCode > 128 && exitCode != 255);
    if (killed) {
      return new Unknown("sbatch was stopped before it answered (exit code " + exitCode + ")");
    }
    if (exitCode == 0) {
      return new Unknown("sbatch ended well but gave no job id" + quoted(said));
    }
    SbatchMessage message = SbatchMessage.in(said);
    if (message == null) {
      return new Unknown("sbatch failed (exit code " + exitCode + ")" + quoted(said));
    }
    String sentence = message.meaning() + quoted(said);
    return switch (message.outcome()) {
      case FINAL -> new Refused(sentence);
      case RETRY -> new NotSubmitted(sentence);
      case UNKNOWN -> new Unknown(sentence);
    };
  }

  /** The last part of a long text: what decides stands at the end. */
  private static String end(String text) {
    return text.substring(Math.max(0, text.length() - 20_000));
  }

  private static String quoted(String said) {
    List<String> lines = said.lines().map(String::strip).filter(l -> !l.isEmpty()).toList();
    if (lines.isEmpty()) {
      return "";
    }
    String last = lines.get(lines.size() - 1).replaceAll("\\p{Cntrl}", "?");
    return " (" + (last.length() <= 300 ? last : last.substring(0, 297) + "...") + ")";
  }

  /** The forms of the id. */
  final class Id {
    private static final Pattern LINE =
        Pattern.compile(
            "(?:([1-9][0-9]{0,9})(?:;(\\S{1,64}))?"
                + "|Submitted batch job ([1-9][0-9]{0,9})(?: on cluster (\\S{1,64}))?)");

    private Id() {}

    /** The last line that is an id, or null. */
    private static Submitted in(String stdout) {
      Submitted last = null;
      for (String line : stdout.split("\n")) {
        Matcher m = LINE.matcher(line.strip());
        if (m.matches()) {
          last =
              m.group(1) != null
                  ? new Submitted(m.group(1), m.group(2))
                  : new Submitted(m.group(3), m.group(4));
        }
      }
      return last;
    }
  }
}
