package evenhand.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import evenhand.cycle.NewJob;
import evenhand.cycle.Objection;
import evenhand.cycle.SubmitOrder;
import evenhand.cycle.Token;
import evenhand.facts.Share;
import evenhand.facts.Tier;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SbatchCommandTest {
  private static final Map<String, String> SERVICE =
      Map.of(
          "PATH", "/usr/bin", "HOME", "/srv", "SLURM_CONF", "/x", "PGPASSWORD", "p", "TZ", "KST");
  private static final SlurmSettings SETTINGS = Orders.settings(null, null);

  private static SubmitOrder order(Long limit, String script, List<Share> on) {
    return new SubmitOrder(
        new Token("7f3k", 42, 3), "n", "a", "u", on, limit, script, List.of(), Map.of(), null);
  }

  private static List<String> words(SubmitOrder order) {
    return SbatchCommand.of(order, SETTINGS, SERVICE).words("/t/e");
  }

  @Test
  void everythingThatWasDecidedIsSaid() {
    Share share = Orders.share("n4", Orders.T5090, 3);
    assertThat(words(order(3601L, "#!/bin/sh\n", List.of(share))))
        .containsExactly(
            "sbatch",
            "--parsable",
            "--hold",
            "--no-requeue",
            "--ignore-pbs",
            "--job-name=evenhand-7f3k-42-3",
            "--comment=evenhand-7f3k-42-3",
            "--partition=gpu5090",
            "--nodelist=n4",
            "--nodes=1",
            "--ntasks-per-node=1",
            "--gres=gpu:5090:3",
            "--time=61",
            "--output=evenhand-42-3.out",
            "--chdir=/tmp",
            "--export-file=/t/e",
            "/dev/stdin");
  }

  @Test
  void aGangNamesEachNodeAndUntypedGpusHaveNoType() {
    Tier plain = new Tier("any", 1, 1, 8, true, null, "gpu");
    assertThat(
            words(
                order(
                    null,
                    "#!/bin/sh\n",
                    List.of(Orders.share("n1", plain, 2), Orders.share("n2", plain, 2)))))
        .contains("--nodelist=n1,n2", "--nodes=2", "--gres=gpu:2")
        .noneMatch(w -> w.startsWith("--partition") || w.startsWith("--time"));
  }

  @Test
  void limitsAreWholeMinutesRoundedUp() {
    for (Map.Entry<Long, String> limit : Map.of(1L, "1", 60L, "1", 61L, "2", 0L, "1").entrySet()) {
      assertThat(
              words(
                  order(
                      limit.getKey(), "#!/bin/sh\n", List.of(Orders.share("n1", Orders.T4090, 1)))))
          .contains("--time=" + limit.getValue());
    }
  }

  @Test
  void theSitesOptionsStandBeforeOurs() {
    SlurmSettings site =
        new SlurmSettings(
            null,
            null,
            SETTINGS.timeout(),
            Map.of(),
            Map.of("PATH", "/opt/bin", "SITE", "1"),
            "all",
            null,
            "/logs/%x-{job}.{attempt}.out",
            List.of("--mem-per-gpu=32G", "--cpus-per-gpu=8"),
            List.of(),
            List.of(),
            SlurmSettings.Accounting.OFF,
            1);
    SbatchCommand command =
        SbatchCommand.of(
            order(null, "#!/bin/sh\n", List.of(Orders.share("n1", Orders.T4090, 1))),
            site,
            SERVICE);
    assertThat(command.words("/t/e"))
        .startsWith("sbatch", "--mem-per-gpu=32G", "--cpus-per-gpu=8", "--parsable")
        .contains(
            "--partition=all",
            "--output=/logs/%x-42.3.out",
            "--chdir=" + System.getProperty("user.home"));
    assertThat(new String(command.environment(), StandardCharsets.UTF_8))
        .isEqualTo("EVENHAND_ATTEMPT=3\0EVENHAND_JOB_ID=42\0HOME=/srv\0PATH=/opt/bin\0SITE=1\0");
    assertThatThrownBy(
            () ->
                new SlurmSettings(
                    null,
                    null,
                    SETTINGS.timeout(),
                    Map.of(),
                    Map.of(),
                    null,
                    null,
                    "o",
                    List.of("--mem", "4G"),
                    List.of(),
                    List.of(),
                    SlurmSettings.Accounting.OFF,
                    1))
        .hasMessageContaining("'4G' is no option");
  }

  @Test
  void hostileValuesAreDataAndTheServicesVariablesStayHere() {
    List<String> arguments = List.of("--array=1-9", "a b", "$(rm -rf /)", "x\ny", "", "'\"");
    SubmitOrder order =
        Orders.order(
            "#!/bin/sh\n",
            arguments,
            Map.of(
                "A",
                "1,B=2",
                "C",
                "x\ny",
                "LD_PRELOAD",
                "/evil.so",
                "SBATCH_ARRAY_INX",
                "1-9",
                "EVENHAND_JOB_ID",
                "0"),
            "-w $x",
            Orders.share("n1", Orders.T4090, 1));
    SbatchCommand command = SbatchCommand.of(order, SETTINGS, SERVICE);
    List<String> words = command.words("/t/e");
    int script = words.indexOf("/dev/stdin");
    assertThat(words.subList(script + 1, words.size())).isEqualTo(arguments);
    assertThat(words).contains("--chdir=-w $x");
    assertThat(new String(command.environment(), StandardCharsets.UTF_8).split("\0"))
        .contains("A=1,B=2", "C=x\ny", "LD_PRELOAD=/evil.so", "SBATCH_ARRAY_INX=1-9")
        .contains("EVENHAND_JOB_ID=" + order.token().job())
        .doesNotContain("TZ=KST", "SLURM_CONF=/x", "PGPASSWORD=p");
  }

  @Test
  void whatCannotReachTheJobAsItIsIsRefused() {
    Share share = Orders.share("n1", Orders.T4090, 1);
    refused("NUL", "#!/bin/sh\n\0", List.of(), Map.of());
    refused("NUL", "#!/bin/sh\n", List.of("a\0b"), Map.of());
    refused("NUL", "#!/bin/sh\n", List.of(), Map.of("A", "x\0B=y"));
    refused("named 'A=B'", "#!/bin/sh\n", List.of(), Map.of("A=B", "x"));
    refused("named ''", "#!/bin/sh\n", List.of(), Map.of("", "x"));
    refused("longer than Linux", "#!/bin/sh\n", List.of("x".repeat(131_072)), Map.of());
    refused("longer than Linux", "#!/bin/sh\n", List.of(), Map.of("A", "x".repeat(131_072)));
    refused(
        "together", "#!/bin/sh\n", java.util.Collections.nCopies(9, "x".repeat(131_000)), Map.of());
    refused("in a file", "#!/bin/sh\n" + "#".repeat(5 << 20), List.of(), Map.of());
    assertThat(share.gpus()).isOne();
  }

  private static void refused(
      String because, String script, List<String> arguments, Map<String, String> environment) {
    SubmitOrder order =
        Orders.order(script, arguments, environment, null, Orders.share("n1", Orders.T4090, 1));
    assertThatThrownBy(() -> SbatchCommand.of(order, SETTINGS, SERVICE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(because);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "#!/bin/sh\n#SBATCH --array=1-100\n",
        "#!/bin/sh\n\n  # words\n#SBATCH --mem=4G --gpus=8\n",
        "#!/bin/sh\n#SBATCH --arr=1-2\n",
        "#!/bin/sh\n#SBATCH -a 1-2\n",
        "#!/bin/sh\n#SBATCH -c4 -H\n",
        "#!/bin/sh\n#SBATCH -Hc4\n",
        "#!/bin/sh\n#SBATCH --wait\n",
        "#!/bin/sh\n#SBATCH --mem=4G \"--wait\"\n",
        "#!/bin/sh\n#SBATCH --mem '4G --wait'\n",
        "#!/bin/sh\n#SBATCH --mem=4G\\\n#SBATCH --wait\n",
        "#!/bin/sh\n#SBATCH hetjob\n",
        "#!/bin/sh\n#SBATCH\t--uid=0\n",
        "#!/bin/sh\n#SBATCH--uid=0\n",
        "#!/bin/sh\r\n#SBATCH --export=ALL,A=1\n",
        "#SBATCH --nodelist=n1",
        "#!/bin/sh\n#SBATCH --mem --wait\n"
      })
  void aScriptMayNotUndoWhatWasDecided(String script) {
    assertThatThrownBy(() -> ScriptOptions.read(script, List.of("mem", "cpus-per-task")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("(?s)line \\d+ of the script sets '.*' for sbatch: .*");
  }

  @Test
  void aScriptMaySayWhatTheSiteAllows() {
    assertThat(
            ScriptOptions.read(
                """
                #!/bin/bash
                # a word
                #SBATCH --mem=4G --time 10 # more
                #SBATCH -c 4
                #SBATCH -olog.%j
                #SBATCH
                ##SBATCH --array=1-10
                echo '
                #SBATCH --array=1-10
                '
                """,
                List.of("mem", "time", "cpus-per-task", "output")))
        .containsExactly("mem", "time", "cpus-per-task", "output");
    Share share = Orders.share("n1", Orders.T4090, 1);
    assertThat(words(Orders.order("#!/bin/sh\n#SBATCH --output=log\n", share)))
        .noneMatch(w -> w.startsWith("--output"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "#SBATCH --gpus=8 | --gpus=8 | num_gpus",
        "#SBATCH -G 8 | -G 8 | num_gpus",
        "#SBATCH --gres=gpu:2 | --gres=gpu:2 | num_gpus",
        "#SBATCH -a 1-2 | -a 1-2 | submit one job for each",
        "#SBATCH -N 4 | -N 4 | nodes",
        "#SBATCH -p gpu | -p gpu | minimum_tier",
        "#SBATCH --wait | --wait | leave it out",
        "#SBATCH -D /scratch | -D /scratch | workdir",
        "#SBATCH --export=ALL,A=1 | --export=ALL,A=1 | env",
        "#SBATCH --uid=0 | --uid=0 | it may set mem",
        "#SBATCH --mem='4G --wait' | --mem= | without quotes"
      })
  void whatAScriptMayNotSetIsSaidWithWhatToUseInstead(String line, String shown, String instead) {
    NewJob job = submission("#!/bin/sh\n\n" + line + "\nsleep 1\n", List.of(), Map.of(), null);
    Objections objections = new Objections(SETTINGS);
    Objection objection = objections.toScript(job).orElseThrow();
    assertThat(objection.field()).isEqualTo("script");
    assertThat(objection.message()).contains("line 3 of the script", shown, instead);
    assertThat(objections.to(job)).contains(objection);
  }

  @Test
  void whatWouldNotReachSlurmIsObjectedToBeforehand() {
    Objections objections = new Objections(SETTINGS);
    String script = "#!/bin/sh\n#SBATCH --mem=4G\n";
    assertThat(objections.to(submission(script, List.of("a"), Map.of("A", "b"), "/tmp"))).isEmpty();
    String long1 = "x".repeat(131_072);
    assertThat(objections.to(submission(script, List.of(long1), Map.of(), null)))
        .hasValueSatisfying(o -> assertThat(o.field()).isEqualTo("args"));
    assertThat(objections.to(submission(script, List.of(), Map.of("A", long1), null)))
        .hasValueSatisfying(o -> assertThat(o.field()).isEqualTo("env"));
    assertThat(objections.to(submission(script, List.of(), Map.of(), "/" + long1)))
        .hasValueSatisfying(o -> assertThat(o.field()).isEqualTo("workdir"));
  }

  private static NewJob submission(
      String script, List<String> arguments, Map<String, String> environment, String workdir) {
    return new NewJob(
        "j",
        "a",
        "u",
        null,
        1,
        1,
        null,
        null,
        0,
        true,
        0,
        null,
        script,
        arguments,
        environment,
        workdir);
  }
}
