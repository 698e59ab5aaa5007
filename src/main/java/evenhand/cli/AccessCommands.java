package evenhand.cli;

import evenhand.input.Durations;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code token create|list|revoke}, {@code whoami} and {@code audit}. */
public final class AccessCommands {
  private static final String USUAL = "90d";
  private static final Pattern SETTING = Pattern.compile("--[A-Za-z][^=\\s]*=(?s:.*)");

  private AccessCommands() {}

  /** Adds all of them. */
  public static void addTo(Commands commands, Console console, Site site) {
    CommandLine token = new CommandLine(new TokenGroup(console));
    token.addSubcommand(
        "create",
        new CommandLine(new CreateCommand(console, site))
            .setUnmatchedOptionsArePositionalParams(true));
    token.addSubcommand("list", new ListCommand(console));
    token.addSubcommand("revoke", new RevokeCommand(console));
    commands.add("token", token);
    commands.add("whoami", new WhoamiCommand(console));
    commands.add("audit", new AuditCommand(console));
  }

  /** {@code token}: groups what is done with tokens. */
  @picocli.CommandLine.Command(
      name = "token",
      description = "Make, list and revoke tokens: who may do what.",
      synopsisSubcommandLabel = "COMMAND")
  private static final class TokenGroup extends Commands.Group {
    TokenGroup(Console console) {
      super(console);
    }
  }

  /** {@code token create}. */
  @picocli.CommandLine.Command(
      name = "create",
      customSynopsis = {
        "evenhand token create NAME --role=ROLE [--role=ROLE...] [--account=ID...] [OPTIONS]",
        "       evenhand token create NAME --admin [--expires=TIME] [--KEY=VALUE...]"
      },
      description = {
        "Make a token and print it, once: it is kept nowhere. An admin's token is needed for it.",
        "With --admin, for the first one: an admin's token, made in the database itself by whoever"
            + " holds its settings; give those that serve is given, as --KEY=VALUE."
      },
      footer = {
        "",
        "Roles: submitter (submits jobs of the own accounts), owner (sets weights below the accounts"
            + " the tree names the user an owner of), operator (nodes, any job, policy, accounts,"
            + " ledger), auditor (reads everything, changes nothing), metrics (reads the metrics),"
            + " admin (everything)."
      })
  static final class CreateCommand extends Command {
    private final Site site;

    @Option(
        names = "--role",
        paramLabel = "ROLE",
        split = ",",
        description = "What it may do; several with commas.")
    private List<String> roles = new ArrayList<>();

    @Option(
        names = "--account",
        paramLabel = "ID",
        split = ",",
        description =
            "Whose jobs it may submit; several with commas (default: the one that the tree attaches"
                + " its user to).")
    private List<String> accounts = new ArrayList<>();

    @Option(
        names = "--user",
        paramLabel = "NAME",
        description = "Whom it stands for (default: its name).")
    private String user;

    @Option(
        names = "--expires",
        paramLabel = "TIME",
        defaultValue = USUAL,
        description = "How long it counts, e.g. 30d (default: ${DEFAULT-VALUE}).")
    private String expires;

    @Option(names = "--admin", description = "An admin's token, made in the database itself.")
    private boolean admin;

    @Parameters(paramLabel = "NAME", description = "What people call it.")
    private List<String> words = new ArrayList<>();

    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    CreateCommand(Console console, Site site) {
      super(console);
      this.site = site;
    }

    @Override
    public Integer call() {
      List<String> names = words.stream().filter(w -> !w.startsWith("-")).toList();
      List<String> settings = words.stream().filter(w -> w.startsWith("-")).toList();
      if (names.size() != 1) {
        throw wrongUse("Say one name for the token.");
      }
      Duration lasts = lasts();
      if (admin) {
        return direct(names.get(0), lasts, settings);
      }
      if (!settings.isEmpty()) {
        throw wrongUse(
            "There is no option " + settings.get(0).split("=")[0] + " (settings go with --admin).");
      }
      if (roles.isEmpty()) {
        throw wrongUse("Say what it may do: --role.");
      }
      ObjectNode body = new JsonMapper().createObjectNode();
      body.put("name", names.get(0));
      body.put("user", user);
      ArrayNode asked = body.putArray("roles");
      roles.forEach(asked::add);
      ArrayNode own = body.putArray("accounts");
      accounts.forEach(own::add);
      body.put("expires_in_s", lasts.toSeconds());
      JsonNode made = service.post(console(), "/v1/tokens", body.toString(), Map.of()).body();
      told(made, Show.text(made, "token"), Show.text(made, "expires_at"));
      return Exit.DONE;
    }

    private int direct(String name, Duration lasts, List<String> settings) {
      if (!roles.isEmpty() || !accounts.isEmpty() || user != null) {
        throw wrongUse("--admin goes without --role, --account and --user.");
      }
      for (String setting : settings) {
        if (!SETTING.matcher(setting).matches()) {
          throw wrongUse("\"" + setting + "\" is no setting; write --key=value.");
        }
      }
      Site.AdminToken made =
          site.adminToken(
              settings, name, lasts, System.getProperty("user.name", "anonymous") + " (directly)");
      ObjectNode answer = new JsonMapper().createObjectNode();
      answer.put("name", made.name());
      answer.putArray("roles").add("admin");
      answer.put("expires_at", made.expiresAt().toString());
      answer.put("token", made.text());
      told(answer, made.text(), made.expiresAt().truncatedTo(ChronoUnit.SECONDS).toString());
      return Exit.DONE;
    }

