package evenhand;

import evenhand.cli.Commands;
import evenhand.cli.Console;
import evenhand.cli.Exit;
import evenhand.cli.Parts;
import evenhand.policy.Policies;
import evenhand.slurm.text.Parse;
import java.util.List;

/** The one entry point of the jar: {@code java -jar evenhand.jar COMMAND …}. */
public final class Evenhand {
  private Evenhand() {}

  public static void main(String[] arguments) {
    System.exit(run(Console.ofProcess(), arguments));
  }

  /** Runs one command and returns its exit status. */
  static int run(Console console, String... arguments) {
    Parts parts =
        new Parts(Policies::load, settings -> serve(console, settings), Parse::run, Parse.KINDS);
    return new Commands(console, parts).run(arguments);
  }

  private static int serve(Console console, List<String> settings) {
    console.err().println("The service is not part of this build yet.");
    return Exit.OUTSIDE;
  }
}
