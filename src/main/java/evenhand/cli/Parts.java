package evenhand.cli;

import java.io.Reader;
import java.util.List;
import java.util.Map;

/**
 * What the commands call that is not theirs; wired in {@code Evenhand.main}.
 *
 * @param policies loads policies for {@code decide}
 * @param service starts the service for {@code serve}
 * @param slurmText reads Slurm's text for {@code slurm parse}
 * @param slurmKinds the kinds of such text, each with what it reads
 */
public record Parts(
    PolicySource policies,
    ServiceStart service,
    SlurmText slurmText,
    Map<String, String> slurmKinds) {

  /** Starts the service and returns when it has ended. */
  @FunctionalInterface
  public interface ServiceStart {
    /**
     * @param settings as {@code --key=value}
     * @return one of {@link Exit}
     */
    int start(List<String> settings);
  }

  /** Reads text of one kind and prints what it means, a line for a line. */
  @FunctionalInterface
  public interface SlurmText {
    /**
     * @return one of {@link Exit}
     */
    int run(String kind, Reader in, Appendable out);
  }
}
