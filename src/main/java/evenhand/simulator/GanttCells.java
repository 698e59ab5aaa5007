package evenhand.simulator;

import java.util.Arrays;
import java.util.List;

/**
 * Who held which GPU when, as pixels: a column is a stretch of time, a row one GPU, part of one, or
 * several. What is narrower than a column is summed up in it and paler, so that the picture costs
 * what its pixels cost.
 */
final class GanttCells {
  private final Simulation.Result result;
  private final GpuRows rows;
  private final Teams teams;
  private final Palette palette;
  private final boolean preempts;
  private final int width;
  private final int height;
  private final double from;
  private final double perMicro;
  private final double perRow;
  private final int[] cells;
  private final float[] covered;

  GanttCells(Simulation.Result result, Teams teams, int width, int height, long from, long to) {
    this.result = result;
    this.rows = new GpuRows(result.cluster());
    this.teams = teams;
    this.palette = new Palette(teams.names().size());
    this.preempts = ReportData.preempts(result);
    this.width = width;
    this.height = height;
    this.from = from;
    this.perMicro = width / (double) Math.max(1, to - from);
    this.perRow = height / (double) rows.count();
    this.cells = new int[width * height];
    this.covered = new float[width * height];
  }

  int[] paint() {
    Arrays.fill(cells, Palette.IDLE);
    ReportData.down(result)
        .forEach(d -> fill(rows.of(d.node()), d.fromMicros(), d.toMicros(), Palette.DOWN));
    for (int i = 0; i < result.courses().size(); i++) {
      JobCourse course = result.courses().get(i);
      int colour = palette.job(teams.of(course.account()), i);
      for (JobCourse.Run run : course.runs()) {
        run(run, colour, rows.of(run.on()));
      }
    }
    for (int i = 0; i < cells.length; i++) {
      if (covered[i] > 0) {
        // Narrower than a column: the colour is in the cell, how much of it is covered beside it.
        cells[i] = Palette.mix(Palette.IDLE, cells[i], Math.max(0.4, Math.min(1, covered[i])));
      }
    }
    for (GpuRows.Kept kept : rows.kept(result)) {
      dots(kept);
    }
    // Edges last, so that the next job's bar does not hide them.
    for (JobCourse course : result.courses()) {
      for (JobCourse.Run run : course.runs()) {
        edge(run);
      }
    }
    return cells;
  }

  private int x(long micros) {
    return (int) Math.max(0, Math.min(width, Math.round((micros - from) * perMicro)));
  }

  private int top(GpuRows.Range range) {
    return Math.min(height - 1, (int) Math.round(range.first() * perRow));
  }

  private int foot(GpuRows.Range range) {
    int foot = (int) Math.round((range.first() + range.count()) * perRow);
    return Math.min(height, Math.max(foot, top(range) + 1));
  }

  private void fill(List<GpuRows.Range> ranges, long begin, long end, int colour) {
    int left = x(begin);
    int right = Math.min(width, Math.max(left + 1, x(end)));
    for (GpuRows.Range range : ranges) {
      for (int y = top(range); y < foot(range); y++) {
        Arrays.fill(cells, y * width + left, y * width + right, colour);
        Arrays.fill(covered, y * width + left, y * width + right, 0);
      }
    }
  }

  private void run(JobCourse.Run run, int colour, List<GpuRows.Range> ranges) {
    double wide = (run.toMicros() - run.fromMicros()) * perMicro;
    if (wide < 1) {
      int column = Math.min(width - 1, (int) ((run.fromMicros() - from) * perMicro));
      for (GpuRows.Range range : ranges) {
        for (int y = top(range); y < foot(range); y++) {
          int at = y * width + column;
          if (covered[at] > 0 || cells[at] == Palette.IDLE) {
            cells[at] = colour;
            covered[at] += (float) wide;
          }
        }
      }
      return;
    }
    fill(ranges, run.fromMicros(), run.toMicros(), colour);
    if (!preempts) {
      return;
    }
    long open =
        run.allocated() ? Math.max(run.fromMicros(), run.protectedUntilMicros()) : run.fromMicros();
    int left = x(open);
    int right = x(run.toMicros());
    int light = Palette.mix(colour, 0xffffff, 0.62);
    int pale = Palette.mix(colour, Palette.IDLE, 0.45);
    for (GpuRows.Range range : ranges) {
      int top = top(range);
      boolean thin = foot(range) - top < 5;
      for (int y = top; y < foot(range); y++) {
        if (thin || y % 4 < 2) {
          for (int column = left; column < right; column++) {
            cells[y * width + column] = thin ? pale : light;
          }
        }
      }
    }
  }

  private void dots(GpuRows.Kept kept) {
    int left = x(kept.fromMicros());
    int right = Math.min(width, Math.max(left + 1, x(kept.toMicros())));
    for (GpuRows.Range range : kept.rows()) {
      for (int y = top(range); y < foot(range); y++) {
        for (int column = left; column < right; column++) {
          if (y == top(range) || y % 4 == 0 && column % 4 == 0) {
            cells[y * width + column] = Palette.KEPT;
          }
        }
      }
    }
  }

  private void edge(JobCourse.Run run) {
    boolean preempted = run.end().equals("PREEMPTED");
    double wide = (run.toMicros() - run.fromMicros()) * perMicro;
    if (wide < 5 || !preempted && !run.end().equals("NODE_FAIL")) {
      return;
    }
    int right = x(run.toMicros());
    for (GpuRows.Range range : rows.of(run.on())) {
      for (int y = top(range); y < foot(range); y++) {
        for (int column = Math.max(0, right - 2); column < right; column++) {
          cells[y * width + column] = preempted ? Palette.PREEMPTED : Palette.BROKEN;
        }
      }
    }
  }
}
