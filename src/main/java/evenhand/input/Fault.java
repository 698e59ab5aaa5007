package evenhand.input;

/**
 * One thing wrong with an input.
 *
 * @param file what people call the input, e.g. {@code snapshot.json} or {@code standard input}
 * @param line counted from 1; 0 where there is none
 * @param path the place inside, e.g. {@code jobs[2].num_gpus}; empty for the whole
 * @param message what is wrong and what would be right
 */
public record Fault(String file, int line, String path, String message) {
  private static final int LONGEST_PATH = 200;

  /** {@code snapshot.json:12: jobs[2].num_gpus: must be a whole number from 1 to 8, not "two"}. */
  @Override
  public String toString() {
    return file
        + (line > 0 ? ":" + line : "")
        + ": "
        + (path.isEmpty() ? "" : shown() + ": ")
        + message;
  }

  /** Names in a path are the input's own, and may be anything. */
  private String shown() {
    String text =
        path.codePoints()
            .limit(LONGEST_PATH + 1)
            .collect(
                StringBuilder::new,
                (all, c) -> all.appendCodePoint(Field.isUnprintable(c) ? 0xFFFD : c),
                StringBuilder::append)
            .toString();
    return text.length() <= LONGEST_PATH ? text : text.substring(0, LONGEST_PATH) + "…";
  }
}
