package evenhand.simulator;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.ToDoubleFunction;

/**
 * Makes a job set from a workload and a seed: the same two give the same jobs, to the byte.
 *
 * <p>Each class gets its part of the work that arrives, job by job, until the part is full. Who
 * submits and when is drawn for each job apart.
 */
public final class Generator {
  /** Most jobs one set may have. */
  public static final int MOST_JOBS = 2_000_000;

  /** Of the standard normal distribution: a tenth lies above. */
  private static final double P90 = 1.2815515655446004;

  private final Workload workload;
  private final Random random;
  private final double[] hoursSoFar;

  public Generator(Workload workload, long seed) {
    this.workload = workload;
    this.random = new Random(seed);
    int hours = (int) Math.max(1, (workload.length().toMinutes() + 59) / 60);
    hoursSoFar = new double[hours];
    double sum = 0;
    for (int h = 0; h < hours; h++) {
      // Simulated time begins on a Thursday at midnight.
      sum += workload.hours().get(h % 24) * workload.weekdays().get((3 + h / 24) % 7);
      hoursSoFar[h] = sum;
    }
  }

  /**
   * The jobs, in the order of arrival, numbered from 1.
   *
   * @throws IllegalArgumentException when they would be more than {@link #MOST_JOBS}
   */
  public List<TraceJob> jobs() {
    double work =
        workload.load() * workload.length().toSeconds() * workload.nodes() * workload.gpusPerNode();
    double parts = workload.classes().stream().mapToDouble(Workload.JobClass::part).sum();
    double mayBeFree =
        workload.classes().stream()
            .filter(Workload.JobClass::unallocated)
            .mapToDouble(Workload.JobClass::part)
            .sum();
    double free = mayBeFree == 0 ? 0 : Math.min(1, workload.unallocated() * parts / mayBeFree);
    List<TraceJob> jobs = new ArrayList<>();
    for (Workload.JobClass of : workload.classes()) {
      double left = work * of.part() / parts;
      while (left > 0) {
        TraceJob job = job(of, of.unallocated() ? free : 0);
        left -= Micros.seconds(job.runMicros()) * job.gpus();
        jobs.add(job);
        if (jobs.size() > MOST_JOBS) {
          throw new IllegalArgumentException("the workload has more than " + MOST_JOBS + " jobs");
        }
      }
    }
    jobs.sort(Comparator.comparingLong(TraceJob::submitMicros)); // stable: ties as they were drawn
    List<TraceJob> numbered = new ArrayList<>(jobs.size());
    for (TraceJob j : jobs) {
      numbered.add(
          new TraceJob(
              Integer.toString(numbered.size() + 1),
              j.submitMicros(),
              j.account(),
              j.user(),
              j.nodes(),
              j.numGpus(),
              j.tier(),
              j.runMicros(),
              j.minRuntimeSeconds(),
              j.resumable(),
              j.priority(),
              j.kind(),
              j.preemptible(),
              numbered.size() + 2));
    }
    return numbered;
  }

  private TraceJob job(Workload.JobClass of, double free) {
    Workload.Team team = pick(workload.teams(), Workload.Team::demand);
    int gpus = of.sizes().get(random.nextInt(of.sizes().size()));
    int nodes = Math.max(1, gpus / workload.gpusPerNode());
    double low = Math.log(of.p10().toSeconds());
    double high = Math.log(of.p90().toSeconds());
    double drawn = Math.exp((low + high) / 2 + random.nextGaussian() * (high - low) / (2 * P90));
    long run =
        Math.round(
            Math.max(of.p10().toSeconds() / 10.0, Math.min(of.p90().toSeconds() * 10.0, drawn)));
    long minimum = of.minimum().get(random.nextInt(of.minimum().size())).toSeconds();
    boolean unallocated = random.nextDouble() < free;
    return new TraceJob(
        "",
        arrival(),
        team.name(),
        team.name() + "-u" + (1 + random.nextInt(team.users())),
        nodes,
        gpus / nodes,
        null,
        Math.max(1, run) * Micros.SECOND,
        unallocated ? 0 : minimum,
        of.resumable(),
        random.nextInt(3),
        of.name(),
        true,
        0);
  }

  private long arrival() {
    double at = random.nextDouble() * hoursSoFar[hoursSoFar.length - 1];
    int low = 0;
    int high = hoursSoFar.length - 1;
    while (low < high) {
      int middle = (low + high) / 2;
      if (hoursSoFar[middle] > at) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    long seconds = low * 3600L + random.nextInt(3600);
    return Math.min(seconds, workload.length().toSeconds()) * Micros.SECOND;
  }

  private <T> T pick(List<T> from, ToDoubleFunction<T> weight) {
    double at = random.nextDouble() * from.stream().mapToDouble(weight).sum();
    for (T one : from) {
      at -= weight.applyAsDouble(one);
      if (at < 0) {
        return one;
      }
    }
    return from.get(from.size() - 1);
  }

  /** The jobs as CSV. */
  public static String csv(List<TraceJob> jobs) {
    StringBuilder csv =
        new StringBuilder(
            "job_id,submit_s,account,user,nodes,num_gpus,run_s,min_runtime_s,resumable,priority,"
                + "kind,preemptible\n");
    for (TraceJob j : jobs) {
      csv.append(j.id()).append(',');
      csv.append(Micros.text(j.submitMicros())).append(',');
      csv.append(j.account()).append(',').append(j.user()).append(',');
      csv.append(j.nodes()).append(',').append(j.numGpus()).append(',');
      csv.append(Micros.text(j.runMicros())).append(',').append(j.minRuntimeSeconds());
      csv.append(',').append(j.resumable()).append(',').append(j.priority()).append(',');
      csv.append(j.kind()).append(',').append(j.preemptible()).append('\n');
    }
    return csv.toString();
  }

  /** The cluster as YAML. */
  public String cluster() {
    int digits = Integer.toString(workload.nodes()).length();
    String last = String.format("%0" + digits + "d", workload.nodes());
    String first = String.format("%0" + digits + "d", 1);
    return "tiers: {"
        + workload.tier()
        + ": {tflops: "
        + workload.tflops()
        + "}}\nnodes: {\"n["
        + first
        + "-"
        + last
        + "]\": {"
        + workload.tier()
        + ": "
        + workload.gpusPerNode()
        + "}}\n";
  }

  /** The accounts as YAML. */
  public String accounts() {
    StringBuilder yaml = new StringBuilder();
    for (Workload.Team team : workload.teams()) {
      yaml.append(team.name()).append(": {weight: ").append(team.weight()).append("}\n");
    }
    return yaml.toString();
  }
}
