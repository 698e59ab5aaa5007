package evenhand;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cli.Console;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code generate} and {@code simulate} as people call them. */
class SimulateTest {
  @TempDir private Path folder;
  private String told;

  private int run(String... arguments) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream to = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    int status =
        Evenhand.run(
            new Console(new ByteArrayInputStream(new byte[0]), to, to, Map.of()), arguments);
    told = bytes.toString(StandardCharsets.UTF_8);
    return status;
  }

  private String file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  @Test
  void aWorkloadIsPlayedByTwoPolicies() throws IOException {
    Path set = folder.resolve("set");
    String workload = "fixtures/workloads/small.yaml";
    assertThat(run("generate", "--workload", workload, "--seed", "3", "--out", set.toString()))
        .as(told)
        .isZero();
    Path out = folder.resolve("out");
    int status =
        run(
            "simulate",
            "--cluster",
            set.resolve("cluster.yaml").toString(),
            "--jobs",
            set.resolve("jobs.csv").toString(),
            "--accounts",
            set.resolve("accounts.yaml").toString(),
            "--policy",
            "budget-slices",
            "--policy",
            "fifo",
            "--lookback",
            "12h",
            "--until",
            "1d",
            "--pictures",
            "--out",
            out.toString());
    assertThat(status).as(told).isZero();
    for (String name : new String[] {"report.html", "gantt.svg", "usage.svg", "gantt.png"}) {
      assertThat(out.resolve(name)).isNotEmptyFile();
    }
    assertThat(told).contains("budget-slices").contains("fifo");
    for (String policy : new String[] {"budget-slices", "fifo"}) {
      assertThat(out.resolve(policy)).isDirectoryContaining("glob:**/summary.json");
      assertThat(Files.readString(out.resolve(policy).resolve("summary.json")))
          .contains(
              "\"delivered_over_entitled\"", "\"decide_ms\"", "\"policy_hash\"", "\"by_gpus\"")
          .contains("\"seed\" : 3");
      assertThat(out.resolve(policy).resolve("jobs.csv")).isNotEmptyFile();
      assertThat(out.resolve(policy).resolve("events.csv")).isNotEmptyFile();
    }
  }

  @Test
  void rowsThatCannotBeAreListedOrAnError() throws IOException {
    String cluster = file("c.yaml", "tiers: {g: {}}\nnodes: {n1: {g: 8}}\n");
    String jobs = file("j.csv", "job_id,submit_s,num_gpus,run_s\n1,0,0,5\n2,0,1,5\n");
    String[] call = {
      "simulate",
      "--cluster",
      cluster,
      "--jobs",
      jobs,
      "--policy",
      "fifo",
      "--out",
      folder.resolve("o").toString()
    };
    assertThat(run(call)).as(told).isZero();
    assertThat(Files.readString(folder.resolve("o/unreadable.csv")))
        .isEqualTo("line,reason,row\n2,num_gpus is 0: no work for a GPU,\"1,0,0,5\"\n");
    String[] strict = java.util.Arrays.copyOf(call, call.length + 1);
    strict[call.length] = "--strict";
    assertThat(run(strict)).isEqualTo(2);
    assertThat(told).contains("1 of 2 rows cannot be jobs").contains("j.csv:2");
  }

  @Test
  void slurmsAccountingIsReadAsAJobSet() throws IOException {
    String cluster = file("c.yaml", "tiers: {a100: {}}\nnodes: {n1: {a100: 8}}\n");
    String jobs =
        file(
            "sacct.txt",
            "JobID|User|Account|State|Submit|Start|End|Elapsed|NodeList|AllocTRES\n"
                + "7|kim|bcg|COMPLETED|2026-04-10T09:00:00|2026-04-10T09:01:00|2026-04-10T09:11:00"
                + "|00:10:00|n1|cpu=4,gres/gpu:a100=2\n"
                + "8|kim|bcg|PENDING|2026-04-10T09:00:00|Unknown|Unknown|00:00:00||\n");
    int status =
        run(
            "simulate",
            "--cluster",
            cluster,
            "--jobs",
            jobs,
            "--format",
            "sacct",
            "--policy",
            "reservation",
            "--out",
            folder.resolve("o").toString());
    assertThat(status).as(told).isZero();
    assertThat(Files.readString(folder.resolve("o/reservation/jobs.csv")))
        .contains("7,bcg,kim,,1,2,")
        .contains("COMPLETED");
    assertThat(told).contains("1 of 2 rows cannot be jobs").contains("never ran");
  }

  @Test
  void settingsAreSweptOverSeeds() throws IOException {
    String workload =
        file(
            "w.yaml",
            "length: 3h\nnodes: 1\nload: 1\nteams: {a: {}, b: {}}\n"
                + "classes: {c: {part: 1, gpus: [1, 4], run_p10: 5m, run_p90: 1h}}\n");
    Path out = folder.resolve("o");
    String[] call = {
      "simulate",
      "--workload",
      workload,
      "--seeds",
      "4..5",
      "--policy",
      "fifo",
      "--policy",
      "skip",
      "--sweep",
      "preference=tier_desc,node_asc|tier_desc,idle_asc,node_asc",
      "--quiet",
      "--out",
      out.toString(),
      "-o",
      "json"
    };
    assertThat(run(call)).as(told).isZero();
    assertThat(Files.readString(out.resolve("sweep.csv")).lines().toList())
        .hasSize(5)
        .element(1)
        .asString()
        .startsWith("fifo,\"tier_desc,node_asc\",2,");
    assertThat(Files.readString(out.resolve("sweep-runs.csv")).lines().toList()).hasSize(9);
    assertThat(Files.readString(out.resolve("fifo/summary.json"))).contains("\"seed\" : 4");
    assertThat(out.resolve("report.html")).isNotEmptyFile();
    assertThat(told).contains("\"seeds\":[\"4\",\"5\"]");
  }

  @Test
  void whatCannotBeSweptIsSaidBeforeAnythingRuns() throws IOException {
    String workload = file("w.yaml", Files.readString(Path.of("fixtures/workloads/small.yaml")));
    String out = folder.resolve("o").toString();
    String[] start = {"simulate", "--policy", "budget", "--out", out};
    assertThat(run(more(start))).isEqualTo(2);
    assertThat(told).contains("--jobs").contains("--workload");
    assertThat(run(more(start, "--workload", workload, "--seeds", "5..1"))).isEqualTo(2);
    assertThat(told).contains("--seeds is \"5..1\"").contains("1..5");
    assertThat(run(more(start, "--jobs", workload, "--seeds", "1..2"))).isEqualTo(2);
    assertThat(told).contains("--seeds needs --workload");
    assertThat(run(more(start, "--workload", workload, "--sweep", "lookback=1d,,3d"))).isEqualTo(2);
    assertThat(told).contains("has an empty value");
    assertThat(run(more(start, "--workload", workload, "--sweep", "lookbak=1d"))).isEqualTo(2);
    assertThat(told).contains("lookback");
    assertThat(
            run(
                more(
                    start,
                    "--workload",
                    workload,
                    "--seeds",
                    "1..600",
                    "--sweep",
                    "lookback=1d,3d")))
        .isEqualTo(2);
    assertThat(told).contains("1200 simulations").contains("at most 1000");
    assertThat(folder.resolve("o")).doesNotExist();
  }

  private static String[] more(String[] start, String... rest) {
    String[] all = java.util.Arrays.copyOf(start, start.length + rest.length);
    System.arraycopy(rest, 0, all, start.length, rest.length);
    return all;
  }
}
