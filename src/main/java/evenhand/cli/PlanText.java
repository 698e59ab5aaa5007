package evenhand.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** A plan of the policy for people. */
final class PlanText {
  private static final int MOST_DIFF = 200;
  private static final int MOST_CLAUSES = 10;
  private final Consumer<String> print;
  private final boolean diff;

  PlanText(Consumer<String> print, boolean diff) {
    this.print = print;
    this.diff = diff;
  }

  void tell(JsonNode r) {
    if (Show.text(r, "verdict").equals("SAME")) {
      line(
          "These rules are in force already: policy "
              + Show.text(r, "policy")
              + " "
              + Show.text(r, "hash"));
      return;
    }
    line(
        "Plan "
            + Show.text(r, "id")
            + ": policy "
            + Show.text(r, "policy")
            + " "
            + Show.text(r, "hash"));
    line(
        "against "
            + Show.text(r, "against_policy")
            + " "
            + Show.text(r, "against")
            + ", which is in force");
    changes(r.path("changes"));
    decisions(r.path("decisions"));
    simulation(r.path("simulation"));
    line("");
    line("Guard rails");
    for (JsonNode rail : r.path("guardrails")) {
      String state = Show.text(rail, "state");
      String shown = state.equals("broken") ? "BROKEN" : state.equals("kept") ? "ok" : "?";
      for (JsonNode figure : rail.path("figures")) {
        line(String.format("  %-7s %s: %s", shown, Show.text(rail, "name"), figure.asString()));
      }
    }
    for (JsonNode note : r.path("notes")) {
      line("Note: " + note.asString());
    }
    line("");
    line(
        Show.text(r, "verdict").equals("PASSES")
            ? "No guard rail is broken. Nothing has changed yet; to put it in force:"
            : "Guard rails are broken. Nothing has changed; to put it in force all the same:");
    line("  " + Show.text(r, "apply"));
  }

  private void line(String text) {
    print.accept(Table.clean(text));
  }

  private void changes(JsonNode changes) {
    line("");
    for (JsonNode clause : changes.path("clauses")) {
      line("Clause " + Show.text(clause, "clause") + " is " + Show.text(clause, "kind"));
      clause.path("was").forEach(f -> line("  - " + f.asString()));
      clause.path("becomes").forEach(f -> line("  + " + f.asString()));
    }
    int left = diff ? MOST_DIFF : 0;
    for (JsonNode file : changes.path("files")) {
      String text = Show.text(file, "diff");
      if (text == null || text.isEmpty() || left <= 0) {
        line(Show.text(file, "file") + " is " + Show.text(file, "kind"));
        continue;
      }
      for (String one : text.split("\n", -1)) {
        if (left-- > 0) {
          line("  " + one);
        }
      }
      if (left <= 0) {
        line("  ... (-o json has the rest)");
      }
    }
  }

  private void decisions(JsonNode d) {
    line("");
    line(
        "Decisions of the last "
            + ("1".equals(Show.text(d, "days")) ? "day: " : Show.text(d, "days") + " days: ")
            + Show.text(d, "recorded")
            + " recorded, "
            + Show.text(d, "compared")
            + " compared; "
            + Show.text(d, "differ")
            + " differ, "
            + Show.text(d, "differ_in_acts")
            + " of them in more than why jobs wait");
    int left = MOST_CLAUSES;
    for (JsonNode c : d.path("clauses")) {
      if (left-- > 0) {
        line(
            "  "
                + Show.text(c, "jobs")
                + " times "
                + Show.text(c, "becomes")
                + " instead of "
                + Show.text(c, "was"));
      }
    }
    JsonNode first = d.path("first");
    if (first.isObject()) {
      first(first);
    }
  }

  private void first(JsonNode first) {
    line("");
    String job = Show.text(first, "job");
    line(
        "The first that differs: decision "
            + Show.text(first, "decision")
            + " of "
            + Show.text(first, "at")
            + (job == null ? ", in what is charged or told the LLM router" : ", job " + job));
    Table table = Table.of("", "IN FORCE", "PLANNED");
    rows(table, "outcome", outcomes(first.path("was")), outcomes(first.path("becomes")));
    rows(table, "rule", texts(first.path("was_rules")), texts(first.path("becomes_rules")));
    for (String row : table.text().split("\n")) {
      line("  " + row);
    }
  }

