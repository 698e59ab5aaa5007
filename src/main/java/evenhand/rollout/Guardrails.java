package evenhand.rollout;

import evenhand.input.Document;
import evenhand.input.Durations;
import evenhand.input.Field;
import evenhand.input.InputFault;
import evenhand.input.Section;
import evenhand.input.Shape;
import evenhand.rollout.PlanReport.Figures;
import evenhand.rollout.PlanReport.Group;
import evenhand.rollout.PlanReport.Guardrail;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a change of policy may not do unless somebody says so: {@code rules/guardrails.yaml}. */
final class Guardrails {
  /** The file's name below the rules folder. */
  static final String FILE = "guardrails.yaml";

  private static final Field<Double> MOST_TIMES = Field.number("most_times", 1, 1e6);
  private static final Field<Duration> BEYOND = Field.duration("beyond").or(Duration.ZERO, "0s");
  private static final Field<Integer> BEYOND_COUNT = Field.whole("beyond", 0, 1_000_000).or(0);
  private static final Field<Double> AT_LEAST = Field.number("at_least", 0, 1);
  private static final Field<Double> MOST = Field.number("most", 0, 1);
  private static final Shape WAIT = Shape.of("a bound of waits", MOST_TIMES, BEYOND);
  private static final Shape COUNT = Shape.of("a bound of a count", MOST_TIMES, BEYOND_COUNT);
  private static final Shape LEAST = Shape.of("a least value", AT_LEAST);
  private static final Shape PART = Shape.of("a part of the jobs", MOST);

  private static final Field<Section> ACCOUNT_WAIT = Field.object("account_wait", WAIT).or(null);
  private static final Field<Section> CLASS_WAIT = Field.object("class_wait", WAIT).or(null);
  private static final Field<Section> NEVER_STARTED = Field.object("never_started", PART).or(null);
  private static final Field<Section> REFUSED = Field.object("refused", PART).or(null);
  private static final Field<Section> UTILIZATION = Field.object("utilization", LEAST).or(null);
  private static final Field<Section> DELIVERED = Field.object("delivered", LEAST).or(null);
  private static final Field<Section> PREEMPTIONS = Field.object("preemptions", COUNT).or(null);
  private static final Field<Section> LOST_WORK = Field.object("lost_work", WAIT).or(null);
  private static final Shape ALL =
      Shape.of(
          "the guard rails",
          ACCOUNT_WAIT,
          CLASS_WAIT,
          NEVER_STARTED,
          REFUSED,
          UTILIZATION,
          DELIVERED,
          PREEMPTIONS,
          LOST_WORK);

  private final Section set;
  private final List<Guardrail> held = new ArrayList<>();

  private Guardrails(Section set) {
    this.set = set;
  }

  /**
   * Reads them, strictly.
   *
   * @throws InputFault naming every fault with its line
   */
  static Guardrails read(String text) {
    Document document = Document.yaml(FILE, text);
    Section set = document.read(ALL);
    document.check();
    return new Guardrails(set);
  }

  /**
   * How each stands.
   *
   * @param played null where nothing could be simulated
   */
  List<Guardrail> held(PlanReport.Played played) {
    held.clear();
    Figures was = played == null ? null : played.was();
    Figures becomes = played == null ? null : played.becomes();
    waits(
        ACCOUNT_WAIT,
        "account ",
        was == null ? null : was.accounts(),
        becomes == null ? null : becomes.accounts());
    waits(
        CLASS_WAIT,
        "",
        was == null ? null : was.classes(),
        becomes == null ? null : becomes.classes());
    part(NEVER_STARTED, was, becomes, "never start", f -> f.neverStarted());
    part(REFUSED, was, becomes, "are refused", f -> f.refused());
    utilization(was, becomes);
    delivered(was, becomes);
    times(
        PREEMPTIONS,
        was,
        "preemptions",
        was == null ? 0 : was.preemptions(),
        was == null ? 0 : becomes.preemptions(),
        set.get(PREEMPTIONS) == null ? 0 : set.get(PREEMPTIONS).get(BEYOND_COUNT));
    times(
        LOST_WORK,
        was,
        "GPU-seconds worked again",
        was == null ? 0 : was.lostGpuS(),
        was == null ? 0 : becomes.lostGpuS(),
        set.get(LOST_WORK) == null ? 0 : Durations.seconds(set.get(LOST_WORK).get(BEYOND)));
    return List.copyOf(held);
  }

