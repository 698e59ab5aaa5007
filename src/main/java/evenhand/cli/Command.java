package evenhand.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command: its console, and {@code --help}. {@link #call} returns one of {@link Exit}. */
public abstract class Command implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Print this help.")
  private boolean help;

  private final Console console;

  protected Command(Console console) {
    this.console = console;
  }

  protected Console console() {
    return console;
  }

  /** Prints a line of the answer. */
  protected void print(String line) {
    console.out().println(line);
  }

  /** Says something beside the answer. */
  protected void say(String sentence) {
    console.err().println(sentence);
  }

  /** What the command was called with is wrong; its usage is shown with the sentence. */
  protected ParameterException wrongUse(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }

  protected CommandSpec spec() {
    return spec;
  }
}
