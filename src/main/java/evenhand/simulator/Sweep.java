package evenhand.simulator;

import evenhand.policy.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.IntConsumer;

/**
 * Plays settings of policies on job sets, side by side on the machine's cores, and sums up what
 * each setting comes to. A simulation depends on nothing outside it and the sums are made in the
 * settings' order, so the answer is the same, to the byte, however many cores there are.
 */
public final class Sweep {
  /** Most simulations of one sweep. */
  public static final int MOST_RUNS = 1000;

  private final List<String> keys;
  private final List<Setting> settings;
  private final List<JobSet.Source> sets;
  private final Duration until;
  private final Duration every;
  private final Duration leaveAfter;

  /**
   * A policy with parameters that are tried.
   *
   * @param values of the keys of the sweep, in their order
   * @param windowMicros the warm-up of figures by account, and window of usage against budget
   */
  public record Setting(Policy policy, List<String> values, long windowMicros) {
    public Setting {
      values = List.copyOf(values);
    }

    String text(List<String> keys) {
      StringBuilder text = new StringBuilder(policy.name());
      for (int i = 0; i < keys.size(); i++) {
        text.append(' ').append(keys.get(i)).append('=').append(values.get(i));
      }
      return text.toString();
    }
  }

  /** One figure of a summary that settings are compared by. */
  private record Measure(
      String name, String title, String form, Function<Map<String, Object>, Object> of) {}

  private static final List<Measure> MEASURES =
      List.of(
          new Measure("utilization", "GPUs in use", "part", s -> s.get("utilization")),
          new Measure(
              "delivered_over_entitled",
              "Delivered of entitled",
              "part",
              s -> s.get("delivered_over_entitled")),
          new Measure(
              "worst_delivered_over_entitled", "Worst-served account", "part", Sweep::worst),
          new Measure("wait_p50_s", "Median wait", "time", s -> spread(s, "wait_s", "all", "p50")),
          new Measure(
              "wait_p90_s", "Long wait (90 %)", "time", s -> spread(s, "wait_s", "all", "p90")),
          new Measure(
              "debug_wait_p90_s",
              "Long wait of debug jobs",
              "time",
              s -> spread(s, "wait_s", "debug", "p90")),
          new Measure(
              "jct_mean_s",
              "Submission to end, mean",
              "time",
              s -> spread(s, "jct_s", "all", "mean")),
          new Measure("preemptions", "Preemptions", "count", s -> s.get("preemptions")),
          new Measure("lost_gpu_s", "Work lost, GPU-hours", "gpu_s", s -> s.get("lost_gpu_s")),
          new Measure("refused", "Jobs refused", "count", s -> s.get("refused")));

  /** Mean and spread of one figure; nulls where no run has it. */
  public record Spread(int runs, Double mean, Double deviation, Double least, Double most) {}

  /**
   * What came of it.
   *
   * @param runs figures of each simulation: a setting on all job sets, then the next setting
   * @param rows one for each setting, a spread for each figure
   * @param first of each policy, its first setting on the first job set, to be looked at closely
   */
  public record Outcome(List<List<Double>> runs, List<List<Spread>> rows, List<Played> first) {}

  /**
   * @param sets job sets of the same kind, each with its seed
   */
  public Sweep(
      List<String> keys,
      List<Setting> settings,
      List<JobSet.Source> sets,
      Duration until,
      Duration every,
      Duration leaveAfter) {
    this.leaveAfter = leaveAfter;
    this.keys = List.copyOf(keys);
    this.settings = List.copyOf(settings);
    this.sets = List.copyOf(sets);
    this.until = until;
    this.every = every;
  }

  /** Names of the figures in the order of {@link Outcome#rows}. */
  public static List<String> measures() {
    return MEASURES.stream().map(Measure::name).toList();
  }

  private static Object spread(Map<String, Object> s, String figure, String group, String which) {
    return ((Map<?, ?>) ((Map<?, ?>) s.get(figure)).get(group)).get(which);
  }

  private static Object worst(Map<String, Object> s) {
    return ((Map<?, ?>) s.get("accounts"))
        .values().stream()
            .map(a -> (Double) ((Map<?, ?>) a).get("delivered_over_entitled"))
            .filter(r -> r != null)
            .min(Double::compare)
            .orElse(null);
  }

  private record One(List<Double> figures, Played played) {}

  /**
   * Plays all.
   *
   * @param threads how many at a time
   * @param done told how many are over
   * @throws Simulation.Restless when a policy does not come to rest, saying with which setting
   */
  public Outcome run(int threads, IntConsumer done) throws InterruptedException {
    int all = settings.size() * sets.size();
    ExecutorService pool = Executors.newFixedThreadPool(Math.max(1, Math.min(threads, all)));
    try {
      List<Future<One>> futures = new ArrayList<>();
      for (int i = 0; i < all; i++) {
        Setting setting = settings.get(i / sets.size());
        JobSet.Source source = sets.get(i % sets.size());
        boolean kept = i % sets.size() == 0 && firstOfPolicy(i / sets.size());
        futures.add(pool.submit(() -> play(setting, source.make().get(), kept)));
      }
      List<List<Double>> runs = new ArrayList<>();
      List<Played> first = new ArrayList<>();
      for (Future<One> future : futures) {
        One one = get(future);
        runs.add(one.figures());
        if (one.played() != null) {
          first.add(one.played());
        }
        done.accept(runs.size());
      }
      List<List<Spread>> rows = new ArrayList<>();
      for (int i = 0; i < settings.size(); i++) {
        rows.add(spreads(runs.subList(i * sets.size(), (i + 1) * sets.size())));
      }
      return new Outcome(List.copyOf(runs), List.copyOf(rows), List.copyOf(first));
    } finally {
      pool.shutdownNow();
    }
  }

