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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files that somebody's editor, disk or malice has changed: whatever stands in them, a command ends
 * with an answer or names what is wrong, and never with a trace.
 *
 * <p>More of them, or others: {@code -Devenhand.hostile=2000 -Devenhand.seed=7}.
 */
class HostileInputTest {
  private static final int COUNT = Integer.getInteger("evenhand.hostile", 20);
  private static final long SEED = Long.getLong("evenhand.seed", 20260410L);

  /** The fewest rules that give every job a verdict, so that a set of them loads at once. */
  private static final String MINI =
      """
      policy: mini
      title: The fewest rules
      modules:
        - admission/N1
        - fit/F1
        - fit/V1
        - dispatch/D1
        - dispatch/D4
        - waiting/N6
      choices:
        order: {clause: Q2, keys: [account_usage_asc, queued_at_asc, id_asc], meaning: the queue}
        preference:
          clause: D1
          keys: [tier_desc, idle_desc, node_asc]
          meaning: where a job starts
        explain:
          clause: D4
          keys: [NO_FIT, NO_IDLE]
          meaning: which reason is told
      parameters:
        max_gpus_per_node:
          value: 8
          unit: GPUs
          clause: N1
          meaning: most GPUs on one node
        grace:
          value: 60s
          unit: seconds
          clause: K6
          read_by: service
          meaning: time to end
      kept_by:
        Q1: there is one list of jobs
      """;

  private static final String CLUSTER =
      """
      tiers:
        h100: {sort_order: 30, tflops: 989, max_gpus: 8}
        a100: {sort_order: 20, tflops: 312}
      nodes:
        n[1-3]: {h100: 8}
        m1: {a100: 4}
      """;
  private static final String ACCOUNTS =
      """
      ai2:
        weight: 1
        children:
          vision: {weight: 2, users: [kim, lee]}
          language: {weight: 1}
      """;
  private static final String JOBS =
      """
      job_id,submit_s,account,user,nodes,num_gpus,tier,run_s,min_runtime_s,resumable,priority,kind
      1,0,vision,kim,1,8,,3600,600,true,0,batch
      2,10,language,lee,1,4,h100,100,0,false,1,debug
      3,20,vision,kim,2,8,h100,7200,900,true,0,batch
      4,3000.5,language,ann,1,2,a100,60,0,true,-3,
      """;
  private static final String SNAPSHOT =
      """
      {"policy":"mini","now":"2026-04-10T09:05:00Z","cluster":"main",
       "tiers":[{"name":"4090","sort_order":20,"tflops":82.6},{"name":"5090","sort_order":30}],
       "placements":[{"node":"n1","tier":"4090","capacity":2,"idle":0,"state":"up"},
        {"node":"n2","tier":"5090","capacity":4,"idle":3},{"node":"n3","tier":"4090","capacity":2,"state":"down"}],
       "accounts":[{"id":"BCG","parent":null,"weight":1,"cumulative_usage":24000.0},{"id":"KDG","parent":"BCG"}],
       "jobs":[{"id":"a","account":"BCG","user":"kim","num_gpus":2,"queued_at":"2026-04-10T09:00:00Z"},
        {"id":"b","account":"KDG","num_gpus":4,"tier":"4090"},{"id":"c","account":"KDG"}],
       "running":[{"job":"y","account":"BCG","on":[{"node":"n1","tier":"4090","gpus":2}],
        "started_at":"2026-04-10T08:00:00Z","protected_until":"2026-04-10T09:00:00Z"}]}
      """;

  private static final String[] VALUES = {
    "null",
    "~",
    "",
    "NaN",
    ".nan",
    ".inf",
    "-1",
    "0",
    "1e308",
    "1e400",
    "1e-400",
    "99999999999999999999",
    "2147483648",
    "0x7fffffff",
    "true",
    "[]",
    "{}",
    "[[[[",
    "{a: {b: {c: }}}",
    "\"",
    "'",
    "\u0000",
    "\uFEFF",
    "\u202E\u2028",
    "\uD83D\uDE00",
    "\u0661\u0662",
    "& *x",
    "*x",
    "!!java.net.URL [x]",
    "- -",
    "%",
    "\t",
    "#",
    "../../etc/passwd",
    "$(id)",
    "n[1-100000000]",
    "n[1-",
    "1d",
    "36526d",
    "-5m",
    "x".repeat(70_000),
    "(".repeat(3_000),
    "9".repeat(400),
    "1/0",
    "System.exit(1)",
    "$r.numGpus() / 0 > 1",
    "tier.partition.length()",
  };

  @TempDir private Path folder;
  private Path rules;
  private String told;

  @BeforeEach
  void fewRules() throws IOException {
    rules = folder.resolve("rules");
    for (String module : MINI.lines().filter(l -> l.startsWith("  - ")).toList()) {
      String file = module.substring(4) + ".drl";
      Files.createDirectories(rules.resolve(file).getParent());
      Files.copy(Path.of("rules", file), rules.resolve(file));
    }
    Files.createDirectories(rules.resolve("policies"));
    Files.writeString(rules.resolve("policies/mini.yaml"), MINI);
  }

