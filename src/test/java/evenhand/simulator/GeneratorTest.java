package evenhand.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import evenhand.input.InputFault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Generated job sets are what their workload says, and the same for the same seed. */
class GeneratorTest {
  private static Workload workload(String name) throws IOException {
    Path file = Path.of("fixtures", "workloads", name + ".yaml");
    return Workload.read(file.toString(), Files.readString(file));
  }

  @Test
  void theSameSeedGivesTheSameJobs() throws IOException {
    Workload small = workload("small");
    String once = Generator.csv(new Generator(small, 7).jobs());
    assertThat(Generator.csv(new Generator(small, 7).jobs())).isEqualTo(once);
    assertThat(Generator.csv(new Generator(small, 8).jobs())).isNotEqualTo(once);
    Generator generator = new Generator(small, 7);
    List<TraceJob> jobs = generator.jobs();
    Trace read = CsvTrace.read("jobs.csv", once);
    assertThat(read.unreadable()).isEmpty();
    assertThat(read.jobs()).isEqualTo(jobs);
    assertThat(ClusterPlan.read("c.yaml", generator.cluster()).gpus()).isEqualTo(32);
    assertThat(AccountPlan.read("a.yaml", generator.accounts()).known(read)).isEqualTo(read);
  }

  @Test
  void theLargeOneIsAsDescribed() throws IOException {
    Workload large = workload("research-1024");
    List<TraceJob> jobs = new Generator(large, 1).jobs();
    double capacity = 30 * 86_400.0 * 1024;
    double work = jobs.stream().mapToDouble(j -> j.runMicros() / 1e6 * j.gpus()).sum();
    assertThat(work / capacity).isCloseTo(large.load(), within(0.02));
    double free =
        jobs.stream()
            .filter(j -> j.minRuntimeSeconds() == 0)
            .mapToDouble(j -> j.runMicros() / 1e6 * j.gpus())
            .sum();
    assertThat(free / work).isCloseTo(0.18, within(0.04));
    assertThat(jobs).hasSizeBetween(20_000, 45_000);
    assertThat(jobs.stream().mapToInt(TraceJob::nodes).max()).hasValue(64);
    assertThat(jobs.stream().map(TraceJob::account).distinct()).hasSize(15);
    assertThat(jobs.stream().map(TraceJob::user).distinct()).hasSizeGreaterThan(140);
    assertThat(jobs).filteredOn(j -> j.kind().equals("debug")).allMatch(Figures::debug);
  }

  @Test
  void whatCannotBeIsTold() {
    String good =
        "length: 1d\nnodes: 2\nload: 1\nteams: {a: {}}\nclasses:\n"
            + "  c: {part: 1, gpus: [4], run_p10: 1m, run_p90: 1h}\n";
    assertThat(Workload.read("w.yaml", good).teams()).hasSize(1);
    assertThatThrownBy(() -> Workload.read("w.yaml", good.replace("[4]", "[12]")))
        .isInstanceOf(InputFault.class)
        .hasMessageContaining("12 GPUs are no whole nodes");
    assertThatThrownBy(() -> Workload.read("w.yaml", good + "hours: [1, 2]\n"))
        .isInstanceOf(InputFault.class)
        .hasMessageContaining("24 numbers");
    assertThatThrownBy(() -> Workload.read("w.yaml", good.replace("run_p90: 1h", "run_p90: 1s")))
        .isInstanceOf(InputFault.class)
        .hasMessageContaining("at least run_p10");
  }
}
