package evenhand.slurm.text;

import java.util.List;

/**
 * What a whole answer of a command said.
 *
 * @param values the records that could be read, in their order
 * @param faults what could not be read; when {@code values} is empty and this is not, nothing may
 *     be concluded from the answer, least of all that there is nothing
 */
public record Reading<T>(List<T> values, List<Fault> faults) {
  public Reading {
    values = List.copyOf(values);
    faults = List.copyOf(faults);
  }

  /**
   * One thing that could not be read.
   *
   * @param line where, from 1; 0 when it is not a matter of one line
   * @param sentence what is wrong, for a person
   */
  public record Fault(int line, String sentence) {
    /** The sentence with its line. */
    public String text() {
      return line > 0 ? "line " + line + ": " + sentence : sentence;
    }
  }

  static <T> Reading<T> nothing(String sentence) {
    return new Reading<>(List.of(), List.of(new Fault(0, sentence)));
  }
}