  private int run(String... arguments) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream to = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    int status =
        Evenhand.run(
            new Console(new ByteArrayInputStream(new byte[0]), to, to, Map.of()), arguments);
    told = bytes.toString(StandardCharsets.UTF_8);
    return status;
  }

  /** One to three changes of a text, as bytes: what comes out need not be text. */
  private static byte[] changed(String text, Random random) {
    String now = text;
    byte[] bytes = null;
    for (int change = random.nextInt(3); change >= 0; change--) {
      List<String> lines = new ArrayList<>(List.of(now.split("\n", -1)));
      int line = random.nextInt(lines.size());
      switch (random.nextInt(7)) {
        case 0 -> lines.remove(line);
        case 1 -> lines.add(line, lines.get(line));
        case 2, 3 -> {
          // a value is what stands between marks
          String[] words =
              lines.get(line).split("(?<=[\\s:,\\[\\](){}\"])|(?=[\\s:,\\[\\](){}\"])");
          words[random.nextInt(words.length)] = VALUES[random.nextInt(VALUES.length)];
          lines.set(line, String.join("", words));
        }
        case 4 -> {
          int other = random.nextInt(lines.size());
          String moved = lines.get(line);
          lines.set(line, lines.get(other));
          lines.set(other, moved);
        }
        case 5 -> lines.subList(line, lines.size()).clear();
        default -> {
          bytes = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
          for (int i = 0; i <= random.nextInt(4) && bytes.length > 0; i++) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
          }
          return bytes;
        }
      }
      now = String.join("\n", lines);
    }
    return now.getBytes(StandardCharsets.UTF_8);
  }

  private void answers(int number, byte[] input, String... arguments) {
    int status = run(arguments);
    String given = new String(input, StandardCharsets.UTF_8);
    assertThat(status)
        .as(
            "seed %s, number %s, %s said:\n%s\nto:\n%s",
            SEED, number, Arrays.toString(arguments), told, shown(given))
        .isIn(0, 1, 2);
    assertThat(told)
        .as("seed %s, number %s, to:\n%s", SEED, number, shown(given))
        .doesNotContain("\tat ", "nobody foresaw", "Exception", "org.drools", "tools.jackson");
  }

  private static String shown(String given) {
    return given.length() <= 3_000 ? given : given.substring(0, 3_000) + "…";
  }

  @Test
  void scenarios() throws IOException {
    Random random = new Random(SEED);
    Path scenarios = Files.createDirectories(folder.resolve("scenarios"));
    List<Path> good;
    try (Stream<Path> all = Files.list(Path.of("fixtures/scenarios"))) {
      good = all.sorted().toList();
    }
    for (int i = 0; i < COUNT; i++) {
      String text = Files.readString(good.get(random.nextInt(good.size())));
      byte[] input =
          changed(text.replaceFirst("policy: +(reservation|budget)\\b", "policy: mini"), random);
      Path file = Files.write(scenarios.resolve(i + ".yaml"), input);
      if (COUNT > 100 || i == COUNT - 1) {
        answers(i, input, "check", "--rules", rules + "", "--scenarios", scenarios + "");
        assertThat(told).contains("policies/mini");
      }
      if (COUNT > 100) {
        Files.delete(file);
      }
    }
  }

  @Test
  void policies() throws IOException {
    Random random = new Random(SEED);
    for (int i = 0; i < COUNT; i++) {
      byte[] input = changed(MINI, random);
      Files.write(rules.resolve("policies/mini.yaml"), input);
      answers(i, input, "policy", "show", "mini", "--rules", rules + "");
    }
  }

  @Test
  void rules() throws IOException {
    Random random = new Random(SEED);
    Path snapshot = Files.writeString(folder.resolve("s.json"), SNAPSHOT);
    List<String> files = List.of("fit/F1.drl", "dispatch/D1.drl", "dispatch/D4.drl");
    for (int i = 0; i < COUNT; i++) {
      Path file = rules.resolve(files.get(random.nextInt(files.size())));
      String good = Files.readString(file);
      byte[] input = changed(good, random);
      Files.write(file, input);
      answers(i, input, "decide", "--snapshot", snapshot + "", "--rules", rules + "");
      Files.writeString(file, good);
    }
  }

  @Test
  void snapshots() throws IOException {
    Random random = new Random(SEED);
    Path many = folder.resolve("s.ndjson");
    Path one = folder.resolve("s.json");
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (int i = 0; i < COUNT; i++) {
      byte[] input = changed(SNAPSHOT, random);
      String text = new String(input, StandardCharsets.UTF_8).replace('\n', ' ');
      lines.writeBytes((text + "\n").getBytes(StandardCharsets.UTF_8));
      if (i % 4 == 0) {
        Files.write(one, input);
        answers(i, input, "decide", "--snapshot", one + "", "--rules", rules + "");
      }
    }
    Files.write(many, lines.toByteArray());
    answers(
        -1,
        lines.toByteArray(),
        "decide",
        "--ndjson",
        "--snapshot",
        many + "",
        "--rules",
        rules + "");
  }

  @Test
  void whatIsSimulated() throws IOException {
    Random random = new Random(SEED);
    Map<String, String> good =
        Map.of("cluster.yaml", CLUSTER, "accounts.yaml", ACCOUNTS, "jobs.csv", JOBS);
    for (Map.Entry<String, String> file : good.entrySet()) {
      Files.writeString(folder.resolve(file.getKey()), file.getValue());
    }
    for (int i = 0; i < COUNT; i++) {
      String name = good.keySet().stream().sorted().toList().get(random.nextInt(3));
      byte[] input = changed(good.get(name), random);
      Files.write(folder.resolve(name), input);
      answers(
          i,
          input,
          "simulate",
          "--cluster",
          folder.resolve("cluster.yaml") + "",
          "--accounts",
          folder.resolve("accounts.yaml") + "",
          "--jobs",
          folder.resolve("jobs.csv") + "",
          "--policy",
          "mini",
          "--rules",
          rules + "",
          "--until",
          "1d",
          "--out",
          folder.resolve("out") + "");
      Files.writeString(folder.resolve(name), good.get(name));
    }
  }
}
