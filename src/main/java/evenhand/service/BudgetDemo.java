package evenhand.service;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Contract;
import evenhand.cycle.Desk;
import evenhand.cycle.accounts.AccountDesk;
import evenhand.cycle.accounts.TreePlan;
import evenhand.facts.Tier;
import evenhand.simulator.SimulatedCluster;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * The demonstration of the policies with budgets: a tree of accounts on two nodes, and within two
 * minutes work that is protected, work that makes room, a start that waits for it, and a node that
 * is drained and used again.
 */
final class BudgetDemo extends DemoPlay {
  private static final Tier H100 = new Tier("h100", 30, 989, 8, true, "gpu", "gpu:h100");

  /** How long a job here needs to save its work when it is told to leave. */
  private static final Duration LEAVES_AFTER = Duration.ofSeconds(8);

  static final List<Tier> TIERS = List.of(H100);
  static final List<AccountSetup> ACCOUNTS =
      List.of(
          new AccountSetup("vision", null, 1),
          new AccountSetup("segmentation", "vision", 2),
          new AccountSetup("detection", "vision", 1),
          new AccountSetup("language", null, 3),
          new AccountSetup("chat", "language", 1),
          new AccountSetup("translation", "language", 1));

  /**
   * In seconds after the start. {@code pretrain} is protected until 45 s. At 10 s {@code debug}
   * takes the GPUs of {@code sweep}, which no budget pays for, and waits 8 s for it to leave. Chat
   * has used less than its share, segmentation more: when {@code pretrain} is protected no longer
   * it makes room for {@code finetune}. It goes on where {@code debug} has ended.
   */
  private static final List<Example> JOBS =
      List.of(
          new Example(0, "segmentation", "pretrain", 4, null, null, 40, 300),
          new Example(1, "translation", "sweep", 4, null, null, 0, 600),
          new Example(10, "chat", "debug", 4, null, null, 20, 60),
          new Example(15, "chat", "finetune", 4, null, null, 30, 120),
          new Example(20, "detection", "evaluate", 1, null, null, 10, 30));

  /** The node that {@code finetune} runs on then is drained: empty when its protection ends. */
  private static final int DRAINED_AT = 62;

  private static final int USED_AGAIN_AT = 115;

  private final Contract contract;
  private final AccountDesk accounts;
  private final Random random = new Random(7);
  private String finetune;
  private String drained;

  /** Who may set weights here (A2); names are taken at their word in the demonstration. */
  private static final Map<String, String> OWNERS = Map.of("vision", "kim", "language", "lee");

  BudgetDemo(boolean on, Desk desk, Contract contract, AccountDesk accounts) {
    super(on, desk);
    this.contract = contract;
    this.accounts = accounts;
  }

  /** Whether a policy has a demonstration of budgets. */
  static boolean shows(String policy) {
    return policy.startsWith("budget");
  }

  static SimulatedCluster cluster(Clock clock) {
    SimulatedCluster cluster = new SimulatedCluster(clock);
    cluster.node("a1", H100, 4);
    cluster.node("a2", H100, 4);
    cluster.startDelay(Duration.ofSeconds(1));
    cluster.runTimes(Demo::runTime);
    cluster.leaveTimes(order -> LEAVES_AFTER);
    return cluster;
  }

  @Override
  void play() {
    own();
    for (Example example : JOBS) {
      at(example.after(), () -> submit(example));
    }
    at(DRAINED_AT, this::drain);
    at(USED_AGAIN_AT, this::resume);
    every(USED_AGAIN_AT + 5, 20, this::another);
  }

  /** Names owners where the tree is as the settings have it. */
  private void own() {
    try {
      List<AccountDesk.AccountView> tree = accounts.accounts(false);
      if (tree.stream().allMatch(a -> a.owners().isEmpty())) {
        accounts.apply(
            tree.stream()
                .map(
                    a ->
                        new TreePlan.Wanted(
                            a.id(),
                            a.parent(),
                            a.weight(),
                            Optional.ofNullable(OWNERS.get(a.id())).map(List::of).orElse(List.of()),
                            a.users()))
                .toList(),
            null,
            "demo",
            "who may set weights");
      }
    } catch (RuntimeException e) {
      LOG.warn("The tree names no owners: {}", e.getMessage());
    }
  }

  private void drain() {
    try {
      drained =
          finetune == null || desk.job(finetune).on().isEmpty()
              ? "a1"
              : desk.job(finetune).on().get(0).node();
      Contract.NodeView node = contract.drain(drained, "a fan is loud", "demo");
      LOG.info(
          "Node {} is drained: {}; it waits for {}",
          drained,
          node.reason(),
          node.waitsFor().isEmpty()
              ? "nothing"
              : node.waitsFor().stream()
                  .map(w -> "job " + w.job() + " until " + w.until() + " (" + w.why() + ")")
                  .collect(Collectors.joining(", ")));
    } catch (RuntimeException e) {
      LOG.warn("No node was drained: {}", e.getMessage());
    }
  }

  private void resume() {
    try {
      contract.resume(drained, "demo");
      LOG.info("Node {} is repaired and used again", drained);
    } catch (RuntimeException e) {
      LOG.warn("Node {} is not used again: {}", drained, e.getMessage());
    }
  }

  /** After the opening: now and then a job of one account or another. */
  private void another() {
    if (fewerWaitThan(4)) {
      int which = random.nextInt(4);
      String account = List.of("segmentation", "detection", "chat", "translation").get(which);
      submit(new Example(0, account, "training", 2, null, null, which == 3 ? 0 : 30, 60));
    }
  }

  private void submit(Example example) {
    String terms =
        example.minimum() == 0
            ? "unallocated"
            : "protected for " + example.minimum() + " s from its start";
    Optional<String> id = submit(example, terms);
    if (example.name().equals("finetune")) {
      finetune = id.orElse(null);
    }
  }
}
