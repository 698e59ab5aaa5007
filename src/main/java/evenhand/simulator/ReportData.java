package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import evenhand.policy.Stage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * What a report draws from, compact: lists of numbers instead of objects, times as whole numbers of
 * {@code tick_s} seconds, names once and then by their number. Everything is read off the courses
 * and happenings of simulations; the figures are those of {@code summary.json}.
 *
 * <p>{@code runs} of a policy is one list, a run after the other, by start: job, start less the
 * start of the run before, length, length of its protection, 1 where it was charged plus 2 x the
 * number of its end's word, how many ranges of rows, and first row and count of each. {@code kept}
 * likewise: job, start, length, ranges. {@code down}: start, length, number of the state's word,
 * ranges.
 */
final class ReportData {
  private final List<Played> played;
  private final long tick;

  private ReportData(List<Played> played) {
    this.played = played;
    this.tick = tick(played);
  }

  /**
   * @param sweep what settings came to, or null
   */
  static Map<String, Object> of(List<Played> played, Map<String, Object> sweep) {
    return new ReportData(played).all(sweep);
  }

  private static long tick(List<Played> played) {
    long tick = Micros.SECOND;
    for (Played p : played) {
      for (JobCourse c : p.result().courses()) {
        tick = finer(tick, c.job().submitMicros());
        tick = finer(tick, c.job().runMicros());
        for (JobCourse.Run run : c.runs()) {
          tick = finer(finer(tick, run.fromMicros()), run.toMicros());
        }
      }
    }
    return tick;
  }

  private static long finer(long tick, long micros) {
    long t = tick;
    while (micros % t != 0) {
      t /= 1000;
    }
    return t;
  }

  private long ticks(long micros) {
    return Math.floorDiv(micros, tick);
  }

  private Map<String, Object> all(Map<String, Object> sweep) {
    Simulation.Result one = played.get(0).result();
    Teams teams = new Teams(one.accounts());
    GpuRows rows = new GpuRows(one.cluster());
    Map<String, Object> d = new LinkedHashMap<>();
    d.put("tick_s", tick / 1e6);
    d.put("begin", ticks(one.courses().isEmpty() ? 0 : one.courses().get(0).job().submitMicros()));
    d.put("end", ticks(played.stream().mapToLong(p -> p.result().endMicros()).max().orElse(0)));
    d.put("gpus", rows.count());
    d.put(
        "placements",
        one.cluster().placements().stream()
            .map(g -> List.of(g.node(), g.tier().name(), g.count()))
            .toList());
    d.put("teams", teams.names());
    d.put("accounts_given", one.accountsGiven());
    d.put("accounts", one.accounts().stream().map(a -> List.of(a.id(), teams.of(a.id()))).toList());
    d.put("jobs", jobs(one));
    List<Map<String, Object>> policies = new ArrayList<>();
    played.forEach(p -> policies.add(policy(p, rows)));
    d.put("policies", policies);
    d.put("sweep", sweep);
    return d;
  }

  /** Numbers of names in a list that is kept beside. */
  private static final class Names {
    final List<String> names;

    Names(TreeSet<String> all) {
      names = List.copyOf(all);
    }

    int of(String name) {
      return name == null
          ? -1
          : java.util.Collections.binarySearch(names, name, Comparator.naturalOrder());
    }
  }

  private Map<String, Object> jobs(Simulation.Result result) {
    List<JobCourse> courses = result.courses();
    TreeSet<String> users = new TreeSet<>();
    TreeSet<String> kinds = new TreeSet<>();
    Map<String, Integer> accounts = new LinkedHashMap<>();
    for (AccountSetup a : result.accounts()) {
      accounts.put(a.id(), accounts.size());
    }
    boolean numbered = true;
    for (int i = 0; i < courses.size(); i++) {
      TraceJob job = courses.get(i).job();
      numbered &= job.id().equals(Integer.toString(i + 1));
      if (job.user() != null) {
        users.add(job.user());
      }
      if (job.kind() != null) {
        kinds.add(job.kind());
      }
    }
    Names userNames = new Names(users);
    Names kindNames = new Names(kinds);
    Map<String, Object> j = new LinkedHashMap<>();
    j.put("count", courses.size());
    // Where jobs are called 1, 2, 3, … that need not be written down.
    j.put("id", numbered ? null : courses.stream().map(c -> c.job().id()).toList());
    j.put("users", userNames.names);
    j.put("kinds", kindNames.names);
    j.put("account", courses.stream().mapToInt(c -> accounts.get(c.account())).toArray());
    j.put("user", courses.stream().mapToInt(c -> userNames.of(c.job().user())).toArray());
    j.put("kind", courses.stream().mapToInt(c -> kindNames.of(c.job().kind())).toArray());
    j.put("submit", courses.stream().mapToLong(c -> ticks(c.job().submitMicros())).toArray());
    j.put("run", courses.stream().mapToLong(c -> ticks(c.job().runMicros())).toArray());
    j.put("nodes", courses.stream().mapToInt(c -> c.job().nodes()).toArray());
    j.put("num_gpus", courses.stream().mapToInt(c -> c.job().numGpus()).toArray());
    j.put("min_runtime_s", courses.stream().mapToLong(c -> c.job().minRuntimeSeconds()).toArray());
    j.put("debug", courses.stream().mapToInt(c -> Figures.debug(c.job()) ? 1 : 0).toArray());
    return j;
  }

