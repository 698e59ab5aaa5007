package evenhand.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Settings tried side by side. */
class SweepTest {
  private static final String WORKLOAD =
      """
      length: 6h
      nodes: 2
      gpus_per_node: 4
      load: 1.5
      teams: {a: {}, b: {weight: 2}}
      classes: {c: {part: 1, gpus: [1, 2, 4], run_p10: 5m, run_p90: 1h, min_runtime: [10m]}}
      """;

  private static Sweep sweep(int seeds) throws PolicyFault {
    List<Sweep.Setting> settings = new ArrayList<>();
    for (String lookback : List.of("1h", "4h")) {
      Policy policy = Policies.load(Optional.empty(), "budget", Map.of("lookback", lookback));
      settings.add(new Sweep.Setting(policy, List.of(lookback), Micros.HOUR));
    }
    Workload workload = Workload.read("w.yaml", WORKLOAD);
    List<JobSet.Source> sources = new ArrayList<>();
    for (long seed = 1; seed <= seeds; seed++) {
      Generator generator = new Generator(workload, seed);
      List<TraceJob> jobs = generator.jobs();
      JobSet set =
          new JobSet(
              ClusterPlan.read("c.yaml", generator.cluster()),
              AccountPlan.read("a.yaml", generator.accounts()),
              new Trace(jobs, List.of(), jobs.size()),
              seed);
      sources.add(new JobSet.Source(seed, () -> set));
    }
    return new Sweep(
        List.of("lookback"), settings, sources, null, Duration.ofMinutes(10), Duration.ZERO);
  }

  @Test
  void theAnswerIsTheSameHoweverManyRunAtATime() throws Exception {
    Sweep sweep = sweep(3);
    List<Integer> done = new ArrayList<>();
    Sweep.Outcome one = sweep.run(1, done::add);
    Sweep.Outcome four = sweep.run(4, n -> {});
    assertThat(done).containsExactly(1, 2, 3, 4, 5, 6);
    assertThat(sweep.csv(four)).isEqualTo(sweep.csv(one));
    assertThat(sweep.runsCsv(four)).isEqualTo(sweep.runsCsv(one));
    assertThat(ResultFiles.events(four.first().get(0).result()))
        .isEqualTo(ResultFiles.events(one.first().get(0).result()));
    assertThat(one.first()).hasSize(1);
    assertThat(one.first().get(0).summary()).containsEntry("seed", 1L);
    // The mean is that of the runs.
    int at = Sweep.measures().indexOf("wait_p50_s");
    double sum = 0;
    for (int run = 0; run < 3; run++) {
      sum += one.runs().get(run).get(at);
    }
    assertThat(one.rows().get(0).get(at).mean()).isEqualTo(sum / 3);
    assertThat(one.runs().get(0)).isNotEqualTo(one.runs().get(1));
    assertThat(sweep.csv(one).lines().toList()).hasSize(3);
    assertThat(sweep.runsCsv(one).lines().skip(1).map(l -> l.substring(0, 11)))
        .containsExactly(
            "budget,1h,1",
            "budget,1h,2",
            "budget,1h,3",
            "budget,4h,1",
            "budget,4h,2",
            "budget,4h,3");
  }

  @Test
  void theSpreadIsThatOfASample() {
    assertThat(Sweep.spread(new double[] {2, 4, 9}))
        .isEqualTo(new Sweep.Spread(3, 5.0, Math.sqrt(13), 2.0, 9.0));
    assertThat(Sweep.spread(new double[] {2})).isEqualTo(new Sweep.Spread(1, 2.0, 0.0, 2.0, 2.0));
    assertThat(Sweep.spread(new double[0])).isEqualTo(new Sweep.Spread(0, null, null, null, null));
  }
}
