package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.cycle.AccountSetup;
import evenhand.cycle.Cycle;
import evenhand.cycle.CycleSettings;
import evenhand.cycle.JobState;
import evenhand.cycle.Recorder;
import evenhand.cycle.Router;
import evenhand.cycle.SomeJob;
import evenhand.cycle.Steps;
import evenhand.cycle.StoredJob;
import evenhand.policy.Policies;
import evenhand.policy.Policy;
import evenhand.simulator.MemoryStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A thousand jobs through commands that answer as real ones do on their worst days, while the
 * service dies at random steps: each job runs once. Seed and counts are printed; {@code
 * -Devenhand.fake.seed} repeats a run, {@code -Devenhand.fake.jobs} makes it longer.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class FakeSlurmRandomTest {
  private static final int JOBS = Integer.getInteger("evenhand.fake.jobs", 150);
  private static final long SEED = Long.getLong("evenhand.fake.seed", System.nanoTime());
  private static final int MOST_CALLS = 20_000;

  /** What sbatch does: whether the job is made, and what it says of it. */
  private static final Map<String, Integer> FATES = new TreeMap<>();

  static {
    FATES.put("plain", 40);
    FATES.put("words", 8);
    FATES.put("cluster", 8);
    FATES.put("warnings", 8);
    FATES.put("answers-twice", 5);
    FATES.put("made-twice", 5);
    FATES.put("fails-after", 6);
    FATES.put("number-and-failure", 4);
    FATES.put("silent", 2);
    FATES.put("silent-after", 3);
    FATES.put("dies", 2);
    FATES.put("dies-after", 3);
    FATES.put("new-error", 2);
    FATES.put("away", 2);
    FATES.put("hangs", 1);
    FATES.put("hangs-after", 2);
    FATES.put("arrives-late", 2);
  }

  private static final String SBATCH =
      """
      S=${0%/bin/sbatch}
      for a; do case $a in --job-name=*) t=${a#*=};; esac; done
      read n < $S/n; n=$((n + 1)); echo $n > $S/n
      read fate < $S/fates/$n
      make() { echo "$1 $t HELD 0" > $S/jobs/$1; }
      err() { echo "sbatch: error: $1" >&2; exit 1; }
      case $fate in
      plain) make $n; echo $n;;
      words) make $n; echo "Submitted batch job $n";;
      cluster) make $n; echo "$n;alpha";;
      warnings) make $n; echo 'sbatch: lua: 3 GPUs'; echo; echo 'sbatch: no account' >&2; echo $n;;
      answers-twice) make $n; echo $n; echo $n;;
      made-twice) make 9$n; make $n; echo 9$n; echo $n;;
      fails-after) make $n; err 'Batch job submission failed: Socket timed out on send/recv operation';;
      number-and-failure) make $n; echo $n; exit 1;;
      silent) ;;
      silent-after) make $n;;
      dies) kill -9 $$;;
      dies-after) make $n; kill -9 $$;;
      new-error) err 'Batch job submission failed: Something new';;
      away) err 'Batch job submission failed: Unable to contact slurm controller (connect failure)';;
      hangs) exec sleep 20;;
      hangs-after) make $n; exec sleep 20;;
      arrives-late) setsid sh -c "sleep 0.3; echo '$n $t HELD 0' > $S/jobs/$n" > /dev/null 2>&1 & exec sleep 20;;
      esac
      """;

  /**
   * Pending jobs run at the next look, running ones end at the one after, ended ones are shown ten
   * times.
   */
  private static final String SQUEUE =
      """
      S=${0%/bin/squeue}
      read k < $S/k; k=$((k + 1)); echo $k > $S/k
      [ $((k % 41)) -eq 0 ] && { echo 'slurm_load_jobs error: Socket timed out' >&2; exit 1; }
      name=; jobs=
      for a; do case $a in --name=*) name=${a#*=};; --jobs=*) jobs=${a#*=};; esac; done
      cat $S/header
      cd $S/jobs && ls | xargs -r cat 2> /dev/null | awk -v name="$name" -v jobs="$jobs" -v S=$S '
        NF < 4 || name != "" && $2 != name || jobs != "" && $1 != jobs { next }
        {
          state = $3; seen = $4
          if (name == "" && jobs == "") {
            if (state == "PENDING") { state = "RUNNING"; print $2 >> (S "/runs") }
            else if (state == "RUNNING") { state = "COMPLETED" }
            else if (state != "HELD" && ++seen > 10) { system("rm " S "/jobs/" $1); next }
            print $1, $2, state, seen > (S "/jobs/" $1); close(S "/jobs/" $1)
          }
          reason = state == "HELD" ? "JobHeldUser" : "None"
          shown = state == "HELD" ? "PENDING" : state
          began = state == "RUNNING" || state == "COMPLETED" ? "2026-01-01T00:00:00" : "N/A"
          ended = state == "COMPLETED" || state == "CANCELLED" ? "2026-01-01T00:00:01" : "N/A"
          printf "%-24s%-24s%-24s%-24s%-24s%-16s%-20s%-12s%-200s%-4000s%-100s%-200s\\n", $1, shown,
            "N/A", began, ended, "0", "0", "1", "gres:gpu:4090:1", "n1", $2, reason
        }'
      """;

  private static final String SCONTROL =
      """
      S=${0%/bin/scontrol}
      case "$*" in
      *node*) exec cat $S/node;;
      *config*) echo 'AccountingStorageType = accounting_storage/none'; exit;;
      release*)
        read k < $S/k; k=$((k + 1)); echo $k > $S/k
        late() { echo 'slurm_update error: Socket timed out on send/recv operation' >&2; exit 1; }
        [ $((k % 23)) -eq 0 ] && late
        read id token state seen < $S/jobs/$2 || { echo 'Invalid job id specified' >&2; exit 1; }
        [ $state = HELD ] && echo "$id $token PENDING 0" > $S/jobs/$id
        [ $((k % 17)) -eq 0 ] && late
        exit 0;;
      esac
      """;

  private static final String SCANCEL =
      """
      S=${0%/bin/scancel}
      for a; do case $a in --state=PENDING) only=1;; *) n=$a;; esac; done
      read id token state seen < $S/jobs/$n || { echo 'Invalid job id specified' >&2; exit 1; }
      case $state in HELD|PENDING) ;; RUNNING) [ -n "$only" ] && exit 0;; *) exit 0;; esac
      echo "$id $token CANCELLED 0" > $S/jobs/$id
      """;

  @TempDir Path folder;
  private final Random random = new Random(SEED);
  private final MemoryStore store = new MemoryStore("f4ke");
  private final Policy policy;
  private int powerCuts;
  private int cutIn;

  /** The service dies here. */
  private static final class PowerCut extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  FakeSlurmRandomTest() throws Exception {
    policy = Policies.load(Optional.empty(), "reservation", Map.of());
  }

  private void site() throws IOException {
    FakeCommands fake = new FakeCommands(folder.resolve("bin"));
    fake.command("sbatch", SBATCH)
        .command("squeue", SQUEUE)
        .command("scontrol", SCONTROL)
        .command("scancel", SCANCEL);
    Files.createDirectory(folder.resolve("jobs"));
    Files.createDirectory(folder.resolve("fates"));
    Files.createFile(folder.resolve("runs"));
    Files.writeString(folder.resolve("n"), "0\n");
    Files.writeString(folder.resolve("k"), "0\n");
    Files.writeString(folder.resolve("header"), SeenTest.HEADER);
    Files.writeString(
        folder.resolve("node"),
        SeenTest.node("n1", "IDLE", "gpu:4090:40", "gpu:4090:0(IDX:N/A)", ""));
    List<String> drawn = new ArrayList<>();
    FATES.forEach((fate, weight) -> drawn.addAll(java.util.Collections.nCopies(weight, fate)));
    for (int i = 1; i <= Math.min(MOST_CALLS, 3 * JOBS + 100); i++) {
      Files.writeString(
          folder.resolve("fates/" + i), drawn.get(random.nextInt(drawn.size())) + "\n");
    }
  }

  private Cycle service() {
    SlurmSettings base = Orders.settings(null, folder.resolve("bin"));
    SlurmCluster cluster =
        new SlurmCluster(
            new SlurmSettings(
                null,
                base.bin(),
                Duration.ofMillis(700),
                Map.of(),
                Map.of(),
                null,
                "/tmp",
                base.output(),
                List.of(),
                List.of(),
                List.of(),
                SlurmSettings.Accounting.OFF,
                50,
                "TERM"),
            Clock.systemUTC());
    CycleSettings d = CycleSettings.DEFAULT;
    CycleSettings quick =
        new CycleSettings(
            "fake",
            d.staleAfter(),
            d.lookback(),
            d.goneAfter(),
            d.goneReadings(),
            d.maxNodeFailures(),
            d.maxAttempts(),
            // As in the service: an answer is given up before it is looked for.
            Duration.ofMillis(1000),
            Duration.ofMillis(1000),
            1000,
            Duration.ofHours(1),
            d.pendingLimit(),
            d.slack(),
            20,
            d.failuresPerCycle());
    cutIn = 20 + random.nextInt(200);
    Steps steps =
        step -> {
          if (--cutIn == 0) {
            throw new PowerCut();
          }
        };
    return new Cycle(
        store,
        cluster,
        Router.NONE,
        () -> policy,
        Recorder.NOTHING,
        Clock.systemUTC(),
        quick,
        steps);
  }

  @Test
  void whateverTheCommandsSayEachJobRunsOnce() throws Exception {
    site();
    store.setUp(List.of(Orders.T4090), List.of(new AccountSetup("bcg", null, 1)), Instant.now());
    for (int i = 0; i < JOBS; i++) {
      store.add(SomeJob.PLAIN.made(), 0, null, null, Instant.now());
    }
    long began = System.nanoTime();
    Cycle service = service();
    int cycles = 0;
    while (!store.load(null).jobs().isEmpty() || store.backlog().orders() > 0 || strays() > 0) {
      assertThat(++cycles).as("cycles").isLessThan(20 * JOBS);
      try {
        service.run();
      } catch (PowerCut e) {
        powerCuts++;
        service = service();
      }
    }
    Map<String, Integer> runs = new HashMap<>();
    for (String token : Files.readAllLines(folder.resolve("runs"))) {
      runs.merge(token, 1, Integer::sum);
    }
    int calls = Integer.parseInt(Files.readString(folder.resolve("n")).strip());
    System.out.printf(
        "fake: seed %d, %d jobs, %d sbatch, %d runs, %d power cuts, %d cycles, %d s%n",
        SEED,
        JOBS,
        calls,
        runs.values().stream().mapToInt(n -> n).sum(),
        powerCuts,
        cycles,
        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began));
    for (long id = 1; id <= JOBS; id++) {
      StoredJob job = store.job(id).orElseThrow().job();
      assertThat(job.state()).as("job %d: %s", id, job.stateReason()).isEqualTo(JobState.COMPLETED);
      assertThat(runs).as("runs of job %d", id).containsEntry("evenhand-f4ke-" + id + "-1", 1);
    }
    assertThat(runs).hasSize(JOBS);
  }

  private long strays() throws IOException {
    long held = 0;
    try (Stream<Path> jobs = Files.list(folder.resolve("jobs"))) {
      for (Path job : jobs.toList()) {
        held += Files.readString(job).contains(" HELD ") ? 1 : 0;
      }
    }
    return held;
  }
}
