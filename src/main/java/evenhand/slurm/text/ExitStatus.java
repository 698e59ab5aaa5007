package evenhand.slurm.text;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * How a job ended: {@code 7:0} in text, the raw wait status (1792) or an object in JSON.
 *
 * @param code the exit code
 * @param signal the signal that ended it, 0 for none; Slurm says 125 for out of memory
 */
record ExitStatus(int code, int signal) {
  private static final Pattern TEXT = Pattern.compile("(\\d{1,5}):(\\d{1,5})");
  private static final Pattern NUMBER = Pattern.compile("\\d{1,5}");

  /**
   * From {@code CODE:SIGNAL}, or from a bare number where that can be nothing but a wait status, as
   * {@code squeue -O exit_code} prints it: {@code 1792} is 7:0, but {@code 7} could be an exit code
   * or a signal. Null when it says nothing or something else.
   */
  static ExitStatus read(String text) {
    String told = text == null ? "" : text.strip();
    Matcher m = TEXT.matcher(told);
    if (m.matches()) {
      return new ExitStatus(Integer.parseInt(m.group(1)), Integer.parseInt(m.group(2)));
    }
    int status = NUMBER.matcher(told).matches() ? Integer.parseInt(told) : -1;
    return status == 0 || status > 0xff && status <= 0xffff
        ? new ExitStatus(status >> 8, status & 0x7f)
        : null;
  }

  /** From JSON of any version; null when it says nothing. */
  static ExitStatus read(JsonNode node) {
    if (!node.isObject() || node.has("number")) {
      Long status = SlurmJson.number(node);
      boolean waitStatus = status != null && status >= 0 && status <= 0xffff;
      return waitStatus ? new ExitStatus((int) (status >> 8 & 0xff), (int) (status & 0x7f)) : null;
    }
    Long code = SlurmJson.number(node.path("return_code"));
    JsonNode signal = node.path("signal");
    Long number =
        SlurmJson.number(signal.has("signal_id") ? signal.path("signal_id") : signal.path("id"));
    return code == null && number == null ? null : new ExitStatus(bounded(code), bounded(number));
  }

  private static int bounded(Long number) {
    return number == null || number < 0 || number > 0xffff ? 0 : number.intValue();
  }
}
