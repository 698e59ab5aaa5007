package evenhand.cli;

import evenhand.input.Durations;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.simulator.JobSet;
import evenhand.simulator.Pictures;
import evenhand.simulator.Played;
import evenhand.simulator.ReportPage;
import evenhand.simulator.ResultFiles;
import evenhand.simulator.Simulation;
import evenhand.simulator.Sweep;
import evenhand.simulator.Trace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/** {@code simulate}: what policies make of a job set, before anybody has to live with them. */
@picocli.CommandLine.Command(
    name = "simulate",
    description = {
      "Play a job set on a cluster by each policy's own rules; only clock and cluster are"
          + " simulated.",
      "Writes DIR/POLICY/summary.json, jobs.csv and events.csv for each policy, DIR/report.html"
          + " with pictures of them all, and DIR/unreadable.csv where rows of the job set cannot be"
          + " jobs. With --sweep or several --seeds also DIR/sweep.csv, a line a setting, and"
          + " DIR/sweep-runs.csv, a line a simulation; the other files are then of each policy's"
          + " first setting and the first seed."
    },
    footer = {
      "",
      "At one moment: jobs that end free their GPUs, then weights and nodes change, then jobs"
          + " arrive (by submit time, then id), then cycles decide until one changes nothing.",
      "The same input gives the same files, but for the times it took, in summary.json.",
      "",
      "Exit status: 0 simulated, 2 an input, a setting or a rule is at fault, 3 a file cannot be"
          + " written, or a picture not be drawn."
    })
public final class SimulateCommand extends Command {
  private final PolicySource policies;

