package evenhand.cli;

import evenhand.simulator.Played;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What simulations came to, as tables for a terminal. */
final class SimulationTable {
  private SimulationTable() {}

  /** A line a policy. */
  static String of(List<Played> played) {
    Table table =
        Table.of(
            "POLICY",
            ">FINISHED",
            ">REFUSED",
            ">UNREADABLE",
            ">WAIT_P50_S",
            ">WAIT_P90_S",
            ">JCT_MEAN_S",
            ">UTILIZATION",
            ">PREEMPTED",
            ">DELIVERED/ENTITLED",
            ">CYCLES",
            ">WALL_S");
    for (Played p : played) {
      Map<String, Object> s = p.summary();
      table.row(
          p.name(),
          s.get("finished"),
          s.get("refused"),
          s.get("unreadable"),
          all(s, "wait_s", "p50"),
          all(s, "wait_s", "p90"),
          all(s, "jct_s", "mean"),
          rounded(s.get("utilization")),
          s.get("preemptions"),
          rounded(s.get("delivered_over_entitled")),
          s.get("cycles"),
          rounded(s.get("wall_s")));
    }
    return table.text().stripTrailing();
  }

  private static Object rounded(Object figure) {
    return figure == null ? null : Math.round((Double) figure * 1000) / 1000.0;
  }

  private static Object all(Map<String, Object> summary, String figure, String which) {
    Object value = ((Map<?, ?>) ((Map<?, ?>) summary.get(figure)).get("all")).get(which);
    return rounded(value);
  }

  /** A line a setting: mean and, where there are several job sets, standard deviation. */
  static String of(Map<String, Object> sweep) {
    List<String> headers = new ArrayList<>(List.of("POLICY"));
    List<?> keys = (List<?>) sweep.get("keys");
    keys.forEach(k -> headers.add(k.toString().toUpperCase(Locale.ROOT)));
    List<?> figures = (List<?>) sweep.get("figures");
    figures.forEach(
        f -> headers.add(">" + ((Map<?, ?>) f).get("name").toString().toUpperCase(Locale.ROOT)));
    Table table = Table.of(headers.toArray(String[]::new));
    boolean several = ((List<?>) sweep.get("seeds")).size() > 1;
    for (Object row : (List<?>) sweep.get("rows")) {
      Map<?, ?> r = (Map<?, ?>) row;
      List<Object> cells = new ArrayList<>();
      cells.add(r.get("policy"));
      cells.addAll((List<?>) r.get("values"));
      for (Object figure : (List<?>) r.get("figures")) {
        Map<?, ?> f = (Map<?, ?>) figure;
        cells.add(
            f.get("mean") == null
                ? null
                : brief(f.get("mean")) + (several ? " ± " + brief(f.get("sd")) : ""));
      }
      table.row(cells.toArray());
    }
    return table.text().stripTrailing();
  }

  private static String brief(Object figure) {
    double x = (Double) figure;
    return Math.abs(x) >= 100
        ? Long.toString(Math.round(x))
        : java.math.BigDecimal.valueOf(x)
            .setScale(3, java.math.RoundingMode.HALF_UP)
            .stripTrailingZeros()
            .toPlainString();
  }
}
