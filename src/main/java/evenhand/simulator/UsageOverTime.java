package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What accounts used of the cluster within a window that moves along, beside what their budgets
 * give them (A1, A3). Only work that was charged to a budget counts. Parts are of all the GPU-time
 * of the window; where less time than a window has passed, of that.
 *
 * @param stepMicros the distance of two points; the first stands one step after zero
 * @param used parts by account, one for each point
 */
record UsageOverTime(
    long stepMicros, long windowMicros, Map<String, double[]> used, List<Shares> shares) {

  /** Most points of one account. */
  private static final int MOST = 800;

  /** From a moment on, the share of each account. */
  record Shares(long atMicros, Map<String, Double> of) {}

  static UsageOverTime of(Simulation.Result result, long windowMicros) {
    long end = Math.max(1, result.endMicros());
    long step = step(end);
    int points = (int) ((end + step - 1) / step);
    Map<String, long[]> busy = new LinkedHashMap<>();
    result.accounts().forEach(a -> busy.put(a.id(), new long[points + 1]));
    for (JobCourse course : result.courses()) {
      long[] mine = busy.get(course.account());
      for (JobCourse.Run run : course.runs()) {
        if (run.allocated()) {
          add(mine, step, run.fromMicros(), run.toMicros(), run.gpus());
        }
      }
    }
    Map<String, double[]> used = new LinkedHashMap<>();
    double capacity = result.cluster().gpus();
    busy.forEach((account, mine) -> used.put(account, within(mine, step, windowMicros, capacity)));
    return new UsageOverTime(step, windowMicros, used, shares(result));
  }

  private static long step(long end) {
    if (end < 48 * Micros.HOUR) {
      return Math.max(Micros.SECOND, end / 200);
    }
    return (end / Micros.HOUR / MOST + 1) * Micros.HOUR;
  }

  /** Adds GPU-microseconds to the steps they fall into; step i ends at point i. */
  private static void add(long[] steps, long step, long from, long to, long gpus) {
    for (long at = from; at < to; ) {
      int i = (int) (at / step);
      long next = Math.min(to, (i + 1) * step);
      steps[Math.min(i, steps.length - 1)] += (next - at) * gpus;
      at = next;
    }
  }

  private static double[] within(long[] steps, long step, long window, double capacity) {
    double[] soFar = new double[steps.length + 1];
    for (int i = 0; i < steps.length; i++) {
      soFar[i + 1] = soFar[i] + steps[i];
    }
    double[] used = new double[steps.length - 1];
    for (int i = 0; i < used.length; i++) {
      double end = (i + 1.0) * step;
      double from = Math.max(0, end - window) / step;
      int whole = (int) from;
      double before = soFar[whole] + (from - whole) * (soFar[whole + 1] - soFar[whole]);
      used[i] = (soFar[i + 1] - before) / (capacity * Math.min(window, end));
    }
    return used;
  }

  private static List<Shares> shares(Simulation.Result result) {
    Map<String, AccountSetup> setups = new LinkedHashMap<>();
    result.accounts().forEach(a -> setups.put(a.id(), a));
    List<Shares> all = new ArrayList<>();
    all.add(new Shares(0, Figures.shares(setups)));
    for (Happening h : result.happenings()) {
      if (h.what().equals("weight")) {
        AccountSetup old = setups.get(h.account());
        setups.put(
            old.id(), new AccountSetup(old.id(), old.parent(), Double.parseDouble(h.detail())));
        if (all.get(all.size() - 1).atMicros() == h.atMicros()) {
          all.remove(all.size() - 1);
        }
        all.add(new Shares(h.atMicros(), Figures.shares(setups)));
      }
    }
    return all;
  }
}
