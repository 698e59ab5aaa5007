package evenhand.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad edits of the real rules: each is refused with file, line, rule and a plain sentence. */
class LintTest {
  @TempDir Path rules;

  @BeforeEach
  void copy() throws IOException {
    EditedRules.in(rules);
  }

  private void edit(String file, String old, String changed) throws IOException {
    new EditedRules(rules).edit(file, old, changed);
  }

  private List<PolicyFault.Fault> faults() {
    PolicyFault fault =
        catchThrowableOfType(
            PolicyFault.class, () -> Policies.load(Optional.of(rules), "reservation", Map.of()));
    assertThat(fault).as("the edit is refused").isNotNull();
    return fault.faults();
  }

  @Test
  void theRulesAsTheyAreLoad() throws Exception {
    for (String name : List.of("reservation", "skip", "fifo")) {
      Policy policy = Policies.load(Optional.of(rules), name, Map.of());
      assertThat(policy.name()).isEqualTo(name);
      assertThat(policy.hash()).matches("sha256:[0-9a-f]{64}");
      assertThat(policy.clauses()).hasSizeGreaterThan(20);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
      insert( new Wait(           | modify( $turn ) { }; insert( new Wait( | may only insert outcomes
      insert( new Wait(           | insert( new String(                    | no outcome
      @clause( D4 )               | @clause( D9 )                          | must carry @clause( D4 )
      ruleflow-group "wait"       | ruleflow-group "weight"                | is no stage
      ruleflow-group "wait"       |                                        | belongs to no stage
      ruleflow-group "wait"       | ruleflow-group "wait" salience 10      | order comes from stages alone
      rule "D4 A job              | rule "A job                            | must begin with the file's clause
      Turn( $r : request,         | Tern( $r : request,                    | no fact or outcome called Tern
      reservation == null         | reservations == null                   | reservations
      Placement( group == $g )    | Placement( group == $h )               | $h
      most_idle( $p )             | busiest( $p )                          | busiest
      """)
  void badEditsOfOneRule(String old, String changed, String said) throws IOException {
    edit("dispatch/D4.drl", old, changed == null ? "" : changed);
    List<PolicyFault.Fault> faults = faults();
    assertThat(faults).allSatisfy(f -> assertThat(f.file()).isEqualTo("dispatch/D4.drl"));
    assertThat(faults.toString()).contains(said);
    assertThat(faults.get(0).line()).isPositive();
    assertThat(faults.get(0).toString()).doesNotContain("org.drools").doesNotContain("Exception");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`  then\n`                    |``                      | 14 | found \"end\" where \"then\" is expected",
        "`  when\n`                    |``                      | 6  | found \"$turn\" where \"@clause( … )\"",
        "`\nend`                       |``                      | 15 | the file ends where \"end\" on a line of its own",
        "`reservation == null )`       |`reservation == null`   | 8  | \")\" or \",\" (the \"(\" on line 7 is not closed)",
        "`ruleflow-group \"wait\"`     |`ruleflow-group wait`   | 5  | found \"wait\" where",
        "`@clause( D4 )`               |`@clause( D4`           |    | (the \"(\" on line 4 is not closed)",
        "`rule \"D4`                   |`rul \"D4`              | 3  | found \"rul\" where rule \"…\"",
        "`its turn\"`                  |`its turn`              |    | line 3 is: rule \"D4 A job",
        "`      $most : most_idle( $p ) )\n`|``              |    | (the \"(\" on line 8 is not closed)",
        "`and $p`                      |`und $p`                | 10 | found \"und\" where",
        "`reservation == null )`       |`reservation == )`      | 7  | found \")\" where a value or a name",
        "`reservation == null )`       |`reservation = null )`  | 7  | found \"=\" where \"==\", which compares",
        "`when\n`                      |`when\n ###\n`          | 7  | found \"#\" where a condition such as",
      })
  void whatTheParserCannotReadIsSaidPlainly(String old, String changed, Integer line, String said)
      throws IOException {
    edit("dispatch/D4.drl", old, changed);
    List<PolicyFault.Fault> faults = faults();
    assertThat(faults).hasSize(1);
    assertThat(faults.get(0).sentence()).contains(said).doesNotContain("ERR");
    if (line != null) {
      assertThat(faults.get(0).line()).isEqualTo(line);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "dispatch/D4.drl    | `$r : request`  | `$r : requested`   | there is nothing to be named by \"$r : requested\"",
        "reservation/R2.drl | `reservation\" ) );` | `reservation\" ) )` | lacks a \";\" at the end of \"insert(",
        "reservation/R2.drl | `\"reserve\"`   | `\u201creserve\u201d`      | has the quote \u201c; a text stands between two straight ones",
        "reservation/R2.drl | `\"reserve\"`   | `\"reserved\"`       | forbids \"reserved\", which no rule asks about",
      })
  void slipsAreSaidAsWhatTheyAre(String file, String old, String changed, String said)
      throws IOException {
    edit(file, old, changed);
    assertThat(faults().get(0).toString()).contains(file + ":", said);
  }

  /** They would hold a cycle up for ever over a user whose name is long. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "matches \"(a+)+$\"                | no group in it may be repeated",
        "matches \"(.*a){12}b\"            | no group in it may be repeated",
        "matches \"(a+)\\\\1b\"            | no group in it may be repeated or meant again",
        "matches \"(?<n>a+)\\\\k<n>b\"     | no group in it may be repeated or meant again",
        "matches \".*.*.*b\"               | at most 2 of its",
        "matches \"a*?[)]+b{2,}c\"         | at most 2 of its",
        "not matches \"(a+)+$\"            | no group in it may be repeated",
        "matches account                   | must stand there as one text",
        "matches \"a\" + \"b\"             | must stand there as one text",
        "matches( \"(a*)*\" )              | no group in it may be repeated",
        ".replaceAll( \"(a*)*\", \"\" ) == \"\" | no group in it may be repeated",
        ".split( account ).length == 1     | must stand there as one text",
      })
  void expressionsThatMayTakeForEverAreRefused(String asked, String said) throws IOException {
    String user = "user" + (asked.startsWith(".") ? "" : " ") + asked;
    edit("dispatch/D4.drl", "$turn : Turn(", "Request( " + user + " )\n    $turn : Turn(");
    assertThat(faults().get(0).toString()).startsWith("dispatch/D4.drl:7:").contains(said);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "kim|lee|park.*",
        "svc-[a-z]++-[0-9]++.*",
        "(svc|bot)-?[a-z]+[0-9]{2}",
        "[(a+)*]x\\\\)+y\\\\.z*",
      })
  void otherExpressionsMayBeAsked(String expression) throws Exception {
    edit(
        "dispatch/D4.drl",
        "$turn : Turn(",
        "// matches \"(a+)+\"\n    not Request( user matches \""
            + expression
            + "\" )\n    $turn : Turn(");
    assertThat(Policies.load(Optional.of(rules), "reservation", Map.of()).name())
        .isEqualTo("reservation");
  }

  /** Ways out of the rules that were thought of: each is refused before anything is compiled. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "System.getProperty(\"user.home\")",
        "\"\" + Runtime.getRuntime().exec(\"id\")",
        "java.lang.System.getenv(\"PATH\")",
        "java\n   .lang\n   .System.getenv(\"PATH\")",
        "java/* */.lang.System.getenv(\"PATH\")",
        "/* */ System.getenv(\"PATH\")",
        "\"/*\" + System.getenv(\"PATH\") + \"*/\"",
        "'\"' + System.getenv(\"PATH\") + '\"'",
        "\"//\" + System.getenv(\"PATH\")",
        "\\u0053ystem.getenv(\"PATH\")",
        "\"\\u0022 + System.getenv(null) + \\u0022\"",
        "System.getenv(\"PATH\") // @clause( D4 )",
        "Class.forName(\"java.lang.Runtime\").toString()",
        "$turn.getClass().getName()",
        "$turn.class.name",
        "NodeState.UP.getDeclaringClass().getName()",
        "picocli.CommandLine.class.getName()",
        "ch.qos.logback.core.util.EnvUtil.class.getName()",
        "tools.jackson.databind.json.JsonMapper.shared().toString()",
        "new ProcessBuilder(\"id\").start().toString()",
        "new java.io.File(\"/etc/passwd\").toString()",
        "Thread.currentThread().getContextClassLoader().toString()",
        "Math.random() + \"\"",
        "evenhand.Evenhand.class.getName()",
        "Instant.now().toString()"
      })
  void noRuleReachesAnythingButFactsAndOutcomes(String code) throws IOException {
    Path path = rules.resolve("dispatch/D4.drl");
    String rule = Files.readString(path);
    int at = rule.indexOf("insert( new Wait(") + "insert( new Wait(".length();
    Files.writeString(path, rule.substring(0, at) + " " + code + ",\n" + rule.substring(at));
    assertThat(faults().toString())
        .containsAnyOf("a rule names facts and outcomes and nothing else", "holds \\u")
        .doesNotContain("Exception");
    // And in a condition.
    String when = rule.replace("  when\n", "  when\n    eval( (" + code + "\n) != null )\n");
    assertThat(when).isNotEqualTo(rule);
    Files.writeString(path, when);
    assertThat(faults().toString())
        .containsAnyOf("a rule names facts and outcomes and nothing else", "holds \\u");
  }

  @Test
  void askingForTheAbsenceOfWhatTheOwnStageInserts() throws IOException {
    edit(
        "reservation/R3.drl",
        "not Lost( reservation == $held )",
        "not Release( job == $held.job )");
    assertThat(faults().get(0).sentence()).contains("own stage \"rank\"");
  }

  @Test
  void countingOverWhatTheOwnStageInserts() throws IOException {
    edit(
        "dispatch/D1.drl",
        "accumulate( Available( $p : placement ); $best : preferred( $p ) )",
        "accumulate( Available( $p : placement ); $best : preferred( $p ) ) not Start()");
    assertThat(faults().get(0).sentence()).contains("own stage \"start\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "import java.io.File;",
        "global java.util.List all",
        "package x;",
        "declare X end",
        "function void f() {}",
        "query q() end"
      })
  void rulesOnly(String line) throws IOException {
    Path path = rules.resolve("dispatch/D4.drl");
    Files.writeString(path, line + "\n" + Files.readString(path));
    assertThat(faults().get(0))
        .satisfies(f -> assertThat(f.line()).isEqualTo(1))
        .satisfies(f -> assertThat(f.sentence()).contains("holds rules only"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "eval( System.currentTimeMillis() > 0 ) | System",
        "eval( Runtime.getRuntime() != null ) | Runtime",
        "eval( java.time.Instant.now() != null ) | java",
        "eval( $turn.getClass() != null ) | getClass",
        "eval( Math.random() > 2 ) | random"
      })
  void nothingButFactsAndOutcomes(String condition, String named) throws IOException {
    edit("dispatch/D4.drl", "  then\n", "    " + condition + "\n  then\n");
    assertThat(faults().get(0).sentence())
        .contains("called " + named)
        .contains("no class, clock or program");
  }

  @Test
  void aRuleOfMoreThanTwentyLines() throws IOException {
    edit("reservation/R3.drl", "  when\n", "  when\n" + "\n".repeat(14));
    assertThat(faults().get(0).sentence()).contains("at most 20");
  }

  @Test
  void twoRulesOfOneName() throws IOException {
    Path path = rules.resolve("reservation/R3.drl");
    String text = Files.readString(path);
    Files.writeString(path, text + text.substring(text.indexOf("rule \"")));
    assertThat(faults().toString()).contains("same name as a rule in reservation/R3.drl");
  }

  @Test
  void aFileWithoutARule() throws IOException {
    Files.writeString(rules.resolve("reservation/R3.drl"), "// nothing\n");
    assertThat(faults().get(0).sentence()).contains("holds no rule");
  }

  @Test
  void halfAFile() throws IOException {
    Path path = rules.resolve("reservation/R3.drl");
    String text = Files.readString(path);
    Files.writeString(path, text.substring(0, text.indexOf("then")));
    assertThat(faults().get(0).file()).isEqualTo("reservation/R3.drl");
  }

  @Test
  void whatOtherSystemsEditorsPutInIsNoPartOfTheRules() throws Exception {
    String hash = Policies.load(Optional.of(rules), "reservation", Map.of()).hash();
    for (String file : List.of("reservation/R3.drl", "policies/reservation.yaml")) {
      Path path = rules.resolve(file);
      Files.writeString(path, "\uFEFF" + Files.readString(path).replace("\n", "\r\n"));
    }
    assertThat(Policies.load(Optional.of(rules), "reservation", Map.of()).hash()).isEqualTo(hash);
    Path path = rules.resolve("reservation/R3.drl");
    byte[] latin = "// clause\n// caf\u00e9\n".getBytes(StandardCharsets.ISO_8859_1);
    Files.write(path, latin);
    assertThat(faults().get(0).toString()).contains("reservation/R3.drl:2: is not UTF-8 text");
  }

  @Test
  void aFolderThatIsALinkIsReadAndWhatLeadsBackIsPassedOver(@TempDir Path elsewhere)
      throws Exception {
    final String hash = Policies.load(Optional.of(rules), "reservation", Map.of()).hash();
    Path link = elsewhere.resolve("rules");
    Files.createSymbolicLink(link, rules);
    Path fit = elsewhere.resolve("fit");
    Files.move(rules.resolve("fit"), fit);
    Files.createSymbolicLink(rules.resolve("fit"), fit);
    Files.createSymbolicLink(rules.resolve("fit/round"), rules);
    Files.createDirectories(rules.resolve(".git/fit"));
    Files.writeString(rules.resolve(".git/fit/F9.drl"), "rule");
    assertThat(Policies.load(Optional.of(link), "reservation", Map.of()).hash()).isEqualTo(hash);
    assertThat(Policies.unlisted(RuleFiles.of(Optional.of(link)).copy())).isEmpty();
  }

  @Test
  void aFileThatIsNotText() throws IOException {
    Files.write(rules.resolve("reservation/R3.drl"), new byte[] {(byte) 0xff, (byte) 0xfe, 0, 1});
    assertThat(faults().get(0).sentence()).contains("not UTF-8");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
      - reservation/R3                      | - reservation/R33                     | did you mean reservation/R3?
      - reservation/R3                      | - reservation/R2                      | twice
      - reservation/R3                      | - ../../outside                       | there is no ../../outside.drl
      value: at_release                     | value: sometimes                      | one of [at_release, at_job_end]
      value: at_release                     | value:                                | forced_release_charge.value: must be a number, a duration or a word
      value: 8                              | value: eight                          | a whole number of GPUs from 1
      value: 8                              | value: 8.5                            | a whole number of GPUs from 1
      value: 8                              | value: 8f                             | a whole number of GPUs from 1
      value: 8                              | value: 0x8                            | a whole number of GPUs from 1
      value: 8                              | value: .inf                           | a whole number of GPUs from 1
      value: 8                              | value: .nan                           | a whole number of GPUs from 1
      value: 8                              | value: 0                              | a whole number of GPUs from 1
      value: 8                              | value: -1                             | a whole number of GPUs from 1
      value: 8                              | value: [8, 9]                         | max_gpus_per_node.value: must be a number, a duration or a word, not a list
      unit: GPUs                            | uint: GPUs                            | max_gpus_per_node.uint: is no field of a parameter; did you mean unit?
      unit: GPUs                            | value: 9                              | max_gpus_per_node.value: stands here twice; it is also on line
      clause: N1                            | read_by: rules                        | parameters.max_gpus_per_node.read_by: must be one of service
      meaning: most GPUs                    | # most GPUs                           | parameters.max_gpus_per_node.meaning: is missing
      keys: [tier_desc, idle_desc, node_asc] | keys: [tier_down]                    | _asc or _desc
      keys: [tier_desc, idle_desc, node_asc] | keys: [colour_asc]                   | no key to choose by
      keys: [tier_desc, idle_desc, node_asc] | keys: tier_desc                      | choices.preference.keys: must be a list
      keys: [account_usage_asc, queued_at_asc, id_asc] | keys: [beauty_asc]         | no key to choose by
      reserve_preference:                   | reserve_preferences:                  | did you mean reserve_preference?
      max_gpus_per_node:                    | max_gpus:                             | max_gpus_per_node
      policy: reservation                   | policy: other                         | the file's name says reservation
      title:                                | titel:                                | titel: is no field of a policy; did you mean title?
      title: Placement                      | title: *x # Placement                  | anchors
      title: Placement                      | title: [Placement                     | is not YAML that can be read
      """)
  void badEditsOfThePolicy(String old, String changed, String said) throws IOException {
    edit("policies/reservation.yaml", old, changed);
    List<PolicyFault.Fault> faults = faults();
    assertThat(faults.toString()).contains(said).doesNotContain("Exception");
    assertThat(faults.get(0).line()).as("line of %s", faults.get(0)).isPositive();
  }

  @Test
  void anUnknownPolicyNamesThoseThereAre() {
    PolicyFault fault =
        catchThrowableOfType(
            PolicyFault.class, () -> Policies.load(Optional.of(rules), "fair", Map.of()));
    assertThat(fault).hasMessageContaining("fifo, priority, reservation, skip");
    assertThat(
            catchThrowableOfType(
                PolicyFault.class, () -> Policies.load(Optional.of(rules), "../x", Map.of())))
        .hasMessageContaining("no policy of that name");
  }

  @Test
  void settingsForOnce() throws Exception {
    Policy plain = Policies.load(Optional.of(rules), "reservation", Map.of());
    Policy changed =
        Policies.load(
            Optional.of(rules),
            "reservation",
            Map.of("preference", "tier_desc,idle_asc,node_asc", "max_gpus_per_node", "4"));
    assertThat(changed.hash()).isNotEqualTo(plain.hash());
    PolicyFault fault =
        catchThrowableOfType(
            PolicyFault.class,
            () -> Policies.load(Optional.of(rules), "reservation", Map.of("colour", "red")));
    assertThat(fault).hasMessageContaining("no parameter \"colour\"");
  }

  @Test
  void theHashIsOfTheTextAndTheParameters() throws Exception {
    String before = Policies.load(Optional.of(rules), "reservation", Map.of()).hash();
    assertThat(Policies.load(Optional.of(rules), "reservation", Map.of()).hash()).isEqualTo(before);
    edit("reservation/R3.drl", "no longer first", "not first any more");
    assertThat(Policies.load(Optional.of(rules), "reservation", Map.of()).hash())
        .isNotEqualTo(before);
  }
}
