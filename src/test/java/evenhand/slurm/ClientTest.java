package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class ClientTest {
  @TempDir Path folder;
  private FakeCommands fake;

  @BeforeEach
  void commands() {
    fake = new FakeCommands(folder);
  }

  private Client client(Duration limit, int most, Map<String, String> inherited) {
    SlurmSettings base = Orders.settings(Path.of("/etc/slurm client.conf"), folder);
    return new Client(
        new SlurmSettings(
            base.conf(),
            base.bin(),
            limit,
            Map.of("LD_LIBRARY_PATH", "/opt/slurm/lib"),
            base.jobEnvironment(),
            base.partition(),
            base.workdir(),
            base.output(),
            base.sbatchOptions(),
            base.scriptOptions(),
            base.usableStates(),
            base.accounting(),
            base.detailsPerReading(),
            base.preemptSignal()),
        most,
        inherited);
  }

  private Client client() {
    return client(Duration.ofSeconds(10), Client.MOST_BYTES, System.getenv());
  }

  @Test
  void givesBothStreamsAndTheExitCode() {
    fake.command("scontrol", "echo out; echo err >&2; exit 7");
    Client.Answer answer = client().run(List.of("scontrol", "show", "node"));
    assertThat(answer.ending()).isEqualTo(Client.Ending.ENDED);
    assertThat(answer.exitCode()).isEqualTo(7);
    assertThat(answer.out()).isEqualTo("out\n");
    assertThat(answer.err()).isEqualTo("err\n");
    assertThat(answer.ok()).isFalse();
    assertThat(answer.sentence()).isEqualTo("scontrol show node ended with exit code 7: err");
  }

  @Test
  void argumentsReachTheCommandAsTheyAre() {
    fake.command("squeue", "printf '%s\\0' \"$@\"");
    List<String> hostile =
        List.of("a b", "", "$(id) `id` $HOME", "'\"\\", "two\nlines", "-x", "ü,=");
    List<String> words = new java.util.ArrayList<>(List.of("squeue"));
    words.addAll(hostile);
    assertThat(client().run(words).out()).isEqualTo(String.join("\0", hostile) + "\0");
  }

  @Test
  void theEnvironmentIsOursAndNothingElse() {
    fake.command("squeue", "env");
    Map<String, String> service =
        Map.of(
            "PATH", "/usr/bin:/bin",
            "HOME", "/home/evenhand",
            "SQUEUE_FORMAT", "%i",
            "SLURM_CONF", "/else/slurm.conf",
            "SBATCH_PARTITION", "debug",
            "SLURM_TIME_FORMAT", "relative",
            "TZ", "Asia/Seoul",
            "LANG", "ko_KR.UTF-8",
            "PGPASSWORD", "secret");
    String out = client(Duration.ofSeconds(10), 1 << 20, service).run(List.of("squeue")).out();
    assertThat(out.lines().filter(l -> !l.matches("(PWD|_|SHLVL|OLDPWD)=.*")))
        .containsExactlyInAnyOrder(
            "PATH=/usr/bin:/bin",
            "HOME=/home/evenhand",
            "TZ=UTC",
            "LC_ALL=C",
            "LD_LIBRARY_PATH=/opt/slurm/lib",
            "SLURM_CONF=/etc/slurm client.conf");
  }

  @Test
  void inputIsGivenWholeAndAnOutputOfItsOwnDoesNotBlockIt() {
    fake.command("sbatch", "cat; cat /dev/stdin | wc -c >&2");
    byte[] large = "0123456789abcdef".repeat(200_000).getBytes(StandardCharsets.UTF_8);
    Client.Answer answer = client().run(List.of("sbatch"), large);
    assertThat(answer.out()).hasSize(large.length);
    assertThat(answer.err().strip()).isEqualTo("0");
  }

  @Test
  void aCommandThatDoesNotReadItsInputEndsAllTheSame() {
    fake.command("sbatch", "exec <&-; echo 12");
    Client.Answer answer = client().run(List.of("sbatch"), new byte[5_000_000]);
    assertThat(answer.out()).isEqualTo("12\n");
    assertThat(answer.exitCode()).isZero();
  }

  @Test
  void aCommandThatHangsIsKilledWithAllItStarted() throws Exception {
    fake.command(
        "sbatch", "sleep 300 & echo $! $$; trap '' TERM; echo waiting >&2; sleep 301; exit 0");
    Client.Answer answer =
        client(Duration.ofMillis(700), 1 << 20, System.getenv()).run(List.of("sbatch"));
    assertThat(answer.ending()).isEqualTo(Client.Ending.TIMED_OUT);
    assertThat(answer.exitCode()).isEqualTo(-1);
    assertThat(answer.sentence())
        .isEqualTo("sbatch did not answer in time and was stopped: waiting");
    for (String pid : answer.out().strip().split(" ")) {
      assertThat(goneWithin(Long.parseLong(pid), Duration.ofSeconds(5))).as("pid " + pid).isTrue();
    }
  }

  private static boolean goneWithin(long pid, Duration limit) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    while (System.nanoTime() < end) {
      Optional<ProcessHandle> process = ProcessHandle.of(pid);
      if (process.isEmpty() || !process.get().isAlive()) {
        return true;
      }
      Thread.sleep(20);
    }
    return false;
  }

  @Test
  void aChildThatKeepsThePipesOpenDoesNotHoldUs() {
    fake.command("sbatch", "sleep 120 & echo $!");
    Client.Answer answer = client().run(List.of("sbatch"));
    Optional<ProcessHandle> child = ProcessHandle.of(Long.parseLong(answer.out().strip()));
    assertThat(answer.exitCode()).isZero();
    assertThat(child).as("we did not wait for it to end").isPresent();
    child.get().destroyForcibly();
  }

  @Test
  void anAnswerWithoutEndIsStopped() {
    fake.command("squeue", "exec yes");
    Client.Answer answer =
        client(Duration.ofSeconds(20), 300_000, System.getenv()).run(List.of("squeue"));
    assertThat(answer.ending()).isEqualTo(Client.Ending.TOO_LONG);
    assertThat(answer.out()).hasSize(300_000);
    assertThat(answer.ok()).isFalse();
  }

  @Test
  void aCommandThatIsNotThereIsSaidToBe() {
    Client.Answer answer = client().run(List.of("sinfo"));
    assertThat(answer.ending()).isEqualTo(Client.Ending.NOT_STARTED);
    assertThat(answer.sentence()).startsWith("sinfo could not be started: ");
  }

  @Test
  void whoeverInterruptsUsIsHeard() {
    fake.command("squeue", "sleep 20");
    Thread.currentThread().interrupt();
    Client.Answer answer = client().run(List.of("squeue"));
    assertThat(Thread.interrupted()).isTrue();
    assertThat(answer.ending()).isEqualTo(Client.Ending.TIMED_OUT);
  }
}
