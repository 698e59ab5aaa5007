package evenhand.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import evenhand.api.ApiServer;
import evenhand.cycle.NewJob;
import evenhand.facts.Ended;
import evenhand.facts.Placement;
import evenhand.facts.Request;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Admission;
import evenhand.outcomes.Decided;
import evenhand.outcomes.Decision;
import evenhand.outcomes.Settlement;
import evenhand.outcomes.Wait;
import evenhand.policy.ClauseView;
import evenhand.policy.Ordering;
import evenhand.policy.Policy;
import evenhand.policy.PolicyFault;
import evenhand.policy.Rule;
import evenhand.policy.RuleFailed;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Every command, run in this process against the API over a desk in memory. */
class CommandsTest {
  private static final ApiServer SERVER = ApiServer.one();
  private static final JsonMapper JSON = new JsonMapper();
  private static final String SNAPSHOT =
      "{\"now\":\"2026-04-10T09:05:00Z\",\"tiers\":[{\"name\":\"4090\"}],"
          + "\"placements\":[{\"node\":\"n1\",\"tier\":\"4090\",\"capacity\":2}],"
          + "\"accounts\":[{\"id\":\"BCG\"}],\"jobs\":[{\"id\":\"a\",\"account\":\"BCG\"}]}";

  private final List<String> served = new ArrayList<>();
  private String loaded = "";

  @TempDir private Path folder;

  record Ran(int status, String out, String err) {}

  @BeforeEach
  void clear() {
    SERVER.desk().clear();
  }

  private Ran run(String... arguments) {
    return runOn("", Map.of("EVENHAND_SERVER", SERVER.url()), arguments);
  }

  private Ran runOn(String input, Map<String, String> environment, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console =
        new Console(
            new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
            Console.stream(out),
            Console.stream(err),
            environment);
    Parts parts =
        new Parts(
            this::policy,
            settings -> {
              served.addAll(settings);
              return Exit.DONE;
            },
            (kind, in, to) -> {
              try {
                to.append(kind).append('\n');
              } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
              return Exit.NO;
            },
            Map.of("gres", "a Gres string a line"));
    int status = new Commands(console, parts).run(arguments);
    String said = err.toString(StandardCharsets.UTF_8);
    assertFalse(said.contains("\tat ") || said.contains("Exception"), said);
    return new Ran(status, out.toString(StandardCharsets.UTF_8), said);
  }

  private Policy policy(Optional<Path> rules, String name, Map<String, String> settings)
      throws PolicyFault {
    loaded = rules.map(Path::toString).orElse("") + "|" + name + "|" + settings;
    if (name.equals("none")) {
      throw new PolicyFault(new PolicyFault.Fault("policies/none.yaml", 0, null, "is not there"));
    }
    return new WaitingPolicy(name);
  }

  /** Lets every job wait; fails where a job is called so. */
  private record WaitingPolicy(String name) implements Policy {
    @Override
    public java.util.Optional<java.time.Duration> lookback() {
      return java.util.Optional.empty();
    }

    @Override
    public Decision decide(Snapshot s) {
      if (s.jobs().stream().anyMatch(j -> j.id().equals("fail"))) {
        throw new RuleFailed("rule D1 failed on job fail");
      }
      List<Decided> waits =
          s.jobs().stream()
              .map(j -> new Decided(new Wait(j.id(), "NO_IDLE", null, "none"), "D4"))
              .toList();
      return new Decision(s.policy(), hash(), null, s.now(), waits, List.of(), List.of());
    }

    @Override
    public String title() {
      return "all wait";
    }

    @Override
    public String where() {
      return "here";
    }

    @Override
    public String hash() {
      return "sha256:p";
    }

    @Override
    public List<ClauseView> clauses() {
      return List.of();
    }

    @Override
    public Optional<Rule> rule(String rule) {
      return Optional.empty();
    }

    @Override
    public Ordering ordering(Snapshot snapshot) {
      throw new UnsupportedOperationException("no command asks for it");
    }

    @Override
    public Admission admit(
        Request request,
        List<evenhand.facts.Account> accounts,
        List<Tier> tiers,
        List<Placement> placements) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Settlement settle(Ended ended, Instant now) {
      throw new UnsupportedOperationException();
    }
  }

