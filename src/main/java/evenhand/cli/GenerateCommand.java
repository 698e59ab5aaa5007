package evenhand.cli;

import evenhand.simulator.Generator;
import evenhand.simulator.TraceJob;
import evenhand.simulator.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** {@code generate}: a job set, a cluster and accounts from the description of a workload. */
@picocli.CommandLine.Command(
    name = "generate",
    description = {
      "Generate a job set from a workload and a seed: DIR/jobs.csv, cluster.yaml, accounts.yaml,"
          + " as simulate reads them, and origin.json, from which it knows the seed.",
      "The same workload and seed give the same files."
    },
    footer = {"", "Exit status: 0 done, 2 the workload is at fault, 3 a file cannot be written."})
public final class GenerateCommand extends Command {
  @Option(
      names = "--workload",
      paramLabel = "FILE",
      required = true,
      description = "The workload, YAML, e.g. one of fixtures/workloads.")
  private String file;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Which of the many job sets of this workload (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      required = true,
      description = "Where the files go; made when it is not there.")
  private Path out;

  public GenerateCommand(Console console) {
    super(console);
  }

  @Override
  public Integer call() {
    Workload workload = Workload.read(Console.called(file), console().read(file));
    Generator generator = new Generator(workload, seed);
    List<TraceJob> jobs;
    try {
      jobs = generator.jobs();
    } catch (IllegalArgumentException e) {
      throw new Failed(Exit.WRONG_USE, e.getMessage() + ".");
    }
    try {
      Files.createDirectories(out);
      String csv = Generator.csv(jobs);
      Files.writeString(out.resolve("jobs.csv"), csv);
      Files.writeString(out.resolve(Origin.FILE), Origin.text(file, seed, jobs.size(), csv));
      Files.writeString(out.resolve("cluster.yaml"), generator.cluster());
      Files.writeString(out.resolve("accounts.yaml"), generator.accounts());
    } catch (IOException e) {
      throw new Failed(Exit.OUTSIDE, out + " cannot be written: " + e.getMessage() + ".");
    }
    print(jobs.size() + " jobs, seed " + seed + ", in " + out);
    return Exit.DONE;
  }
}
