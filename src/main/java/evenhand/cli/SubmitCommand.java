package evenhand.cli;

import evenhand.input.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code submit}: put a job in the queue. */
@picocli.CommandLine.Command(
    name = "submit",
    description = "Submit a job to the running service.",
    customSynopsis = {
      "evenhand submit [--account=ID] --gpus=N [OPTIONS] SCRIPT [ARGS...]",
      "       evenhand submit [--account=ID] --gpus=N [OPTIONS] -- COMMAND [ARGS...]",
      "       evenhand submit --file=JOB.json [--idempotency-key=KEY] [OPTIONS]"
    },
    footer = {
      "",
      "Options come before the script; all that stands after it is given to it. A command after --"
          + " is run by a script of one line.",
      "",
      "Exit status: 0 submitted, 1 refused, 2 wrong use or bad input, 3 the service does not"
          + " answer."
    })
final class SubmitCommand extends Command {
  /** Runs its arguments as they are; no quoting that could go wrong. */
  private static final String COMMAND_SCRIPT = "#!/bin/sh\nexec \"$@\"\n";

  @Option(
      names = "--file",
      paramLabel = "JOB.json",
      description = "The whole job as JSON, as the API takes it; - for standard input.")
  private String file;

  @Option(
      names = "--account",
      paramLabel = "ID",
      description = "The account it is charged to (default: the one that its user is attached to).")
  private String account;

  @Option(
      names = "--user",
      paramLabel = "NAME",
      description = "Who submits it (default: your name on this machine).")
  private String user;

  @Option(names = "--gpus", paramLabel = "N", description = "GPUs on each node.")
  private Integer gpus;

  @Option(names = "--nodes", paramLabel = "N", description = "How many nodes (default: 1).")
  private Integer nodes;

  @Option(names = "--tier", paramLabel = "NAME", description = "The GPU model it must have.")
  private String tier;

  @Option(
      names = "--minimum-tier",
      paramLabel = "NAME",
      description = "The lowest GPU model it accepts.")
  private String minimumTier;

  @Option(
      names = "--min-runtime",
      paramLabel = "TIME",
      description = "Protected run time, e.g. 1h, 90m, 3600 (seconds) (default: none).")
  private String minRuntime;

  @Option(
      names = "--time-limit",
      paramLabel = "TIME",
      description = "When Slurm ends it, e.g. 1d (default: the partition's limit).")
  private String timeLimit;

  @Option(names = "--resumable", description = "It may be queued again after a preemption.")
  private boolean resumable;

  @Option(
      names = "--not-preemptible",
      description = "It does not make room for work of a higher class (policy priority, PR3).")
  private boolean notPreemptible;

  @Option(
      names = "--priority",
      paramLabel = "N",
      description = "Higher is first, within its account only (default: 0).")
  private Integer priority;

  @Option(names = "--name", paramLabel = "NAME", description = "What people call it.")
  private String name;

  @Option(names = "--env", paramLabel = "K=V", description = "A variable the job is given.")
  private Map<String, String> environment = new LinkedHashMap<>();

  @Option(names = "--workdir", paramLabel = "DIR", description = "The directory it starts in.")
  private String workdir;

  @Option(
      names = "--idempotency-key",
      paramLabel = "KEY",
      description = "Makes trying again safe: the same key gives the first answer again.")
  private String key;

  @Parameters(paramLabel = "SCRIPT", hidden = true)
  private List<String> words = new ArrayList<>();

  @Mixin private ServiceAddress service;
  @Mixin private Output output;

  SubmitCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    String body = file != null ? whole() : fromOptions();
    Map<String, String> headers = key == null ? Map.of() : Map.of("Idempotency-Key", key);
    if (key != null && !key.chars().allMatch(c -> c >= ' ' && c < 127)) {
      throw wrongUse("--idempotency-key must be 1 to 200 printable ASCII characters.");
    }
    ServiceAddress.Answer answer = service.post(console(), "/v1/jobs", body, headers);
    JsonNode job = answer.body();
    if (output.isJson()) {
      print(job.toString());
      return Exit.DONE;
    }
    String id = Show.text(job, "id");
    print(
        answer.status() == 200
            ? "Job " + id + " was submitted before under this key."
            : "Job " + id + " is submitted.");
    String reason = Show.text(job, "state_reason");
    String terms = Show.text(job.path("terms"), "message");
    if (terms != null) {
      print(Table.clean(terms));
    } else if (reason != null) {
      print(reason);
    }
    return Exit.DONE;
  }

  private String whole() {
    boolean more = spec().options().stream().anyMatch(this::isGivenBesideFile) || !words.isEmpty();
    if (more) {
      throw wrongUse("--file has the whole job; leave the job's other options out.");
    }
    return console().read(file);
  }

  private boolean isGivenBesideFile(picocli.CommandLine.Model.OptionSpec option) {
    List<String> beside = List.of("--file", "--idempotency-key", "--server", "--output", "--help");
    return !beside.contains(option.longestName())
        && spec().commandLine().getParseResult().hasMatchedOption(option);
  }

  private String fromOptions() {
    if (gpus == null) {
      throw wrongUse("Say what is asked for: --gpus, or --file.");
    }
    if (words.isEmpty()) {
      throw wrongUse("Say what shall run: a script, or -- and a command.");
    }
    ObjectNode job = new JsonMapper().createObjectNode();
    List<String> arguments;
    job.put("name", name == null ? plainName(words.get(0)) : name);
    if (isCommand()) {
      job.put("script", COMMAND_SCRIPT);
      arguments = words;
    } else {
      job.put("script", console().read(words.get(0)));
      arguments = words.subList(1, words.size());
    }
    job.put("account", account);
    job.put("user", user == null ? System.getProperty("user.name", "anonymous") : user);
    job.put("num_gpus", gpus);
    put(job, "nodes", nodes);
    put(job, "priority", priority);
    job.put("tier", tier);
    job.put("minimum_tier", minimumTier);
    put(job, "min_runtime_s", seconds("--min-runtime", minRuntime));
    put(job, "time_limit_s", seconds("--time-limit", timeLimit));
    job.put("resumable", resumable);
    if (notPreemptible) {
      job.put("preemptible", false);
    }
    job.put("workdir", workdir);
    ArrayNode args = job.putArray("args");
    arguments.forEach(args::add);
    ObjectNode env = job.putObject("env");
    environment.forEach(env::put);
    return job.toString();
  }

  /** Whether {@code --} stands before the first word. */
  private boolean isCommand() {
    List<String> given = spec().commandLine().getParseResult().originalArgs();
    int before = given.size() - words.size() - 1;
    return before >= 0 && given.get(before).equals("--");
  }

  private static String plainName(String word) {
    String last = word.substring(word.lastIndexOf('/') + 1);
    return last.isBlank() || last.equals("-") ? "job" : last;
  }

  private static void put(ObjectNode job, String field, Number value) {
    if (value instanceof Integer number) {
      job.put(field, number);
    } else if (value instanceof Long number) {
      job.put(field, number);
    }
  }

  private Long seconds(String option, String text) {
    if (text == null) {
      return null;
    }
    try {
      Duration duration = Durations.parse(text);
      if (duration.getNano() != 0) {
        throw new IllegalArgumentException("must be whole seconds, not \"" + text + "\"");
      }
      return duration.getSeconds();
    } catch (IllegalArgumentException e) {
      throw wrongUse(option + " " + e.getMessage() + ".");
    }
  }
}
