package evenhand.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine.Parameters;

/** {@code serve}: run the service. */
@picocli.CommandLine.Command(
    name = "serve",
    description = "Run the service: REST API, dispatch cycle, database.",
    customSynopsis = "evenhand serve [--help] [--KEY=VALUE...]",
    footer = {
      "",
      "Every setting can be given as --key=value, e.g. --server.port=9000; application.yaml in the"
          + " jar lists them with their meanings."
    })
final class ServeCommand extends Command {
  private static final Pattern SETTING = Pattern.compile("--[A-Za-z][^=\\s]*=(?s:.*)");
  private final Parts.ServiceStart service;

  @Parameters(paramLabel = "--KEY=VALUE", hidden = true)
  private List<String> settings = new ArrayList<>();

  ServeCommand(Console console, Parts.ServiceStart service) {
    super(console);
    this.service = service;
  }

  @Override
  public Integer call() {
    for (String setting : settings) {
      if (!SETTING.matcher(setting).matches()) {
        throw wrongUse(
            "\"" + setting + "\" is no setting; write --key=value, e.g. --server.port=9000.");
      }
    }
    // At once: it takes some seconds until the service's own log has a line.
    say("evenhand " + Version.text() + " starts ...");
    console().err().flush();
    return service.start(List.copyOf(settings));
  }
}