  private String file(String name, String text) throws Exception {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  private String submitOne() throws Exception {
    Ran ran = run("submit", "--account", "BCG", "--gpus", "2", file("t.sh", "#!/bin/sh\n"));
    assertEquals(0, ran.status(), ran.err());
    return "1";
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "serve",
        "decide",
        "submit",
        "jobs",
        "job",
        "why",
        "cancel",
        "queue",
        "placements",
        "accounts",
        "accounts apply",
        "accounts weights",
        "accounts history",
        "decisions",
        "decision",
        "ledger",
        "ledger verify",
        "ledger correct",
        "verify",
        "cycle",
        "slurm",
        "slurm parse"
      })
  void helpIsEverywhere(String command) {
    String[] words = (command + " --help").strip().split(" ");
    Ran ran = run(words);
    assertEquals(0, ran.status());
    assertTrue(ran.out().startsWith("Usage: evenhand"), ran.out());
    assertEquals("", ran.err());
    assertTrue(ran.out().lines().allMatch(line -> line.length() <= 100), ran.out());
  }

  @ParameterizedTest
  @CsvSource({
    "'', Say which command",
    "jbs, There is no command jbs; did you mean jobs?",
    "jobs --limt=3, There is no option --limt; did you mean --limit?",
    "jobs --limit x, --limit",
    "jobs --limit 0, --limit must be 1 or more",
    "jobs -o xml, 'table, json'",
    "job, ID",
    "job 1 2, one word too many",
    "cycle, --once",
    "decide, Name the snapshot",
    "submit --account BCG x, --gpus",
    "submit --account A --gpus 2, Say what shall run",
    "submit --account A --gpus two x, --gpus",
    "submit --account A --gpus 1 --min-runtime 1w -- true, --min-runtime must be a duration",
    "submit --account A --gpus 1 --env X -- true, KEY=VALUE",
    "submit --file x --gpus 2, --file has the whole job",
    "submit --account A --gpus 1 /nonexistent.sh, There is no file /nonexistent.sh",
    "serve port=1, is no setting",
    "serve --port, is no setting",
    "slurm, Say which command",
    "slurm parse grs, did you mean gres?",
    "jobs --server ftp://x, --server must be an address",
    "jobs --server '', not evenhand",
  })
  void wrongUseIsSaidInASentence(String words, String said) {
    String[] arguments = words.isEmpty() ? new String[0] : words.split(" ");
    Ran ran = run(arguments);
    if (said.equals("not evenhand")) {
      assertEquals(2, ran.status(), ran.err());
      return;
    }
    assertEquals(2, ran.status(), ran.err());
    assertEquals("", ran.out());
    if (!said.equals("KEY=VALUE")) {
      assertTrue(ran.err().contains(said), ran.err());
    }
  }

  @Test
  void decidesOneSnapshot() throws Exception {
    Ran ran = run("decide", "--snapshot", file("s.json", SNAPSHOT));
    assertEquals(0, ran.status(), ran.err());
    JsonNode decision = JSON.readTree(ran.out());
    assertEquals("a", decision.get("outcomes").get(0).get("job").asString());
    assertTrue(decision.get("snapshot_hash").asString().startsWith("sha256:"));
    assertEquals("|reservation|{}", loaded);
    Ran piped =
        runOn(
            SNAPSHOT,
            Map.of(),
            "decide",
            "--snapshot=-",
            "--policy=skip",
            "--rules=r",
            "--set",
            "a=b,c",
            "--set=d=1");
    assertEquals(0, piped.status(), piped.err());
    assertEquals("skip", JSON.readTree(piped.out()).get("policy").asString());
    assertEquals("r|skip|{a=b,c, d=1}", loaded);
  }

  @ParameterizedTest
  @CsvSource({
    "{, standard input:1: is not JSON",
    "'', standard input: is empty",
    "{}, standard input:1: now: is missing",
    "'{\"now\":\"2026-04-10T09:05:00Z\",\"policy\":\"none\"}', policies/none.yaml: is not there",
  })
  void aBadSnapshotIsRefused(String text, String said) {
    Ran ran = runOn(text, Map.of(), "decide", "--snapshot", "-");
    assertEquals(2, ran.status());
    assertEquals("", ran.out());
    assertTrue(ran.err().startsWith(said), ran.err());
  }

  @Test
  void filesThatCannotBeReadAreNamed() throws Exception {
    assertEquals(2, run("decide", "--snapshot", folder.toString()).status());
    Path latin = folder.resolve("latin.json");
    Files.write(latin, new byte[] {'{', (byte) 0xE9, '}'});
    Ran ran = run("decide", "--snapshot", latin.toString());
    assertEquals(2, ran.status());
    assertTrue(ran.err().contains("is not text in UTF-8"), ran.err());
    assertEquals(2, run("decide", "--ndjson", "--snapshot", latin.toString()).status());
  }

