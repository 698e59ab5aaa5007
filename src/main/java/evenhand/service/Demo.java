package evenhand.service;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Desk;
import evenhand.cycle.SubmitOrder;
import evenhand.facts.Tier;
import evenhand.simulator.SimulatedCluster;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The demonstration: a small cluster of three tiers, and jobs of three labs that show within a
 * minute how a job starts, how one reserves, how it swaps to where there is room sooner, and who is
 * charged.
 */
final class Demo extends DemoPlay {
  private static final int FULL_QUEUE = 8;
  private static final Pattern SLEEP = Pattern.compile("\\bsleep\\s+(\\d{1,6})\\b");
  private static final Duration UNLESS_SAID = Duration.ofSeconds(20);

  private static final Tier OLD = new Tier("3080ti", 10, 34.1, 8, true, "gpu3080ti", "gpu:3080ti");
  private static final Tier MID = new Tier("4090", 20, 82.6, 8, true, "gpu4090", "gpu:4090");
  private static final Tier NEW = new Tier("5090", 30, 104.8, 8, true, "gpu5090", "gpu:5090");

  static final List<Tier> TIERS = List.of(OLD, MID, NEW);
  static final List<AccountSetup> ACCOUNTS =
      List.of(
          new AccountSetup("BCG", null, 1),
          new AccountSetup("KDG", null, 1),
          new AccountSetup("NLP", null, 1));

  /**
   * The opening, in seconds after the start. The job at 6 s finds no two GPUs together, reserves
   * the one idle 5090, and starts on the two 4090s of mid1 when the job at 1 s ends; the 5090 it
   * gives back goes to the job at 8 s.
   */
  private static final List<Example> OPENING =
      List.of(
          new Example(0, "NLP", "tokenizer", 1, "5090", null, 0, 50),
          new Example(0, "BCG", "docking", 2, "3080ti", null, 0, 45),
          new Example(1, "KDG", "segmentation", 1, "4090", null, 0, 24),
          new Example(1, "KDG", "augment", 1, "4090", null, 0, 60),
          new Example(6, "BCG", "folding", 2, null, "4090", 0, 30),
          new Example(8, "NLP", "finetune", 1, "5090", null, 0, 25));

  private final Random random = new Random(14);

  Demo(boolean on, Desk desk) {
    super(on, desk);
  }

  static SimulatedCluster cluster(Clock clock) {
    SimulatedCluster cluster = new SimulatedCluster(clock);
    cluster.node("old1", OLD, 2);
    cluster.node("mid1", MID, 2);
    cluster.node("mix1", MID, 2);
    cluster.node("mix1", NEW, 2);
    cluster.startDelay(Duration.ofSeconds(1));
    cluster.runTimes(Demo::runTime);
    return cluster;
  }

  /** As long as the script's first {@code sleep}, in seconds. */
  static Duration runTime(SubmitOrder order) {
    Matcher sleep = SLEEP.matcher(order.script());
    return sleep.find() ? Duration.ofSeconds(Long.parseLong(sleep.group(1))) : UNLESS_SAID;
  }

  @Override
  void play() {
    for (Example example : OPENING) {
      at(example.after(), () -> submit(example));
    }
    every(20, 6, this::trickle);
  }

  private void trickle() {
    if (!fewerWaitThan(FULL_QUEUE)) {
      return;
    }
    String account = ACCOUNTS.get(random.nextInt(ACCOUNTS.size())).id();
    int gpus = random.nextInt(5) < 3 ? 1 : 2;
    String minimum = random.nextInt(3) == 0 ? "4090" : null;
    String name = gpus == 1 ? "experiment" : "training";
    submit(new Example(0, account, name, gpus, null, minimum, 0, 15 + random.nextInt(40)));
  }

  private void submit(Example example) {
    submit(example, example.runs() + " s");
  }
}