  private static One get(Future<One> future) throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException because) {
        throw because;
      }
      if (e.getCause() instanceof Error because) {
        throw because;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  private boolean firstOfPolicy(int setting) {
    for (int i = 0; i < setting; i++) {
      if (settings.get(i).policy().name().equals(settings.get(setting).policy().name())) {
        return false;
      }
    }
    return true;
  }

  private One play(Setting setting, JobSet set, boolean kept) {
    Simulation.Result result;
    try {
      result =
          new Simulation(
                  setting.policy(),
                  set.cluster(),
                  set.accounts(),
                  set.trace().jobs(),
                  until,
                  every,
                  leaveAfter,
                  Simulation.NOBODY)
              .run();
    } catch (Simulation.Restless e) {
      throw new Simulation.Restless(
          "with "
              + setting.text(keys)
              + (set.seed() == null ? "" : " and seed " + set.seed())
              + ", "
              + e.getMessage());
    }
    Played played = Played.of(result, set, setting.windowMicros());
    List<Double> figures = new ArrayList<>();
    for (Measure m : MEASURES) {
      Object value = m.of().apply(played.summary());
      figures.add(value == null ? null : ((Number) value).doubleValue());
    }
    return new One(java.util.Collections.unmodifiableList(figures), kept ? played : null);
  }

  private static List<Spread> spreads(List<List<Double>> runs) {
    List<Spread> spreads = new ArrayList<>();
    for (int m = 0; m < MEASURES.size(); m++) {
      int measure = m;
      double[] values =
          runs.stream()
              .map(r -> r.get(measure))
              .filter(v -> v != null)
              .mapToDouble(Double::doubleValue)
              .toArray();
      spreads.add(spread(values));
    }
    return spreads;
  }

  /** The standard deviation is that of a sample: by one less than there are. */
  static Spread spread(double[] values) {
    if (values.length == 0) {
      return new Spread(0, null, null, null, null);
    }
    double mean = Arrays.stream(values).sum() / values.length;
    double squares = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
    double deviation = values.length == 1 ? 0 : Math.sqrt(squares / (values.length - 1));
    return new Spread(
        values.length,
        mean,
        deviation,
        Arrays.stream(values).min().getAsDouble(),
        Arrays.stream(values).max().getAsDouble());
  }

  /** One line a setting: how many runs, and of each figure mean, deviation, least, most. */
  public String csv(Outcome outcome) {
    StringBuilder csv = new StringBuilder("policy");
    keys.forEach(k -> csv.append(',').append(k));
    csv.append(",runs");
    for (String m : measures()) {
      for (String of : new String[] {"_mean", "_sd", "_min", "_max"}) {
        csv.append(',').append(m).append(of);
      }
    }
    csv.append('\n');
    for (int i = 0; i < settings.size(); i++) {
      List<Object> cells = cells(i);
      cells.add(sets.size());
      for (Spread s : outcome.rows().get(i)) {
        cells.addAll(Arrays.asList(s.mean(), s.deviation(), s.least(), s.most()));
      }
      ResultFiles.row(csv, cells.toArray());
    }
    return csv.toString();
  }

  /** One line a simulation. */
  public String runsCsv(Outcome outcome) {
    StringBuilder csv = new StringBuilder("policy");
    keys.forEach(k -> csv.append(',').append(k));
    csv.append(",seed");
    measures().forEach(m -> csv.append(',').append(m));
    csv.append('\n');
    for (int i = 0; i < outcome.runs().size(); i++) {
      List<Object> cells = cells(i / sets.size());
      cells.add(sets.get(i % sets.size()).seed());
      cells.addAll(outcome.runs().get(i));
      ResultFiles.row(csv, cells.toArray());
    }
    return csv.toString();
  }

  private List<Object> cells(int setting) {
    List<Object> cells = new ArrayList<>();
    cells.add(settings.get(setting).policy().name());
    cells.addAll(settings.get(setting).values());
    return cells;
  }

  /** What a report, or {@code -o json}, tells of it. */
  public Map<String, Object> data(Outcome outcome) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("keys", keys);
    data.put("seeds", sets.stream().map(s -> String.valueOf(s.seed())).toList());
    data.put(
        "figures",
        MEASURES.stream()
            .map(m -> Map.of("name", m.name(), "title", m.title(), "form", m.form()))
            .toList());
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int i = 0; i < settings.size(); i++) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("policy", settings.get(i).policy().name());
      row.put("values", settings.get(i).values());
      List<Map<String, Object>> figures = new ArrayList<>();
      for (Spread s : outcome.rows().get(i)) {
        Map<String, Object> f = new LinkedHashMap<>();
        f.put("mean", s.mean());
        f.put("sd", s.deviation());
        f.put("min", s.least());
        f.put("max", s.most());
        figures.add(f);
      }
      row.put("figures", figures);
      rows.add(row);
    }
    data.put("rows", rows);
    return data;
  }
}
