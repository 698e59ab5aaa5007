package evenhand.policy;

import java.util.List;
import java.util.stream.Collectors;

/** A policy that cannot be loaded, with every fault found. */
public final class PolicyFault extends Exception {
  private static final long serialVersionUID = 1L;
  private final transient List<Fault> faults;

  public PolicyFault(List<Fault> faults) {
    super(faults.stream().map(Fault::toString).collect(Collectors.joining("\n")));
    this.faults = List.copyOf(faults);
  }

  public PolicyFault(Fault fault) {
    this(List.of(fault));
  }

  public List<Fault> faults() {
    return faults;
  }

  /**
   * One fault.
   *
   * @param file path below the rules folder, e.g. {@code fit/F1.drl}
   * @param line 1 for the first line, 0 where the whole file is meant
   * @param rule the rule's name, or null
   * @param sentence what is wrong and what would be right
   */
  public record Fault(String file, int line, String rule, String sentence) {
    @Override
    public String toString() {
      return file
          + (line > 0 ? ":" + line : "")
          + (rule != null ? ": rule \"" + rule + "\"" : "")
          + ": "
          + sentence;
    }
  }
}
