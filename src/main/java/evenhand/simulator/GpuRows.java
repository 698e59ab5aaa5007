package evenhand.simulator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The GPUs of a cluster as rows of a picture, from 0: placements in their order, the GPUs of each
 * by number.
 */
final class GpuRows {
  /** Rows next to each other. */
  record Range(int first, int count) {}

  /** GPUs kept for a job by its reservation, in microseconds from the job set's zero. */
  record Kept(int job, long fromMicros, long toMicros, List<Range> rows) {}

  private final ClusterPlan cluster;
  private final int[] offsets;
  private final Map<String, Integer> placements = new HashMap<>();

  GpuRows(ClusterPlan cluster) {
    this.cluster = cluster;
    offsets = new int[cluster.placements().size() + 1];
    for (int i = 0; i < cluster.placements().size(); i++) {
      ClusterPlan.Gpus gpus = cluster.placements().get(i);
      placements.put(key(gpus.node(), gpus.tier().name()), i);
      offsets[i + 1] = offsets[i] + gpus.count();
    }
  }

  private static String key(String node, String tier) {
    return node + "\n" + tier;
  }

  /** How many rows there are. */
  int count() {
    return offsets[offsets.length - 1];
  }

  private int offset(String node, String tier) {
    return offsets[placements.get(key(node, tier))];
  }

  /** The rows of all GPUs of a node. */
  List<Range> of(String node) {
    List<Integer> rows = new ArrayList<>();
    for (int i = 0; i < cluster.placements().size(); i++) {
      if (cluster.placements().get(i).node().equals(node)) {
        for (int row = offsets[i]; row < offsets[i + 1]; row++) {
          rows.add(row);
        }
      }
    }
    return ranges(rows);
  }

  /** The rows of what a job held; GPUs next to each other are one range, whole nodes too. */
  List<Range> of(List<JobCourse.Held> on) {
    List<Integer> rows = new ArrayList<>();
    for (JobCourse.Held held : on) {
      int offset = offset(held.node(), held.tier());
      held.indices().forEach(i -> rows.add(offset + i));
    }
    return ranges(rows);
  }

  private static List<Range> ranges(List<Integer> rows) {
    int[] sorted = rows.stream().mapToInt(Integer::intValue).sorted().toArray();
    List<Range> ranges = new ArrayList<>();
    for (int i = 0; i < sorted.length; ) {
      int end = i + 1;
      while (end < sorted.length && sorted[end] == sorted[end - 1] + 1) {
        end++;
      }
      ranges.add(new Range(sorted[i], end - i));
      i = end;
    }
    return ranges;
  }

  /**
   * Where reservations may be drawn. Which GPUs of its placement a reservation holds is settled
   * only when its job starts; shown are as many of those that nothing runs on, the highest numbers
   * first, since jobs take the lowest. Where unallocated work runs on reserved GPUs (K7), the rest
   * is shown on them.
   */
  List<Kept> kept(Simulation.Result result) {
    record Row(int job, JobCourse.Hold hold) {}
    Map<Integer, List<Row>> holds = new HashMap<>();
    for (int i = 0; i < result.courses().size(); i++) {
      for (JobCourse.Hold hold : result.courses().get(i).holds()) {
        holds
            .computeIfAbsent(placements.get(key(hold.node(), hold.tier())), p -> new ArrayList<>())
            .add(new Row(i, hold));
      }
    }
    if (holds.isEmpty()) {
      return List.of();
    }
    record Busy(long from, long to, List<Integer> gpus) {}
    Map<Integer, List<Busy>> runs = new HashMap<>();
    for (JobCourse course : result.courses()) {
      for (JobCourse.Run run : course.runs()) {
        for (JobCourse.Held held : run.on()) {
          int placement = placements.get(key(held.node(), held.tier()));
          if (holds.containsKey(placement)) {
            runs.computeIfAbsent(placement, p -> new ArrayList<>())
                .add(new Busy(run.fromMicros(), run.toMicros(), held.indices()));
          }
        }
      }
    }
    List<Kept> all = new ArrayList<>();
    holds.forEach(
        (placement, rows) -> {
          rows.sort(Comparator.comparingLong(r -> r.hold().fromMicros()));
          List<Busy> busy = runs.getOrDefault(placement, new ArrayList<>());
          busy.sort(Comparator.comparingLong(Busy::from));
          // Runs on one GPU never overlap, so the last that began before a stretch's end decides.
          long[] until = new long[cluster.placements().get(placement).count()];
          int begun = 0;
          for (Row row : rows) {
            JobCourse.Hold hold = row.hold();
            for (; begun < busy.size() && busy.get(begun).from() < hold.toMicros(); begun++) {
              Busy b = busy.get(begun);
              b.gpus().forEach(gpu -> until[gpu] = b.to());
            }
            List<Range> where = free(until, hold, offsets[placement]);
            Kept last = all.isEmpty() ? null : all.get(all.size() - 1);
            if (last != null
                && last.job() == row.job()
                && last.toMicros() == hold.fromMicros()
                && last.rows().equals(where)) {
              all.set(
                  all.size() - 1, new Kept(last.job(), last.fromMicros(), hold.toMicros(), where));
            } else {
              all.add(new Kept(row.job(), hold.fromMicros(), hold.toMicros(), where));
            }
          }
        });
    all.sort(
        Comparator.comparingLong(Kept::fromMicros)
            .thenComparingInt(Kept::job)
            .thenComparingInt(k -> k.rows().get(0).first()));
    return all;
  }

  private static List<Range> free(long[] until, JobCourse.Hold hold, int offset) {
    boolean[] taken = new boolean[until.length];
    int left = Math.min(hold.gpus(), until.length);
    for (int pass = 0; pass < 2; pass++) {
      for (int gpu = until.length - 1; gpu >= 0 && left > 0; gpu--) {
        if (!taken[gpu] && (pass == 1 || until[gpu] <= hold.fromMicros())) {
          taken[gpu] = true;
          left--;
        }
      }
    }
    List<Integer> rows = new ArrayList<>();
    for (int gpu = 0; gpu < taken.length; gpu++) {
      if (taken[gpu]) {
        rows.add(offset + gpu);
      }
    }
    return ranges(rows);
  }

  /** First row of each placement, and behind the last the number of rows. */
  int[] offsets() {
    return Arrays.copyOf(offsets, offsets.length);
  }
}