    /** The token alone on standard output, so that it can go into a file. */
    private void told(JsonNode answer, String text, String until) {
      print(output.isJson() ? answer.toString() : text);
      if (!output.isJson()) {
        say(
            "It is shown this once and counts until "
                + until
                + ". Keep it in a file that only you may read (umask 077).");
      }
    }

    private Duration lasts() {
      try {
        Duration lasts = Durations.parse(expires);
        if (lasts.toSeconds() < 1) {
          throw new IllegalArgumentException("must be at least 1s");
        }
        return lasts;
      } catch (IllegalArgumentException e) {
        throw wrongUse("--expires " + e.getMessage() + ".");
      }
    }
  }

  /** {@code token list}. */
  @picocli.CommandLine.Command(
      name = "list",
      description =
          "List tokens, newest first: whose, what they may do, until when; never their text.")
  static final class ListCommand extends Command {
    @Option(names = "--all", description = "Expired and revoked ones too.")
    private boolean all;

    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    ListCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      List<JsonNode> tokens =
          service.list(console(), "/v1/tokens", Integer.MAX_VALUE).items().stream()
              .filter(t -> all || t.path("state").asString("").equals("valid"))
              .toList();
      if (output.isJson()) {
        print(Output.items(tokens));
        return Exit.DONE;
      }
      Table table =
          Table.of("NAME", "USER", "ROLES", "ACCOUNTS", "STATE", "EXPIRES", "LAST USED", "MADE BY");
      for (JsonNode t : tokens) {
        table.row(
            Show.text(t, "name"),
            Show.text(t, "user"),
            Show.names(t, "roles"),
            Show.names(t, "accounts"),
            Show.text(t, "state"),
            Show.text(t, "expires_at"),
            Show.text(t, "last_used_at"),
            Show.text(t, "created_by"));
      }
      console().out().print(table.text());
      return Exit.DONE;
    }
  }

  /** {@code token revoke NAME}. */
  @picocli.CommandLine.Command(
      name = "revoke",
      description = "Revoke a token: it lets nobody in from now on.")
  static final class RevokeCommand extends Command {
    @Parameters(paramLabel = "NAME", description = "The token's name.")
    private String name;

    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    RevokeCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      String path = "/v1/tokens/" + ServiceAddress.id("token", name) + "/revoke";
      JsonNode token = service.post(console(), path, null, Map.of()).body();
      print(
          output.isJson()
              ? token.toString()
              : "Token " + Show.text(token, "name") + " is revoked.");
      return Exit.DONE;
    }
  }

  /** {@code whoami}. */
  @picocli.CommandLine.Command(
      name = "whoami",
      description = "Show who your token is of, and what it may do.")
  static final class WhoamiCommand extends Command {
    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    WhoamiCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      JsonNode me = service.get(console(), "/v1/me");
      if (output.isJson()) {
        print(me.toString());
      } else if ("off".equals(Show.text(me, "security"))) {
        print("Security is off: everybody may do everything.");
      } else {
        String accounts = Show.names(me, "accounts");
        print(
            Show.text(me, "name")
                + " stands for "
                + Show.text(me, "user")
                + "; roles: "
                + Show.names(me, "roles")
                + (accounts == null ? "" : "; accounts: " + accounts));
      }
      return Exit.DONE;
    }
  }

  /** {@code audit}. */
  @picocli.CommandLine.Command(
      name = "audit",
      description =
          "Show every change that was asked for, newest first: who, from where, what, how it ended.")
  static final class AuditCommand extends Command {
    @Option(names = "--user", paramLabel = "NAME", description = "Only in this name.")
    private String user;

    @Option(
        names = "--path",
        paramLabel = "PATH",
        description = "Only of paths that begin so, e.g. /v1/nodes/n7.")
    private String path;

    @Option(
        names = "--outcome",
        paramLabel = "WORD",
        description = "Only those that are done, refused, failed or unknown.")
    private String outcome;

    @Option(
        names = "--from",
        paramLabel = "TIME",
        description = "Only from this time on, e.g. 2026-04-10T09:00:00Z.")
    private String from;

    @Option(names = "--to", paramLabel = "TIME", description = "Only before this time.")
    private String to;

    @Mixin private Limit limit = new Limit(100);

    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    AuditCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      String asked =
          ServiceAddress.path(
              "/v1/audit", "user", user, "path", path, "outcome", outcome, "from", from, "to", to);
      ServiceAddress.Found found = service.list(console(), asked, limit.most());
      if (output.isJson()) {
        print(Output.items(found.items()));
      } else {
        Table table = Table.of("AT", "WHO", "USER", "FROM", "WHAT", "OUTCOME", "BODY");
        for (JsonNode e : found.items()) {
          table.row(
              Show.text(e, "at"),
              Show.text(e, "who"),
              Show.text(e, "user"),
              Show.text(e, "address"),
              Show.text(e, "method") + " " + Show.text(e, "path"),
              Show.text(e, "outcome")
                  + (e.path("status").isNumber() ? " (" + Show.text(e, "status") + ")" : ""),
              Show.text(e, "body"));
        }
        console().out().print(table.text());
      }
      limit.saidOf(found, console());
      return Exit.DONE;
    }
  }
}
