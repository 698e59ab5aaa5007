package evenhand.bench;

import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs the benchmarks and prints medians of the rules and of the plain reading, and their ratio.
 */
public final class Benchmarks {
  private Benchmarks() {}

  public static void main(String[] args) throws RunnerException {
    Map<String, Double> medians = new TreeMap<>();
    for (RunResult result :
        new Runner(new OptionsBuilder().include("evenhand.bench.*Benchmark").build()).run()) {
      String name = result.getParams().getBenchmark();
      String world = result.getParams().getParam("world");
      medians.put(
          (world == null ? "budget, 5000 queued" : world) + name.substring(name.lastIndexOf('.')),
          result.getPrimaryResult().getStatistics().getPercentile(50));
    }
    System.out.println();
    System.out.printf(
        "%-22s %10s %14s %8s%n", "jobs,placements,%", "rules ms", "plain Java ms", "ratio");
    for (String key : medians.keySet()) {
      if (key.endsWith(".rules")) {
        String world = key.substring(0, key.length() - ".rules".length());
        double rules = medians.get(key);
        double plain = medians.get(world + ".plainJava");
        System.out.printf("%-22s %10.1f %14.1f %8.2f%n", world, rules, plain, rules / plain);
      }
    }
  }
}
