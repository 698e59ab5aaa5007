package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import evenhand.facts.Account;
import evenhand.policy.AccountTree;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * What a simulation comes to, in figures. Percentiles are nearest-rank: always a value that
 * occurred. Means and waits are over jobs that started, JCT over jobs that completed.
 *
 * <p>The entitlement of accounts is measured from one {@code lookback} after the first submission
 * to the end, by clock hours of simulated time. An account's demand is what its jobs ask for, from
 * submission to end, waiting or running; its share is that of the tree. Only work that a budget
 * could pay for counts (N5: a minimum run time, and a share above 0), whatever the policy, so that
 * policies can be compared; where no job of the set declares a minimum run time, all work counts.
 */
public final class Figures {
  /** A debug job by its size: at most so many GPUs, and at most so long protected. */
  private static final int DEBUG_GPUS = 8;

  private static final long DEBUG_SECONDS = 15 * 60;

  private final Simulation.Result result;
  private final Trace trace;
  private final long lookback;
  private final long first;
  private final long last;
  private final long capacity;

  /**
   * @param lookbackMicros length of the warm-up
   */
  public Figures(Simulation.Result result, Trace trace, long lookbackMicros) {
    this.result = result;
    this.trace = trace;
    this.lookback = lookbackMicros;
    this.capacity = result.cluster().gpus();
    this.first = result.courses().isEmpty() ? 0 : result.courses().get(0).job().submitMicros();
    this.last = result.endMicros();
  }

  /** The figures by name, in the order in which they are told; numbers, texts, lists and maps. */
  public Map<String, Object> summary() {
    Map<String, Object> s = new LinkedHashMap<>();
    List<JobCourse> courses = result.courses();
    s.put("policy", result.policy().name());
    s.put("jobs", courses.size());
    s.put("rows", trace.rows());
    s.put("finished", count(c -> c.state().finished()));
    s.put("refused", count(c -> c.state() == JobCourse.State.REFUSED));
    s.put("unreadable", trace.unreadable().size());
    s.put("unfinished", count(c -> !c.state().finished() && c.state() != JobCourse.State.REFUSED));
    s.put("completed", count(c -> c.state() == JobCourse.State.COMPLETED));
    s.put("preempted_for_good", count(c -> c.state() == JobCourse.State.PREEMPTED));
    s.put("failed", count(c -> c.state() == JobCourse.State.FAILED));
    s.put(
        "wait_s",
        grouped(
            c -> c.firstStartMicros() >= 0, c -> c.firstStartMicros() - c.job().submitMicros()));
    s.put(
        "jct_s",
        grouped(
            c -> c.state() == JobCourse.State.COMPLETED,
            c -> c.endMicros() - c.job().submitMicros()));
    long lastEnd = courses.stream().mapToLong(JobCourse::endMicros).max().orElse(-1);
    s.put("makespan_s", lastEnd < 0 ? 0 : seconds(lastEnd - first));
    s.put("simulated_s", seconds(Math.max(0, last - first)));
    List<Double> byHour = utilizationByHour();
    double span = Math.max(0, last - first);
    s.put("utilization", span == 0 ? 0.0 : result.runGpuMicros() / (span * capacity));
    s.put("utilization_by_hour", byHour);
    long allocated = gpuMicros(true);
    s.put("allocated_gpu_s", seconds(allocated));
    s.put("unallocated_gpu_s", seconds(gpuMicros(false)));
    s.put("reserved_idle_gpu_s", seconds(result.reservedGpuMicros()));
    s.put("preemptions", courses.stream().mapToInt(JobCourse::preemptions).sum());
    s.put("lost_gpu_s", seconds(courses.stream().mapToLong(JobCourse::lostGpuMicros).sum()));
    s.put("lost_allocated_gpu_s", seconds(lost(true)));
    s.put("lost_unallocated_gpu_s", seconds(lost(false)));
    s.put("oversubscription", oversubscription());
    accounts(s);
    s.put("capacity_gpus", capacity);
    s.put("cycles", result.decideNanos().length);
    s.put("policy_hash", result.policy().hash());
    return s;
  }

  /** How fast it went; differs from run to run. */
  public Map<String, Object> timing() {
    Map<String, Object> t = new LinkedHashMap<>();
    double wall = result.wallNanos() / 1e9;
    long[] nanos = result.decideNanos().clone();
    Arrays.sort(nanos);
    Map<String, Object> decide = new LinkedHashMap<>();
    decide.put("p50", nanos.length == 0 ? 0 : rank(nanos, 50) / 1e6);
    decide.put("p99", nanos.length == 0 ? 0 : rank(nanos, 99) / 1e6);
    decide.put("sum", Arrays.stream(nanos).sum() / 1e6);
    t.put("decide_ms", decide);
    t.put("wall_s", wall);
    t.put("jobs_per_s", wall == 0 ? 0 : result.courses().size() / wall);
    return t;
  }