  @Mixin private final JobSetOptions input;

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      required = true,
      description = "A policy to simulate; may be given several times.")
  private List<String> names = new ArrayList<>();

  @Option(
      names = "--rules",
      paramLabel = "DIR",
      description = "The rules folder; the rules at hand by default.")
  private Path rules;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Change a parameter or choice of the policies for this once.")
  private Map<String, String> settings = new LinkedHashMap<>();

  @Option(
      names = "--sweep",
      paramLabel = "KEY=V1,V2",
      description =
          "Try each of these values of a parameter, e.g. lookback=1d,3d,7d; values that have commas"
              + " are parted by |. Several --sweep give every combination.")
  private Map<String, String> sweeps = new LinkedHashMap<>();

  @Option(
      names = "--threads",
      paramLabel = "N",
      description =
          "How many simulations of a sweep run at a time; changes no result (default: one for each"
              + " processor).")
  private Integer threads;

  @Option(
      names = "--lookback",
      paramLabel = "TIME",
      description =
          "Window of charged usage, for policies that have one, and warm-up of the figures by"
              + " account (default: the policy's, else 7d).")
  private String lookback;

  @Option(
      names = "--until",
      paramLabel = "TIME",
      description = "Stop at this time of the job set; else when nothing can change any more.")
  private String until;

  @Option(
      names = "--every",
      paramLabel = "TIME",
      defaultValue = "10m",
      description =
          "How often a policy that preempts decides while jobs wait and nothing happens (default:"
              + " ${DEFAULT-VALUE}).")
  private String every = "10m";

  @Option(
      names = "--leave-after",
      paramLabel = "TIME",
      defaultValue = "0s",
      description =
          "How long a preempted job goes on after its signal; at most the policy's grace time"
              + " (default: ${DEFAULT-VALUE}).")
  private String leaveAfter = "0s";

  @Option(names = "--strict", description = "Rows that cannot be jobs are an error.")
  private boolean strict;

  @Option(
      names = "--pictures",
      description =
          "Also write gantt and usage, the two main pictures, as .svg and .png for documents.")
  private boolean pictures;

  @Option(names = "--quiet", description = "Say nothing while it goes on.")
  private boolean quiet;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      required = true,
      description = "Where the files go; made when it is not there.")
  private Path out;

  @Mixin private Output output;

  /**
   * @param policies loads policies
   * @param sacct reads the text of {@code sacct -P} as a job set
   */
  public SimulateCommand(Console console, PolicySource policies, Function<String, Trace> sacct) {
    super(console);
    this.policies = policies;
    this.input = new JobSetOptions(sacct);
  }

  @Override
  public Integer call() throws PolicyFault {
    if (new LinkedHashSet<>(names).size() < names.size()) {
      throw wrongUse("A policy is named twice; each has one folder of results.");
    }
    Duration stop = duration("--until", until);
    Duration pause = duration("--every", every);
    if (pause.isZero()) {
      throw wrongUse("--every must be more than 0 s.");
    }
    Duration leave = duration("--leave-after", leaveAfter);
    if (threads != null && (threads < 1 || threads > 1024)) {
      throw wrongUse("--threads must be 1 to 1024.");
    }
    List<JobSet.Source> sources = input.read(console());
    JobSet first = sources.get(0).make().get();
    if (!first.trace().unreadable().isEmpty() && strict) {
      throw new Failed(Exit.WRONG_USE, unreadable(first.trace()));
    }
    List<Sweep.Setting> tried = settings(sources.size());
    write(out, (byte[]) null);
    if (!first.trace().unreadable().isEmpty()) {
      write(out.resolve("unreadable.csv"), ResultFiles.unreadable(first.trace()));
      say(unreadable(first.trace()));
    }
    boolean sweep = sources.size() > 1 || !sweeps.isEmpty();
    return sweep
        ? sweep(new Sweep(List.copyOf(sweeps.keySet()), tried, sources, stop, pause, leave))
        : compare(tried, first, stop, pause, leave);
  }

  /** Each policy once on one job set. */
  private int compare(
      List<Sweep.Setting> tried, JobSet set, Duration stop, Duration pause, Duration leave) {
    List<Played> played = new ArrayList<>();
    for (Sweep.Setting setting : tried) {
      Simulation.Result result;
      try {
        result =
            new Simulation(
                    setting.policy(),
                    set.cluster(),
                    set.accounts(),
                    set.trace().jobs(),
                    stop,
                    pause,
                    leave,
                    witness(setting.policy()))
                .run();
      } catch (Simulation.Restless e) {
        throw new Failed(Exit.WRONG_USE, e.getMessage() + ".");
      }
      Played one = Played.of(result, set, setting.windowMicros());
      files(one);
      played.add(one);
    }
    int status = report(played, null);
    print(
        output.isJson()
            ? new JsonMapper()
                .writeValueAsString(Map.of("items", played.stream().map(Played::summary).toList()))
            : SimulationTable.of(played));
    if (played.stream().anyMatch(p -> p.summary().get("delivered_over_entitled") == null)) {
      say(
          "DELIVERED/ENTITLED counts the hours from one lookback after the first job on; where it is"
              + " -, nobody was entitled to anything then. Give a shorter --lookback or a longer job"
              + " set.");
    }
    return status;
  }

  /** Each setting of each policy on each job set. */
  private int sweep(Sweep sweep) {
    Sweep.Outcome outcome;
    try {
      outcome =
          sweep.run(
              threads == null ? Runtime.getRuntime().availableProcessors() : threads, progress());
    } catch (Simulation.Restless e) {
      throw new Failed(Exit.WRONG_USE, "Policy " + e.getMessage() + ".");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failed(Exit.OUTSIDE, "The simulations were interrupted.");
    }
    write(out.resolve("sweep.csv"), sweep.csv(outcome));
    write(out.resolve("sweep-runs.csv"), sweep.runsCsv(outcome));
    outcome.first().forEach(this::files);
    int status = report(outcome.first(), sweep.data(outcome));
    print(
        output.isJson()
            ? new JsonMapper().writeValueAsString(sweep.data(outcome))
            : SimulationTable.of(sweep.data(outcome)));
    return status;
  }

  private void files(Played played) {
    Path folder = out.resolve(played.name());
    write(folder, (byte[]) null);
    write(
        folder.resolve("summary.json"),
        new JsonMapper().writerWithDefaultPrettyPrinter().writeValueAsString(played.summary())
            + "\n");
    write(folder.resolve("jobs.csv"), ResultFiles.jobs(played.result()));
    write(folder.resolve("events.csv"), ResultFiles.events(played.result()));
  }

  private int report(List<Played> played, Map<String, Object> sweep) {
    write(out.resolve("report.html"), ReportPage.html(played, sweep));
    if (!pictures) {
      return Exit.DONE;
    }
    List<String> without = new ArrayList<>();
    Pictures.of(played, without::add).forEach((name, bytes) -> write(out.resolve(name), bytes));
    without.forEach(
        why ->
            say("gantt.png and usage.png were not made: " + why + ". The .svg files are there."));
    return without.isEmpty() ? Exit.DONE : Exit.OUTSIDE;
  }

  /** Every combination of the values that are tried, of each policy. */
  private List<Sweep.Setting> settings(int sets) throws PolicyFault {
    List<List<String>> combinations = List.of(List.of());
    for (Map.Entry<String, String> one : sweeps.entrySet()) {
      if (settings.containsKey(one.getKey())
          || one.getKey().equals("lookback") && lookback != null) {
        throw wrongUse(one.getKey() + " is both set and swept.");
      }
      List<List<String>> longer = new ArrayList<>();
      for (List<String> so : combinations) {
        for (String value : values(one.getKey(), one.getValue())) {
          List<String> with = new ArrayList<>(so);
          with.add(value);
          longer.add(with);
        }
      }
      combinations = longer;
      atMost(combinations.size(), sets);
    }
    atMost(combinations.size(), sets);
    List<Sweep.Setting> tried = new ArrayList<>();
    for (String name : names) {
      for (List<String> values : combinations) {
        Map<String, String> set = new LinkedHashMap<>(settings);
        int i = 0;
        for (String key : sweeps.keySet()) {
          set.put(key, values.get(i++));
        }
        Policy policy = load(name, set);
        Duration window =
            policy
                .lookback()
                .orElse(lookback == null ? Duration.ofDays(7) : duration("", lookback));
        tried.add(new Sweep.Setting(policy, values, window.toSeconds() * 1_000_000));
      }
    }
    return tried;
  }

  private void atMost(int combinations, int sets) {
    long runs = (long) combinations * sets * names.size();
    if (runs > Sweep.MOST_RUNS) {
      throw wrongUse(
          "That would be "
              + runs
              + " simulations or more; one sweep has at most "
              + Sweep.MOST_RUNS
              + ".");
    }
  }

  private List<String> values(String key, String text) {
    List<String> values = new ArrayList<>();
    for (String value : text.split(text.contains("|") ? "\\|" : ",", -1)) {
      if (value.isBlank()) {
        throw wrongUse("--sweep " + key + "=" + text + " has an empty value.");
      }
      if (values.contains(value.strip())) {
        throw wrongUse("--sweep " + key + "=" + text + " names " + value.strip() + " twice.");
      }
      values.add(value.strip());
    }
    return values;
  }

  private Policy load(String name, Map<String, String> changed) throws PolicyFault {
    Map<String, String> set = new LinkedHashMap<>(changed);
    Policy policy = policies.load(Optional.ofNullable(rules), name, set);
    if (lookback != null && policy.lookback().isPresent()) {
      duration("--lookback", lookback);
      set.put("lookback", lookback);
      policy = policies.load(Optional.ofNullable(rules), name, set);
    }
    return policy;
  }

  private String unreadable(Trace trace) {
    String some =
        trace.unreadable().stream()
            .limit(5)
            .map(
                u ->
                    "\n  "
                        + input.called()
                        + (u.line() > 0 ? ":" + u.line() : "")
                        + ": "
                        + Table.clean(u.reason()))
            .collect(Collectors.joining());
    int more = trace.unreadable().size() - 5;
    return trace.unreadable().size()
        + " of "
        + trace.rows()
        + " rows cannot be jobs:"
        + some
        + (more > 0 ? "\n  and " + more + " more" : "")
        + (strict ? "" : "\n  all are in " + out.resolve("unreadable.csv"));
  }

  /** A line that is written over as it goes on, on a terminal only. */
  private Simulation.Witness witness(Policy policy) {
    if (quiet || System.console() == null) {
      return Simulation.NOBODY;
    }
    return new Simulation.Witness() {
      private int told = -1;

      @Override
      public void moment(long atMicros, int done, int all) {
        int percent = all == 0 ? 100 : (int) (100L * done / all);
        if (percent != told) {
          told = percent;
          console().err().print("\r" + policy.name() + " " + percent + " %");
          if (percent == 100) {
            console().err().print("\r\u001b[K");
          }
          console().err().flush();
        }
      }
    };
  }

  private IntConsumer progress() {
    boolean told = !quiet && System.console() != null;
    return done -> {
      if (told) {
        console().err().print("\r\u001b[K" + done + " simulations done ");
        console().err().flush();
      }
    };
  }

  private Duration duration(String option, String text) {
    try {
      return text == null ? null : Durations.parse(text);
    } catch (IllegalArgumentException e) {
      throw wrongUse(option + " " + e.getMessage() + ".");
    }
  }

  private static void write(Path path, String text) {
    write(path, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes a file, or makes a folder where there is nothing to write. */
  private static void write(Path path, byte[] bytes) {
    try {
      if (bytes == null) {
        Files.createDirectories(path);
      } else {
        Files.write(path, bytes);
      }
    } catch (IOException e) {
      throw new Failed(Exit.OUTSIDE, path + " cannot be written: " + e.getMessage() + ".");
    }
  }
}