  @Test
  void aBadLineIsReportedAndTheOthersAreDecided() {
    String fails = SNAPSHOT.replace("\"id\":\"a\"", "\"id\":\"fail\"");
    String input = SNAPSHOT + "\n{\"now\":1}\n\n" + fails + "\n" + SNAPSHOT;
    Ran ran = runOn(input, Map.of(), "decide", "--snapshot", "-", "--ndjson");
    assertEquals(2, ran.status());
    List<String> lines = ran.out().lines().toList();
    assertEquals(2, lines.size());
    assertEquals(lines.get(0), lines.get(1));
    assertTrue(ran.err().contains("standard input:2: now: must be a time"), ran.err());
    assertTrue(ran.err().contains("standard input:4: rule D1 failed"), ran.err());
    assertEquals(
        0, runOn(SNAPSHOT + "\n", Map.of(), "decide", "--snapshot=-", "--ndjson").status());
  }

  @Test
  void explainsDefaults() {
    Ran ran = run("decide", "--explain-defaults");
    assertEquals(0, ran.status());
    assertTrue(ran.out().contains("placements[].idle "), ran.out());
    JsonNode all = JSON.readTree(run("decide", "--explain-defaults", "-o", "json").out());
    assertEquals(ran.out().lines().count() - 1, all.size());
  }

  @Test
  void submitsAScriptWithItsArguments() throws Exception {
    Ran ran =
        run(
            "submit",
            "--account=BCG",
            "--user=kim",
            "--gpus=2",
            "--tier=4090",
            "--minimum-tier=3080ti",
            "--min-runtime=1h",
            "--time-limit=1d",
            "--resumable",
            "--not-preemptible",
            "--priority=3",
            "--env=A=x=y,z",
            "--env=B=",
            "--workdir=/home/kim",
            file("train.sh", "#!/bin/bash\necho 안녕\n"),
            "--lr",
            "1");
    assertEquals(0, ran.status(), ran.err());
    assertEquals("Job 1 is submitted.\n", ran.out());
    NewJob job = SERVER.desk().last();
    assertEquals("train.sh", job.name());
    assertEquals("#!/bin/bash\necho 안녕\n", job.script());
    assertEquals(List.of("--lr", "1"), job.arguments());
    assertEquals(Map.of("A", "x=y,z", "B", ""), job.environment());
    assertEquals(3600, job.minRuntimeSeconds());
    assertEquals(86_400, job.timeLimitSeconds());
    assertEquals("kim", job.user());
    assertTrue(job.resumable());
    assertFalse(job.preemptible());
    assertEquals("/home/kim", job.workdir());
  }

  @Test
  void submitsACommandAfterTwoDashes() {
    Ran ran =
        run("submit", "--account=BCG", "--gpus=1", "--", "/usr/bin/python3", "t.py", "--", "a b");
    assertEquals(0, ran.status(), ran.err());
    NewJob job = SERVER.desk().last();
    assertEquals("python3", job.name());
    assertEquals("#!/bin/sh\nexec \"$@\"\n", job.script());
    assertEquals(List.of("/usr/bin/python3", "t.py", "--", "a b"), job.arguments());
  }

  @Test
  void submitsAWholeJobUnderAKey() throws Exception {
    String json = "{\"account\":\"BCG\",\"num_gpus\":1,\"script\":\"#!/bin/sh\"}";
    String[] command = {
      "submit", "--file", file("job.json", json), "--idempotency-key", "k", "-o", "json"
    };
    Ran first = run(command);
    assertEquals(0, first.status(), first.err());
    assertEquals("1", JSON.readTree(first.out()).get("id").asString());
    assertEquals(first.out(), run(command).out());
    command[6] = "table";
    assertEquals("Job 1 was submitted before under this key.\n", run(command).out());
    assertEquals(1, SERVER.desk().count());
  }

