package evenhand.slurm.text;

import static evenhand.slurm.text.Fixtures.captured;
import static evenhand.slurm.text.Fixtures.parse;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The command {@code slurm parse KIND}: shapes, exit status, hostile input. */
class ParseTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "gres;gpu:a100:8;{\"gpus\":[{\"model\":\"a100\",\"count\":8}]}",
        "gres;gpu:2;{\"gpus\":[{\"model\":null,\"count\":2}]}",
        "gres;asdf123:123:123:123;{\"gpus\":[]}",
        "tres;cpu=4,gres/gpu=4;{\"gpus\":4}",
        "tres;cpu=4,gres/gp;{\"gpus\":null}",
        "state;mixed+drain;{\"placeable\":\"no\",\"base\":\"MIXED\",\"flags\":[\"DRAIN\"]}",
        "hostlist;n[1-2];{\"hosts\":[\"n1\",\"n2\"]}",
        "limit;4:00;{\"seconds\":240}",
        "limit;UNLIMITED;{\"seconds\":null,\"limit\":\"none\"}",
        "limit;Partition_Limit;{\"unknown\":true}",
        "elapsed;00:15.057;{\"seconds\":15.057}",
        "jobid;123+0;{\"job\":\"123\",\"array\":[],\"cap\":null,\"het\":0,\"step\":null,\"cluster\":null}",
        "jobid;7_[1-3%2];{\"job\":\"7\",\"array\":[1,2,3],\"cap\":2,\"het\":null,\"step\":null,\"cluster\":null}",
      })
  void shapes(String kind, String input, String output) {
    StringBuilder out = new StringBuilder();
    int status = Parse.run(kind, new StringReader(input), out);
    assertThat(out.toString()).isEqualTo(output + "\n");
    assertThat(status).isEqualTo(Parse.DONE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "gres;gpu:k:3",
        "tres;gres/gpu=6",
        "state;mixed",
        "hostlist;rack[3-5]",
        "limit;7:00",
        "elapsed;7:00",
        "jobid;31_4",
        "nodes;{\"nodes\":[{\"name\":\"r3\"}]}",
        "jobs;No jobs in the system",
        "acct;JobID|State"
      })
  void aByteOrderMarkIsNoText(String kind, String input) {
    StringBuilder plain = new StringBuilder();
    StringBuilder marked = new StringBuilder();
    int status = Parse.run(kind, new StringReader(input + "\n"), plain);
    assertThat(Parse.run(kind, new StringReader("\ufeff" + input + "\n"), marked))
        .isEqualTo(status);
    assertThat(marked.toString()).isEqualTo(plain.toString());
    StringBuilder alone = new StringBuilder();
    Parse.run(kind, new StringReader("\ufeff"), alone);
    assertThat(alone.toString()).doesNotContain("\ufeff");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gpu:a100:8(S:0-            | is not closed",
        "gpu:a100:8(                | is not closed",
        "shard:8(-/5,gpu:a100:2     | is not closed",
        "gpu:a100:                  | cannot be read",
        "gpu:                       | cannot be read",
        "gpu::8                     | cannot be read",
        "gpu:-1                     | cannot be read",
        "gpu:a100:-1                | cannot be read",
        "gpu:1.5                    | cannot be read",
        "gpu:a100:8x                | cannot be read",
        "gpu:a100:8(S:0-1)x         | cannot be read",
        "gpu:a:b:3                  | cannot be read",
        "gpu:99999999999999999999   | cannot be read",
        "gpu:9999999                | cannot be read",
        "gpu:a100:2)                | cannot be read",
        "gres/gpu:v100=             | cannot be read",
        "gpu:a100:8,                | is empty",
        "gpu:a100:8,,gpu:b:1        | is empty",
        "gpu:a100:8,gp              | has no count",
        "gpu:a100:8,gres/g          | has no count",
        "gpu:a100:8,gpu:h100        | has no count",
        "gpu:a100,gpu:h100:2        | has no count",
        "g                          | has no count",
      })
  void gresCutOrImpossible(String text, String said) {
    Fixtures.Parsed parsed = parse("gres", text + "\ngpu:2\n");
    assertThat(parsed.status()).isEqualTo(Parse.FAULTY);
    assertThat(parsed.lines()).hasSize(2);
    assertThat(parsed.lines().get(0).path("error").asString()).contains(said);
    assertThat(parsed.lines().get(1).path("gpus").get(0).path("count").asInt()).isEqualTo(2);
  }

  @Test
  void aLineForALine() {
    Fixtures.Parsed parsed = parse("elapsed", "00:10\r\n\nxx\n0:01");
    assertThat(parsed.status()).isEqualTo(Parse.FAULTY);
    assertThat(parsed.lines()).hasSize(4);
    assertThat(parsed.lines().get(0).path("seconds").asInt()).isEqualTo(10);
    assertThat(parsed.lines().get(1).path("unknown").asBoolean()).isTrue();
    assertThat(parsed.lines().get(2).path("error").asString()).contains("'xx'");
    assertThat(parsed.lines().get(3).path("seconds").asInt()).isEqualTo(1);
    assertThat(parse("elapsed", "\n").lines()).hasSize(1);
    assertThat(parse("elapsed", "").lines()).isEmpty();
  }

  @Test
  void placements() {
    Fixtures.Parsed parsed = parse("nodes", captured("nodes-busy.json"));
    assertThat(parsed.status()).isEqualTo(Parse.DONE);
    assertThat(parsed.lines().get(4).toString())
        .startsWith(
            "{\"node\":\"n4\",\"model\":\"5090\",\"capacity\":4,\"used\":3,\"idle\":1,\"state\":\"up\","
                + "\"placeable\":\"yes\"")
        .doesNotContain("error");
  }

  @Test
  void useThatIsNotToldIsAnError() {
    Fixtures.Parsed parsed = parse("nodes", captured("nodes-draining.scontrol"));
    assertThat(parsed.status()).isEqualTo(Parse.FAULTY);
    assertThat(parsed.lines())
        .allMatch(l -> l.path("used").isNull() && l.path("idle").isNull() && l.has("error"));
  }

  @Test
  void jobs() {
    Fixtures.Parsed parsed = parse("jobs", captured("jobs-busy.squeue"));
    assertThat(parsed.status()).isEqualTo(Parse.DONE);
    assertThat(parsed.lines()).hasSize(7);
    assertThat(parsed.lines().get(0).path("expected_start").asString())
        .isEqualTo("2026-11-30T04:07:45Z");
    for (String field :
        List.of(
            "job",
            "name",
            "user",
            "partition",
            "state",
            "reason",
            "nodes",
            "gpus",
            "submit",
            "start",
            "end",
            "exit_code",
            "signal",
            "restarts",
            "attempts",
            "comment",
            "limit_s",
            "elapsed_s")) {
      assertThat(parsed.lines().get(0).has(field)).as(field).isTrue();
    }
    Fixtures.Parsed faulty = parse("acct", "JobID|State\n1|COMPLETED\n2\n3|WHAT\n");
    assertThat(faulty.status()).isEqualTo(Parse.FAULTY);
    assertThat(faulty.lines()).hasSize(3);
    assertThat(faulty.lines().get(1).path("error").asString()).startsWith("line 3: ");
    assertThat(faulty.lines().get(2).path("error").asString()).startsWith("line 4: ");
  }

  @Test
  void controllerAwayThoughExitCodeWasZero() {
    Fixtures.Parsed parsed = parse("nodes", captured("controller-down.json"));
    assertThat(parsed.status()).isEqualTo(Parse.FAULTY);
    assertThat(parsed.only().path("error").asString()).contains("Unspecified error");
  }

  @Test
  void unknownKindListsTheKinds() {
    Fixtures.Parsed parsed = parse("gress", "");
    assertThat(parsed.status()).isEqualTo(Parse.WRONG_USE);
    assertThat(parsed.only().path("error").asString()).contains("'gress'").contains("hostlist");
    assertThat(Parse.KINDS.keySet()).contains("gres", "nodes", "jobs", "acct").hasSize(10);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gres",
        "tres",
        "state",
        "hostlist",
        "limit",
        "elapsed",
        "jobid",
        "nodes",
        "jobs",
        "acct"
      })
  void hostileInput(String kind) {
    byte[] bytes = new byte[20_000];
    new Random(7).nextBytes(bytes);
    List<String> inputs =
        List.of(
            "x".repeat(2_000_000),
            "(".repeat(1_000_000),
            "gpu:a(,".repeat(100_000),
            "[1-999999999]".repeat(1_000),
            "1_[" + "1,".repeat(300_000) + "1]",
            "+".repeat(1_000_000),
            "=,".repeat(300_000),
            "1:".repeat(1_000_000),
            "|".repeat(1_000_000) + "\n" + "|".repeat(1_000_000),
            "JOBID|STATE|NAME|COMMENT\n" + "1|".repeat(500_000),
            "NodeName=" + " State=".repeat(200_000),
            "JobId=1 " + "\n JobId=".repeat(20_000),
            "NODELIST|GRES|GRES_USED|STATE\n" + "n[1-20000]|gpu:1|gpu:0|idle\n".repeat(3),
            "JOBID|STATE|NODELIST\n" + "1_[0-99999]|PENDING|n[1-20000]\n".repeat(2),
            "{\"jobs\":" + "[".repeat(200_000),
            "{\"nodes\":[" + "{},".repeat(10_000) + "{}]}",
            "NaN\nInfinity\n-0\n1e999\nnull\n",
            "\u0000\u0001\ufffd\ud800\u202e\n",
            new String(bytes, StandardCharsets.UTF_8));
    for (String input : inputs) {
      StringBuilder out = new StringBuilder();
      int status = Parse.run(kind, new StringReader(input), out);
      assertThat(status).isIn(Parse.DONE, Parse.FAULTY);
    }
  }

  @Test
  void overlongLineIsPassedOver() {
    Fixtures.Parsed parsed =
        parse("gres", "gpu:1\n" + "x".repeat(Parse.MAX_LINE + 5) + "\ngpu:2\n");
    assertThat(parsed.lines()).hasSize(3);
    assertThat(parsed.lines().get(1).path("error").asString()).contains("longer than");
    assertThat(parsed.lines().get(2).path("gpus")).hasSize(1);
  }
}
