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

  /** {@code snapshot.json:12: jobs[2].num_gpus: must be a whole number from 1 to 8, not "two"}. */
  @Override
  public String toString() {
    return file
        + (line > 0 ? ":" + line : "")
        + ": "
        + (path.isEmpty() ? "" : path + ": ")
        + message;
  }
}