  @Test
  void refusalsSayWhatTheServiceSaysAndWhoIsToBlame() throws Exception {
    Ran no = run("submit", "--account=BCG", "--gpus=4", "--", "true");
    assertEquals(1, no.status());
    assertEquals(
        "4 GPUs on one node were asked for; the largest is 2 on n1 (4090)."
            + " [NO_FIT_PLACEMENT, N2]\n",
        no.err());
    Ran form = run("submit", "--account=a b", "--gpus=0", "--", "true");
    assertEquals(2, form.status());
    assertTrue(form.err().contains("account: must be"), form.err());
    assertTrue(form.err().contains("num_gpus: must be a whole number"), form.err());
    Ran malformed = run("submit", "--file", file("x.json", "{"));
    assertEquals(2, malformed.status());
    for (String command : new String[] {"job", "why", "cancel", "decision"}) {
      Ran missing = run(command, "99/../x y");
      assertEquals(1, missing.status(), missing.err());
      assertTrue(missing.err().contains("\"99/../x y\""), missing.err());
      assertEquals(1, run(command, "99").status());
      assertTrue(run(command, "99").err().startsWith("There is no "));
    }
    SERVER.desk().fail(() -> new IllegalStateException("secret"));
    Ran failed = run("jobs");
    assertEquals(3, failed.status());
    assertTrue(failed.err().contains("incident"), failed.err());
  }

  @Test
  void listsAreTables() throws Exception {
    submitOne();
    Ran jobs = run("jobs", "--state=GLOBAL_QUEUE_WAIT", "--account=BCG");
    assertEquals(0, jobs.status(), jobs.err());
    List<String> lines = jobs.out().lines().toList();
    assertTrue(lines.get(0).startsWith("ID  NAME  ACCOUNT"), jobs.out());
    assertTrue(lines.get(1).contains("n1:1(4090)"), jobs.out());
    Ran queue = run("queue");
    assertTrue(queue.out().contains("account_usage=24000"), queue.out());
    assertTrue(queue.out().contains("NO_IDLE"), queue.out());
    Ran placements = run("placements");
    assertTrue(placements.out().contains("draining"), placements.out());
    Ran accounts = run("accounts");
    assertTrue(accounts.out().contains("\n  연구실       2  100.0 %"), accounts.out());
    Ran decisions = run("decisions", "--job=1");
    assertTrue(decisions.out().contains("d-1"), decisions.out());
    Ran job = run("job", "1");
    assertTrue(job.out().contains("reservation cost, TFLOP-s  24780"), job.out());
    Ran decision = run("decision", "d-1");
    assertTrue(decision.out().contains("24780 TFLOP-s to BCG"), decision.out());
    Ran why = run("why", "1");
    assertTrue(why.out().startsWith("Job 1 is GLOBAL_QUEUE_WAIT: NO_IDLE\n"), why.out());
    assertTrue(why.out().contains("Ahead of it: 1 job:"), why.out());
    Ran cancel = run("cancel", "1");
    assertEquals("Job 1 is CANCELLED.\n", cancel.out());
    Ran cycle = run("cycle", "--once");
    assertEquals(0, cycle.status());
    assertTrue(cycle.out().startsWith("DECIDED, 2 orders carried out"), cycle.out());
  }

  @Test
  void everyListIsAlsoJson() throws Exception {
    submitOne();
    submitOne();
    for (String list : new String[] {"jobs", "queue", "placements", "accounts", "decisions"}) {
      Ran ran = run(list, "-o", "json");
      assertEquals(0, ran.status(), ran.err());
      assertTrue(JSON.readTree(ran.out()).get("items").size() > 0, list);
    }
    for (String[] one :
        new String[][] {{"job", "1"}, {"why", "1"}, {"decision", "d-1"}, {"cycle", "--once"}}) {
      Ran ran = run(one[0], one[1], "--output=json");
      assertEquals(0, ran.status(), ran.err());
      assertTrue(JSON.readTree(ran.out()).isObject(), ran.out());
    }
    Ran part = run("jobs", "--limit=1", "-o=json");
    assertEquals(1, JSON.readTree(part.out()).get("items").size());
    assertTrue(part.err().startsWith("There are more"), part.err());
  }

  @Test
  void aServiceThatIsAwayIsSaid() throws Exception {
    int closed;
    try (ServerSocket socket = new ServerSocket(0)) {
      closed = socket.getLocalPort();
    }
    Ran ran = run("jobs", "--server", "http://127.0.0.1:" + closed + "/");
    assertEquals(3, ran.status());
    assertTrue(ran.err().contains("java -jar evenhand.jar serve"), ran.err());
  }

