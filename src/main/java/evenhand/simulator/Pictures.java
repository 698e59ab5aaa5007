package evenhand.simulator;

import evenhand.cycle.AccountSetup;
import evenhand.simulator.Drawing.Anchor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** The two main pictures of a report for documents, each drawn once for PNG and once for SVG. */
public final class Pictures {
  private static final int WIDTH = 1200;
  private static final int MARGIN = 16;
  private static final int GUTTER = 70;
  private static final int MOST_TEAMS = 24;
  private static final int COLUMNS = 4;
  private static final int CELL = 128;

  private final List<Played> played;
  private final Teams teams;
  private final long from;
  private final long to;

  private Pictures(List<Played> played) {
    this.played = played;
    Simulation.Result one = played.get(0).result();
    this.teams = new Teams(one.accounts());
    this.from = one.courses().isEmpty() ? 0 : one.courses().get(0).job().submitMicros();
    this.to =
        Math.max(from + 1, played.stream().mapToLong(p -> p.result().endMicros()).max().orElse(0));
  }

  /**
   * The files by name: {@code gantt} and {@code usage}, each {@code .svg} and {@code .png}.
   *
   * @param noPng told why there are no PNGs, where Java cannot draw letters on this machine
   */
  public static Map<String, byte[]> of(List<Played> played, Consumer<String> noPng) {
    Pictures pictures = new Pictures(played);
    Map<String, byte[]> files = new LinkedHashMap<>();
    String why = null;
    for (boolean gantt : new boolean[] {true, false}) {
      String name = gantt ? "gantt" : "usage";
      int height = gantt ? pictures.ganttHeight() : pictures.usageHeight();
      SvgDrawing svg = new SvgDrawing(WIDTH, height);
      pictures.draw(gantt, svg);
      files.put(
          name + ".svg",
          svg.svg(gantt ? "Every GPU, every job" : "Usage against budget")
              .getBytes(StandardCharsets.UTF_8));
      try {
        PngDrawing png = new PngDrawing(WIDTH, height);
        pictures.draw(gantt, png);
        files.put(name + ".png", png.png());
      } catch (PngDrawing.NoFonts e) {
        why = e.getMessage();
      }
    }
    if (why != null) {
      noPng.accept(why);
    }
    return files;
  }

  private void draw(boolean gantt, Drawing on) {
    if (gantt) {
      gantt(on);
    } else {
      usage(on);
    }
  }

  private int gpus() {
    return played.get(0).result().cluster().gpus();
  }

  private int plotHeight() {
    return (int) Math.max(60, Math.min(played.size() > 1 ? 320 : 440, gpus() * 12L));
  }

  private int ganttHeight() {
    return MARGIN + played.size() * (plotHeight() + 58) + legend(null, 0) + MARGIN;
  }

  private void gantt(Drawing on) {
    int plotWidth = WIDTH - 2 * MARGIN - GUTTER;
    int y = MARGIN;
    for (Played p : played) {
      double used = (Double) p.summary().get("utilization");
      String title =
          p.name()
              + ": "
              + percent(used)
              + " of the GPUs in use, "
              + p.summary().get("preemptions")
              + " preemptions";
      on.text(MARGIN, y + 14, 14, Anchor.START, true, Palette.INK, title);
      int top = y + 24;
      int[] cells = new GanttCells(p.result(), teams, plotWidth, plotHeight(), from, to).paint();
      on.cells(MARGIN + GUTTER, top, plotWidth, plotHeight(), cells);
      nodes(on, top);
      clock(on, MARGIN + GUTTER, plotWidth, top + plotHeight(), 12);
      y = top + plotHeight() + 34;
    }
    legend(on, y);
  }

  private void nodes(Drawing on, int top) {
    List<ClusterPlan.Gpus> placements = played.get(0).result().cluster().placements();
    double perRow = plotHeight() / (double) gpus();
    double free = -100;
    int row = 0;
    for (ClusterPlan.Gpus placement : placements) {
      double middle = (row + placement.count() / 2.0) * perRow;
      if (middle - free >= 14) {
        free = middle;
        on.text(
            MARGIN + GUTTER - 6,
            top + middle + 4,
            11,
            Anchor.END,
            false,
            Palette.SOFT,
            cut(placement.node(), 10));
      }
      row += placement.count();
    }
  }

