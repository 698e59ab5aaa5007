package evenhand.input;

import java.util.List;
import java.util.stream.Collectors;

/** An input was refused. The message has one fault a line; at most {@link #MOST} are listed. */
public final class InputFault extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Reading stops after so many faults: a file that is wrong all over needs no longer list. */
  public static final int MOST = 50;

  private final transient List<Fault> faults;

  public InputFault(List<Fault> faults) {
    super(faults.stream().map(Fault::toString).collect(Collectors.joining("\n")));
    this.faults = List.copyOf(faults);
  }

  public InputFault(String file, int line, String path, String message) {
    this(List.of(new Fault(file, line, path, message)));
  }

  public List<Fault> faults() {
    return faults;
  }
}
