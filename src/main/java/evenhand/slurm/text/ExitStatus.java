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

  /** From {@code CODE:SIGNAL}; null when it says nothing or something else. */
  static ExitStatus read(String text) {
    Matcher m = TEXT.matcher(text == null ? "" : text.strip());
    return m.matches()
        ? new ExitStatus(Integer.parseInt(m.group(1)), Integer.parseInt(m.group(2)))
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