  private void clock(Drawing on, int left, int width, int y, int labels) {
    double seconds = (to - from) / 1e6;
    double[] steps = {60, 600, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2419200};
    double step = Math.max(seconds / labels, steps[steps.length - 1]);
    for (int i = steps.length - 1; i >= 0; i--) {
      step = seconds / steps[i] <= labels ? steps[i] : step;
    }
    for (double s = Math.ceil(from / 1e6 / step) * step; s * 1e6 <= to; s += step) {
      double x = left + (s * 1e6 - from) / (to - from) * width;
      on.line(new double[] {x, x}, new double[] {y, y + 4}, Palette.SOFT, 1);
      long day = (long) (s / 86400) + 1;
      long minute = (long) (s % 86400) / 60;
      String words =
          step >= 86400
              ? "day " + day
              : String.format(Locale.ROOT, "day %d %02d:%02d", day, minute / 60, minute % 60);
      if (x + Drawing.width(words, 11) <= left + width + MARGIN) {
        on.text(x + 2, y + 15, 11, Anchor.START, false, Palette.SOFT, words);
      }
    }
  }

  /** What the colours mean; with nothing to draw on, only how high that is. */
  private int legend(Drawing on, int top) {
    Palette palette = new Palette(teams.names().size());
    record Item(int colour, boolean striped, String words) {}
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < Math.min(MOST_TEAMS, teams.names().size()); i++) {
      items.add(new Item(palette.team(i), false, cut(teams.names().get(i), 24)));
    }
    if (teams.names().size() > MOST_TEAMS) {
      items.add(
          new Item(Palette.IDLE, false, "and " + (teams.names().size() - MOST_TEAMS) + " more"));
    }
    if (played.stream().anyMatch(p -> ReportData.preempts(p.result()))) {
      items.add(new Item(palette.team(0), true, "may be preempted"));
      items.add(new Item(Palette.PREEMPTED, false, "was preempted"));
    }
    if (played.stream().anyMatch(p -> p.result().reservedGpuMicros() > 0)) {
      items.add(new Item(Palette.KEPT, false, "reserved (dotted)"));
    }
    if (played.stream().anyMatch(p -> !ReportData.down(p.result()).isEmpty())) {
      items.add(new Item(Palette.DOWN, false, "node draining or down"));
    }
    items.add(new Item(Palette.IDLE, false, "idle"));
    double x = MARGIN;
    int y = top;
    for (Item item : items) {
      double wide = 24 + Drawing.width(item.words(), 12) + 12;
      if (x + wide > WIDTH - MARGIN) {
        x = MARGIN;
        y += 20;
      }
      if (on != null) {
        on.box(x, y, 16, 12, item.colour());
        for (int i = 1; item.striped() && i < 12; i += 4) {
          on.box(x, y + i, 16, 2, Palette.mix(item.colour(), 0xffffff, 0.62));
        }
        on.text(x + 21, y + 11, 12, Anchor.START, false, Palette.INK, item.words());
      }
      x += wide;
    }
    return y + 20 - top;
  }

  private List<Integer> shown() {
    List<Integer> shown = new ArrayList<>();
    for (int i = 0; i < Math.min(MOST_TEAMS, teams.names().size()); i++) {
      shown.add(i);
    }
    return shown;
  }

  private int usageHeight() {
    int rows = (shown().size() + COLUMNS - 1) / COLUMNS;
    return MARGIN + 48 + Math.max(1, rows) * (CELL + 40) + MARGIN;
  }

  private void usage(Drawing on) {
    List<UsageOverTime> usages =
        played.stream().map(p -> UsageOverTime.of(p.result(), p.windowMicros())).toList();
    double window = played.get(0).windowMicros() / 3.6e9;
    String span = window >= 48 ? Math.round(window / 24) + " days" : Math.round(window) + " h";
    on.text(
        MARGIN,
        MARGIN + 12,
        14,
        Anchor.START,
        true,
        Palette.INK,
        "Part of the cluster used within the last " + span + ", and the budget");
    double x = MARGIN;
    for (int i = 0; i <= played.size(); i++) {
      boolean budget = i == played.size();
      String words = budget ? "budget" : played.get(i).name();
      double[] xs = {x, x + 34};
      double[] ys = {MARGIN + 30, MARGIN + 30};
      if (budget) {
        on.line(xs, ys, Palette.SOFT, 3);
      } else {
        on.line(xs, ys, Palette.policy(i), 2, Palette.dash(i));
      }
      on.text(x + 40, MARGIN + 34, 12, Anchor.START, false, Palette.INK, words);
      x += 58 + Drawing.width(words, 12);
    }
    double most = 0.01;
    List<List<double[]>> lines = new ArrayList<>();
    for (int team : shown()) {
      List<double[]> ofTeam = usages.stream().map(u -> sum(u, team)).toList();
      lines.add(ofTeam);
      for (double[] line : ofTeam) {
        most = Math.max(most, java.util.Arrays.stream(line).max().orElse(0));
      }
      for (UsageOverTime.Shares s : usages.get(0).shares()) {
        most = Math.max(most, s.of().get(teams.names().get(team)));
      }
    }
    int wide = (WIDTH - 2 * MARGIN) / COLUMNS;
    for (int i = 0; i < shown().size(); i++) {
      multiple(
          on,
          MARGIN + i % COLUMNS * wide,
          MARGIN + 48 + i / COLUMNS * (CELL + 40),
          wide,
          shown().get(i),
          lines.get(i),
          usages,
          most * 1.05);
    }
  }

  private double[] sum(UsageOverTime usage, int team) {
    double[] sum = null;
    for (AccountSetup account : played.get(0).result().accounts()) {
      if (teams.of(account.id()) == team) {
        double[] used = usage.used().get(account.id());
        sum = sum == null ? new double[used.length] : sum;
        for (int i = 0; i < used.length; i++) {
          sum[i] += used[i];
        }
      }
    }
    return sum == null ? new double[0] : sum;
  }

  private void multiple(
      Drawing on,
      int x,
      int y,
      int wide,
      int team,
      List<double[]> lines,
      List<UsageOverTime> usages,
      double most) {
    int left = x + 40;
    int width = wide - 52;
    int top = y + 20;
    int foot = top + CELL - 20;
    on.text(left, y + 12, 12, Anchor.START, true, Palette.INK, cut(teams.names().get(team), 30));
    for (double part : new double[] {0, most / 2.1, most / 1.05}) {
      double at = foot - part / most * (foot - top);
      on.line(new double[] {left, left + width}, new double[] {at, at}, Palette.LINE, 1);
      on.text(left - 5, at + 4, 10, Anchor.END, false, Palette.SOFT, percent(part));
    }
    List<UsageOverTime.Shares> shares = usages.get(0).shares();
    double[] xs = new double[shares.size() * 2];
    double[] ys = new double[shares.size() * 2];
    for (int i = 0; i < shares.size(); i++) {
      double share = shares.get(i).of().get(teams.names().get(team));
      long begin = Math.max(from, shares.get(i).atMicros());
      long end = i + 1 < shares.size() ? Math.max(from, shares.get(i + 1).atMicros()) : to;
      xs[2 * i] = left + (begin - from) / (double) (to - from) * width;
      xs[2 * i + 1] = left + (Math.min(end, to) - from) / (double) (to - from) * width;
      ys[2 * i] = ys[2 * i + 1] = foot - share / most * (foot - top);
    }
    on.line(xs, ys, Palette.SOFT, 2);
    for (int p = 0; p < lines.size(); p++) {
      double[] used = lines.get(p);
      double[] px = new double[used.length];
      double[] py = new double[used.length];
      for (int i = 0; i < used.length; i++) {
        double at = ((i + 1.0) * usages.get(p).stepMicros() - from) / (to - from);
        px[i] = left + Math.max(0, Math.min(1, at)) * width;
        py[i] = foot - used[i] / most * (foot - top);
      }
      on.line(px, py, Palette.policy(p), 1.6, Palette.dash(p));
    }
    clock(on, left, width, foot, 3);
  }

  private static String percent(double part) {
    return part < 0.0995 && part > 0
        ? String.format(Locale.ROOT, "%.1f %%", part * 100)
        : Math.round(part * 100) + " %";
  }

  private static String cut(String text, int most) {
    return text.length() <= most ? text : text.substring(0, most - 1) + "…";
  }
}
