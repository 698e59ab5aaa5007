package evenhand.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code config} and {@code doctor}: the service's settings, and all that it stands on. */
public final class SiteCommands {
  private static final Pattern SETTING = Pattern.compile("--[A-Za-z][^=\\s]*=(?s:.*)");

  private SiteCommands() {}

  /** Adds both. */
  public static void addTo(Commands commands, Console console, Site site) {
    commands
        .add("config", new CommandLine(new ConfigCommand(console, site)))
        .setUnmatchedOptionsArePositionalParams(true);
    commands
        .add("doctor", new CommandLine(new DoctorCommand(console, site)))
        .setUnmatchedOptionsArePositionalParams(true);
  }

  private abstract static class OfSettings extends Command {
    @Parameters(
        paramLabel = "--KEY=VALUE",
        description =
            "Settings, as serve is given them, e.g. --spring.config.additional-location=FILE.")
    private List<String> words = new ArrayList<>();

    OfSettings(Console console) {
      super(console);
    }

    List<String> settings() {
      for (String word : words) {
        if (!SETTING.matcher(word).matches()) {
          throw wrongUse("\"" + word + "\" is no setting; write --key=value.");
        }
      }
      return words;
    }
  }

  /** {@code config}. */
  @picocli.CommandLine.Command(
      name = "config",
      description = {
        "Show the settings in force and where each was given: a file and its line, a variable, the"
            + " command line, or the default. What is secret is masked.",
        "The service does not need to run."
      })
  static final class ConfigCommand extends OfSettings {
    private final Site site;

    @Option(names = "--changed", description = "Only those that are not the default.")
    private boolean changed;

    @Mixin private Output output;

    ConfigCommand(Console console, Site site) {
      super(console);
      this.site = site;
    }

    @Override
    public Integer call() {
      List<Site.Setting> all =
          site.settings(settings()).stream()
              .filter(s -> !changed || !s.origin().equals("default"))
              .toList();
      if (output.isJson()) {
        JsonMapper json = new JsonMapper();
        List<JsonNode> items = new ArrayList<>();
        for (Site.Setting s : all) {
          items.add(
              json.createObjectNode()
                  .put("name", s.name())
                  .put("value", s.value())
                  .put("origin", s.origin()));
        }
        print(Output.items(items));
        return Exit.DONE;
      }
      Table table = Table.of("SETTING", "VALUE", "FROM");
      all.forEach(s -> table.row(s.name(), s.value(), s.origin()));
      console().out().print(table.text());
      return Exit.DONE;
    }
  }

  /** {@code doctor}. */
  @picocli.CommandLine.Command(
      name = "doctor",
      description = {
        "Look at all that the service stands on (settings, rules, database, Slurm, clocks, router,"
            + " permissions) and say what to mend.",
        "The service does not need to run."
      },
      footer = {"", "Exit status: 0 nothing is wrong, 1 something is, 2 wrong use."})
  static final class DoctorCommand extends OfSettings {
    private final Site site;

    @Mixin private Output output;

    DoctorCommand(Console console, Site site) {
      super(console);
      this.site = site;
    }

    @Override
    public Integer call() {
      List<Site.Finding> findings = site.examine(settings());
      boolean wrong = findings.stream().anyMatch(f -> f.state() == Site.State.wrong);
      if (output.isJson()) {
        JsonMapper json = new JsonMapper();
        List<JsonNode> items = new ArrayList<>();
        for (Site.Finding f : findings) {
          items.add(
              json.createObjectNode()
                  .put("what", f.what())
                  .put("state", f.state().name())
                  .put("found", f.found())
                  .put("mend", f.mend()));
        }
        print(Output.items(items));
        return wrong ? Exit.NO : Exit.DONE;
      }
      for (Site.Finding f : findings) {
        String state = String.format("%-5s", f.state());
        print(Table.clean(state + " " + f.what() + ": " + f.found()));
        if (f.mend() != null) {
          print(Table.clean("      -> " + f.mend()));
        }
      }
      say(wrong ? "Something is wrong." : "Nothing is wrong.");
      return wrong ? Exit.NO : Exit.DONE;
    }
  }
}
