package evenhand.simulator;

import evenhand.input.Document;
import evenhand.input.Field;
import evenhand.input.InputFault;
import evenhand.input.Section;
import evenhand.input.Shape;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a cluster's users do, as its owner would describe it, from which job sets are generated.
 *
 * @param length how long jobs arrive
 * @param nodes how many nodes, of {@code gpusPerNode} each
 * @param unallocated part of the work (GPU-seconds) that declares no minimum run time
 * @param load work that arrives over work the cluster could do in the same time; what is above 1
 *     piles up
 * @param hours how much arrives in each hour of the day, relative to each other, 24 of them
 * @param weekdays the same for Monday to Sunday
 */
public record Workload(
    Duration length,
    int nodes,
    int gpusPerNode,
    String tier,
    double tflops,
    double load,
    double unallocated,
    List<Double> hours,
    List<Double> weekdays,
    List<Team> teams,
    List<JobClass> classes) {

  /**
   * @param weight its budget among the teams
   * @param demand how much of all work is its own, relative to the others
   */
  public record Team(String name, double weight, double demand, int users) {}

  /**
   * A class of jobs. Times are drawn between {@code p10} and {@code p90}, log-normal, so that a
   * tenth of them is shorter and a tenth longer; never beyond a tenth of the first or ten times the
   * last.
   *
   * @param part its part of all work, GPU-seconds, relative to the others
   * @param sizes how many GPUs, 1 of them picked alike; above a node's, whole nodes
   * @param minimum minimum run times (K1), one of them picked; none above the run time is declared
   * @param unallocated whether its jobs may be those that declare no minimum
   */
  public record JobClass(
      String name,
      double part,
      List<Integer> sizes,
      Duration p10,
      Duration p90,
      List<Duration> minimum,
      boolean resumable,
      boolean unallocated) {}

  private static final Field<Duration> LENGTH = Field.duration("length");
  private static final Field<Integer> NODES = Field.whole("nodes", 1, 100_000);
  private static final Field<Integer> GPUS = Field.whole("gpus_per_node", 1, 64).or(8);
  private static final Field<String> TIER = Field.text("tier").or("gpu");
  private static final Field<Double> TFLOPS = Field.number("tflops", 0, 1e6).or(1.0);
  private static final Field<Double> LOAD = Field.number("load", 0.001, 100);
  private static final Field<Double> UNALLOCATED = Field.number("unallocated", 0, 1).or(0.0);
  private static final Field<List<String>> HOURS =
      Field.texts("hours", 24, "a number", Workload::number).or(List.of());
  private static final Field<List<String>> WEEKDAYS =
      Field.texts("weekdays", 7, "a number", Workload::number).or(List.of());

  private static final Field<Double> WEIGHT = Field.number("weight", 0, 1e9).or(1.0);
  private static final Field<Double> DEMAND = Field.number("demand", 0, 1e9).or(1.0);
  private static final Field<Integer> USERS = Field.whole("users", 1, 100_000).or(1);
  private static final Shape TEAM = Shape.of("a team", WEIGHT, DEMAND, USERS);
  private static final Field<Map<String, Section>> TEAMS = Field.map("teams", TEAM);

  private static final Field<Double> PART = Field.number("part", 0, 1e9);
  private static final Field<List<String>> SIZES =
      Field.texts("gpus", 100, "a whole number of GPUs", t -> t.matches("[1-9][0-9]{0,6}"));
  private static final Field<Duration> P10 = Field.duration("run_p10");
  private static final Field<Duration> P90 = Field.duration("run_p90");
  private static final Field<List<String>> MINIMUM =
      Field.texts("min_runtime", 100, "a duration", Workload::duration).or(List.of("0s"));
  private static final Field<Boolean> RESUMABLE = Field.flag("resumable").or(true);
  private static final Field<Boolean> MAY_BE_FREE = Field.flag("may_be_unallocated").or(true);
  private static final Shape CLASS =
      Shape.of("a class of jobs", PART, SIZES, P10, P90, MINIMUM, RESUMABLE, MAY_BE_FREE);
  private static final Field<Map<String, Section>> CLASSES = Field.map("classes", CLASS);

  private static final Shape WORKLOAD =
      Shape.of(
          "a workload",
          LENGTH,
          NODES,
          GPUS,
          TIER,
          TFLOPS,
          LOAD,
          UNALLOCATED,
          HOURS,
          WEEKDAYS,
          TEAMS,
          CLASSES);

  private static boolean number(String text) {
    return text.matches("[0-9]{1,6}(\\.[0-9]{1,6})?");
  }

  private static boolean duration(String text) {
    try {
      evenhand.input.Durations.parse(text);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /**
   * Reads one from its YAML.
   *
   * @throws InputFault naming every fault with its line
   */
  public static Workload read(String file, String text) {
    Document document = Document.yaml(file, text);
    Section s = document.read(WORKLOAD);
    document.check();
    int gpusPerNode = s.get(GPUS);
    List<Team> teams = new ArrayList<>();
    s.get(TEAMS)
        .forEach(
            (name, t) -> teams.add(new Team(name, t.get(WEIGHT), t.get(DEMAND), t.get(USERS))));
    List<JobClass> classes = new ArrayList<>();
    s.get(CLASSES)
        .forEach(
            (name, c) -> {
              List<Integer> sizes = c.get(SIZES).stream().map(Integer::valueOf).toList();
              for (int size : sizes) {
                if (size > gpusPerNode && size % gpusPerNode != 0
                    || size > gpusPerNode * s.get(NODES)) {
                  c.fault(SIZES, size + " GPUs are no whole nodes, or more than there are");
                }
              }
              if (c.get(P90).compareTo(c.get(P10)) < 0 || c.get(P10).isZero()) {
                c.fault(P90, "must be at least run_p10, which must be more than 0 s");
              }
              classes.add(
                  new JobClass(
                      name,
                      c.get(PART),
                      sizes,
                      c.get(P10),
                      c.get(P90),
                      c.get(MINIMUM).stream().map(evenhand.input.Durations::parse).toList(),
                      c.get(RESUMABLE),
                      c.get(MAY_BE_FREE)));
            });
    List<Double> hours = numbers(s, HOURS, 24);
    List<Double> weekdays = numbers(s, WEEKDAYS, 7);
    if (teams.isEmpty() || teams.stream().mapToDouble(Team::demand).sum() <= 0) {
      s.fault(TEAMS, "needs at least one team with demand");
    }
    if (classes.isEmpty() || classes.stream().mapToDouble(JobClass::part).sum() <= 0) {
      s.fault(CLASSES, "needs at least one class with a part of the work");
    }
    document.check();
    return new Workload(
        s.get(LENGTH),
        s.get(NODES),
        gpusPerNode,
        s.get(TIER),
        s.get(TFLOPS),
        s.get(LOAD),
        s.get(UNALLOCATED),
        hours,
        weekdays,
        teams,
        classes);
  }

  private static List<Double> numbers(Section s, Field<List<String>> field, int count) {
    List<String> written = s.get(field);
    if (written.isEmpty()) {
      return java.util.Collections.nCopies(count, 1.0);
    }
    List<Double> numbers = written.stream().map(Double::valueOf).toList();
    if (numbers.size() != count || numbers.stream().mapToDouble(d -> d).sum() <= 0) {
      s.fault(field, "must be " + count + " numbers, not all of them 0");
    }
    return numbers;
  }
}