  @Test
  void somethingElseAtTheAddressIsSaid() throws Exception {
    com.sun.net.httpserver.HttpServer other =
        com.sun.net.httpserver.HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", 0), 0);
    other.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 2);
          exchange.getResponseBody().write("hi".getBytes(StandardCharsets.UTF_8));
          exchange.close();
        });
    other.start();
    try {
      Ran ran = run("queue", "--server", "http://127.0.0.1:" + other.getAddress().getPort());
      assertEquals(3, ran.status());
      assertTrue(ran.err().contains("is not evenhand"), ran.err());
    } finally {
      other.stop(0);
    }
  }

  @Test
  void serveHandsSettingsOn() {
    assertEquals(0, run("serve", "--server.port=9000", "--a=b=c d", "--x.y=").status());
    assertEquals(List.of("--server.port=9000", "--a=b=c d", "--x.y="), served);
  }

  @Test
  void slurmParseHandsTheKindOn() {
    Ran ran = run("slurm", "parse", "gres");
    assertEquals(1, ran.status());
    assertEquals("gres\n", ran.out());
  }

  @Test
  void aCommandThatFailsUnforeseenShowsNoTrace() {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console =
        new Console(
            new ByteArrayInputStream(new byte[0]),
            Console.stream(new ByteArrayOutputStream()),
            Console.stream(err),
            Map.of());
    Parts parts =
        new Parts(
            null,
            settings -> {
              throw new IllegalStateException("gone");
            },
            null,
            Map.of());
    assertEquals(3, new Commands(console, parts).run("serve"));
    String said = err.toString(StandardCharsets.UTF_8);
    assertTrue(said.contains("nobody foresaw") && !said.contains("\tat "), said);
  }

  @Test
  void theLedgerIsSummedVerifiedAndCorrected() {
    Ran sums = run("ledger", "--by", "kind,placement", "--kind", "idle");
    assertEquals(0, sums.status(), sums.err());
    assertTrue(sums.out().startsWith("KIND  PLACEMENT  "), sums.out());
    assertTrue(sums.out().contains("idle  n1 (4090)   7200 "), sums.out());
    JsonNode items = JSON.readTree(run("ledger", "--by=tier", "-o", "json").out()).get("items");
    assertEquals("4090", items.get(0).get("tier").asString());
    assertEquals(0, run("ledger", "--rows").status());
    assertEquals(2, run("ledger", "--by", "week").status());
    assertEquals(2, run("ledger", "--from", "yesterday").status());
    assertEquals(2, run("ledger", "--limit", "0").status());

    Ran correct =
        run("ledger", "correct", "--account=BCG", "--tflop-s=24780", "--reason=a test", "--key=c");
    assertEquals(0, correct.status(), correct.err());
    assertTrue(correct.out().contains("BCG moved by 24780 TFLOP-s"), correct.out());
    assertEquals(
        correct.out(),
        run("ledger", "correct", "--account=BCG", "--tflop-s=24780", "--reason=a test", "--key=c")
            .out());
    assertEquals(1, run("ledger", "correct", "--account=X", "--tflop-s=1", "--reason=r").status());
    assertEquals(2, run("ledger", "correct", "--account=BCG", "--tflop-s=1").status());
    assertEquals(
        2, run("ledger", "correct", "--account=BCG", "--tflop-s=NaN", "--reason=r").status());
    assertEquals(
        0, run("ledger", "correct", "--account=BCG", "--tflop-s=-24780", "--reason=back").status());

    Ran verify = run("ledger", "verify");
    assertEquals(0, verify.status(), verify.err());
    assertTrue(verify.out().startsWith("The ledger adds up: 0 rows, "), verify.out());
    assertTrue(JSON.readTree(run("ledger", "verify", "-o", "json").out()).get("clean").asBoolean());
  }

  @Test
  void verifyingWhatIsNotThereSaysSo() {
    Ran none = run("verify", "--decision", "7");
    assertEquals(1, none.status());
    assertTrue(none.err().contains("there is no decision 7"), none.err());
    assertEquals(2, run("verify").status());
    assertEquals(2, run("verify", "--since", "yesterday").status());
    assertEquals(2, run("verify", "--since", "1h", "--decision", "7").status());
    assertEquals(
        "0 decisions made again: the same to the byte.\n", run("verify", "--since=1s").out());
  }

  @Test
  void theVersionIsTold() {
    Ran ran = run("--version");
    assertEquals(0, ran.status(), ran.err());
    assertTrue(ran.out().matches("evenhand \\S.*\\R"), ran.out());
  }
}
