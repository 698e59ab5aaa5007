package evenhand;

import evenhand.cli.AccessCommands;
import evenhand.cli.Commands;
import evenhand.cli.Console;
import evenhand.cli.Exit;
import evenhand.cli.GenerateCommand;
import evenhand.cli.Parts;
import evenhand.cli.SimulateCommand;
import evenhand.cli.Site;
import evenhand.cli.SiteCommands;
import evenhand.policy.Policies;
import evenhand.service.Service;
import evenhand.service.SiteAtHand;
import evenhand.service.StartFault;
import evenhand.slurm.text.Parse;
import java.time.Clock;
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
    Commands commands = new Commands(console, parts);
    commands.add("simulate", new SimulateCommand(console, Policies::load, SacctTrace::read));
    commands.add("generate", new GenerateCommand(console));
    Site site = new SiteAtHand(Clock.systemUTC());
    AccessCommands.addTo(commands, console, site);
    SiteCommands.addTo(commands, console, site);
    return commands.run(arguments);
  }

  private static int serve(Console console, List<String> settings) {
    try {
      Service.serve(settings.toArray(String[]::new));
      return Exit.DONE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Exit.OUTSIDE;
    } catch (StartFault fault) {
      console.err().println("evenhand does not start:\n" + fault.getMessage());
      if (fault.getCause() != null && console.environment().containsKey(Commands.TRACE)) {
        fault.getCause().printStackTrace(console.err());
      }
      return fault.where() == StartFault.Where.SETTINGS ? Exit.WRONG_USE : Exit.OUTSIDE;
    }
  }
}
