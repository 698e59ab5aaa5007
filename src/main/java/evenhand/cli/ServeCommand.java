package evenhand.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code serve}: run the service. */
@picocli.CommandLine.Command(
    name = "serve",
    description = "Run the service: REST API, dispatch cycle, database.",
    customSynopsis = "evenhand serve [--help] [--demo] [--policy NAME] [--KEY=VALUE...]",
    footer = {
      "",
      "Every setting can be given as --key=value, e.g. --server.port=9000; application.yaml in the"
          + " jar lists them with their meanings."
    })
final class ServeCommand extends Command {
  private static final Pattern SETTING = Pattern.compile("--[A-Za-z][^=\\s]*=(?s:.*)");
  private final Parts.ServiceStart service;

  @Option(
      names = "--demo",
      description = "The demonstration, whatever else is configured; each kind of policy has one.")
  private boolean demo;

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      description = "The policy that decides (--evenhand.policy).")
  private String policy;

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
    List<String> all = new ArrayList<>(settings);
    if (demo) {
      all.add("--demo=true");
    }
    if (policy != null) {
      all.add("--evenhand.policy=" + policy);
    }
    // At once: it takes some seconds until the service's own log has a line.
    say("evenhand " + Version.text() + " starts ...");
    console().err().flush();
    return service.start(all);
  }
}
