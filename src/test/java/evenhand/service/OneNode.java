package evenhand.service;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Settings of a service over a simulated cluster of one node, {@code n1}, with GPUs of one tier.
 */
public final class OneNode {
  private OneNode() {}

  /** As {@code --key=value}; {@code more} stands after them. */
  public static List<String> settings(int gpus, String... more) {
    List<String> settings =
        new ArrayList<>(
            List.of(
                "--evenhand.cluster=simulated",
                "--evenhand.tiers[0].name=4090",
                "--evenhand.tiers[0].sort-order=20",
                "--evenhand.tiers[0].tflops=82.6",
                "--evenhand.nodes[0].name=n1",
                "--evenhand.nodes[0].tier=4090",
                "--evenhand.nodes[0].gpus=" + gpus));
    settings.addAll(Arrays.asList(more));
    return settings;
  }

  /** The same on a database of a test's. */
  public static List<String> settings(int gpus, PGSimpleDataSource database, String... more) {
    List<String> settings = settings(gpus, on(database));
    settings.addAll(Arrays.asList(more));
    return settings;
  }

  /** What says which database it is. */
  public static String[] on(PGSimpleDataSource database) {
    return new String[] {
      "--spring.datasource.url=" + database.getUrl().replaceAll("\\?.*", ""),
      "--spring.datasource.username=postgres",
      "--spring.datasource.password=postgres"
    };
  }
}
