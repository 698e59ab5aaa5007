package evenhand.cli;

import evenhand.simulator.AccountPlan;
import evenhand.simulator.ClusterPlan;
import evenhand.simulator.CsvTrace;
import evenhand.simulator.Generator;
import evenhand.simulator.JobSet;
import evenhand.simulator.SwfTrace;
import evenhand.simulator.Trace;
import evenhand.simulator.TraceJob;
import evenhand.simulator.Workload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.Function;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Where the jobs that are simulated come from, and what they run on. */
final class JobSetOptions {
  /** Forms of job sets. */
  enum Format {
    csv,
    sacct,
    swf
  }

  private static final int MOST_SEEDS = 1000;

  private final Function<String, Trace> sacct;

  @Option(
      names = "--cluster",
      paramLabel = "FILE",
      description = "The cluster, YAML: tiers, nodes, changes. Needed with --jobs.")
  private String cluster;

  @Option(names = "--jobs", paramLabel = "FILE", description = "The job set.")
  private String jobs;

  @Option(
      names = "--workload",
      paramLabel = "FILE",
      description =
          "Generate the job set from this workload, instead of --jobs; cluster and accounts are the"
              + " workload's where none are given.")
  private String workload;

  @Option(
      names = "--seeds",
      paramLabel = "LIST",
      description =
          "With --workload: which of its job sets, e.g. 3, or 1..5, or 1,4,9 (default: 1). Several"
              + " give means and spreads.")
  private String seeds;

  @Option(
      names = "--from-db",
      description =
          "Take the jobs that the service has seen as the job set, with its accounts and their"
              + " weights as they were; --cluster is needed only where it has several tiers.")
  private boolean fromService;

  @Mixin private ServiceAddress service = new ServiceAddress();

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

  /**
   * @param sacct reads the text of {@code sacct -P} as a job set
   */
  JobSetOptions(Function<String, Trace> sacct) {
    this.sacct = sacct;
  }

  /** What the job set is called in messages. */
  String called() {
    return fromService ? "the service" : workload != null ? workload : Console.called(jobs);
  }

  /** Reads or generates the job sets: at least one. */
  List<JobSet.Source> read(Console console) {
    int sources = (jobs == null ? 0 : 1) + (workload == null ? 0 : 1) + (fromService ? 1 : 0);
    if (sources == 0) {
      throw wrong(
          "Name a job set with --jobs, generate one with --workload, or take what the service has"
              + " seen with --from-db.");
    }
    if (sources > 1) {
      throw wrong("Only one of --jobs, --workload and --from-db may say where the jobs come from.");
    }
    if (workload == null) {
      if (seeds != null) {
        throw wrong("--seeds needs --workload, from which a job set is made for each seed.");
      }
      if (fromService) {
        JobSet set = seen(console);
        return List.of(new JobSet.Source(null, () -> set));
      }
      if (cluster == null) {
        throw wrong("--jobs needs --cluster, the cluster that they run on.");
      }
      JobSet set = written(console);
      return List.of(new JobSet.Source(set.seed(), () -> set));
    }
    if (format != Format.csv) {
      throw wrong("--format is about --jobs; a workload is always YAML.");
    }
    return generated(console);
  }

  private JobSet seen(Console console) {
    if (format != Format.csv) {
      throw wrong("--format is about --jobs, not about what a service has seen.");
    }
    ClusterPlan plan =
        cluster == null ? null : ClusterPlan.read(Console.called(cluster), console.read(cluster));
    JobSet set = new ServiceHistory(service, console).read(plan);
    if (accounts == null) {
      return set;
    }
    AccountPlan tree = tree(console);
    return new JobSet(set.cluster(), tree, tree.known(set.trace()), null);
  }

  private JobSet written(Console console) {
    ClusterPlan plan = ClusterPlan.read(Console.called(cluster), console.read(cluster));
    AccountPlan tree = tree(console);
    String text = console.read(jobs);
    Trace trace =
        switch (format) {
          case csv -> CsvTrace.read(Console.called(jobs), text);
          case sacct -> sacct.apply(text);
          case swf ->
              SwfTrace.read(
                  text,
                  plan.placements().stream().mapToInt(ClusterPlan.Gpus::count).max().orElse(1));
        };
    return new JobSet(plan, tree, tree.known(trace), seed(text));
  }

  private AccountPlan tree(Console console) {
    return accounts == null
        ? AccountPlan.none()
        : AccountPlan.read(Console.called(accounts), console.read(accounts));
  }

  /**
   * The seed from which the file was generated, if what lies beside it says so of this very text.
   */
  private Long seed(String text) {
    if (jobs.equals("-")) {
      return null;
    }
    Path beside = Path.of(jobs).resolveSibling(Origin.FILE);
    return Files.isRegularFile(beside) ? Origin.seed(beside, text) : null;
  }

  private List<JobSet.Source> generated(Console console) {
    Workload read = Workload.read(Console.called(workload), console.read(workload));
    ClusterPlan plan =
        cluster == null ? null : ClusterPlan.read(Console.called(cluster), console.read(cluster));
    AccountPlan tree = accounts == null ? null : tree(console);
    return seeds().stream()
        .map(seed -> new JobSet.Source(seed, () -> generated(read, seed, plan, tree)))
        .toList();
  }

  private JobSet generated(Workload read, long seed, ClusterPlan plan, AccountPlan tree) {
    Generator generator = new Generator(read, seed);
    List<TraceJob> made;
    try {
      made = generator.jobs();
    } catch (IllegalArgumentException e) {
      throw new Failed(Exit.WRONG_USE, e.getMessage() + ".");
    }
    AccountPlan of = tree == null ? AccountPlan.read(workload, generator.accounts()) : tree;
    return new JobSet(
        plan == null ? ClusterPlan.read(workload, generator.cluster()) : plan,
        of,
        of.known(new Trace(made, List.of(), made.size())),
        seed);
  }

  private List<Long> seeds() {
    LinkedHashSet<Long> all = new LinkedHashSet<>();
    String text = seeds == null ? "1" : seeds;
    try {
      for (String part : text.split(",", -1)) {
        String[] ends = part.strip().split("\\.\\.", -1);
        long from = Long.parseLong(ends[0].strip());
        long to = ends.length == 2 ? Long.parseLong(ends[1].strip()) : from;
        if (ends.length > 2 || to < from || to - from >= MOST_SEEDS) {
          throw new NumberFormatException(part);
        }
        for (long seed = from; seed <= to; seed++) {
          all.add(seed);
        }
      }
    } catch (NumberFormatException e) {
      throw wrong(
          "--seeds is \""
              + text
              + "\"; it must be whole numbers, e.g. 3, or 1..5, or 1,4,9; at most "
              + MOST_SEEDS
              + " of them.");
    }
    if (all.size() > MOST_SEEDS) {
      throw wrong("--seeds names more than " + MOST_SEEDS + " seeds.");
    }
    return List.copyOf(all);
  }

  private static Failed wrong(String message) {
    return new Failed(Exit.WRONG_USE, message);
  }
}