  private Map<String, Object> policy(Played p, GpuRows rows) {
    Simulation.Result result = p.result();
    Map<String, Object> o = new LinkedHashMap<>();
    o.put("name", p.name());
    o.put("summary", p.summary());
    o.put("end", ticks(result.endMicros()));
    o.put("preempts", preempts(result));
    o.put("slice", ticks(slice(result)));
    List<String> words = new ArrayList<>();
    o.put("runs", runs(result, rows, words));
    o.put("words", words);
    o.put("kept", kept(result, rows));
    o.put("down", down(result, rows, words));
    List<String> states = new ArrayList<>();
    o.put(
        "state", result.courses().stream().mapToInt(c -> word(c.state().name(), states)).toArray());
    o.put("states", states);
    o.put("usage", usage(p));
    return o;
  }

  /** Whether jobs may have to make room for others at all. */
  static boolean preempts(Simulation.Result result) {
    return result.policy().has(Stage.PREEMPT);
  }

  /** How long after each multiple of its minimum a job may be preempted (K8); 0: at any time. */
  private static long slice(Simulation.Result result) {
    return result
        .policy()
        .setting("preempt_window")
        .filter(s -> !s.text().equals("always"))
        .map(s -> Micros.of(evenhand.input.Durations.parse(s.text())))
        .orElse(0L);
  }

  private static int word(String word, List<String> words) {
    int at = words.indexOf(word);
    if (at < 0) {
      words.add(word);
      return words.size() - 1;
    }
    return at;
  }

  private static void add(List<Long> list, List<GpuRows.Range> rows) {
    list.add((long) rows.size());
    for (GpuRows.Range range : rows) {
      list.add((long) range.first());
      list.add((long) range.count());
    }
  }

  private long[] runs(Simulation.Result result, GpuRows rows, List<String> words) {
    record Numbered(int job, JobCourse.Run run) {}
    List<Numbered> runs = new ArrayList<>();
    for (int i = 0; i < result.courses().size(); i++) {
      for (JobCourse.Run run : result.courses().get(i).runs()) {
        runs.add(new Numbered(i, run));
      }
    }
    runs.sort(
        Comparator.<Numbered>comparingLong(n -> n.run().fromMicros())
            .thenComparingInt(Numbered::job));
    List<Long> flat = new ArrayList<>();
    long before = 0;
    for (Numbered n : runs) {
      JobCourse.Run run = n.run();
      long from = ticks(run.fromMicros());
      long length = ticks(run.toMicros()) - from;
      flat.add((long) n.job());
      flat.add(from - before);
      flat.add(length);
      flat.add(Math.max(0, Math.min(length, ticks(run.protectedUntilMicros()) - from)));
      flat.add((run.allocated() ? 1L : 0L) + 2L * word(run.end(), words));
      add(flat, rows.of(run.on()));
      before = from;
    }
    return flat.stream().mapToLong(Long::longValue).toArray();
  }

  private long[] kept(Simulation.Result result, GpuRows rows) {
    List<Long> flat = new ArrayList<>();
    for (GpuRows.Kept kept : rows.kept(result)) {
      flat.add((long) kept.job());
      flat.add(ticks(kept.fromMicros()));
      flat.add(ticks(kept.toMicros()) - ticks(kept.fromMicros()));
      add(flat, kept.rows());
    }
    return flat.stream().mapToLong(Long::longValue).toArray();
  }

  /** A time in which a node was not up, microseconds. */
  record Down(String node, String state, long fromMicros, long toMicros) {}

  static List<Down> down(Simulation.Result result) {
    record Since(long at, String state) {}
    List<Down> all = new ArrayList<>();
    Map<String, Since> now = new LinkedHashMap<>();
    for (Happening h : result.happenings()) {
      if (!h.what().equals("node")) {
        continue;
      }
      Since since = now.remove(h.on());
      if (since != null && since.at() < h.atMicros()) {
        all.add(new Down(h.on(), since.state(), since.at(), h.atMicros()));
      }
      if (!h.detail().equals("up")) {
        now.put(h.on(), new Since(h.atMicros(), h.detail()));
      }
    }
    now.forEach(
        (node, since) -> {
          if (since.at() < result.endMicros()) {
            all.add(new Down(node, since.state(), since.at(), result.endMicros()));
          }
        });
    return all;
  }

  private long[] down(Simulation.Result result, GpuRows rows, List<String> words) {
    List<Long> flat = new ArrayList<>();
    for (Down down : down(result)) {
      flat.add(ticks(down.fromMicros()));
      flat.add(ticks(down.toMicros()) - ticks(down.fromMicros()));
      flat.add((long) word(down.state(), words));
      add(flat, rows.of(down.node()));
    }
    return flat.stream().mapToLong(Long::longValue).toArray();
  }

  /** Parts in ten-thousandths, so that they stay short. */
  private Map<String, Object> usage(Played p) {
    UsageOverTime usage = UsageOverTime.of(p.result(), p.windowMicros());
    Map<String, Object> u = new LinkedHashMap<>();
    u.put("step_s", usage.stepMicros() / 1e6);
    u.put("window_s", usage.windowMicros() / 1e6);
    List<Object> used = new ArrayList<>();
    usage
        .used()
        .values()
        .forEach(
            parts -> {
              boolean any = java.util.Arrays.stream(parts).anyMatch(x -> x > 0);
              used.add(
                  any
                      ? java.util.Arrays.stream(parts)
                          .mapToInt(x -> (int) Math.round(x * 1e4))
                          .toArray()
                      : null);
            });
    u.put("used", used);
    u.put(
        "shares",
        usage.shares().stream()
            .map(
                s ->
                    List.of(
                        ticks(s.atMicros()),
                        p.result().accounts().stream()
                            .mapToInt(a -> (int) Math.round(s.of().get(a.id()) * 1e4))
                            .toArray()))
            .toList());
    return u;
  }
}
