package evenhand.cli;

import evenhand.input.Durations;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.simulator.AccountPlan;
import evenhand.simulator.ClusterPlan;
import evenhand.simulator.CsvTrace;
import evenhand.simulator.Figures;
import evenhand.simulator.Played;
import evenhand.simulator.ReportPage;
import evenhand.simulator.ResultFiles;
import evenhand.simulator.Simulation;
import evenhand.simulator.SwfTrace;
import evenhand.simulator.Trace;
import java.io.IOException;
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
          + " jobs."
    },
    footer = {
      "",
      "At one moment: jobs that end free their GPUs, then weights and nodes change, then jobs"
          + " arrive (by submit time, then id), then cycles decide until one changes nothing.",
      "The same input gives the same files, but for the times it took, in summary.json.",
      "",
      "Exit status: 0 simulated, 2 an input, a setting or a rule is at fault, 3 a file cannot be"
          + " written."
    })
public final class SimulateCommand extends Command {
  /** Forms of job sets. */
  public enum Format {
    csv,
    sacct,
    swf
  }

  private final PolicySource policies;
  private final Function<String, Trace> sacct;

  @Option(
      names = "--cluster",
      paramLabel = "FILE",
      required = true,
      description = "The cluster, YAML: tiers, nodes, changes.")
  private String cluster;

  @Option(names = "--jobs", paramLabel = "FILE", required = true, description = "The job set.")
  private String jobs;

  @Option(
      names = "--format",
      paramLabel = "FORM",
      defaultValue = "csv",
      description = "Form of the job set: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Format format = Format.csv;

  @Option(
      names = "--accounts",
      paramLabel = "FILE",
      description = "The tree of accounts, YAML; without it every account is alike.")
  private String accounts;

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

  @Option(names = "--strict", description = "Rows that cannot be jobs are an error.")
  private boolean strict;

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
    this.sacct = sacct;
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
    ClusterPlan plan = ClusterPlan.read(Console.called(cluster), console().read(cluster));
    AccountPlan tree =
        accounts == null
            ? AccountPlan.none()
            : AccountPlan.read(Console.called(accounts), console().read(accounts));
    Trace trace = tree.known(trace(plan));
    if (!trace.unreadable().isEmpty() && strict) {
      throw new Failed(Exit.WRONG_USE, unreadable(trace));
    }
    List<Policy> loaded = new ArrayList<>();
    for (String name : names) {
      loaded.add(load(name));
    }
    write(out, null);
    if (!trace.unreadable().isEmpty()) {
      write(out.resolve("unreadable.csv"), ResultFiles.unreadable(trace));
      say(unreadable(trace));
    }
    Table table =
        Table.of(
            "POLICY",
            ">FINISHED",
            ">REFUSED",
            ">UNREADABLE",
            ">WAIT_P50_S",
            ">WAIT_P90_S",
            ">JCT_MEAN_S",
            ">UTILIZATION",
            ">PREEMPTED",
            ">DELIVERED/ENTITLED",
            ">CYCLES",
            ">WALL_S");
    List<Played> played = new ArrayList<>();
    for (Policy policy : loaded) {
      played.add(simulate(policy, plan, tree, trace, stop, pause, table));
    }
    write(out.resolve("report.html"), ReportPage.html(played, null));
    print(
        output.isJson()
            ? new JsonMapper()
                .writeValueAsString(Map.of("items", played.stream().map(Played::summary).toList()))
            : table.text().stripTrailing());
    return Exit.DONE;
  }

  private Played simulate(
      Policy policy,
      ClusterPlan plan,
      AccountPlan tree,
      Trace trace,
      Duration stop,
      Duration pause,
      Table table) {
    Simulation.Result result;
    try {
      result = new Simulation(policy, plan, tree, trace.jobs(), stop, pause, witness(policy)).run();
    } catch (Simulation.Restless e) {
      throw new Failed(Exit.WRONG_USE, e.getMessage() + ".");
    }
    Duration warmUp =
        policy.lookback().orElse(lookback == null ? Duration.ofDays(7) : duration("", lookback));
    long window = warmUp.toSeconds() * 1_000_000;
    Figures figures = new Figures(result, trace, window);
    Map<String, Object> summary = figures.summary();
    summary.put("seed", null);
    Map<String, Object> timing = figures.timing();
    summary.putAll(timing);
    Path folder = out.resolve(policy.name());
    write(folder, null);
    write(
        folder.resolve("summary.json"),
        new JsonMapper().writerWithDefaultPrettyPrinter().writeValueAsString(summary) + "\n");
    write(folder.resolve("jobs.csv"), ResultFiles.jobs(result));
    write(folder.resolve("events.csv"), ResultFiles.events(result));
    table.row(
        policy.name(),
        summary.get("finished"),
        summary.get("refused"),
        summary.get("unreadable"),
        all(summary, "wait_s", "p50"),
        all(summary, "wait_s", "p90"),
        all(summary, "jct_s", "mean"),
        part(summary.get("utilization")),
        summary.get("preemptions"),
        part(summary.get("delivered_over_entitled")),
        summary.get("cycles"),
        part(timing.get("wall_s")));
    return new Played(policy.name(), result, summary, window);
  }

  private static Object part(Object figure) {
    return figure == null ? null : Math.round((Double) figure * 1000) / 1000.0;
  }

  private static Object all(Map<String, Object> summary, String figure, String which) {
    Object value = ((Map<?, ?>) ((Map<?, ?>) summary.get(figure)).get("all")).get(which);
    return part(value);
  }

  private Policy load(String name) throws PolicyFault {
    Map<String, String> set = new LinkedHashMap<>(settings);
    Policy policy = policies.load(Optional.ofNullable(rules), name, set);
    if (lookback != null && policy.lookback().isPresent()) {
      duration("--lookback", lookback);
      set.put("lookback", lookback);
      policy = policies.load(Optional.ofNullable(rules), name, set);
    }
    return policy;
  }

  private Trace trace(ClusterPlan plan) {
    String text = console().read(jobs);
    return switch (format) {
      case csv -> CsvTrace.read(Console.called(jobs), text);
      case sacct -> sacct.apply(text);
      case swf ->
          SwfTrace.read(
              text, plan.placements().stream().mapToInt(ClusterPlan.Gpus::count).max().orElse(1));
    };
  }

  private String unreadable(Trace trace) {
    String some =
        trace.unreadable().stream()
            .limit(5)
            .map(
                u ->
                    "\n  "
                        + Console.called(jobs)
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

  private Duration duration(String option, String text) {
    try {
      return text == null ? null : Durations.parse(text);
    } catch (IllegalArgumentException e) {
      throw wrongUse(option + " " + e.getMessage() + ".");
    }
  }

  /** Writes a file, or makes a folder where there is no text. */
  private static void write(Path path, String text) {
    try {
      if (text == null) {
        Files.createDirectories(path);
      } else {
        Files.writeString(path, text);
      }
    } catch (IOException e) {
      throw new Failed(Exit.OUTSIDE, path + " cannot be written: " + e.getMessage() + ".");
    }
  }
}
