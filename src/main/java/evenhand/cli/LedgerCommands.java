package evenhand.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code ledger}: who held what and what it cost, whether it adds up, and corrections. */
final class LedgerCommands {
  private LedgerCommands() {}

  /** {@code ledger}: rows, or sums of them. */
  @picocli.CommandLine.Command(
      name = "ledger",
      description = {
        "Show what was held and what it cost: sums, or with --rows the rows themselves.",
        "Every GPU-second of a placement is run, unallocated (run, charged to nobody), reserved,"
            + " outside (jobs that are not evenhand's, as sampled), idle, draining or down. A job"
            + " that runs counts up to now, and is charged when it ends."
      })
  static final class LedgerCommand extends Command {
    @Option(
        names = "--by",
        paramLabel = "WHAT",
        defaultValue = "kind",
        description =
            "Sum by account, job, kind, placement, tier, hour, day; several with commas (default:"
                + " ${DEFAULT-VALUE}).")
    private String by;

    @Option(names = "--rows", description = "The rows, newest first, instead of sums.")
    private boolean rows;

    @Option(names = "--account", paramLabel = "ID", description = "Only of this account.")
    private String account;

    @Option(names = "--job", paramLabel = "ID", description = "Only of this job.")
    private String job;

    @Option(names = "--node", paramLabel = "NAME", description = "Only on this node.")
    private String node;

    @Option(names = "--tier", paramLabel = "NAME", description = "Only of this tier.")
    private String tier;

    @Option(names = "--kind", paramLabel = "KIND", description = "Only of this kind.")
    private String kind;

    @Option(
        names = "--from",
        paramLabel = "TIME",
        description = "Only time after this, e.g. 2026-04-10T09:00:00Z.")
    private String from;

    @Option(names = "--to", paramLabel = "TIME", description = "Only time before this.")
    private String to;

    @Mixin private Limit limit = new Limit(1000);

    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    LedgerCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      String asked =
          ServiceAddress.path(
              "/v1/ledger",
              "by",
              rows ? null : by,
              "account",
              account,
              "job",
              job,
              "node",
              node,
              "tier",
              tier,
              "kind",
              kind,
              "from",
              from,
              "to",
              to);
      ServiceAddress.Found found = service.list(console(), asked, limit.most());
      if (output.isJson()) {
        print(Output.items(found.items()));
      } else {
        console().out().print((rows ? rows(found.items()) : sums(found.items())).text());
      }
      limit.saidOf(found, console());
      return Exit.DONE;
    }

    private static Table rows(List<JsonNode> items) {
      Table table =
          Table.of(
              "ID", "KIND", "JOB", "ACCOUNT", "ON", "FROM", "TO", ">COST (TFLOP-s)", "CHARGED");
      for (JsonNode row : items) {
        table.row(
            Show.text(row, "id"),
            Show.text(row, "kind"),
            Show.text(row, "job") + "." + Show.text(row, "attempt"),
            Show.text(row, "account"),
            Show.gpus(row),
            Show.text(row, "from"),
            Show.text(row, "to"),
            Show.number(row, "tflop_s"),
            Show.text(row, "charged_at"));
      }
      return table;
    }

    private Table sums(List<JsonNode> items) {
      List<String> words = new ArrayList<>();
      for (String word : by.split(",")) {
        words.add(word.strip());
      }
      List<String> headers = new ArrayList<>();
      words.forEach(word -> headers.add(word.toUpperCase(java.util.Locale.ROOT)));
      headers.addAll(List.of(">GPU-s", ">COST (TFLOP-s)", ">CHARGED (TFLOP-s)"));
      Table table = Table.of(headers.toArray(String[]::new));
      for (JsonNode line : items) {
        List<Object> cells = new ArrayList<>();
        words.forEach(word -> cells.add(Show.text(line, word)));
        cells.add(Show.number(line, "gpu_s"));
        cells.add(Show.number(line, "tflop_s"));
        cells.add(Show.number(line, "charged_tflop_s"));
        table.row(cells.toArray());
      }
      return table;
    }
  }

  /** {@code ledger verify}: whether it adds up. */
  @picocli.CommandLine.Command(
      name = "verify",
      description = {
        "Work out from the rows every account's usage, every job's reservation columns, every row's"
            + " cost and every placement's parts, and name the first difference."
      },
      footer = {"", "Exit status: 0 everything adds up, 1 something does not."})
  static final class VerifyCommand extends Command {
    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    VerifyCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      JsonNode check = service.get(console(), "/v1/ledger/verify");
      boolean clean = check.path("clean").asBoolean(false);
      if (output.isJson()) {
        print(check.toString());
        return clean ? Exit.DONE : Exit.NO;
      }
      check.path("notes").forEach(note -> say("Note: " + Table.clean(note.asString(""))));
      if (clean) {
        print(
            "The ledger adds up: "
                + Show.text(check, "rows")
                + " rows, "
                + Show.text(check, "charges")
                + " charges, "
                + Show.text(check, "accounts")
                + " accounts, "
                + Show.text(check, "placements")
                + " placements.");
      } else {
        print(Table.clean(String.valueOf(Show.text(check.path("difference"), "message"))));
      }
      return clean ? Exit.DONE : Exit.NO;
    }
  }

  /** {@code ledger correct}: a new row that moves an account's usage. */
  @picocli.CommandLine.Command(
      name = "correct",
      description =
          "Move an account's usage by a new row with a reason; nothing that was written changes.")
  static final class CorrectCommand extends Command {
    @Option(
        names = "--account",
        required = true,
        paramLabel = "ID",
        description = "The account whose usage moves.")
    private String account;

    @Option(
        names = "--tflop-s",
        required = true,
        paramLabel = "X",
        description = "By how much, TFLOP-seconds; below 0 takes off: --tflop-s=-24780.")
    private double tflopSeconds;

    @Option(
        names = "--reason",
        required = true,
        paramLabel = "TEXT",
        description = "Why, for later readers.")
    private String reason;

    @Option(
        names = "--user",
        paramLabel = "NAME",
        description = "Who corrects (default: that of the token, or your name on this machine).")
    private String user;

    @Option(
        names = "--key",
        paramLabel = "KEY",
        description =
            "Makes trying again safe: the same key corrects once (default: a new one each time).")
    private String key;

    @Mixin private ServiceAddress service;
    @Mixin private Output output;

    CorrectCommand(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      if (!Double.isFinite(tflopSeconds)) {
        throw wrongUse("--tflop-s must be a number.");
      }
      String body =
          new JsonMapper()
              .createObjectNode()
              .put("account", account)
              .put("tflop_s", tflopSeconds)
              .put("reason", reason)
              .put("user", service.who(console(), user))
              .toString();
      Map<String, String> headers =
          Map.of("Idempotency-Key", key == null ? UUID.randomUUID().toString() : key);
      JsonNode made = service.post(console(), "/v1/ledger/corrections", body, headers).body();
      print(
          output.isJson()
              ? made.toString()
              : "Correction "
                  + Show.text(made, "id")
                  + ": the usage of "
                  + Show.text(made, "account")
                  + " moved by "
                  + Show.number(made, "tflop_s")
                  + " TFLOP-s.");
      return Exit.DONE;
    }
  }
}
