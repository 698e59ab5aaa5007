package evenhand.cli;

import evenhand.input.InputFault;
import evenhand.input.Spelling;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFailed;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;

/** All commands of the jar. A new one is one line in {@link #Commands}. */
public final class Commands {
  /** Set to anything, a failure that nobody foresaw is printed in full. */
  public static final String TRACE = "EVENHAND_TRACE";

  private final Console console;
  private final CommandLine root;

  /** The root itself does nothing but say what there is. */
  @picocli.CommandLine.Command(
      name = "evenhand",
      description = "Policy service for GPU clusters run by Slurm.",
      versionProvider = Version.class,
      synopsisSubcommandLabel = "COMMAND",
      footer = {
        "",
        "evenhand COMMAND --help says more of each.",
        "Exit status: 0 done, 1 the answer is no, 2 wrong use or bad input, 3 something outside"
            + " failed."
      })
  private static final class Root extends Group {
    @Option(
        names = {"-V", "--version"},
        versionHelp = true,
        description = "Print the version.")
    private boolean version;

    Root(Console console) {
      super(console);
    }
  }

  @picocli.CommandLine.Command(
      name = "slurm",
      description = "How the text of Slurm's commands is understood.",
      synopsisSubcommandLabel = "COMMAND")
  private static final class Slurm extends Group {
    Slurm(Console console) {
      super(console);
    }
  }

  /** A command that only groups others: called by itself it shows them, as wrong use. */
  public abstract static class Group extends Command {
    protected Group(Console console) {
      super(console);
    }

    @Override
    public Integer call() {
      throw wrongUse("Say which command.");
    }
  }

  public Commands(Console console, Parts parts) {
    this.console = console;
    root = new CommandLine(new Root(console));
    add("serve", new CommandLine(new ServeCommand(console, parts.service())))
        .setUnmatchedOptionsArePositionalParams(true);
    add("decide", new DecideCommand(console, parts.policies()));
    add("check", new CheckCommand(console));
    CommandLine policy = new CommandLine(new PolicyCommands.PolicyGroup(console));
    policy.addSubcommand("list", new PolicyCommands.ListCommand(console));
    policy.addSubcommand("show", new PolicyCommands.ShowCommand(console));
    policy.addSubcommand("status", new RolloutCommands.StatusCommand(console));
    policy.addSubcommand("plan", new PolicyPlanCommand(console));
    policy.addSubcommand("plans", new RolloutCommands.PlansCommand(console));
    policy.addSubcommand("apply", new RolloutCommands.ApplyCommand(console));
    policy.addSubcommand("rollback", new RolloutCommands.RollbackCommand(console));
    policy.addSubcommand("history", new RolloutCommands.HistoryCommand(console));
    policy.addSubcommand("shadow", new RolloutCommands.ShadowCommand(console));
    policy.addSubcommand("doc", new PolicyDocCommand(console));
    add("policy", policy);
    CommandLine scenario = new CommandLine(new ScenarioCommands.ScenarioGroup(console));
    scenario.addSubcommand("record", new ScenarioCommands.RecordCommand(console));
    add("scenario", scenario);
    add("submit", new CommandLine(new SubmitCommand(console))).setStopAtPositional(true);
    add("jobs", new JobsCommand(console));
    add("job", new JobCommand(console));
    add("why", new WhyCommand(console));
    add("cancel", new CancelCommand(console));
    add("checkpoint", new ContractCommands.CheckpointCommand(console));
    add("queue", new QueueCommand(console));
    add("placements", new PlacementsCommand(console));
    add("nodes", new ContractCommands.NodesCommand(console));
    CommandLine node = new CommandLine(new ContractCommands.NodeGroup(console));
    node.addSubcommand("drain", new ContractCommands.DrainCommand(console));
    node.addSubcommand("resume", new ContractCommands.ResumeCommand(console));
    add("node", node);
    CommandLine accounts = new CommandLine(new AccountsCommand(console));
    accounts.addSubcommand("apply", new AccountsApplyCommand(console));
    accounts.addSubcommand("weights", new AccountsWeightsCommand(console));
    accounts.addSubcommand("history", new AccountsHistoryCommand(console));
    add("accounts", accounts);
    add("decisions", new DecisionsCommand(console));
    add("decision", new DecisionCommand(console));
    add("events", new EventsCommand(console));
    CommandLine ledger = new CommandLine(new LedgerCommands.LedgerCommand(console));
    ledger.addSubcommand("verify", new LedgerCommands.VerifyCommand(console));
    ledger.addSubcommand("correct", new LedgerCommands.CorrectCommand(console));
    add("ledger", ledger);
    add("verify", new VerifyCommand(console));
    add("cycle", new CycleCommand(console));
    CommandLine slurm = new CommandLine(new Slurm(console));
    CommandLine parse =
        new CommandLine(new SlurmCommand(console, parts.slurmText(), parts.slurmKinds()));
    listKinds(parse, parts.slurmKinds());
    slurm.addSubcommand("parse", parse);
    add("slurm", slurm);
  }