  /** Whether one is left out, or cannot be held: noted then. */
  private boolean passedOver(Field<Section> rail, Object figures) {
    if (set.get(rail) != null && figures == null) {
      held.add(
          new Guardrail(
              rail.name(), "unknown", List.of("there are no figures to hold it against")));
    }
    return set.get(rail) == null || figures == null;
  }

  private void note(Field<Section> rail, List<String> broken, String kept) {
    held.add(
        broken.isEmpty()
            ? new Guardrail(rail.name(), "kept", List.of(kept))
            : new Guardrail(rail.name(), "broken", List.copyOf(broken)));
  }

  private void waits(
      Field<Section> rail, String of, Map<String, Group> was, Map<String, Group> becomes) {
    if (passedOver(rail, was)) {
      return;
    }
    double times = set.get(rail).get(MOST_TIMES);
    double beyond = Durations.seconds(set.get(rail).get(BEYOND));
    List<String> broken = new ArrayList<>();
    double most = 0;
    for (Map.Entry<String, Group> e : becomes.entrySet()) {
      Group before = was.get(e.getKey());
      double then = e.getValue().waitMeanS();
      if (before == null) {
        continue;
      }
      most = Math.max(most, before.waitMeanS() == 0 ? 1 : then / before.waitMeanS());
      if (then > beyond && then > times * before.waitMeanS()) {
        broken.add(
            of
                + e.getKey()
                + " waits "
                + time(then)
                + " on average, and "
                + time(before.waitMeanS())
                + " now");
      }
    }
    note(rail, broken, "the most is " + figure(most) + " times as long");
  }

  private interface Count {
    int of(Figures figures);
  }

  private void part(Field<Section> rail, Figures was, Figures becomes, String what, Count count) {
    if (passedOver(rail, was)) {
      return;
    }
    int more = count.of(becomes) - count.of(was);
    double most = set.get(rail).get(MOST) * becomes.jobs();
    String figures =
        count.of(becomes)
            + " of "
            + becomes.jobs()
            + " jobs "
            + what
            + ", and "
            + count.of(was)
            + " now";
    note(rail, more > most ? List.of(figures) : List.of(), figures);
  }

  private void utilization(Figures was, Figures becomes) {
    if (passedOver(UTILIZATION, was)) {
      return;
    }
    String figures =
        percent(becomes.utilization())
            + " of the GPU time is used, and "
            + percent(was.utilization())
            + " now";
    boolean broken = becomes.utilization() < set.get(UTILIZATION).get(AT_LEAST) * was.utilization();
    note(UTILIZATION, broken ? List.of(figures) : List.of(), figures);
  }

  private void delivered(Figures was, Figures becomes) {
    if (passedOver(DELIVERED, was)) {
      return;
    }
    double least = set.get(DELIVERED).get(AT_LEAST);
    List<String> broken = new ArrayList<>();
    becomes
        .accounts()
        .forEach(
            (id, group) -> {
              Group before = was.accounts().get(id);
              if (before != null
                  && before.deliveredOverEntitled() != null
                  && group.deliveredOverEntitled() != null
                  // what it got beyond its right is nobody's to keep
                  && group.deliveredOverEntitled()
                      < least * Math.min(1, before.deliveredOverEntitled())) {
                broken.add(
                    "account "
                        + id
                        + " gets "
                        + percent(group.deliveredOverEntitled())
                        + " of what it is entitled to, and "
                        + percent(before.deliveredOverEntitled())
                        + " now");
              }
            });
    note(DELIVERED, broken, "no account gets much less of what it is entitled to");
  }

  private void times(
      Field<Section> rail, Figures was, String what, double before, double then, double beyond) {
    if (passedOver(rail, was)) {
      return;
    }
    String figures = figure(then) + " " + what + ", and " + figure(before) + " now";
    boolean broken = then > beyond && then > set.get(rail).get(MOST_TIMES) * before;
    note(rail, broken ? List.of(figures) : List.of(), figures);
  }

  private static String time(double seconds) {
    return Durations.text(Math.round(seconds));
  }

  private static String percent(double part) {
    return String.format(Locale.ROOT, "%.1f %%", part * 100);
  }

  private static String figure(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : String.format(Locale.ROOT, "%.2f", value);
  }
}