  private int count(Predicate<JobCourse> which) {
    return (int) result.courses().stream().filter(which).count();
  }

  private static double seconds(long micros) {
    return micros / 1e6;
  }

  /** Whether it is a debug job: called one, or small and short as one. */
  static boolean debug(TraceJob job) {
    return job.kind() != null
        ? job.kind().equals("debug")
        : isDebug(job.gpus(), job.minRuntimeSeconds());
  }

  /** Whether a job is small and short as a debug job. */
  public static boolean isDebug(long gpus, long minRuntimeSeconds) {
    return minRuntimeSeconds > 0 && minRuntimeSeconds <= DEBUG_SECONDS && gpus <= DEBUG_GPUS;
  }

  private Map<String, Object> grouped(
      Predicate<JobCourse> which, ToLongFunction<JobCourse> figure) {
    List<JobCourse> of = result.courses().stream().filter(which).toList();
    Map<String, Object> groups = new LinkedHashMap<>();
    groups.put("all", spread(of, figure));
    groups.put("debug", spread(of.stream().filter(c -> debug(c.job())).toList(), figure));
    groups.put(
        "allocated",
        spread(of.stream().filter(c -> c.job().minRuntimeSeconds() > 0).toList(), figure));
    groups.put("by_gpus", by(of, c -> (long) c.job().gpus(), figure));
    Map<String, Object> kinds = new LinkedHashMap<>();
    Map<String, List<JobCourse>> byKind = new TreeMap<>();
    of.stream()
        .filter(c -> c.job().kind() != null)
        .forEach(c -> byKind.computeIfAbsent(c.job().kind(), k -> new ArrayList<>()).add(c));
    byKind.forEach((kind, some) -> kinds.put(kind, spread(some, figure)));
    groups.put("by_kind", kinds);
    return groups;
  }

  private static Map<String, Object> by(
      List<JobCourse> of, ToLongFunction<JobCourse> key, ToLongFunction<JobCourse> figure) {
    Map<Long, List<JobCourse>> groups = new TreeMap<>();
    of.forEach(c -> groups.computeIfAbsent(key.applyAsLong(c), k -> new ArrayList<>()).add(c));
    Map<String, Object> named = new LinkedHashMap<>();
    groups.forEach((k, some) -> named.put(Long.toString(k), spread(some, figure)));
    return named;
  }

  /** {@code null} figures where there is no job of the group. */
  private static Map<String, Object> spread(List<JobCourse> of, ToLongFunction<JobCourse> figure) {
    long[] micros = of.stream().mapToLong(figure).sorted().toArray();
    Map<String, Object> spread = new LinkedHashMap<>();
    boolean none = micros.length == 0;
    spread.put("jobs", micros.length);
    spread.put("p50", none ? null : seconds(rank(micros, 50)));
    spread.put("p90", none ? null : seconds(rank(micros, 90)));
    spread.put("p99", none ? null : seconds(rank(micros, 99)));
    spread.put("mean", none ? null : Arrays.stream(micros).sum() / 1e6 / micros.length);
    spread.put("max", none ? null : seconds(micros[micros.length - 1]));
    return spread;
  }

  /**
   * The nearest rank: so many of a hundred are no larger.
   *
   * @param sorted not empty
   */
  public static long rank(long[] sorted, int percent) {
    int rank = (int) Math.ceil(percent / 100.0 * sorted.length);
    return sorted[Math.max(0, rank - 1)];
  }

  private long gpuMicros(boolean allocated) {
    long sum = 0;
    for (JobCourse c : result.courses()) {
      for (JobCourse.Run run : c.runs()) {
        if (run.allocated() == allocated) {
          sum += (run.toMicros() - run.fromMicros()) * run.gpus();
        }
      }
    }
    return sum;
  }

  private long lost(boolean allocated) {
    return result.courses().stream()
        .flatMap(c -> c.runs().stream())
        .filter(run -> run.allocated() == allocated)
        .mapToLong(JobCourse.Run::lostGpuMicros)
        .sum();
  }

  private int hours() {
    return (int) Math.min(1_000_000, last / Micros.HOUR + 1);
  }

  private static void add(long[] hours, long from, long to, long gpus) {
    for (long at = from; at < to; ) {
      int hour = (int) (at / Micros.HOUR);
      if (hour >= hours.length) {
        return;
      }
      long next = Math.min(to, (hour + 1) * Micros.HOUR);
      hours[hour] += (next - at) * gpus;
      at = next;
    }
  }

