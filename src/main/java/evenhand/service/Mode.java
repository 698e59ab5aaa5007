package evenhand.service;

import org.springframework.core.env.Environment;

/** What stands behind the cluster's port. */
enum Mode {
  /** A cluster in memory with example jobs, for a first look. */
  DEMO,
  /** A cluster in memory, its nodes from the settings. */
  SIMULATED,
  SLURM;

  /**
   * The demonstration when asked for, or when nothing is configured; else what {@code
   * evenhand.cluster} says.
   *
   * @throws IllegalArgumentException when it says neither, or tiers are set and it says nothing
   */
  static Mode of(Environment environment) {
    String demo = environment.getProperty("demo");
    if (demo != null && !demo.equalsIgnoreCase("false")) {
      return DEMO;
    }
    String cluster = environment.getProperty("evenhand.cluster", "").strip();
    if (cluster.isEmpty()) {
      Settings.need(
          environment.getProperty("evenhand.tiers[0].name") == null,
          "evenhand.tiers are set, but evenhand.cluster is not: set it to slurm or simulated");
      return DEMO;
    }
    return switch (cluster) {
      case "slurm" -> SLURM;
      case "simulated" -> SIMULATED;
      default ->
          throw new IllegalArgumentException(
              "evenhand.cluster is \"" + cluster + "\"; it must be slurm or simulated");
    };
  }
}