  private static void rows(Table table, String of, List<String> was, List<String> becomes) {
    for (int i = 0; i < Math.max(was.size(), becomes.size()); i++) {
      table.row(of, i < was.size() ? was.get(i) : "", i < becomes.size() ? becomes.get(i) : "");
    }
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(t -> texts.add(t.asString()));
    return texts;
  }

  private static List<String> outcomes(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(
        o ->
            texts.add(
                (Show.text(o, "type") + " " + DecisionCommand.what(o)).strip()
                    + " ["
                    + Show.text(o, "rule")
                    + "]"));
    return texts;
  }

  private void simulation(JsonNode s) {
    if (!s.isObject()) {
      return;
    }
    line("");
    line(
        "Simulation of "
            + Show.text(s, "jobs")
            + " "
            + (Show.text(s, "of").startsWith("jobs") ? "" : "jobs of ")
            + Show.text(s, "of")
            + ("0".equals(Show.text(s, "left_out"))
                ? ""
                : " (" + Show.text(s, "left_out") + " left out, of unknown length)"));
    JsonNode was = s.path("was");
    JsonNode becomes = s.path("becomes");
    Table table = Table.of("", ">IN FORCE", ">PLANNED");
    table.row("wait, mean", time(was, "wait_mean_s"), time(becomes, "wait_mean_s"));
    table.row("wait, median", time(was, "wait_p50_s"), time(becomes, "wait_p50_s"));
    table.row("wait, 90 %", time(was, "wait_p90_s"), time(becomes, "wait_p90_s"));
    table.row("wait, longest", time(was, "wait_max_s"), time(becomes, "wait_max_s"));
    table.row(
        "never started", Show.text(was, "never_started"), Show.text(becomes, "never_started"));
    table.row("refused", Show.text(was, "refused"), Show.text(becomes, "refused"));
    table.row("preemptions", Show.text(was, "preemptions"), Show.text(becomes, "preemptions"));
    table.row(
        "GPU-hours worked again", Show.hours(was, "lost_gpu_s"), Show.hours(becomes, "lost_gpu_s"));
    table.row(
        "GPU time used", Show.percent(was, "utilization"), Show.percent(becomes, "utilization"));
    table.row(
        "delivered / entitled",
        Show.percent(was, "delivered_over_entitled"),
        Show.percent(becomes, "delivered_over_entitled"));
    indented(table);
    line("");
    groups("ACCOUNT", was.path("accounts"), becomes.path("accounts"), true);
    line("");
    groups("CLASS", was.path("classes"), becomes.path("classes"), false);
  }

  private void groups(String title, JsonNode was, JsonNode becomes, boolean delivered) {
    Table table =
        delivered
            ? Table.of(
                title, ">JOBS", ">WAIT", ">THEN", ">GPU-HOURS", ">THEN", ">DELIVERED", ">THEN")
            : Table.of(title, ">JOBS", ">WAIT", ">THEN", ">GPU-HOURS", ">THEN");
    Set<String> names = new TreeSet<>(was.propertyNames());
    names.addAll(becomes.propertyNames());
    for (String name : names) {
      JsonNode one = was.path(name);
      JsonNode other = becomes.path(name);
      List<Object> cells = new ArrayList<>();
      cells.add(name);
      cells.add(Show.text(one.isObject() ? one : other, "jobs"));
      cells.add(time(one, "wait_mean_s"));
      cells.add(time(other, "wait_mean_s"));
      cells.add(Show.hours(one, "gpu_s"));
      cells.add(Show.hours(other, "gpu_s"));
      if (delivered) {
        cells.add(Show.percent(one, "delivered_over_entitled"));
        cells.add(Show.percent(other, "delivered_over_entitled"));
      }
      table.row(cells.toArray());
    }
    indented(table);
  }

  private void indented(Table table) {
    for (String row : table.text().split("\n")) {
      line("  " + row);
    }
  }

  /** Seconds below two minutes, then minutes, then hours. */
  private static String time(JsonNode of, String field) {
    JsonNode value = of.path(field);
    if (!value.isNumber()) {
      return null;
    }
    double s = value.asDouble();
    return s < 120
        ? String.format(Locale.ROOT, "%.0f s", s)
        : s < 7200
            ? String.format(Locale.ROOT, "%.1f min", s / 60)
            : String.format(Locale.ROOT, "%.1f h", s / 3600);
  }
}
