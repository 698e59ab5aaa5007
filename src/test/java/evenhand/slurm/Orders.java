package evenhand.slurm;

import evenhand.cycle.CycleSettings;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Tiers of the sandbox's GPUs, settings and orders for tests. */
final class Orders {
  static final Tier T4090 = new Tier("4090", 20, 82.6, 8, true, "gpu4090", "gpu:4090");
  static final Tier T5090 = new Tier("5090", 30, 104.8, 8, true, "gpu5090", "gpu:5090");
  static final Tier T3080 = new Tier("3080ti", 10, 34.1, 8, true, "gpu3080ti", "gpu:3080ti");

  private static long last;

  private Orders() {}

  /** The settings as they are when nothing is set, but for the paths. */
  static SlurmSettings settings(java.nio.file.Path conf, java.nio.file.Path bin) {
    return new SlurmSettings(
        conf,
        bin,
        Duration.ofSeconds(20),
        Map.of(),
        Map.of(),
        null,
        "/tmp",
        "evenhand-{job}-{attempt}.out",
        List.of(),
        List.of("mem", "cpus-per-task", "output", "time", "mail-type"),
        List.of("PLANNED"),
        SlurmSettings.Accounting.AUTO,
        50);
  }

  /** As the service's own, but for a cluster and a test that are done within seconds. */
  static CycleSettings quick(Duration goneAfter, Duration pendingLimit, Duration slack) {
    CycleSettings d = CycleSettings.DEFAULT;
    return new CycleSettings(
        "sandbox",
        d.staleAfter(),
        d.lookback(),
        goneAfter,
        d.goneReadings(),
        d.maxNodeFailures(),
        d.maxAttempts(),
        Duration.ofSeconds(1),
        Duration.ofSeconds(2),
        d.maxTries(),
        d.giveUpAfter(),
        pendingLimit,
        slack,
        d.ordersPerCycle(),
        d.failuresPerCycle());
  }

  static Share share(String node, Tier tier, int gpus) {
    return new Share(node, tier, gpus);
  }

  /** An order with a token of its own. */
  static synchronized SubmitOrder order(String script, Share... on) {
    return order(script, List.of(), Map.of(), "/tmp", on);
  }

  static synchronized SubmitOrder order(
      String script,
      List<String> arguments,
      Map<String, String> environment,
      String workdir,
      Share... on) {
    return new SubmitOrder(
        new Token("t3st", ++last, 1),
        "a job",
        "bcg",
        "kim",
        List.of(on),
        null,
        script,
        arguments,
        environment,
        workdir);
  }
}