  private static void listKinds(CommandLine parse, Map<String, String> kinds) {
    parse
        .getHelpSectionMap()
        .put(
            UsageMessageSpec.SECTION_KEY_FOOTER_HEADING,
            help ->
                "\nKinds:\n"
                    + kinds.entrySet().stream()
                        .map(e -> String.format("  %-10s %s%n", e.getKey(), e.getValue()))
                        .collect(Collectors.joining()));
  }

  /** Adds a command. */
  public void add(String name, Command command) {
    add(name, new CommandLine(command));
  }

  /** Adds a command, or a group of them, with settings of its own. */
  public CommandLine add(String name, CommandLine command) {
    root.addSubcommand(name, command);
    return command;
  }

  /** Runs one command. Never throws, never ends the process; returns one of {@link Exit}. */
  public int run(String... arguments) {
    PrintWriter out = new PrintWriter(console.out(), true);
    PrintWriter err = new PrintWriter(console.err(), true);
    root.setOut(out)
        .setErr(err)
        .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF))
        .setUsageHelpAutoWidth(false)
        .setUsageHelpWidth(100)
        .setParameterExceptionHandler(this::wrongUse)
        .setExecutionExceptionHandler((e, command, result) -> failed(e));
    root.setExitCodeExceptionMapper(e -> Exit.OUTSIDE);
    int status;
    try {
      status = root.execute(arguments);
    } catch (StackOverflowError | OutOfMemoryError e) {
      console.err().println("The input is too large for the memory at hand (" + e + ").");
      status = Exit.OUTSIDE;
    }
    out.flush();
    err.flush();
    console.out().flush();
    console.err().flush();
    if (status == Exit.DONE && console.out().checkError()) {
      return Exit.OUTSIDE; // the answer did not arrive, e.g. the disk is full
    }
    return status;
  }

  private int wrongUse(CommandLine.ParameterException e, String[] arguments) {
    CommandLine command = e.getCommandLine();
    console.err().println(sentence(e));
    if (command.getSubcommands().isEmpty()) {
      console.err().println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
    } else {
      command.usage(console.err());
    }
    return Exit.WRONG_USE;
  }

  private static String sentence(CommandLine.ParameterException e) {
    CommandLine command = e.getCommandLine();
    if (e instanceof CommandLine.OverwrittenOptionException twice) {
      return called(twice.getOverwritten()) + " stands there more than once; give it once.";
    }
    if (e instanceof CommandLine.MissingParameterException missing
        && !missing.getMissing().isEmpty()) {
      return missing(missing.getMissing().get(0), e.getMessage());
    }
    if (!(e instanceof CommandLine.UnmatchedArgumentException unmatched)) {
      return e.getArgSpec() != null && e.getCause() == null && e.getValue() == null
          ? e.getMessage()
          : wrongValue(e);
    }
    String word = Table.clean(unmatched.getUnmatched().get(0));
    String plain = word.split("=", 2)[0];
    if (plain.startsWith("-")) {
      List<String> options =
          command.getCommandSpec().options().stream().map(o -> o.longestName()).toList();
      return "There is no option " + plain + "; " + Spelling.hint(plain, options);
    }
    if (command.getSubcommands().isEmpty()) {
      return "\"" + word + "\" is one word too many.";
    }
    return "There is no command "
        + plain
        + "; "
        + Spelling.hint(plain, command.getSubcommands().keySet());
  }

  private static String called(ArgSpec arg) {
    return arg instanceof OptionSpec option ? option.longestName() : arg.paramLabel();
  }

  private static String missing(ArgSpec arg, String message) {
    if (arg instanceof OptionSpec option) {
      return message.startsWith("Missing required option")
          ? option.longestName() + " is missing: " + said(arg)
          : option.longestName() + " needs a value, " + arg.paramLabel() + ": " + said(arg);
    }
    return "Say " + arg.paramLabel() + ": " + said(arg);
  }

  private static String said(ArgSpec arg) {
    return arg.description().length == 0 ? "see --help." : String.join(" ", arg.description());
  }

  /** What was asked, why not, what would work: a value that an option cannot take. */
  private static String wrongValue(CommandLine.ParameterException e) {
    ArgSpec arg = e.getArgSpec();
    if (arg == null) {
      return e.getMessage();
    }
    Class<?> type = arg.auxiliaryTypes().length > 0 ? arg.auxiliaryTypes()[0] : arg.type();
    java.util.regex.Matcher given = GIVEN.matcher(String.valueOf(e.getMessage()));
    String value = e.getValue() != null ? e.getValue() : given.find() ? given.group(1) : null;
    String right;
    if (type.isEnum()) {
      right =
          "must be one of "
              + java.util.Arrays.stream(type.getEnumConstants())
                  .map(Object::toString)
                  .collect(Collectors.joining(", "));
    } else if (List.of(int.class, Integer.class, long.class, Long.class).contains(type)) {
      right = "must be " + wholeNumber(value, type == long.class || type == Long.class);
    } else if (List.of(double.class, Double.class).contains(type)) {
      right = "must be a number";
    } else if (java.util.Map.class.isAssignableFrom(arg.type())) {
      right = "must be written " + arg.paramLabel();
    } else {
      return e.getMessage();
    }
    return called(arg)
        + " "
        + right
        + (value == null ? "." : ", not \"" + Table.clean(value) + "\".");
  }

  /**
   * What a whole number has to be that this text is not: one too large is a number all the same.
   */
  private static String wholeNumber(String value, boolean isLong) {
    if (value == null || !value.matches("[+-]?\\d+")) {
      return "a whole number";
    }
    return value.startsWith("-")
        ? (isLong ? Long.MIN_VALUE : Integer.MIN_VALUE) + " or more"
        : (isLong ? Long.MAX_VALUE : Integer.MAX_VALUE) + " or less";
  }

  /** The value in picocli's own message, which names the option first. */
  private static final java.util.regex.Pattern GIVEN =
      java.util.regex.Pattern.compile("(?:: |but was )'([^']*)'");

  private int failed(Exception e) {
    if (e instanceof Failed known) {
      console.err().println(known.getMessage());
      return known.status();
    }
    if (e instanceof InputFault || e instanceof PolicyFault || e instanceof RuleFailed) {
      console.err().println(e.getMessage());
      return Exit.WRONG_USE;
    }
    console
        .err()
        .println(
            "evenhand failed in a way nobody foresaw: "
                + Table.clean(String.valueOf(e))
                + "\nSet "
                + TRACE
                + "=1 to see where, and report it.");
    if (console.environment().containsKey(TRACE)) {
      e.printStackTrace(console.err());
    }
    return Exit.OUTSIDE;
  }
}