  /** One figure for each hour from the hour of the first submission on. */
  private List<Double> utilizationByHour() {
    long[] busy = new long[hours()];
    for (JobCourse c : result.courses()) {
      for (JobCourse.Run run : c.runs()) {
        add(busy, run.fromMicros(), run.toMicros(), run.gpus());
      }
    }
    List<Double> by = new ArrayList<>();
    for (int h = (int) (first / Micros.HOUR); h < busy.length; h++) {
      long length = Math.min(last, (h + 1) * Micros.HOUR) - h * Micros.HOUR;
      if (length > 0) {
        by.add(Math.round(1e4 * busy[h] / ((double) length * capacity)) / 1e4);
      }
    }
    return by;
  }

  /** GPUs asked for at any moment, waiting and running, over GPUs there are, on average. */
  private double oversubscription() {
    double asked = 0;
    for (JobCourse c : result.courses()) {
      if (c.state() != JobCourse.State.REFUSED && c.state() != JobCourse.State.UNSUBMITTED) {
        asked += (double) (open(c) - c.job().submitMicros()) * c.job().gpus();
      }
    }
    double span = (double) Math.max(0, last - first) * capacity;
    return span == 0 ? 0 : asked / span;
  }

  private long open(JobCourse c) {
    return c.endMicros() >= 0 ? c.endMicros() : last;
  }

  private void accounts(Map<String, Object> s) {
    Map<String, AccountSetup> setups = new LinkedHashMap<>();
    result.accounts().forEach(a -> setups.put(a.id(), a));
    Map<String, Double> shares = shares(setups);
    boolean terms = result.courses().stream().anyMatch(c -> c.job().minRuntimeSeconds() > 0);
    int hours = hours();
    Map<String, long[]> demand = new HashMap<>();
    Map<String, long[]> delivered = new HashMap<>();
    for (JobCourse c : result.courses()) {
      boolean paid =
          !terms || c.job().minRuntimeSeconds() > 0 && shares.getOrDefault(c.account(), 0.0) > 0;
      if (!paid
          || c.state() == JobCourse.State.REFUSED
          || c.state() == JobCourse.State.UNSUBMITTED) {
        continue;
      }
      add(
          demand.computeIfAbsent(c.account(), a -> new long[hours]),
          c.job().submitMicros(),
          open(c),
          c.job().gpus());
      long[] mine = delivered.computeIfAbsent(c.account(), a -> new long[hours]);
      for (JobCourse.Run run : c.runs()) {
        add(mine, run.fromMicros(), run.toMicros(), run.gpus());
      }
    }
    int from = (int) ((first + lookback + Micros.HOUR - 1) / Micros.HOUR);
    Map<String, Object> told = new LinkedHashMap<>();
    double sumEntitled = 0;
    double sumGot = 0;
    double sumGotHourly = 0;
    for (AccountSetup a : setups.values()) {
      long[] asks = demand.get(a.id());
      if (asks == null) {
        continue;
      }
      long[] got = delivered.get(a.id());
      double asked = 0;
      double entitled = 0;
      double had = 0;
      double hourly = 0;
      for (int h = from; h < hours; h++) {
        long length = Math.max(0, Math.min(last, (h + 1) * Micros.HOUR) - h * Micros.HOUR);
        double most = shares.get(a.id()) * capacity * length;
        double right = Math.min(most, asks[h]);
        asked += asks[h];
        entitled += right;
        had += got[h];
        hourly += Math.min(got[h], right);
      }
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("share", shares.get(a.id()));
      one.put("demand_gpu_s", asked / 1e6);
      one.put("entitled_gpu_s", entitled / 1e6);
      one.put("delivered_gpu_s", had / 1e6);
      one.put("delivered_over_entitled", entitled == 0 ? null : had / entitled);
      one.put("delivered_over_entitled_hourly", entitled == 0 ? null : hourly / entitled);
      told.put(a.id(), one);
      sumEntitled += entitled;
      sumGot += Math.min(had, entitled);
      sumGotHourly += hourly;
    }
    s.put("accounts", told);
    s.put("delivered_over_entitled", sumEntitled == 0 ? null : sumGot / sumEntitled);
    s.put("delivered_over_entitled_hourly", sumEntitled == 0 ? null : sumGotHourly / sumEntitled);
  }

  /** A1. */
  static Map<String, Double> shares(Map<String, AccountSetup> setups) {
    AccountTree tree =
        new AccountTree(
            setups.values().stream()
                .map(a -> new Account(a.id(), a.parent(), a.weight(), 0, 0))
                .toList(),
            List.of());
    Map<String, Double> shares = new HashMap<>();
    setups.keySet().forEach(id -> shares.put(id, tree.share(id)));
    return shares;
  }
}
