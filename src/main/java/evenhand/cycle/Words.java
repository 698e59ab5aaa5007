package evenhand.cycle;

import evenhand.facts.Share;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** How answers to people are worded. */
final class Words {
  private Words() {}

  /** {@code 2 GPUs of n1 (4090), 1 GPU of n2 (4090)}. */
  static String gpus(List<Share> on) {
    return on.stream()
        .map(s -> gpus(s.gpus()) + " of " + s.node() + " (" + s.tier().name() + ")")
        .collect(Collectors.joining(", "));
  }

  static String gpus(int gpus) {
    return gpus == 1 ? "1 GPU" : gpus + " GPUs";
  }

  static Instant second(Instant at) {
    return at.truncatedTo(ChronoUnit.SECONDS);
  }

  /** With a capital at its beginning and a full stop at its end; empty for nothing. */
  static String sentence(String words) {
    if (words == null || words.isBlank()) {
      return "";
    }
    String text = words.strip();
    String first = text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    return first.endsWith(".") ? first : first + ".";
  }
}
