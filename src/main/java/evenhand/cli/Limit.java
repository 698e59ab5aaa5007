package evenhand.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option {@code --limit} of commands that list, and saying that there was more. */
final class Limit {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "How many to list at most (default: ${DEFAULT-VALUE}).")
  private int most;

  /**
   * @param usual how many are listed where nothing was said
   */
  Limit(int usual) {
    most = usual;
  }

  /** One or more. */
  int most() {
    if (most < 1) {
      throw new ParameterException(command.commandLine(), "--limit must be 1 or more.");
    }
    return most;
  }

  /** Said beside the list, when it ends before all was listed. */
  void saidOf(ServiceAddress.Found found, Console console) {
    if (found.more()) {
      console.err().println("There are more; --limit tells how many to list.");
    }
  }
}
